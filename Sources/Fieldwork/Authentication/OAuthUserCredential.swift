import Foundation
import Synchronization

/// A credential of a person who signed in on the portal's own page, by OAuth's authorization code with PKCE. The app never
/// sees the password. It renews its token by itself as long as the portal lets the person stay signed in.
///
/// What changes is behind locks.
public final class OAuthUserCredential: ArcGISCredential, @unchecked Sendable {
    struct Refresh: Sendable {
        var token: String
        var expirationDate: Date?
    }

    private let clientID: String
    private let redirectURL: URL
    private let refresh: Mutex<Refresh?>

    init(
        portalURL: URL, clientID: String, redirectURL: URL, username: String, token: TokenInfo, refresh: Refresh?,
        id: UUID = UUID()
    ) {
        self.clientID = clientID
        self.redirectURL = redirectURL
        self.refresh = Mutex(refresh)
        super.init(url: portalURL, username: username, referer: "", token: token, id: id)
    }

    /// Signs a person in on the portal's page, which is opened by
    /// `ArcGISEnvironment.authenticationManager.oAuthSignInPrompt`. Where the redirect address of the configuration is
    /// `http://127.0.0.1/…` or `http://localhost/…`, the SDK listens there until the portal sends the person back; without
    /// a port in the address it takes a free one.
    ///
    /// ```swift
    /// ArcGISEnvironment.authenticationManager.oAuthSignInPrompt = { page in
    ///     try await openBrowser(page.url)
    ///     return nil
    /// }
    /// let credential = try await OAuthUserCredential.credential(for: configuration)
    /// ArcGISEnvironment.authenticationManager.arcGISCredentialStore.add(credential)
    /// ```
    /// - Throws: `CancellationError` when the person gave up, `ArcGISAuthenticationError.oAuthFailure`, `ServiceError`.
    public static func credential(for configuration: OAuthUserConfiguration) async throws -> OAuthUserCredential {
        try await credential(
            for: configuration, prompt: ArcGISEnvironment.authenticationManager.oAuthSignInPrompt)
    }

    /// Signs a person in on the portal's page, opened by a prompt of this sign-in alone. Throws like the other one. Not part
    /// of the vendor's API.
    public static func credential(
        for configuration: OAuthUserConfiguration, prompt: OAuthSignInPrompt?
    ) async throws -> OAuthUserCredential {
        guard let prompt else {
            throw ArcGISAuthenticationError.oAuthFailure(
                details: "The app does not say how the sign-in page is opened: set oAuthSignInPrompt.")
        }
        let service = try OAuthService(portalURL: configuration.portalURL)
        let secrets = OAuthSecrets()
        let listener = try await LoopbackRedirect.listen(at: configuration.redirectURL, state: secrets.state)
        defer { listener?.stop() }
        let redirect = listener?.redirectURL ?? configuration.redirectURL
        let page = OAuthSignInPage(
            url: try service.signInPage(
                clientID: configuration.clientID, redirectURL: redirect.absoluteString, state: secrets.state,
                challenge: secrets.challenge,
                seconds: configuration.refreshTokenExpirationInterval ?? Limits.signInSeconds),
            redirectURL: redirect, isRedirectAwaited: listener != nil)
        let code = try secrets.code(in: try await answer(to: page, prompt, listener))
        let grant = try await service.grant(
            code: code, clientID: configuration.clientID, redirectURL: redirect.absoluteString,
            verifier: secrets.verifier)
        return OAuthUserCredential(
            portalURL: service.portal.url("") ?? configuration.portalURL, clientID: configuration.clientID,
            redirectURL: redirect, username: grant.username, token: grant.token,
            refresh: grant.refreshToken.map { Refresh(token: $0, expirationDate: grant.refreshExpirationDate) })
    }

    /// The address that the portal sends the person to, from the app or from the SDK's own listener, whichever has it.
    private static func answer(
        to page: OAuthSignInPage, _ prompt: @escaping OAuthSignInPrompt, _ listener: LoopbackRedirect?
    ) async throws -> URL {
        guard let listener else {
            guard let url = try await prompt(page) else { throw CancellationError() }
            return url
        }
        return try await withThrowingTaskGroup(of: URL?.self) { group in
            group.addTask { try await prompt(page) }
            group.addTask { try await listener.redirect() }
            defer { group.cancelAll() }
            while let url = try await group.next() { if let url { return url } }
            throw CancellationError()
        }
    }

    override var isRenewable: Bool { refresh.withLock { $0 } != nil }

    /// Asks for the next token. The refresh token is kept until another one is there: when the answer is lost, the same one
    /// is sent again, which portals accept.
    override func renewed(_ token: TokenInfo) async throws -> TokenInfo {
        guard let url, let held = refresh.withLock({ $0 }) else {
            throw ArcGISAuthenticationError.tokenExpired(details: "The sign-in has ended. Sign in again.")
        }
        let service = try OAuthService(portalURL: url)
        var grant: OAuthService.Grant
        if let end = held.expirationDate, end.timeIntervalSinceNow < Limits.refreshMarginSeconds,
            end > Date()
        {
            grant = try await service.grant(
                exchanging: held.token, clientID: clientID, redirectURL: redirectURL.absoluteString)
        } else {
            grant = try await service.grant(refreshToken: held.token, clientID: clientID)
        }
        if let next = grant.refreshToken {
            let end = grant.refreshExpirationDate ?? held.expirationDate
            refresh.withLock { $0 = Refresh(token: next, expirationDate: end) }
        }
        return grant.token
    }

    override func adopt(_ record: CredentialRecord) {
        guard let token = record.refreshToken else { return }
        refresh.withLock { $0 = Refresh(token: token, expirationDate: record.refreshExpirationDate) }
    }

    /// Ends the sign-in at the portal: neither the token nor a later one is valid from now on. Throws `ServiceError` when the
    /// portal can't be reached.
    public func revokeToken() async throws {
        guard let url else { return }
        let token = refresh.withLock { $0?.token } ?? heldToken.accessToken
        try await OAuthService(portalURL: url).revoke(token, clientID: clientID)
        refresh.withLock { $0 = nil }
    }

    override func revoke() async throws { try await revokeToken() }

    override var record: CredentialRecord {
        var record = CredentialRecord(self, kind: .oAuthUser)
        let refresh = refresh.withLock { $0 }
        record.clientID = clientID
        record.redirectURL = redirectURL.absoluteString
        record.refreshToken = refresh?.token
        record.refreshExpirationDate = refresh?.expirationDate
        return record
    }
}
