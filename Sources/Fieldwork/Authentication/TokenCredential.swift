public import Foundation

/// A credential of a name and a password. It gets a new token by itself when one expires.
///
/// What changes is behind locks.
public final class TokenCredential: ArcGISCredential, @unchecked Sendable {
    private let password: String
    private let service: TokenService
    private let validity: TimeInterval?

    init(
        url: URL, username: String, password: String, validity: TimeInterval?, service: TokenService, referer: String,
        token: TokenInfo, id: UUID = UUID()
    ) {
        self.password = password
        self.service = service
        self.validity = validity
        super.init(url: url, username: username, referer: referer, token: token, id: id)
    }

    /// Signs in to a server or portal, and gets a first token.
    /// - Parameters:
    ///   - url: any address of the server or portal.
    ///   - username: the name of the person.
    ///   - password: the password; it is kept with the credential, for the next token.
    ///   - tokenExpirationInterval: how long a token is to be valid, in seconds; nil for two weeks, or as long as the server
    ///     allows.
    /// - Throws: `ArcGISAuthenticationError.invalidCredentials`, `ArcGISAuthenticationError.tokenURLNotFound` for a server
    ///   that has no sign-in, `ServiceError`.
    public static func credential(
        for url: URL, username: String, password: String, tokenExpirationInterval: TimeInterval? = nil
    ) async throws -> TokenCredential {
        try await make(url, nil, username, password, tokenExpirationInterval)
    }

    /// Signs in where a challenge asks for it. Throws like the other one.
    public static func credential(
        for challenge: ArcGISAuthenticationChallenge, username: String, password: String,
        tokenExpirationInterval: TimeInterval? = nil
    ) async throws -> TokenCredential {
        try await make(challenge.requestURL, challenge.signInRoot, username, password, tokenExpirationInterval)
    }

    private static func make(
        _ url: URL, _ known: ServerRoot?, _ username: String, _ password: String, _ validity: TimeInterval?
    ) async throws -> TokenCredential {
        guard !username.isEmpty else {
            throw ArcGISAuthenticationError.invalidCredentials(details: "There is no name to sign in with.")
        }
        let service = try await TokenService.find(for: known?.url("") ?? url)
        let referer = service.owner.origin
        let token = try await service.token(
            username: username, password: password, referer: referer, validity: validity)
        return TokenCredential(
            url: service.owner.url("") ?? url, username: username, password: password, validity: validity,
            service: service, referer: referer, token: token)
    }

    override func renewed(_ token: TokenInfo) async throws -> TokenInfo {
        try await service.token(username: username, password: password, referer: referer, validity: validity)
    }

    override func revoke() async throws {
        try await OAuthService(portal: service.owner)?.revoke(heldToken.accessToken, clientID: "")
    }

    override var record: CredentialRecord {
        var record = CredentialRecord(self, kind: .password)
        record.password = password
        record.tokenServices = service.url.absoluteString
        record.owner = service.owner.text
        record.validity = validity
        return record
    }
}
