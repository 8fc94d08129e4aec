import Foundation
import NIOCore

/// An address of the Internet Protocol: 4 bytes or 16. An IPv4 address in IPv6's clothes is the IPv4 address.
package struct NetworkAddress: Sendable, Hashable {
    let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        self.bytes = bytes.count == 16 && bytes.starts(with: mappedPrefix) ? Array(bytes[12...]) : bytes
    }

    /// Reads `192.0.2.7` and `2001:db8::7`; nil for a name.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.count <= Self.longestText else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: &four) { Array($0) })
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(bytes: withUnsafeBytes(of: &six) { Array($0) })
    }

    /// The address of the other end of a connection; nil for what has none.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            var bytes = address.address.sin_addr
            self.init(bytes: withUnsafeBytes(of: &bytes) { Array($0) })
        case .v6(let address):
            var bytes = address.address.sin6_addr
            self.init(bytes: withUnsafeBytes(of: &bytes) { Array($0) })
        case .unixDomainSocket, nil: return nil
        }
    }

    private static let longestText = 45

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// What counts as one client: one has a whole /64 of IPv6 addresses to choose from.
    var client: NetworkAddress {
        bytes.count == 4 ? self : NetworkAddress(bytes: Array(bytes[..<8]) + [UInt8](repeating: 0, count: 8))
    }
}

/// The addresses that begin with the same bits: `10.0.0.0/8`, or one address.
package struct NetworkRange: Sendable, Hashable {
    private let first: NetworkAddress
    private let bits: Int

    /// Nil for what is no address, and for more bits than it has.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ NetworkAddress($0) }) else { return nil }
        let most = address.bytes.count * 8
        guard parts.count == 2 else {
            (first, bits) = (address, most)
            return
        }
        guard let bits = Int(parts[1]), (0...most).contains(bits) else { return nil }
        (first, self.bits) = (address, bits)
    }

    func contains(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        for index in 0..<(bits + 7) / 8 {
            let kept = min(8, bits - index * 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF << (8 - kept))
            guard address.bytes[index] & mask == first.bytes[index] & mask else { return false }
        }
        return true
    }
}
