import Foundation

/// Where a server or a portal begins: what stands before `/rest`, `/sharing` or a page of it. Tokens are for a root; what
/// shares one may share a token.
struct ServerRoot: Hashable, Sendable {
    /// Scheme, host and port, lower case, the usual port left out.
    let origin: String
    /// Begins with a slash unless it is empty; never ends with one.
    let path: String

    private static let steps: Set<String> = ["rest", "sharing", "home", "apps", "tokens", "services", "admin"]

    /// nil for an address that is not of the web.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host()?.lowercased(), !host.isEmpty
        else { return nil }
        let usual = scheme == "https" ? 443 : 80
        let port = url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        origin = "\(scheme)://\(host)\(port)"
        path = url.path(percentEncoded: true).split(separator: "/")
            .prefix { !Self.steps.contains($0.lowercased()) }
            .map { "/\($0)" }.joined()
    }

    private init(origin: String, path: String) {
        self.origin = origin
        self.path = path
    }

    /// The root as a text: what a portal is asked to make a token for.
    var text: String { origin + path }

    var isSecure: Bool { origin.hasPrefix("https://") }

    var host: String {
        let rest = origin.drop { $0 != "/" }.dropFirst(2)
        if rest.hasPrefix("[") { return String(rest.prefix { $0 != "]" }.dropFirst()) }
        return String(rest.prefix { $0 != ":" })
    }

    /// An address under the root.
    func url(_ steps: String) -> URL? { URL(string: "\(text)/\(steps)") }

    /// Whether it is the vendor's portal on the web, or a service that belongs to it.
    var isOnline: Bool { isSecure && (host == "arcgis.com" || host.hasSuffix(".arcgis.com")) }

    /// Whether addresses of a root are equal, or only differ in their path.
    func sharesOrigin(with other: ServerRoot) -> Bool { origin == other.origin }

    /// Whether the address lies under another one, step by step: `/a/bc` does not lie under `/a/b`.
    static func lies(_ url: URL, under base: URL) -> Bool {
        guard let place = ServerRoot(url), let root = ServerRoot(base), place.origin == root.origin else {
            return false
        }
        let own = url.path(percentEncoded: true).lowercased().split(separator: "/")
        return own.starts(with: base.path(percentEncoded: true).lowercased().split(separator: "/"))
    }
}
