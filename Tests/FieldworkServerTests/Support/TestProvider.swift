import Crypto
import CryptoExtras
import FieldworkGeometry
import FieldworkREST
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

@testable import FieldworkServer

/// A provider of sign-ins of the tests' own, on a loopback port: it signs with real keys, checks PKCE and the secret, and breaks
/// one rule where a test wants it.
final class TestProvider: Sendable {
    /// The one thing that is wrong with its answers.
    enum Fault: String, Sendable, CaseIterable {
        case none
        // Of the token.
        case nonce, audience, otherApplication, issuer, expired, ofTheFuture, noNonce, unsigned, sharedSecret, otherKey
        case changedAfterwards, critical
        // Of the provider.
        case slow, huge, elsewhere, failing, noToken, refusing
        /// Ends every connection. Its port stays its own: one that is free would soon be another test's.
        case down
        // Of its description.
        case otherIssuer, plainAddress

        static let ofTokens: [Fault] = [
            .nonce, .audience, .otherApplication, .issuer, .expired, .ofTheFuture, .noNonce, .unsigned, .sharedSecret,
            .otherKey, .changedAfterwards, .critical,
        ]
        static let ofProviders: [Fault] = [.slow, .huge, .elsewhere, .failing, .noToken, .refusing]
    }

    enum KeyKind: Sendable, CaseIterable {
        case rsa, pss, ec
    }

