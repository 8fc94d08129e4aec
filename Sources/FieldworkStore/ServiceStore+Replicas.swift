package import FieldworkREST
package import Foundation

/// Replicas of every store that keeps the data of each service by itself.
extension ServiceStore {
    package func createReplica<Sink: ChangeSink>(
        _ definition: ReplicaDefinition, of service: ServiceName, into sink: Sink
    ) async throws -> (replica: Replica, document: Sink) {
        try await data(of: service).createReplica(definition, into: sink)
    }

    package func registerReplica(
        _ definition: ReplicaDefinition, of service: ServiceName, generation: Int64?
    ) async throws -> Replica {
        try await data(of: service).registerReplica(definition, generation: generation)
    }

    package func replicas(of service: ServiceName) async throws -> [Replica] { try await data(of: service).replicas() }

    package func replica(_ id: UUID, of service: ServiceName) async throws -> Replica? {
        try await data(of: service).replica(id)
    }

    package func retireReplica(_ id: UUID, of service: ServiceName) async throws -> Bool {
        try await data(of: service).retireReplica(id)
    }

    package func acknowledge(
        _ generations: [Int: Int64], of id: UUID, in service: ServiceName, at moment: Date
    ) async throws {
        try await data(of: service).acknowledge(generations, of: id, at: moment)
    }

    package func timeline(of service: ServiceName) async throws -> ServiceTimeline {
        try await data(of: service).timeline()
    }

    package func uploads(of id: UUID, to service: ServiceName) async throws -> [UUID] {
        try await data(of: service).uploads(of: id)
    }

    package func extract<Sink: ChangeSink>(
        _ request: ChangeRequest, from service: ServiceName, into sink: Sink
    ) async throws -> Sink {
        try await data(of: service).extract(request, into: sink)
    }

    package func logFloors(of service: ServiceName) async throws -> [Int: Int64] {
        try await data(of: service).logFloors()
    }

    package func compactLog(of service: ServiceName, silentSince silence: Date, olderThan age: Date) async throws -> Int
    {
        try await data(of: service).compactLog(silentSince: silence, olderThan: age)
    }

    package func apply(_ upload: ReplicaUpload, to service: ServiceName) async throws -> ReplicaUploadResult {
        try await data(of: service).apply(upload)
    }

    package func conflicts(
        in states: Set<MergeConflict.State>, of service: ServiceName, limit: Int
    ) async throws -> [MergeConflict] {
        try await data(of: service).conflicts(in: states, limit: limit)
    }

    package func conflict(_ id: Int64, of service: ServiceName) async throws -> MergeConflict? {
        try await data(of: service).conflict(id)
    }

    package func restoreConflict(
        _ id: Int64, of service: ServiceName, editor: String?, moment: Date
    ) async throws -> EditResult {
        try await data(of: service).restoreConflict(id, editor: editor, moment: moment)
    }

    package func closeConflict(_ id: Int64, of service: ServiceName) async throws {
        try await data(of: service).closeConflict(id)
    }
}
