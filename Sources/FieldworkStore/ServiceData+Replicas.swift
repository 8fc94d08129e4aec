package import FieldworkREST
package import Foundation

/// Replicas, deltas and merging of one service.
extension ServiceData {
    // MARK: Replicas

    /// See `ReplicaStore.createReplica`.
    package func createReplica<Sink: ChangeSink>(
        _ definition: ReplicaDefinition, into sink: Sink
    ) async throws -> (replica: Replica, document: Sink) {
        let request = try snapshotRequest(for: definition)
        // First the replica: from here on the log keeps what is committed while the rows are read. What it is given in
        // the rows already comes once more with the first delta, which changes nothing.
        let replica = try await registerReplica(definition, generation: nil)
        do {
            return (replica, try await extract(request, into: sink))
        } catch {
            _ = try? await retireReplica(definition.id)
            throw error
        }
    }

    /// What a new client of a replica asks for.
    package func snapshotRequest(for definition: ReplicaDefinition) throws -> ChangeRequest {
        let layers = try definition.layers.map { part in
            let layer = try layer(part.layerID).definition
            return ChangeRequest.Layer(
                layerID: part.layerID, since: nil,
                output: GeometryOutput(
                    spatialReference: definition.outputReference, returnsZ: layer.hasZ, returnsM: layer.hasM))
        }
        do throws(ServiceError) {
            return ChangeRequest(layers: layers, rows: try definition.rows(in: self.definition))
        } catch {
            throw StoreError(.invalidQuery, error.details.first ?? error.message)
        }
    }

    package func registerReplica(_ definition: ReplicaDefinition, generation: Int64?) async throws -> Replica {
        for part in definition.layers { _ = try layer(part.layerID) }
        var definition = definition
        definition.view = view?.path
        return try await writer.write { [definition] connection in
            try ReplicaRegistry(connection: connection).create(
                definition, generation: generation ?? ChangeLog.generation(on: connection))
        }
    }

    package func replicas() async throws -> [Replica] {
        let path = view?.path
        return try await readers.read {
            try ReplicaRegistry(connection: $0).replicas().filter { $0.definition.view == path }
        }
    }

    package func replica(_ id: UUID) async throws -> Replica? {
        let path = view?.path
        return try await readers.read { try ReplicaRegistry(connection: $0).replica(id) }
            .flatMap { $0.definition.view == path ? $0 : nil }
    }

    package func retireReplica(_ id: UUID) async throws -> Bool {
        guard try await replica(id) != nil else { return false }
        return try await writer.write { try ReplicaRegistry(connection: $0).retire(id) }
    }

    package func acknowledge(_ generations: [Int: Int64], of id: UUID, at moment: Date) async throws {
        try await writer.write { try ReplicaRegistry(connection: $0).acknowledge(generations, of: id, at: moment) }
    }

    // MARK: Restorations

    package func timeline() async throws -> ServiceTimeline {
        try await readers.read { connection in
            ServiceTimeline(
                generation: try ChangeLog.generation(on: connection),
                restorations: try RestorationLog(connection: connection).all())
        }
    }

    package func uploads(of replicaID: UUID) async throws -> [UUID] {
        try await readers.read { connection in
            var found: [UUID] = []
            try connection.run(
                "SELECT upload_id FROM fieldwork_uploads WHERE replica_id = ?",
                bind: { try $0.bind(replicaID.uuidString, at: 1) },
                row: { if let id = UUID(uuidString: $0.text(0)) { found.append(id) } })
            return found
        }
    }

    // MARK: Changes

    package func extract<Sink: ChangeSink>(_ request: ChangeRequest, into sink: Sink) async throws -> Sink {
        let catalogue = catalogueSnapshot
        return try await readers.read(for: .stream, isRepeatable: false) { connection in
            var document = sink
            try ChangeExtractor(catalogue: catalogue, connection: connection).extract(request, into: &document)
            return document
        }
    }

    package func logFloors() async throws -> [Int: Int64] {
        let catalogue = catalogueSnapshot
        return try await readers.read { connection in
            var floors: [Int: Int64] = [:]
            for id in catalogue.layers.keys {
                floors[id] = max(catalogue.floor, try LogCompaction.floor(of: id, on: connection))
            }
            return floors
        }
    }

    package func compactLog(silentSince silence: Date, olderThan age: Date) async throws -> Int {
        let layers = Array(catalogueSnapshot.layers.values)
        return try await writer.write { connection in
            _ = try ReplicaRegistry(connection: connection).expire(before: silence)
            try EditTurns(connection: connection).forget(before: age)
            return try layers.reduce(0) {
                try $0 + LogCompaction(layer: $1, connection: connection).compact(before: age)
            }
        }
    }

    // MARK: Merging

    package func apply(_ upload: ReplicaUpload) async throws -> ReplicaUploadResult {
        guard let view else { return try await writer.edit { try UploadApplier(applier: $0).apply(upload) } }
        let restricted = try view.restricted(upload)
        return view.shown(try await writer.edit { try UploadApplier(applier: $0).apply(restricted) })
    }

    // MARK: Conflicts

    package func conflicts(in states: Set<MergeConflict.State>, limit: Int) async throws -> [MergeConflict] {
        // They tell of all fields and of features of others.
        guard view == nil else { return [] }
        return try await readers.read { try ConflictLog(connection: $0).conflicts(in: states, limit: limit) }
    }

    package func conflict(_ id: Int64) async throws -> MergeConflict? {
        guard view == nil else { return nil }
        return try await readers.read { try ConflictLog(connection: $0).conflict(id) }
    }

    package func restoreConflict(_ id: Int64, editor: String?, moment: Date) async throws -> EditResult {
        guard view == nil else { throw StoreError(.invalidQuery, "There is no conflict \(id).") }
        return try await writer.edit { try ConflictRestorer(applier: $0).restore(id, editor: editor, moment: moment) }
    }

    package func closeConflict(_ id: Int64) async throws {
        guard view == nil else { throw StoreError(.invalidQuery, "There is no conflict \(id).") }
        try await writer.write { connection in
            let log = ConflictLog(connection: connection)
            guard let conflict = try log.conflict(id) else {
                throw StoreError(.invalidQuery, "There is no conflict \(id).")
            }
            if conflict.state == .open { try log.set(.decided, of: id) }
        }
    }
}
