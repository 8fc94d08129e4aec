public import Foundation
import Synchronization

/// Who asks, for the services of one server or portal: a token and how to get the next one. Make one of its subclasses.
///
/// What changes is behind a lock.
public class ArcGISCredential: @unchecked Sendable {
    /// The server or portal that it is for.
    public let url: URL?
    /// The name of the person; empty where none is known.
    public let username: String
    /// What the token is bound to; empty for nothing.
    let referer: String
    /// Tells credentials apart in a file.
    let id: UUID
    private let state: Mutex<State>
    private let renewals = SharedWork<String, TokenInfo>()

    /// A store that keeps the credential on the disk.
    struct Keeper: Sendable {
        /// Is told of each new token, before it is used.
        var keep: @Sendable (ArcGISCredential) -> Void
        /// What is on the disk now: another process may have renewed the token.
        var read: @Sendable (UUID) -> CredentialRecord?
    }

    private struct State {
        var token: TokenInfo
        var keepers: [UUID: Keeper] = [:]
    }

    init(url: URL?, username: String, referer: String, token: TokenInfo, id: UUID = UUID()) {
        self.url = url
        self.username = username
        self.referer = referer
        self.id = id
        state = Mutex(State(token: token))
    }

    /// The token. It is renewed first when it has expired. Throws `ArcGISAuthenticationError` when it can't be renewed,
    /// `ServiceError.connectionFailed` when there is no network.
    public var tokenInfo: TokenInfo { get async throws { try await token(besides: nil) } }

    /// The token that is held, whether it is valid or not.
    var heldToken: TokenInfo { state.withLock { $0.token } }

    /// The root of its server.
    var root: ServerRoot? { url.flatMap(ServerRoot.init) }

    /// Whether it can get another token without a person.
    var isRenewable: Bool { true }

    /// Gets a new token in place of one. Subclasses say how.
    func renewed(_ token: TokenInfo) async throws -> TokenInfo {
        throw ArcGISAuthenticationError.tokenExpired(details: "The token can't be renewed. Sign in again.")
    }

    /// Ends what the server knows of the credential.
    func revoke() async throws {}

    /// What a file keeps of it.
    var record: CredentialRecord { CredentialRecord(self, kind: .pregenerated) }

    /// A token that is valid, and is not the one that a server has just refused. However many ask, it is renewed once.
    func token(besides refused: String?) async throws -> TokenInfo {
        let held = heldToken
        if isUsable(held, besides: refused) { return held }
        return try await renewals.value(of: "") { [self] in
            let held = heldToken
            // Renewed by somebody who began earlier.
            if isUsable(held, besides: refused) { return held }
            if let record = newerRecord(than: held), let token = record.info, isUsable(token, besides: refused) {
                adopt(record)
                state.withLock { $0.token = token }
                return token
            }
            let token = try await renewed(held)
            replace(token)
            return token
        }
    }

    private func isUsable(_ token: TokenInfo, besides refused: String?) -> Bool {
        token.accessToken != refused && (!isRenewable || !token.isDue())
    }

    /// Takes over a token, and lets the stores keep it before it is used.
    func replace(_ token: TokenInfo) {
        let keepers = state.withLock { state in
            state.token = token
            return Array(state.keepers.values)
        }
        for keeper in keepers { keeper.keep(self) }
    }

    /// Takes over what else another process has kept with a token; for subclasses.
    func adopt(_ record: CredentialRecord) {}

    private func newerRecord(than token: TokenInfo) -> CredentialRecord? {
        let keepers = state.withLock { Array($0.keepers.values) }
        return keepers.lazy.compactMap { $0.read(self.id) }.first { $0.token != token.accessToken }
    }

    /// Has changes told to a store; nil ends it.
    func connect(_ store: UUID, _ keeper: Keeper?) {
        state.withLock { $0.keepers[store] = keeper }
    }
}

extension ArcGISCredential: CustomStringConvertible, CustomReflectable {
    /// The name and the server, without secrets.
    public var description: String { "\(username.isEmpty ? "credential" : username) at \(root?.text ?? "no server")" }

    /// The name and the server, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["username": username, "url": url as Any]) }
}
