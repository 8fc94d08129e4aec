package import FieldworkREST
package import Foundation

extension GeoPackageStore: ReplicaStore {
    package var workFolder: URL { folder.appending(path: ".fieldwork", directoryHint: .isDirectory) }

    package func createReplica<Sink: ChangeSink>(
        _ definition: ReplicaDefinition, of service: ServiceName, into sink: Sink
    ) async throws -> (replica: Replica, document: Sink) {
        try await file(service).createReplica(definition, into: sink)
    }

    package func registerReplica(
        _ definition: ReplicaDefinition, of service: ServiceName, generation: Int64?
    ) async throws -> Replica {
        try await file(service).registerReplica(definition, generation: generation)
    }

    package func replicas(of service: ServiceName) async throws -> [Replica] { try await file(service).replicas() }

    package func replica(_ id: UUID, of service: ServiceName) async throws -> Replica? {
        try await file(service).replica(id)
    }

    package func retireReplica(_ id: UUID, of service: ServiceName) async throws -> Bool {
        try await file(service).retireReplica(id)
    }

    package func acknowledge(
        _ generations: [Int: Int64], of id: UUID, in service: ServiceName, at moment: Date
    ) async throws {
        try await file(service).acknowledge(generations, of: id, at: moment)
    }

    package func extract<Sink: ChangeSink>(
        _ request: ChangeRequest, from service: ServiceName, into sink: Sink
    ) async throws -> Sink {
        try await file(service).extract(request, into: sink)
    }

    package func write(
        _ request: ChangeRequest, of service: ServiceName, as definition: ServiceDefinition, into file: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64 {
        try await self.file(service).write(request, as: definition, into: file, notes: notes)
    }

    package func logFloors(of service: ServiceName) async throws -> [Int: Int64] { try await file(service).logFloors() }

    package func compactLog(of service: ServiceName, silentSince silence: Date, olderThan age: Date) async throws -> Int
    {
        try await file(service).compactLog(silentSince: silence, olderThan: age)
    }

    package func apply(_ upload: ReplicaUpload, to service: ServiceName) async throws -> ReplicaUploadResult {
        try await file(service).apply(upload)
    }

    package func conflicts(
        in states: Set<MergeConflict.State>, of service: ServiceName, limit: Int
    ) async throws -> [MergeConflict] {
        try await file(service).conflicts(in: states, limit: limit)
    }

    package func conflict(_ id: Int64, of service: ServiceName) async throws -> MergeConflict? {
        try await file(service).conflict(id)
    }

    package func restoreConflict(
        _ id: Int64, of service: ServiceName, editor: String?, moment: Date
    ) async throws -> EditResult {
        try await file(service).restoreConflict(id, editor: editor, moment: moment)
    }

    package func closeConflict(_ id: Int64, of service: ServiceName) async throws {
        try await file(service).closeConflict(id)
    }
}
