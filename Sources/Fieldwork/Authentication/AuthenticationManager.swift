public import Foundation
import Synchronization

/// Sees to it that services know who asks: sends tokens with requests, renews them, and has the app's handler asked when
/// there is none. Reach it as `ArcGISEnvironment.authenticationManager`.
///
/// A token goes in the header `X-Esri-Authorization`, never in an address, and to no host but those of its server or portal.
public final class AuthenticationManager: Sendable {
    private struct State: Sendable {
        var handler: (any ArcGISAuthenticationChallengeHandler)?
        var networkHandler: (any NetworkAuthenticationChallengeHandler)?
        var store = ArcGISCredentialStore()
        var networkStore = NetworkCredentialStore()
        var prompt: OAuthSignInPrompt?
        var derived: [ServerRoot: DerivedToken] = [:]
        var refusedAt: [String: ContinuousClock.Instant] = [:]
        var portals: [ServerRoot: ServerRoot] = [:]
    }

    private let state = Mutex(State())
    let challenges = SharedWork<String, Ending>(endsWithoutWaiters: true)
    let networkChallenges = SharedWork<String, NetworkAuthenticationChallenge.Disposition>(endsWithoutWaiters: true)
    let discoveries = SharedWork<ServerRoot, ServerRoot?>()

    /// A manager of its own, for tests: the process has one, in `ArcGISEnvironment`.
    package init() {}

    // MARK: Settings

    /// What is asked when a service wants to know who asks; nil for nothing. It is held strongly.
    public var arcGISAuthenticationChallengeHandler: (any ArcGISAuthenticationChallengeHandler)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// What is asked when a host wants a name and a password; nil for nothing. It is held strongly.
    public var networkAuthenticationChallengeHandler: (any NetworkAuthenticationChallengeHandler)? {
        get { state.withLock { $0.networkHandler } }
        set { state.withLock { $0.networkHandler = newValue } }
    }

    /// The credentials of services. A new one holds from the next request on.
    public var arcGISCredentialStore: ArcGISCredentialStore {
        get { state.withLock { $0.store } }
        set {
            state.withLock { state in
                state.store = newValue
                state.derived = [:]
                state.refusedAt = [:]
            }
        }
    }

    /// The credentials of hosts.
    public var networkCredentialStore: NetworkCredentialStore {
        get async { state.withLock { $0.networkStore } }
    }

    /// Sets the credentials of hosts.
    public func setNetworkCredentialStore(_ store: NetworkCredentialStore) async {
        state.withLock { $0.networkStore = store }
    }

    var networkStore: NetworkCredentialStore { state.withLock { $0.networkStore } }

    /// Opens sign-in pages for `OAuthUserCredential`; nil for nothing. Not part of the vendor's API, which opens the system's
    /// browser.
    public var oAuthSignInPrompt: OAuthSignInPrompt? {
        get { state.withLock { $0.prompt } }
        set { state.withLock { $0.prompt = newValue } }
    }

    // MARK: Signing out

    /// Forgets the credential for an address, on this device and at its server. Unsent edits stay on this device. Not part of
    /// the vendor's API.
    /// - Parameter url: the server or portal; nil for all of them.
    /// - Returns: whether the servers have ended the tokens too; one that could not be reached ends them when they expire.
    @discardableResult
    public func signOut(of url: URL? = nil) async -> Bool {
        let store = arcGISCredentialStore
        let credentials = url.map { [store.credential(for: $0)].compactMap(\.self) } ?? store.credentials
        state.withLock { state in
            state.derived = state.derived.filter { entry in !credentials.contains { $0 === entry.value.credential } }
        }
        // Gone here first: whatever the network does, the device holds nothing any more.
        for credential in credentials { store.remove(credential) }
        var areRevoked = true
        for credential in credentials {
            do { try await credential.revoke() } catch { areRevoked = false }
        }
        return areRevoked
    }

    /// The name of the person whose credential is sent to an address; nil for nobody.
    func username(for url: URL) -> String? {
        let credential =
            arcGISCredentialStore.credential(for: url) ?? ServerRoot(url).flatMap(derived)?.credential
        return credential.flatMap { $0.username.isEmpty ? nil : $0.username }
    }

    // MARK: What is known of servers

    /// The token of a server that belongs to a portal; nil when none has been made.
    func derived(for root: ServerRoot) -> DerivedToken? { state.withLock { $0.derived[root] } }

    func keep(_ token: DerivedToken, for root: ServerRoot) { state.withLock { $0.derived[root] = token } }

    func forgetDerived(for root: ServerRoot) { state.withLock { _ = $0.derived.removeValue(forKey: root) } }

    /// The portal that a server says it belongs to; nil for none, or when it can't be reached.
    func portal(of root: ServerRoot) async throws -> ServerRoot? {
        if let known = state.withLock({ $0.portals[root] }) { return known }
        return try await discoveries.value(of: root) { [self] in
            let portal = try await TokenService.info(of: root).portal
            state.withLock { $0.portals[root] = portal }
            return portal
        }
    }

    // MARK: Sign-ins that were refused

    /// A request that was under way when a person cancelled the sign-in does not ask again.
    func wasRefused(_ key: String, after start: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.refusedAt[key].map { $0 >= start } ?? false }
    }

    func noteRefusal(_ key: String) { state.withLock { $0.refusedAt[key] = .now } }
}

/// A token of a server, made for one of its portal.
struct DerivedToken: Sendable {
    /// The portal's.
    let credential: ArcGISCredential
    let holder: DerivedCredential
}

/// How a sign-in ended.
enum Ending: Sendable {
    case credential(ArcGISCredential)
    case without
    case cancelled(ArcGISAuthenticationChallenge)
    /// Nobody was asked: the sign-in had been cancelled while the request was under way.
    case refusedBefore
}

/// The credential of a server that belongs to a portal: its tokens are made for those of the portal's.
///
/// What changes is behind locks.
final class DerivedCredential: ArcGISCredential, @unchecked Sendable {
    private let portal: ArcGISCredential
    /// nil where the server takes the portal's own tokens.
    private let service: TokenService?
    private let server: ServerRoot

    init(portal: ArcGISCredential, service: TokenService?, server: ServerRoot, token: TokenInfo) {
        self.portal = portal
        self.service = service
        self.server = server
        super.init(url: server.url(""), username: portal.username, referer: portal.referer, token: token)
    }

    override func renewed(_ token: TokenInfo) async throws -> TokenInfo {
        guard service == nil else { return try await Self.token(of: portal, service, server) }
        return try await portal.token(besides: token.accessToken)
    }

    /// A token for a server. A portal's own token that has ended is renewed once on the way.
    static func token(
        of portal: ArcGISCredential, _ service: TokenService?, _ server: ServerRoot
    ) async throws -> TokenInfo {
        let held = try await portal.tokenInfo
        guard let service else { return held }
        do {
            return try await service.exchange(held.accessToken, for: server, referer: portal.referer)
        } catch is ArcGISAuthenticationError {
            let renewed = try await portal.token(besides: held.accessToken)
            return try await service.exchange(renewed.accessToken, for: server, referer: portal.referer)
        }
    }
}
