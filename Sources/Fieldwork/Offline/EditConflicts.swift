import FieldworkREST
public import Foundation
import Synchronization

/// The conflicts that a feature service keeps, and the two ways to settle one: leave what won, or bring back what lost.
/// Not part of the vendor's API.
///
/// A conflict blocks nothing: edits and synchronisations go on while it is open. What a settling replaces goes to the
/// history of the feature like any edit.
public final class EditConflicts: Sendable {
    /// The address of the feature service.
    public let serviceURL: URL
    private let client: FeatureServiceClient
    private let definition = Mutex<ServiceDefinition?>(nil)
    private let kept: KeptConflicts?

    /// The conflicts of a service by the address of its root or of one of its layers, as `Geodatabase.serviceURL` or
    /// `ServiceGeodatabase.url` give it. Nothing is asked before a method is called.
    ///
    /// - Parameter file: keeps what the service told last, and what `decideLater(_:restoring:)` was told. Without a connection
    ///   the conflicts come from there. nil keeps nothing.
    public convenience init(serviceURL: URL, keptIn file: URL? = nil) {
        self.init(serviceURL: serviceURL, keptIn: file, client: HTTPServiceClient())
    }

    init(serviceURL: URL, keptIn file: URL? = nil, client: any ServiceClient) {
        kept = file.map(KeptConflicts.init)
        let root = ServiceGeodatabase.serviceRoot(of: serviceURL)
        self.serviceURL = root
        self.client = FeatureServiceClient(root: root, client: client)
    }

    /// The conflicts in a state, or in any, the newest first. A service that keeps none because it can't be synchronised
    /// gives none. Throws `ServiceError` when the service can't be asked and nothing is kept of it.
    ///
    /// With a file, decisions that wait are sent first; a conflict whose decision still waits counts as decided.
    public func conflicts(in state: EditConflict.State? = nil) async throws -> [EditConflict] {
        guard let kept else { return try await asked(state) }
        do {
            if try !kept.content().decisions.isEmpty { try await sendDecisions() }
            let service = try await service()
            let told = service.capabilities.contains(.sync) ? try await list(state) : []
            let known = try kept.content()
            let conflicts = Self.merged(told, in: state, with: known.conflicts)
            if known.service != service || known.conflicts != conflicts {
                try kept.change { content in
                    content.service = service
                    content.conflicts = conflicts
                }
            }
        } catch ServiceError.connectionFailed(let details) {
            guard try kept.content().service != nil else { throw ServiceError.connectionFailed(details: details) }
        }
        return try known(kept.content()).filter { state == nil || $0.state == state }
    }

    /// One conflict as it is now; with a file and without a connection, as it was told last. Throws
    /// `ServiceError.serverFailure` when there is none with this id.
    public func conflict(withID id: Int64) async throws -> EditConflict {
        do {
            let service = try await service()
            return try EditConflict(json: try await json(id), service: service)
        } catch ServiceError.connectionFailed(let details) {
            guard let content = try kept?.content(), let last = try known(content).first(where: { $0.id == id }) else {
                throw ServiceError.connectionFailed(details: details)
            }
            return last
        }
    }

    private func asked(_ state: EditConflict.State?) async throws -> [EditConflict] {
        let service = try await service()
        guard service.capabilities.contains(.sync) else { return [] }
        return try await list(state).map { try EditConflict(json: $0, service: service) }
    }

    private func list(_ state: EditConflict.State?) async throws -> [JSONValue] {
        var parameters = [(name: "f", value: "json")]
        if let state { parameters.append(("state", state.rawValue)) }
        let json = try await client.json(ServiceRequest(client.root.appending(path: "conflicts"), parameters))
        return json["conflicts"]?.arrayValue ?? []
    }

    /// What was told of one state takes the place of what was known of that state.
    private static func merged(
        _ told: [JSONValue], in state: EditConflict.State?, with known: [JSONValue]
    ) -> [JSONValue] {
        guard let state else { return told }
        let ids = Set(told.compactMap { $0["id"]?.integerValue })
        return told
            + known.filter { json in
                json["state"]?.stringValue != state.rawValue && !ids.contains(json["id"]?.integerValue ?? -1)
            }
    }

