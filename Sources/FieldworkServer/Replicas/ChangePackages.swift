import Crypto
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// Packages of changes: what leads devices that have the file of a prepared replica to the state of a newer one. Devices that have
/// the same generation get the same package, which is made for the first of them.
final class ChangePackages: Sendable {
    private let store: any ReplicaStore
    private let keeper: any WorkKeeper
    /// The packages that are being made.
    private let running = Mutex<[UUID: Task<Void, any Error>]>([:])

    init(store: any ReplicaStore, keeper: any WorkKeeper) { (self.store, self.keeper) = (store, keeper) }

    /// The package that an order wants.
    /// - Returns: nil for an order that is no synchronisation of a prepared replica.
    func package(_ order: ReplicaWorker.Order, _ worker: ReplicaWorker) async throws -> (
        name: String, outcome: JSONObject
    )? {
        guard order.operation == .synchronizeReplica else { return nil }
        let id = try SynchronizeReplicaRequest.replicaID(order.parameters)
        guard let known = try await store.replica(id, of: order.service.name), known.definition.preparedScope != nil
        else { return nil }
        let replica = try await PreparedReplicas(store: store, keeper: keeper).reference(id, order)
        let (request, _) = try await worker.synchronization(order, replica.definition)
        let package = Self.id(of: request, replica.definition, order)
        let name = ResultKind.document.name(package)
        if let kept = try await keeper.kept(name) {
            // It lives for as long as crews are interested in it.
            try await store.acknowledge([:], of: id, in: order.service.name, at: order.moment)
            return (name, JSONObject(["fileSize": .integer(kept.size)]))
        }
        try await make(package, order, worker)
        guard let made = try await keeper.kept(name) else {
            throw StoreError(.failure, "A package of changes has gone.")
        }
        return (name, JSONObject(["fileSize": .integer(made.size)]))
    }

    /// Has the package made, or waits for who is making it.
    private func make(_ package: UUID, _ order: ReplicaWorker.Order, _ worker: ReplicaWorker) async throws {
        while true {
            let (task, isOwn) = running.withLock { [self] running in
                if let task = running[package] { return (task, false) }
                let task = Task { [self] in
                    defer { self.running.withLock { $0[package] = nil } }
                    try await keeper.makeShared(package) { _ = try await worker.perform(order, write: $0) }
                }
                running[package] = task
                return (task, true)
            }
            if isOwn {
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            }
            // One that was broken off with its client is begun again.
            if case .success = await task.result { return }
            try Task.checkCancellation()
        }
    }

    /// The same for all who want the same: the newer replica, what they have, and how they want it.
    private static func id(
        of request: SynchronizeReplicaRequest, _ replica: ReplicaDefinition, _ order: ReplicaWorker.Order
    ) -> UUID {
        let layers = request.layers.map { layer in
            "\(layer.layerID) \(layer.direction) \(layer.generation ?? -1) \(request.wholeLayers.contains(layer.layerID))"
        }
        let parts =
            [
                replica.id.uuidString, order.service.name.path, replica.preparedScope ?? "", order.address,
                "\(request.returnsAttachmentsByURL) \(request.knownRestoration ?? -1)",
            ] + layers
        let digest = Array(SHA256.hash(data: Data(parts.joined(separator: "\n").utf8)))
        return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
