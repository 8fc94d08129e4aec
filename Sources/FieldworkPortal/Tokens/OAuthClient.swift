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
    ]

    /// The server's own pages. Their sign-in ends with a cookie, not with a code.
    package static let directory = OAuthClient(
        id: "directory", title: "the services directory", owner: "", redirects: [], isConfidential: true)

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
        guard
            scheme == "https" || isLoopback
                || (scheme != "http" && scheme.contains(where: { $0 == "." || $0.isLetter }))
        else {
            throw PortalError(.invalid, "A redirect address over http must lead to this machine; use https elsewhere.")
        }
        guard !["javascript", "data", "file", "vbscript", "blob", "about"].contains(scheme) else {
            throw PortalError(.invalid, "A redirect address can't begin with '\(scheme)'.")
        }
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
