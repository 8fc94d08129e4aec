import Crypto
import FieldworkREST
import Foundation
import Synchronization

@testable import Fieldwork

/// A portal that gives tokens and guards a service, as the protocol has it: errors come with status 200. It keeps all in
/// memory.
final class PortalScript: Sendable {
    struct State: Sendable {
        var tokens: Set<String> = []
        var refreshTokens: Set<String> = ["refresh-0"]
        var codes: [String: (challenge: String, redirect: String)] = [:]
        var serverTokens: Set<String> = []
        var servers: Set<String> = []
        var count = 0
        var signIns = 0
        var refreshes = 0
        var exchanges = 0
        var revoked: [String] = []
        /// The next answers of the token service that get lost.
        var losses = 0
        /// Of how many tokens each is refused, at first.
        var served = 0
        var usersOfTokens: [String: String] = [:]
    }

    static let password = "correct horse + battery & staple"

    let state = Mutex(State())

    /// All tokens end.
    func expireTokens() { state.withLock { $0.tokens = [] } }

    func value<Value>(_ path: any KeyPath<State, Value> & Sendable) -> Value { state.withLock { $0[keyPath: path] } }

    static func error(_ code: Int, _ message: String, _ details: String = "") -> LoopbackServer.Action {
        .json(#"{"error":{"code":\#(code),"message":"\#(message)","details":["\#(details)"]}}"#)
    }

    /// The token that a request brings.
    static func token(of request: LoopbackServer.Request) -> String? {
        request.headers["x-esri-authorization"].map { String($0.dropFirst("Bearer ".count)) }
    }

    /// nil for a request that may pass, else the protocol's refusal.
    func refusal(of request: LoopbackServer.Request) -> LoopbackServer.Action? {
        guard let token = Self.token(of: request) else { return Self.error(499, "Token Required") }
        return value(\.tokens).contains(token) ? nil : Self.error(498, "Invalid token.")
    }

    /// The answer to a request under `/portal`; nil for others.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action? {
        guard request.path.hasPrefix("/portal/") else { return nil }
        let host = "http://\(request.headers["host"] ?? "")"
        switch request.path.dropFirst("/portal/".count) {
        case "sharing/rest/info":
            return .json(
                """
                {"owningSystemUrl":"\(host)/portal","authInfo":{"isTokenBasedSecurity":true,\
                "tokenServicesUrl":"\(host)/portal/sharing/rest/generateToken"}}
                """)
        case "rest/info": return .json(#"{"owningSystemUrl":"\#(host)/portal"}"#)
        case "sharing/rest/generateToken": return generateToken(request)
        case "sharing/rest/oauth2/authorize": return authorize(request)
        case "sharing/rest/oauth2/token": return grant(request)
        case "sharing/rest/oauth2/revokeToken": return revoke(request)
        default: return guarded(request)
        }
    }

    private func guarded(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        if let refusal = refusal(of: request) { return refusal }
        state.withLock { $0.served += 1 }
        return .json(#"{"name":"secret"}"#)
    }

    func newToken(_ user: String = "ana") -> String {
        state.withLock { state in
            state.count += 1
            state.tokens.insert("token-\(state.count)")
            state.usersOfTokens["token-\(state.count)"] = user
            return "token-\(state.count)"
        }
    }

    private func losesAnswer() -> Bool {
        state.withLock { state in
            guard state.losses > 0 else { return false }
            state.losses -= 1
            return true
        }
    }

    private func generateToken(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        guard request.method == "POST", !request.target.contains("password") else {
            return Self.error(405, "Method not allowed")
        }
        let form = request.parameters
        let expires = Int((Date().timeIntervalSince1970 + 3_600) * 1_000)
        if let server = form["serverUrl"], let token = form["token"] {
            return state.withLock { state in
                state.exchanges += 1
                guard state.servers.contains(server) else {
                    return Self.error(400, "Unable to generate token.", "The server is not federated.")
                }
                guard state.tokens.contains(token) else { return Self.error(498, "Invalid token.") }
                state.serverTokens.insert("server-\(state.exchanges)")
                return .json(#"{"token":"server-\#(state.exchanges)","expires":\#(expires),"ssl":false}"#)
            }
        }
        guard form["username"] == "ana", form["password"] == Self.password else {
            return Self.error(400, "Unable to generate token.", "Invalid username or password.")
        }
        state.withLock { $0.signIns += 1 }
        return .json(#"{"token":"\#(newToken())","expires":\#(expires),"ssl":false}"#)
    }

    private func authorize(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        let query = request.parameters
        guard query["client_id"] == "app", query["response_type"] == "code", query["code_challenge_method"] == "S256",
            let redirect = query["redirect_uri"], let challenge = query["code_challenge"],
            var target = URLComponents(string: redirect)
        else { return Self.error(400, "Invalid client_id") }
        let code = state.withLock { state in
            state.count += 1
            state.codes["code-\(state.count)"] = (challenge, redirect)
            return "code-\(state.count)"
        }
        target.queryItems = [
            URLQueryItem(name: "code", value: code), URLQueryItem(name: "state", value: query["state"]),
        ]
        return .answer(status: 302, headers: [("Location", target.string ?? "")], body: Data())
    }

    private func grant(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        let form = request.parameters
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"], let known = state.withLock({ $0.codes.removeValue(forKey: code) }),
                known.redirect == form["redirect_uri"],
                known.challenge == Self.challenge(of: form["code_verifier"] ?? "")
            else { return Self.oAuthError("Invalid code") }
        case "refresh_token":
            state.withLock { $0.refreshes += 1 }
            guard value(\.refreshTokens).contains(form["refresh_token"] ?? "") else {
                return .json(
                    #"{"error":{"code":498,"error":"invalid_grant","error_description":"refresh_token expired"}}"#)
            }
        case "client_credentials":
            guard form["client_secret"] == "s3cret" else { return Self.oAuthError("Invalid client_secret") }
        default: return Self.oAuthError("Unsupported grant_type")
        }
        let token = newToken()
        if losesAnswer() { return .breakOff }
        return .json(
            #"{"access_token":"\#(token)","expires_in":1800,"username":"ana","ssl":false,"refresh_token":"refresh-0"}"#)
    }

    static func oAuthError(_ text: String) -> LoopbackServer.Action {
        .json(#"{"error":{"code":400,"error":"invalid_request","error_description":"\#(text)","message":"\#(text)"}}"#)
    }

    private static func challenge(of verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
            .replacing("/", with: "_").replacing("=", with: "")
    }

    private func revoke(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        state.withLock { state in
            let token = request.parameters["auth_token"] ?? ""
            state.revoked.append(token)
            state.tokens.remove(token)
            state.refreshTokens.remove(token)
        }
        return .json(#"{"success":true}"#)
    }

    /// Runs a test with a portal, and a manager of its own.
    static func with(
        _ other: @escaping @Sendable (LoopbackServer.Request, PortalScript) -> LoopbackServer.Action? = { _, _ in nil },
        _ test: (PortalScript, LoopbackServer, AuthenticationManager) async throws -> Void
    ) async throws {
        let portal = PortalScript()
        try await LoopbackServer.with({ request in
            other(request, portal) ?? portal.answer(request) ?? PortalScript.error(404, "Not found")
        }) { server in
            try await test(portal, server, AuthenticationManager())
        }
    }
}

/// Answers challenges as a test says, and counts them.
final class ScriptedHandler: ArcGISAuthenticationChallengeHandler {
    typealias Answer =
        @Sendable (ArcGISAuthenticationChallenge) async throws ->
        ArcGISAuthenticationChallenge.Disposition

    private let answer: Answer
    private let seen = Mutex<[ArcGISAuthenticationChallenge]>([])

    init(_ answer: @escaping Answer) { self.answer = answer }

    var challenges: [ArcGISAuthenticationChallenge] { seen.withLock { $0 } }

    func handleArcGISAuthenticationChallenge(
        _ challenge: ArcGISAuthenticationChallenge
    ) async throws -> ArcGISAuthenticationChallenge.Disposition {
        seen.withLock { $0.append(challenge) }
        return try await answer(challenge)
    }

    /// Signs in with the password of the scripted portal.
    static func signingIn(after pause: Duration = .milliseconds(50)) -> ScriptedHandler {
        ScriptedHandler { challenge in
            try await Task.sleep(for: pause)
            return .continueWithCredential(
                try await TokenCredential.credential(
                    for: challenge, username: "ana", password: PortalScript.password))
        }
    }
}

extension AuthenticationManager {
    /// A client that sends with what this manager knows.
    var client: HTTPServiceClient { HTTPServiceClient(pause: { _ in }, authentication: self) }
}

extension OAuthUserCredential {
    /// A sign-in of a while ago, with a token that has ended.
    static func old(_ portal: URL, token: String = "token-0", refresh: String = "refresh-0") throws
        -> OAuthUserCredential
    {
        guard let info = TokenInfo(accessToken: token, expirationDate: .distantFuture, isSSLRequired: false),
            let redirect = URL(string: "http://127.0.0.1/back")
        else { throw CocoaError(.coderInvalidValue) }
        return OAuthUserCredential(
            portalURL: portal, clientID: "app", redirectURL: redirect, username: "ana", token: info,
            refresh: .init(token: refresh, expirationDate: nil))
    }
}
