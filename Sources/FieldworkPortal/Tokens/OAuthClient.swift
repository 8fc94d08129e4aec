import Foundation

/// An application that people may sign in to.
package struct OAuthClient: Sendable, Hashable {
    package var id: String
    package var title: String
    package var owner: String
    /// Addresses that a person may be sent back to.
    package var redirects: [String]
    /// Whether it can keep a secret: a server can, an app on a person's device can't.
    package var isConfidential: Bool

    /// Shows the code on a page in place of sending the person anywhere.
    package static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    package init(id: String, title: String, owner: String, redirects: [String], isConfidential: Bool) {
        self.id = id
        self.title = title
        self.owner = owner
        self.redirects = redirects
        self.isConfidential = isConfidential
    }

    /// Applications that clients of the protocol have built in, and our own. They are sent back to themselves on this machine, or
    /// to the portal's own address.
    package static let wellKnown: [OAuthClient] = [
        known("pythonapi", "ArcGIS API for Python"), known("arcgisonline", "ArcGIS clients"),
        known("arcgispro", "Desktop clients"), known("qgis", "QGIS"), known("fieldwork", "Fieldwork"), directory,
        home,
    ]

    /// The server's own pages. Their sign-in ends with a cookie, not with a code.
    package static let directory = OAuthClient(
        id: "directory", title: "the services directory", owner: "", redirects: [], isConfidential: true)

    /// The portal's own pages, which know their reader by the same cookie.
    package static let home = OAuthClient(
        id: "home", title: "the portal", owner: "", redirects: [], isConfidential: true)

    /// Whether it is the server itself, whose pages know their reader by a cookie.
    package var isOwnPages: Bool { id == Self.directory.id || id == Self.home.id }

    private static func known(_ id: String, _ title: String) -> OAuthClient {
        OAuthClient(
            id: id, title: title, owner: "",
            redirects: [outOfBand, "http://127.0.0.1", "http://localhost", "http://[::1]", "fieldwork://auth"]
                + (id == "arcgispro" ? ["arcgis-pro://auth"] : []),
            isConfidential: false)
    }

    /// Whether a person may be sent to an address. It must be registered as it is; of an address on this machine the port may
    /// differ, and its path where none is registered.
    /// - Parameter own: the portal's own address (scheme, host and port), to which the built-in applications may be sent.
    package func allows(_ redirect: String, own: String) -> Bool {
        guard redirect.utf8.count <= 2_048, redirect.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !redirect.contains("#"), !redirect.contains("\\")
        else { return false }
        if redirects.contains(redirect) { return true }
        if owner.isEmpty, redirect == own || redirect == own + "/" { return true }
        guard let target = Loopback(redirect) else { return false }
        return redirects.contains { registered in
            guard let known = Loopback(registered) else { return false }
            return known.host == target.host && (known.path.isEmpty || known.path == target.path)
        }
    }

    /// Throws for an address that nobody can be sent to safely.
    static func check(redirect: String) throws(PortalError) {
        if redirect == outOfBand { return }
        guard redirect.utf8.count <= 2_048, let mark = redirect.range(of: ":"), !redirect.contains("#"),
            redirect.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !redirect.contains("*")
        else { throw PortalError(.invalid, "'\(redirect.prefix(80))' is no redirect address.") }
        let scheme = redirect[..<mark.lowerBound].lowercased()
        let isLoopback = Loopback(redirect) != nil
        let url = URL(string: redirect)
        let isWeb = scheme == "https" && url?.host()?.isEmpty == false && url?.user() == nil
        guard isWeb || isLoopback || (scheme != "http" && scheme != "https" && isScheme(scheme)) else {
            throw PortalError(
                .invalid,
                "'\(redirect.prefix(80))' is no redirect address: it begins with https and a host, leads to this machine"
                    + " over http, or has a scheme of the application's own.")
        }
        guard
            !["javascript", "data", "file", "vbscript", "blob", "about", "filesystem", "intent", "ftp", "ws", "wss"]
                .contains(scheme)
        else {
            throw PortalError(.invalid, "A redirect address can't begin with '\(scheme)'.")
        }
    }

    /// Letters and digits of ASCII, and `+`, `-` and `.`, a letter first (RFC 3986).
    private static func isScheme(_ scheme: String) -> Bool {
        let isPlain = scheme.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
        return isPlain && scheme.utf8.first.map { (0x61...0x7A).contains($0) } == true
    }

    /// An address on the machine of the browser.
    private struct Loopback {
        var host: String
        var path: String

        init?(_ address: String) {
            guard let url = URL(string: address), url.scheme == "http", let host = url.host(), url.user() == nil,
                ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
            else { return nil }
            self.host = host
            path = url.path() == "/" ? "" : url.path()
        }
    }
}
