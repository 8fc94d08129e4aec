public import Foundation

/// A credential of an app itself, without a person: for programs that run where nobody signs in.
///
/// What changes is behind locks.
public final class OAuthApplicationCredential: ArcGISCredential, @unchecked Sendable {
    private let clientID: String
    private let clientSecret: String
    private let validity: TimeInterval?

    init(
        portalURL: URL, clientID: String, clientSecret: String, validity: TimeInterval?, token: TokenInfo,
        id: UUID = UUID()
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.validity = validity
        super.init(url: portalURL, username: "", referer: "", token: token, id: id)
    }

    /// Signs an app in. Throws `ArcGISAuthenticationError.oAuthFailure` when the portal does not know the id or the secret,
    /// `ServiceError`.
    public static func credential(
        portalURL: URL, clientID: String, clientSecret: String, tokenExpirationInterval: TimeInterval? = nil
    ) async throws -> OAuthApplicationCredential {
        let service = try OAuthService(portalURL: portalURL)
        let grant = try await service.grant(
            clientID: clientID, clientSecret: clientSecret, validity: tokenExpirationInterval)
        return OAuthApplicationCredential(
            portalURL: service.portal.url("") ?? portalURL, clientID: clientID, clientSecret: clientSecret,
            validity: tokenExpirationInterval, token: grant.token)
    }

    override func renewed(_ token: TokenInfo) async throws -> TokenInfo {
        guard let url else { throw ArcGISAuthenticationError.tokenExpired(details: "The sign-in has ended.") }
        return try await OAuthService(portalURL: url).grant(
            clientID: clientID, clientSecret: clientSecret, validity: validity
        ).token
    }

    override func revoke() async throws {
        guard let url else { return }
        try await OAuthService(portalURL: url).revoke(heldToken.accessToken, clientID: clientID)
    }

    override var record: CredentialRecord {
        var record = CredentialRecord(self, kind: .oAuthApplication)
        record.clientID = clientID
        record.clientSecret = clientSecret
        record.validity = validity
        return record
    }
}
