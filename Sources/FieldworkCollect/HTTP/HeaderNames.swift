import HTTPTypes

extension HTTPField.Name {
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let referrerPolicy = known("Referrer-Policy")
    static let frameOptions = known("X-Frame-Options")
    static let permissionsPolicy = known("Permissions-Policy")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    /// Asks for a part of the page instead of the whole, and says in the answer that it is one.
    static let fragment = known("Fieldwork-Fragment")
    static let lastEventID = known("Last-Event-ID")
    /// The window that asks.
    static let window = known("Fieldwork-Window")

    private static func known(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is no header name") }
        return field
    }
}