    /// What the file tells, the newest first: a conflict that is decided here is not open.
    private func known(_ content: KeptConflicts.Content) throws -> [EditConflict] {
        guard let service = content.service else { return [] }
        let conflicts = try content.conflicts.map { json in
            var conflict = try EditConflict(json: json, service: service)
            if let waiting = content.decisions.last(where: { $0.id == conflict.id }) {
                conflict.state = waiting.decision == .restore ? .restored : .decided
            }
            return conflict
        }
        return conflicts.sorted { ($0.date, $0.id) > ($1.date, $1.id) }
    }

    // MARK: Settling

    /// Brings back what lost: the feature gets its values and keeps all others; a delete that lost is done, a feature that
    /// was deleted is there again. Throws `ServiceError.serverFailure` when the service refuses, with its reason; the
    /// conflict is open then as before. Without an answer it isn't sent again, since others may have changed the feature
    /// meanwhile: `conflict(withID:)` tells whether it was done.
    public func restore(_ conflict: EditConflict) async throws { try await settle(conflict, "restore") }

    /// Leaves what won, and takes the conflict from those that are open. Throws `ServiceError.serverFailure` when the
    /// service refuses.
    public func close(_ conflict: EditConflict) async throws { try await settle(conflict, "close") }

    /// Keeps a decision until the service can be reached: for when `restore(_:)` or `close(_:)` throws
    /// `ServiceError.connectionFailed`. It is on the disk when this returns, and is sent by the next `conflicts(in:)` or
    /// `sendDecisions()` that reaches the service. Throws `CommonError.illegalState` without a file to keep it in.
    /// - Parameter restoring: whether what lost is to come back; else what won stays.
    public func decideLater(_ conflict: EditConflict, restoring: Bool) throws {
        guard let kept else { throw CommonError.illegalState(details: "There is no file to keep the decision in.") }
        try kept.change { content in
            content.decisions.removeAll { $0.id == conflict.id }
            content.decisions.append((conflict.id, restoring ? .restore : .close))
        }
    }

    /// How many decisions wait to be sent.
    public var waitingDecisionCount: Int { (try? kept?.content().decisions.count) ?? 0 }

    /// Sends the decisions that wait, each once: a conflict that somebody settled meanwhile is left as it is, and one whose
    /// decision the service refuses is open again. Throws `ServiceError.connectionFailed` when the service can't be reached;
    /// what wasn't sent still waits.
    public func sendDecisions() async throws {
        guard let kept else { return }
        for (id, decision) in try kept.content().decisions {
            do {
                // An answer may have been lost: what is done already isn't done again.
                if try await json(id)["state"]?.stringValue == EditConflict.State.open.rawValue {
                    _ = try await json(id, decision.rawValue)
                }
            } catch ServiceError.connectionFailed(let details) {
                throw ServiceError.connectionFailed(details: details)
            } catch is ServiceError {
                // Refused: the user sees it open, and decides anew.
            }
            try kept.change { content in content.decisions.removeAll { $0.id == id && $0.decision == decision } }
        }
    }

    private func settle(_ conflict: EditConflict, _ action: String) async throws {
        let answer = try await json(conflict.id, action)
        guard answer["success"] == .bool(true) else {
            let reason = answer["error"]?.stringValue ?? "The service gave no reason."
            throw ServiceError.serverFailure(details: reason)
        }
    }

    private func json(_ id: Int64, _ action: String? = nil) async throws -> JSONValue {
        var url = client.root.appending(path: "conflicts/\(id)")
        if let action { url.append(path: action) }
        return try await client.json(ServiceRequest(url, [("f", "json")], isRead: action == nil))
    }

    private func service() async throws -> ServiceDefinition {
        if let known = definition.withLock({ $0 }) { return known }
        let asked = try await client.definition()
        definition.withLock { $0 = asked }
        return asked
    }
}
