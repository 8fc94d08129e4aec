import FieldworkGeometry
import FieldworkREST
import Foundation

/// Where a server or portal gives tokens for names and passwords.
struct TokenService: Sendable {
    /// What the tokens are for: the portal, or a server that stands alone.
    let owner: ServerRoot
    let url: URL

    // MARK: Finding it

    /// What a server says of itself in `info`.
    struct ServerInfo: Sendable {
        /// The portal that the server belongs to.
        var portal: ServerRoot?
        var tokenServices: URL?
    }

    /// The portal that a server or portal belongs to, as its `info` says. Throws `ServiceError.connectionFailed`; whatever
    /// else an address answers, nothing is known of it.
    static func info(of root: ServerRoot) async throws -> ServerInfo {
        var info = ServerInfo()
        for steps in ["rest/info", "sharing/rest/info"] {
            guard let url = root.url(steps) else { continue }
            let json: JSONValue
            do {
                json = try await SecretPost.read(url)
            } catch let error as ServiceError {
                if case .connectionFailed = error { throw error }
                continue
            } catch is RefusedSecret {
                continue
            }
            let portal = json["owningSystemUrl"]?.stringValue.flatMap(URL.init(string:)).flatMap(ServerRoot.init)
            info.portal = info.portal ?? portal
            if json["authInfo"]?["isTokenBasedSecurity"]?.boolValue != false, info.tokenServices == nil {
                info.tokenServices = json["authInfo"]?["tokenServicesUrl"]?.stringValue.flatMap(URL.init(string:))
            }
            // A portal that does not name itself is its own.
            if info.portal == nil, steps.hasPrefix("sharing"), info.tokenServices != nil { info.portal = root }
        }
        return info
    }

    /// The token service for an address. Throws `ArcGISAuthenticationError.tokenURLNotFound`,
    /// `ArcGISAuthenticationError.sslRequired`, `ServiceError.connectionFailed`.
    static func find(for url: URL) async throws -> TokenService {
        guard let root = ServerRoot(url) else {
            throw ArcGISAuthenticationError.tokenURLNotFound(
                details: "\(Redaction.address(url)) is not the address of a server.")
        }
        let info = try await info(of: root)
        let owner = info.portal ?? root
        var address = info.tokenServices
        // A server names its own token service or its portal's; the portal's word on it is the better one.
        if let portal = info.portal, portal != root {
            let own = try? await SecretPost.read(portal.url("sharing/rest/info") ?? url)
            address =
                own?["authInfo"]?["tokenServicesUrl"]?.stringValue.flatMap(URL.init(string:))
                ?? portal.url("sharing/rest/generateToken")
        }
        guard let address, let place = ServerRoot(address) else {
            throw ArcGISAuthenticationError.tokenURLNotFound(
                details: "\(root.text) does not say where to sign in. Is it the address of a portal or server?")
        }
        guard place.isSecure || !root.isSecure else {
            throw ArcGISAuthenticationError.sslRequired(
                details: "\(root.text) wants the password over a connection that is not encrypted.")
        }
        return TokenService(owner: owner, url: address)
    }

    // MARK: Tokens

    /// Throws `ArcGISAuthenticationError.invalidCredentials`, `ServiceError`.
    func token(
        username: String, password: String, referer: String, validity: TimeInterval?
    ) async throws -> TokenInfo {
        try await token([("username", username), ("password", password)], referer: referer, validity: validity)
    }

    /// A token of a server that belongs to the portal, for one of the portal. The portal refuses what is not its own.
    func exchange(_ token: String, for server: ServerRoot, referer: String) async throws -> TokenInfo {
        try await self.token(
            [("request", "getToken"), ("token", token), ("serverUrl", server.text)], referer: referer, validity: nil)
    }

    private func token(
        _ form: [(name: String, value: String)], referer: String, validity: TimeInterval?
    ) async throws -> TokenInfo {
        let seconds = min(max(validity ?? Limits.signInSeconds, 60), Limits.longestSignInSeconds)
        let form =
            form + [("client", "referer"), ("referer", referer), ("expiration", String(Int(seconds / 60)))]
        do {
            let json = try await SecretPost.send(form, to: url)
            let asked = Date()
            let expires = json["expires"]?.doubleValue.map { Date(timeIntervalSince1970: $0 / 1_000) }
            // A device whose clock is ahead would take every token for an old one.
            let end = expires.flatMap { $0 > asked ? $0 : nil } ?? asked.addingTimeInterval(seconds)
            guard
                let token = TokenInfo(
                    accessToken: json["token"]?.stringValue ?? "", expirationDate: end,
                    isSSLRequired: json["ssl"]?.boolValue ?? false)
            else { throw ServiceError.unknown(details: "The answer of the sign-in has no token.") }
            return token
        } catch let refusal as RefusedSecret {
            throw ArcGISAuthenticationError.invalidCredentials(details: refusal.text)
        }
    }
}
