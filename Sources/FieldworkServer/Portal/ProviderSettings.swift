package import FieldworkPortal
package import Foundation

/// A provider of sign-ins, by OpenID Connect, as the operator names it.
package struct ProviderSettings: Sendable {
    /// The provider's address, exactly as its tokens and its description have it.
    package var issuer: String
    /// How the provider knows this server.
    package var clientID: String
    /// nil for a server that the provider knows by its address and PKCE alone.
    package var clientSecret: String?
    /// What the button of the sign-in page says after "Sign in with".
    package var label: String
    /// The role of people who come for the first time; nil refuses them.
    package var newcomers: Role?
    /// Certificates in PEM of authorities that are trusted for the provider besides those of the system.
    package var authorities: URL?
    /// How often the keys are asked for because of a token whose key is not known.
    package var keyInterval: Duration = .seconds(Limits.providerKeySeconds)
    /// How long one request to the provider may take.
    package var patience: Duration = .seconds(Limits.providerSeconds)

    /// Throws `PortalError` for an address that nobody can be sent to safely.
    package init(
        issuer: String, clientID: String, clientSecret: String?, label: String? = nil, newcomers: Role? = nil,
        authorities: URL? = nil
    ) throws(PortalError) {
        let address = try ProviderAddress(issuer)
        guard !issuer.contains("?"), !issuer.contains("#"), issuer.utf8.count <= FieldworkPortal.Limits.issuerBytes
        else {
            throw PortalError(.invalid, "The address of a provider has no '?' and no '#'.")
        }
        guard newcomers?.id != Role.administrator.id else {
            throw PortalError(.invalid, "Newcomers are not made administrators.")
        }
        self.issuer = issuer
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.label = label ?? address.host
        self.newcomers = newcomers
        self.authorities = authorities
    }
}

/// An address of a provider: over TLS, or on this machine.
struct ProviderAddress: Sendable, Hashable {
    let text: String
    let host: String
    let isLoopback: Bool

    init(_ text: String) throws(PortalError) {
        let refusal = PortalError(
            .invalid, "'\(text.prefix(200))' is no address of a provider: it begins with https:// and a host.")
        guard text.utf8.count <= 4_096, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URL(string: text),
            let host = url.host(), !host.isEmpty, url.user() == nil, url.password() == nil, url.fragment == nil
        else { throw refusal }
        isLoopback = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback) else { throw refusal }
        self.text = text
        self.host = host
    }

    /// The address with further fields in its query.
    func with(_ fields: [(String, String)]) -> String {
        text + (text.contains("?") ? "&" : "?") + AuthorizationRequest.query(fields)
    }
}
