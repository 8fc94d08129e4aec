import FieldworkREST
import Synchronization

/// What requests need of rights, as it was read from the database a moment ago.
final class RightsMemory: Sendable {
    struct Token: Sendable {
        var principal: Principal
        var expires: Int64
        var referer: String?
        var address: String?
    }

    private struct State {
        var version: String?
        /// When the database was asked, or is being asked, whether rights have changed.
        var checked: ContinuousClock.Instant?
        /// When it answered.
        var verified: ContinuousClock.Instant?
        /// Counts what was forgotten: what was read before must not be remembered after.
        var round: UInt64 = 0
        var tokens: [String: Token] = [:]
        /// By the lower-case path of a service.
        var services: [String: ItemFacts] = [:]
        var hasPeople: Bool?
        var views: [String: ServiceView]?
    }

    private let state = Mutex(State())

    var round: UInt64 { state.withLock { $0.round } }

    /// Whether the caller is to ask the database. Of several callers at a time one asks; the others go on with what is known.
    func claimCheck() -> Bool {
        state.withLock { state in
            if let checked = state.checked, checked.duration(to: .now) < .milliseconds(Limits.rightsMilliseconds) {
                return false
            }
            if state.verified != nil { state.checked = .now }
            return true
        }
    }

    func note(version: String) {
        state.withLock { state in
            if state.version != version { Self.forget(&state) }
            state.version = version
            state.checked = .now
            state.verified = .now
        }
    }

    /// Whether what is known still holds while the database does not answer: a fail-over takes seconds.
    var outlastsFailure: Bool {
        state.withLock { state in
            guard let verified = state.verified else { return false }
            return verified.duration(to: .now) < .seconds(Limits.rightsOutageSeconds)
        }
    }

    func forget() { state.withLock { Self.forget(&$0) } }

    private static func forget(_ state: inout State) {
        state.round &+= 1
        state.checked = nil
        state.verified = nil
        state.tokens.removeAll()
        state.services.removeAll()
        state.hasPeople = nil
        state.views = nil
    }

    func token(_ hash: String) -> Token? { state.withLock { $0.tokens[hash] } }
    func service(_ key: String) -> ItemFacts? { state.withLock { $0.services[key] } }
    var hasPeople: Bool? { state.withLock { $0.hasPeople } }
    var views: [String: ServiceView]? { state.withLock { $0.views } }

    func remember(_ token: Token, _ hash: String, round: UInt64) {
        keep(round) { state in
            if state.tokens.count >= Limits.rememberedRights { state.tokens.removeAll() }
            state.tokens[hash] = token
        }
    }

    func remember(_ facts: ItemFacts, _ key: String, round: UInt64) {
        keep(round) { state in
            if state.services.count >= Limits.rememberedRights { state.services.removeAll() }
            state.services[key] = facts
        }
    }

    func remember(hasPeople: Bool, round: UInt64) { keep(round) { $0.hasPeople = hasPeople } }
    func remember(views: [String: ServiceView], round: UInt64) { keep(round) { $0.views = views } }

    private func keep(_ round: UInt64, _ body: (inout State) -> Void) {
        state.withLock { state in
            if state.round == round { body(&state) }
        }
    }
}
