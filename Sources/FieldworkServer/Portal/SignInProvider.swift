import FieldworkGeometry
import FieldworkPortal
import Foundation
import JWTKit

/// A provider of sign-ins: what it says of itself and its keys, kept for a while, and the two steps of a sign-in by it.
actor SignInProvider {
    nonisolated let settings: ProviderSettings
    private let client: ProviderClient
    private let now: @Sendable () -> Date
    private var description: (ProviderDescription, readAt: ContinuousClock.Instant)?
    private var keys: (ProviderKeys, readAt: ContinuousClock.Instant)?
    private var keysAskedAt = ContinuousClock.now

    init(_ settings: ProviderSettings, now: @escaping @Sendable () -> Date = Date.init) {
        self.settings = settings
        self.now = now
        client = ProviderClient(authorities: settings.authorities, patience: settings.patience)
    }

    func close() async { await client.close() }

    /// What a browser keeps while its person is at the provider. All that ties the provider's answer to this browser is made of it,
    /// so that the database holds nothing by which somebody else could go on.
    struct Ticket: Sendable {
        /// Kept in a cookie.
        let secret: String
        /// The name of what was asked for.
        let state: String

        /// Shown to the provider, which puts it into its token.
        var nonce: String { Secret.hash("nonce \(state) \(secret)") }
        /// Of PKCE: shown to the provider when the code is exchanged.
        var verifier: String { Secret.hash("verifier \(state) \(secret)") }
    }

    /// Where a browser is sent.
    func authorization(_ ticket: Ticket, redirect: String) async throws -> String {
        let provider = try await described()
        return provider.authorization.with([
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirect),
            ("scope", "openid profile email"), ("state", ticket.state), ("nonce", ticket.nonce),
            ("code_challenge", Secret.challenge(ticket.verifier)), ("code_challenge_method", "S256"),
        ])
    }

    /// Who has signed in.
    /// - Parameter issuer: who the answer says it is from, where it says so.
    func identity(
        code: String, issuer: String?, _ ticket: Ticket, redirect: String
    ) async throws -> (identity: OutsideIdentity, profile: OutsideProfile) {
        let provider = try await described()
        guard issuer == settings.issuer || (issuer == nil && !provider.namesItself) else {
            throw ProviderFailure(.refused, "The answer is of another issuer.")
        }
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", ticket.verifier),
        ]
        var authorization: String?
        if let secret = settings.clientSecret, !provider.takesSecretInForm {
            authorization = Self.basic(settings.clientID, secret)
        } else {
            form.append(("client_id", settings.clientID))
            if let secret = settings.clientSecret { form.append(("client_secret", secret)) }
        }
        let answer = try await client.post(form, to: provider.token, authorization: authorization)
        guard let text = answer["id_token"]?.stringValue else {
            throw ProviderFailure(.unavailable, "\(provider.token.text) gives no ID token.")
        }
        let token = try IdentityToken(text)
        guard let keys = try await verifier(of: token, provider) else {
            throw ProviderFailure(.refused, "The key of the token is none of the provider's.")
        }
        return try await token.verified(
            by: keys,
            IdentityToken.Expectation(
                issuer: settings.issuer, clientID: settings.clientID, nonce: ticket.nonce, now: now()))
    }

    /// Name and secret are escaped before they are joined (RFC 6749, 2.3.1).
    private static func basic(_ name: String, _ secret: String) -> String {
        let parts = [name, secret].map { String(AuthorizationRequest.query([("", $0)]).dropFirst()) }
        return "Basic " + Data(parts.joined(separator: ":").utf8).base64EncodedString()
    }

    // MARK: What is known of it

    private func described() async throws -> ProviderDescription {
        if let description, isFresh(description.readAt) { return description.0 }
        let json = try await client.get(try ProviderDescription.address(of: settings.issuer))
        let found = try ProviderDescription(json, issuer: settings.issuer)
        description = (found, .now)
        return found
    }

    /// A key that is not known may be a new one: the keys are asked for again, once, and not for every token.
    private func verifier(of token: IdentityToken, _ provider: ProviderDescription) async throws -> JWTKeyCollection? {
        if let keys, isFresh(keys.readAt) {
            if let known = try await Self.verifier(keys.0, token) { return known }
            guard keysAskedAt.duration(to: .now) >= settings.keyInterval else { return nil }
        }
        keysAskedAt = .now
        let read = try ProviderKeys(try await client.get(provider.keys))
        keys = (read, .now)
        return try await Self.verifier(read, token)
    }

    private static func verifier(_ keys: ProviderKeys, _ token: IdentityToken) async throws -> JWTKeyCollection? {
        do {
            return try await keys.verifier(keyID: token.keyID, token.algorithm)
        } catch {
            throw ProviderFailure(.unavailable, "A key of the provider can't be used: \(error)")
        }
    }

    private func isFresh(_ moment: ContinuousClock.Instant) -> Bool {
        moment.duration(to: .now) < .seconds(Limits.providerMemorySeconds)
    }
}
