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

    /// The conflicts of a service by the address of its root or of one of its layers, as `Geodatabase.serviceURL` or
    /// `ServiceGeodatabase.url` give it. Nothing is asked before a method is called.
    public convenience init(serviceURL: URL) { self.init(serviceURL: serviceURL, client: HTTPServiceClient()) }

    init(serviceURL: URL, client: any ServiceClient) {
        let root = ServiceGeodatabase.serviceRoot(of: serviceURL)
        self.serviceURL = root
        self.client = FeatureServiceClient(root: root, client: client)
    }

    /// The conflicts in a state, or in any, the newest first. A service that keeps none because it can't be synchronised
    /// gives none. Throws `ServiceError` when the service can't be asked.
    public func conflicts(in state: EditConflict.State? = nil) async throws -> [EditConflict] {
        let service = try await service()
        guard service.capabilities.contains(.sync) else { return [] }
        var parameters = [(name: "f", value: "json")]
        if let state { parameters.append(("state", state.rawValue)) }
        let json = try await client.json(
            ServiceRequest(client.root.appending(path: "conflicts"), parameters))
        return try (json["conflicts"]?.arrayValue ?? []).map { try EditConflict(json: $0, service: service) }
    }

    /// One conflict as it is now. Throws `ServiceError.serverFailure` when there is none with this id.
    public func conflict(withID id: Int64) async throws -> EditConflict {
        let service = try await service()
        return try EditConflict(json: try await json(id), service: service)
    }

    /// Brings back what lost: the feature gets its values and keeps all others; a delete that lost is done, a feature that
    /// was deleted is there again. Throws `ServiceError.serverFailure` when the service refuses, with its reason; the
    /// conflict is open then as before. Without an answer it isn't sent again, since others may have changed the feature
    /// meanwhile: `conflict(withID:)` tells whether it was done.
    public func restore(_ conflict: EditConflict) async throws { try await settle(conflict, "restore") }

    /// Leaves what won, and takes the conflict from those that are open. Throws `ServiceError.serverFailure` when the
    /// service refuses.
    public func close(_ conflict: EditConflict) async throws { try await settle(conflict, "close") }

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
