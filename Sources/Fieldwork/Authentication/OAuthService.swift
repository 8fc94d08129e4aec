import FieldworkGeometry
import Foundation

/// The OAuth operations of a portal.
struct OAuthService: Sendable {
    let portal: ServerRoot

    init?(portal: ServerRoot) { self.portal = portal }

    init(portalURL: URL) throws {
        guard let portal = ServerRoot(portalURL) else {
            throw ArcGISAuthenticationError.oAuthFailure(
                details: "\(Redaction.address(portalURL)) is not the address of a portal.")
        }
        self.portal = portal
    }

    /// What the portal gives for a code or a refresh token.
    struct Grant: Sendable {
        var token: TokenInfo
        var username: String
        var refreshToken: String?
        var refreshExpirationDate: Date?
    }

    private func address(_ operation: String) throws -> URL {
        guard let url = portal.url("sharing/rest/oauth2/\(operation)") else {
            throw ArcGISAuthenticationError.oAuthFailure(details: "The portal has no address for \(operation).")
        }
        return url
    }

    /// The page where the person signs in.
    func signInPage(
        clientID: String, redirectURL: String, state: String, challenge: String, seconds: TimeInterval
    ) throws -> URL {
        guard var components = URLComponents(url: try address("authorize"), resolvingAgainstBaseURL: true) else {
            throw ArcGISAuthenticationError.oAuthFailure(details: "The portal has no address for signing in.")
        }
        let parameters = [
            ("client_id", clientID), ("response_type", "code"), ("redirect_uri", redirectURL), ("state", state),
            ("code_challenge", challenge), ("code_challenge_method", "S256"), ("expiration", Self.minutes(seconds)),
        ]
        components.percentEncodedQuery =
            ServiceRequest(portalAddress, parameters.map { (name: $0.0, value: $0.1) }).form
        guard let url = components.url else {
            throw ArcGISAuthenticationError.oAuthFailure(details: "The portal has no address for signing in.")
        }
        return url
    }

    private var portalAddress: URL { portal.url("") ?? URL(filePath: "/") }

    /// The protocol has -1 for as long as the portal allows.
    static func minutes(_ seconds: TimeInterval) -> String {
        seconds <= 0 ? "-1" : String(Int(min(max(seconds, 60), 86_400 * 3_650) / 60))
    }

    func grant(code: String, clientID: String, redirectURL: String, verifier: String) async throws -> Grant {
        try await grant([
            ("grant_type", "authorization_code"), ("client_id", clientID), ("code", code),
            ("redirect_uri", redirectURL), ("code_verifier", verifier),
        ])
    }

    func grant(refreshToken: String, clientID: String) async throws -> Grant {
        try await grant([
            ("grant_type", "refresh_token"), ("client_id", clientID), ("refresh_token", refreshToken),
        ])
    }

    /// A new refresh token for one that ends soon.
    func grant(exchanging refreshToken: String, clientID: String, redirectURL: String) async throws -> Grant {
        try await grant([
            ("grant_type", "exchange_refresh_token"), ("client_id", clientID), ("refresh_token", refreshToken),
            ("redirect_uri", redirectURL),
        ])
    }

    func grant(clientID: String, clientSecret: String, validity: TimeInterval?) async throws -> Grant {
        try await grant([
            ("grant_type", "client_credentials"), ("client_id", clientID), ("client_secret", clientSecret),
            ("expiration", Self.minutes(validity ?? Limits.applicationTokenSeconds)),
        ])
    }

    /// Throws `ArcGISAuthenticationError.oAuthFailure` for what the portal refuses, `ServiceError`.
    private func grant(_ form: [(name: String, value: String)]) async throws -> Grant {
        do {
            let json = try await SecretPost.send(form, to: try address("token"))
            let seconds = min(max(json["expires_in"]?.doubleValue ?? 1_800, 1), Limits.longestSignInSeconds)
            guard
                let token = TokenInfo(
                    accessToken: json["access_token"]?.stringValue ?? "",
                    expirationDate: Date().addingTimeInterval(seconds), isSSLRequired: json["ssl"]?.boolValue ?? false)
            else { throw ServiceError.unknown(details: "The answer of the sign-in has no token.") }
            return Grant(
                token: token, username: json["username"]?.stringValue ?? "",
                refreshToken: json["refresh_token"]?.stringValue,
                refreshExpirationDate: json["refresh_token_expires_in"]?.doubleValue.map {
                    Date().addingTimeInterval($0)
                })
        } catch let refusal as RefusedSecret {
            throw ArcGISAuthenticationError.oAuthFailure(details: refusal.text)
        }
    }

    /// Ends a token: the refresh token with all that came from it, or an access token.
    func revoke(_ token: String, clientID: String) async throws {
        do {
            _ = try await SecretPost.send(
                [("client_id", clientID), ("auth_token", token)], to: try address("revokeToken"))
        } catch let refusal as RefusedSecret {
            throw ArcGISAuthenticationError.oAuthFailure(details: refusal.text)
        }
    }
}
