import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Replicas that start from a prepared one: many crews get the same file, which was made once, and each goes on from its generation
/// under an id of its own. No row is read for them.
struct PreparedReplicas: Sendable {
    let store: any ReplicaStore
    let keeper: any WorkKeeper

    /// Registers the replica that an order wants to start from a prepared one; a client that never synchronises is not registered.
    /// - Returns: the prepared file, with what the answer says of the replica; nil for an order that starts from none.
    func start(
        _ order: ReplicaWorker.Order, _ worker: ReplicaWorker
    ) async throws -> (name: String, outcome: JSONObject)? {
        guard order.operation == .createReplica else { return nil }
        let request = try worker.request(order)
        guard let id = request.referenceID else { return nil }
        let prepared = try await reference(id, order)
        let name = ResultKind.geoPackage.name(id)
        guard try await keeper.kept(name) != nil else { throw Self.isGone(id) }
        var definition = prepared.definition.started(by: request.definition)
        let generation = prepared.generations.values.min() ?? 0
        if definition.syncModel != .none {
            // The prepared replica holds the change log back from its generation on, and lives for as long as crews start from it.
            try await store.acknowledge([:], of: id, in: order.service.name, at: order.moment)
            definition =
                try await store.registerReplica(definition, of: order.service.name, generation: generation).definition
        }
        var members = ReplicaAnswer.head(of: definition)
        members["responseType"] = "esriReplicaResponseTypeData"
        for member in ReplicaAnswer.generations(of: definition, { _ in generation }).members {
            members[member.key] = member.value
        }
        return (name, members)
    }

    /// The prepared replica of an id. Its file holds what the layers were when it was made: who would see them otherwise today does
    /// not get it.
    func reference(_ id: UUID, _ order: ReplicaWorker.Order) async throws -> Replica {
        guard let replica = try await store.replica(id, of: order.service.name), replica.state != .retired,
            let scope = replica.definition.preparedScope
        else { throw Self.isGone(id) }
        guard order.service.preparedScope(of: replica.definition.layers.map(\.layerID)) == scope else {
            throw ServiceError(
                code: 409, message: "The prepared replica is not for you to start from.",
                details: [
                    "The layers have changed since it was prepared, or you see less of them than its author. Have it prepared anew."
                ])
        }
        return replica
    }

    private static func isGone(_ id: UUID) -> ServiceError {
        .notFound("There is no prepared replica \(ReplicaID.text(id)) (any more).")
    }
}
