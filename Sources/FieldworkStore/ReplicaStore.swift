package import FieldworkREST
package import Foundation

/// A store that keeps replicas of its services in step with clients that work without a network.
package protocol ReplicaStore: FeatureStore {
    /// A folder for what is made on behalf of clients: jobs, results. Nothing in it is a service.
    var workFolder: URL { get }

    // MARK: Replicas

    /// Records a replica and reads its rows as one state; the replica's generation is that state's. A name that is taken
    /// gets a number. The same id again gives the replica that is there, with its rows as they are now.
    func createReplica<Sink: ChangeSink>(
        _ definition: ReplicaDefinition, of service: ServiceName, into sink: Sink
    ) async throws -> (replica: Replica, document: Sink)
    /// Records a replica whose rows the client has already.
    func registerReplica(
        _ definition: ReplicaDefinition, of service: ServiceName, generation: Int64?
    ) async throws -> Replica
    /// All replicas, also those that are expired or retired, by name.
    func replicas(of service: ServiceName) async throws -> [Replica]
    func replica(_ id: UUID, of service: ServiceName) async throws -> Replica?
    /// Ends a replica; false when there was none. Its client may still hand in edits.
    func retireReplica(_ id: UUID, of service: ServiceName) async throws -> Bool
    /// Takes note of the generations that a client says it has.
    func acknowledge(_ generations: [Int: Int64], of id: UUID, in service: ServiceName, at moment: Date) async throws

    /// Where the service is, and which earlier states were put back.
    func timeline(of service: ServiceName) async throws -> ServiceTimeline
    /// The uploads of a replica that the service has taken.
    func uploads(of id: UUID, to service: ServiceName) async throws -> [UUID]

    // MARK: Changes

    /// Reads changes, or whole layers, as one state of the service.
    func extract<Sink: ChangeSink>(
        _ request: ChangeRequest, from service: ServiceName, into sink: Sink
    ) async throws -> Sink
    /// Makes a GeoPackage of whole layers as one state of the service, for a client that works in it. Geometries stay in
    /// the layers' own references.
    /// - Parameters:
    ///   - definition: of the layers that the file gets.
    ///   - notes: what the file is to know about the generation that was copied.
    /// - Returns: that generation.
    func write(
        _ request: ChangeRequest, of service: ServiceName, as definition: ServiceDefinition, into file: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64
    /// Per layer the generation before which the change log is no longer kept.
    func logFloors(of service: ServiceName) async throws -> [Int: Int64]
    /// Lets replicas expire that have not been heard of since `silence`, and drops log entries older than `age` that no
    /// live replica needs. Returns the number of entries dropped.
    func compactLog(of service: ServiceName, silentSince silence: Date, olderThan age: Date) async throws -> Int

    // MARK: Merging

    /// Merges and applies what a client hands in, exactly once for each upload id.
    func apply(_ upload: ReplicaUpload, to service: ServiceName) async throws -> ReplicaUploadResult

    // MARK: Conflicts

    /// The newest first.
    func conflicts(
        in states: Set<MergeConflict.State>, of service: ServiceName, limit: Int
    ) async throws -> [MergeConflict]
    func conflict(_ id: Int64, of service: ServiceName) async throws -> MergeConflict?
    /// Brings back what lost in a conflict.
    func restoreConflict(
        _ id: Int64, of service: ServiceName, editor: String?, moment: Date
    ) async throws -> EditResult
    /// Says that somebody has looked at a conflict and that what won stays.
    func closeConflict(_ id: Int64, of service: ServiceName) async throws
}
