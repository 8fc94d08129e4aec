import Foundation

/// The name or address in a `Host` field, an origin or an option, and the port beside it. Names are compared without regard
/// to case and to a dot at their end.
package struct HostName: Sendable, Hashable {
    /// In lower case; an IPv6 address without its brackets.
    let name: String
    let port: Int?
    /// Set when it is no name.
    let address: NetworkAddress?

    /// - Parameter text: `maps.example`, `maps.example:8443`, `192.0.2.7:80`, `[2001:db8::7]:80`.
    /// - Returns: nil for what is none of these: nothing of it may come into an address that is given to a client.
    package init?(_ text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.count <= Limits.hostNameBytes else { return nil }
        var host = Substring(text.lowercased())
        var portText: Substring?
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            portText = rest.isEmpty ? nil : rest.dropFirst()
            host = host[host.index(after: host.startIndex)..<end]
            guard let address = NetworkAddress(host), host.utf8.contains(UInt8(ascii: ":")) else { return nil }
            self.address = address
        } else {
            if let colon = host.firstIndex(of: ":") {
                portText = host[host.index(after: colon)...]
                host = host[..<colon]
            }
            if host.hasSuffix(".") { host = host.dropLast() }
            guard !host.isEmpty, !host.hasPrefix("."), host.utf8.allSatisfy(Self.isOfName) else { return nil }
            address = NetworkAddress(host)
        }
        name = String(host)
        if let portText, !portText.isEmpty {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(portText),
                (1...65_535).contains(port)
            else { return nil }
            self.port = port
        } else {
            port = nil
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// A name that leads to this machine, whatever a name server says.
    var isLoopback: Bool { address?.isLoopback ?? (name == "localhost") }

    /// As addresses write it.
    var text: String {
        // An IPv6 address: only that has colons.
        let host = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        return port.map { "\(host):\($0)" } ?? host
    }

    /// The names by which other machines may know this one.
    static var ofThisMachine: Set<String> {
        var buffer = [CChar](repeating: 0, count: Limits.hostNameBytes + 1)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return [] }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let host = HostName(String(decoding: bytes, as: UTF8.self)), host.address == nil else { return [] }
        let short = String(host.name.prefix { $0 != "." })
        return [host.name, short, "\(short).local"]
    }
}