    private enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey, isPSS: Bool)
        case ec(P256.Signing.PrivateKey)
    }

    /// What a browser was sent here with.
    private struct Authorization {
        var nonce: String
        var challenge: String
        var redirect: String
    }

    private struct State {
        var fault = Fault.none
        var subject = "248289761001"
        var profile: [String: JSONValue] = [:]
        var key: Key
        var keyID = "first"
        var codes: [String: Authorization] = [:]
        var asked: [String: Int] = [:]
    }

    static let clientID = "fieldwork-client"
    static let clientSecret = "a secret: of + signs"

    private let state: Mutex<State>
    private let channel: Mutex<(any Channel)?> = Mutex(nil)

    private init(_ kind: KeyKind) throws { state = Mutex(State(key: try Self.makeKey(kind))) }

    static func with<Result>(
        _ kind: KeyKind = .ec, _ test: (TestProvider) async throws -> Result
    ) async throws -> Result {
        let provider = try TestProvider(kind)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                guard provider.fault != .down else { return channel.close() }
                return channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(provider))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        provider.channel.withLock { $0 = channel }
        let result: Result
        do {
            result = try await test(provider)
        } catch {
            try? await channel.close()
            throw error
        }
        try? await channel.close()
        return result
    }

    var issuer: String { "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)" }
    var fault: Fault {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }
    var subject: String {
        get { state.withLock { $0.subject } }
        set { state.withLock { $0.subject = newValue } }
    }

    func say(_ profile: [String: JSONValue]) { state.withLock { $0.profile = profile } }
    /// How often an address was asked.
    func count(_ path: String) -> Int { state.withLock { $0.asked[path] ?? 0 } }

    /// Signs with another key from now on, and gives that one alone.
    func rotate(_ kind: KeyKind = .ec) throws {
        let key = try Self.makeKey(kind)
        state.withLock { state in
            state.key = key
            state.keyID = "key \(state.asked["/token"] ?? 0)"
        }
    }

    private static func makeKey(_ kind: KeyKind) throws -> Key {
        switch kind {
        case .rsa: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048), isPSS: false)
        case .pss: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048), isPSS: true)
        case .ec: .ec(P256.Signing.PrivateKey())
        }
    }

    // MARK: Answers

    fileprivate struct Reply {
        var status = HTTPResponseStatus.ok
        var location: String?
        var body: [UInt8] = []
        var isHeld = false

        static func json(_ value: JSONValue, _ status: HTTPResponseStatus = .ok) -> Reply {
            var bytes: [UInt8] = []
            value.write(to: &bytes)
            return Reply(status: status, body: bytes)
        }
    }

    fileprivate func reply(_ head: HTTPRequestHead, _ body: [UInt8]) -> Reply {
        let parts = head.uri.split(separator: "?", maxSplits: 1).map(String.init)
        let path = parts.first ?? ""
        state.withLock { $0.asked[path, default: 0] += 1 }
        switch path {
        case "/.well-known/openid-configuration": return .json(description)
        case "/keys": return .json(["keys": [key]])
        case "/authorize": return authorize(parts.count > 1 ? parts[1] : "")
        case "/token": return token(head, body)
        default: return Reply(status: .notFound)
        }
    }

    private var description: JSONValue {
        let fault = fault
        return [
            "issuer": .string(fault == .otherIssuer ? "http://127.0.0.1:9" : issuer),
            "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string(fault == .plainAddress ? "http://gis.example/token" : "\(issuer)/token"),
            "jwks_uri": .string("\(issuer)/keys"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["none", "HS256", "RS256", "PS256", "ES256"],
            "authorization_response_iss_parameter_supported": true,
        ]
    }

    /// The public half of the key, as a JSON Web Key.
    private var key: JSONValue {
        let (key, id) = state.withLock { ($0.key, $0.keyID) }
        switch key {
        case .rsa(let key, _):
            guard let parts = try? key.publicKey.getKeyPrimitives() else { return [:] }
            return [
                "kty": "RSA", "use": "sig", "kid": .string(id), "n": .string(Self.text(parts.modulus)),
                "e": .string(Self.text(parts.publicExponent)),
            ]
        case .ec(let key):
            let point = key.publicKey.rawRepresentation
            return [
                "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(id),
                "x": .string(Self.text(point.prefix(32))), "y": .string(Self.text(point.suffix(32))),
            ]
        }
    }

    /// The person signs in at once.
    private func authorize(_ query: String) -> Reply {
        guard let fields = try? RequestParameters(FormURLEncoded.fields(query.utf8)), let nonce = fields["nonce"],
            let challenge = fields["code_challenge"], fields["code_challenge_method"] == "S256",
            fields["client_id"] == Self.clientID, fields["response_type"] == "code",
            fields["scope"]?.contains("openid") == true, let redirect = fields["redirect_uri"],
            let back = fields["state"]
        else { return Reply(status: .badRequest) }
        let code = UUID().uuidString
        state.withLock {
            $0.codes[code] = Authorization(nonce: nonce, challenge: challenge, redirect: redirect)
        }
        let query = AuthorizationRequest.query([("code", code), ("state", back), ("iss", issuer)])
        return Reply(status: .found, location: "\(redirect)?\(query)")
    }

    private func token(_ head: HTTPRequestHead, _ body: [UInt8]) -> Reply {
        switch fault {
        case .slow: return Reply(isHeld: true)
        case .huge: return Reply(body: Array(repeating: 0x20, count: Limits.providerBytes * 2) + Array("{}".utf8))
        case .elsewhere: return Reply(status: .temporaryRedirect, location: "\(issuer)/stolen")
        case .failing: return Reply(status: .internalServerError, body: Array("no".utf8))
        case .noToken: return .json(["access_token": "x"])
        case .refusing: return .json(["error": "invalid_grant"], .badRequest)
        default: break
        }
        let secret = ["fieldwork-client", "a%20secret%3A%20of%20%2B%20signs"].joined(separator: ":")
        guard head.headers.first(name: "Authorization") == "Basic \(Data(secret.utf8).base64EncodedString())",
            let fields = try? RequestParameters(FormURLEncoded.fields(body)), let code = fields["code"],
            let asked = state.withLock({ $0.codes.removeValue(forKey: code) }),
            fields["redirect_uri"] == asked.redirect,
            let verifier = fields["code_verifier"],
            Self.text(Data(SHA256.hash(data: Data(verifier.utf8)))) == asked.challenge
        else { return .json(["error": "invalid_grant"], .badRequest) }
        guard let token = try? signed(asked.nonce) else { return Reply(status: .internalServerError) }
        return .json(["access_token": "x", "token_type": "Bearer", "id_token": .string(token)])
    }

    // MARK: Tokens

    private func signed(_ nonce: String) throws -> String {
        let (fault, key, id) = state.withLock { ($0.fault, $0.key, $0.keyID) }
        var claims = claims(nonce, fault)
        var head = JSONObject(["typ": "JWT", "kid": .string(id)])
        head["alg"] =
            switch (fault, key) {
            case (.unsigned, _): "none"
            case (.sharedSecret, _): "HS256"
            case (_, .rsa(_, let isPSS)): isPSS ? "PS256" : "RS256"
            case (_, .ec): "ES256"
            }
        if fault == .critical { head["crit"] = ["b64"] }
        let text = Self.text(Self.bytes(head)) + "." + Self.text(Self.bytes(claims))
        let signature: Data
        switch (fault, key) {
        case (.unsigned, _): signature = Data()
        case (.sharedSecret, _):
            // The public key, which everybody has, as if it were a secret.
            signature = Data(
                HMAC<SHA256>.authenticationCode(
                    for: Data(text.utf8), using: SymmetricKey(data: Data(self.key.text.utf8))))
        case (.otherKey, .rsa(_, let isPSS)):
            signature = try Self.signature(text, .rsa(_RSA.Signing.PrivateKey(keySize: .bits2048), isPSS: isPSS))
        case (.otherKey, .ec): signature = try Self.signature(text, .ec(P256.Signing.PrivateKey()))
        default: signature = try Self.signature(text, key)
        }
        guard fault == .changedAfterwards else { return text + "." + Self.text(signature) }
        claims["sub"] = "somebody else"
        return Self.text(Self.bytes(head)) + "." + Self.text(Self.bytes(claims)) + "." + Self.text(signature)
    }

    private func claims(_ nonce: String, _ fault: Fault) -> JSONObject {
        let now = Date().timeIntervalSince1970.rounded()
        var claims = JSONObject([
            "iss": .string(fault == .issuer ? "https://other.example" : issuer), "sub": .string(subject),
            "aud": .string(fault == .audience ? "another-client" : Self.clientID), "exp": .number(now + 300),
            "iat": .number(now), "nonce": .string(fault == .nonce ? "another" : nonce),
        ])
        switch fault {
        case .expired: (claims["exp"], claims["iat"]) = (.number(now - 61), .number(now - 400))
        case .ofTheFuture: (claims["exp"], claims["iat"]) = (.number(now + 900), .number(now + 300))
        case .noNonce: claims["nonce"] = nil
        case .otherApplication: (claims["aud"], claims["azp"]) = ([.string(Self.clientID), "b"], "b")
        default: break
        }
        for (name, value) in state.withLock({ $0.profile }) { claims[name] = value }
        return claims
    }

    private static func signature(_ text: String, _ key: Key) throws -> Data {
        switch key {
        case .rsa(let key, let isPSS):
            try key.signature(for: SHA256.hash(data: Data(text.utf8)), padding: isPSS ? .PSS : .insecurePKCS1v1_5)
                .rawRepresentation
        case .ec(let key): try key.signature(for: Data(text.utf8)).rawRepresentation
        }
    }

    private static func bytes(_ object: JSONObject) -> Data {
        var bytes: [UInt8] = []
        JSONValue.object(object).write(to: &bytes)
        return Data(bytes)
    }

    private static func text(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads requests whole, and answers them.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let provider: TestProvider
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ provider: TestProvider) { self.provider = provider }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let buffer): body += buffer.readableBytesView
            case .end:
                guard let head else { return }
                let reply = provider.reply(head, body)
                guard !reply.isHeld else { return }
                var headers = HTTPHeaders([("Content-Length", "\(reply.body.count)")])
                headers.add(name: "Content-Type", value: "application/json")
                if let location = reply.location { headers.add(name: "Location", value: location) }
                let answer = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
                context.write(wrapOutboundOut(.head(answer)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
