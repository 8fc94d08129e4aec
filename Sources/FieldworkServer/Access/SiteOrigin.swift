import Foundation

/// What browsers name a site by: scheme, host and port (`https://maps.example`).
package struct SiteOrigin: Sendable, Hashable {
    let scheme: String
    let host: HostName

    /// Nil for what is no origin, such as `null` and an address with a path.
    package init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        guard let mark = text.range(of: "://"), let host = HostName(text[mark.upperBound...]) else { return nil }
        self.init(scheme: String(text[..<mark.lowerBound]), host: host)
    }

    init?(scheme: String, host: HostName) {
        guard ["http", "https"].contains(scheme) else { return nil }
        self.scheme = scheme
        self.host = host
    }

    /// The origin of an address such as a `Referer` field holds.
    init?(address: String) {
        guard let mark = address.range(of: "://") else { return nil }
        self.init(address[..<(address[mark.upperBound...].firstIndex { "/?#".contains($0) } ?? address.endIndex)])
    }

    private var port: Int { host.port ?? (scheme == "https" ? 443 : 80) }

    package static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.host.name == right.host.name && left.port == right.port
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(host.name)
        hasher.combine(port)
    }

    package var text: String { "\(scheme)://\(host.text)" }
}

/// The address under which clients reach the server, where something stands before it: `https://maps.example/gis`.
package struct PublicAddress: Sendable, Hashable {
    let origin: SiteOrigin
    /// What comes before the instance in the path.
    let path: [String]

    /// Nil for what is no such address: with a query, or a path that would have to be escaped.
    package init?(_ text: String) {
        guard let origin = SiteOrigin(address: text), let mark = text.range(of: "://") else { return nil }
        let rest = text[mark.upperBound...].drop { $0 != "/" }
        let segments = rest.split(separator: "/").map(String.init)
        let isPlain = segments.allSatisfy { segment in
            segment != "." && segment != ".." && segment.utf8.allSatisfy(Self.isPlain)
        }
        guard isPlain, segments.count < Limits.pathSegments, !text.contains("?"), !text.contains("#") else {
            return nil
        }
        self.origin = origin
        path = segments
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Without a slash at the end.
    package var text: String { ([origin.text] + path).joined(separator: "/") }
}
