public import FieldworkGeometry
import FieldworkREST
import FieldworkStore
public import Foundation
import Synchronization

/// A file of features on this device: an OGC GeoPackage, which other programs may open and edit as well.
///
/// A ``GenerateGeodatabaseJob`` makes one of an area of a service; ``createEmpty(fileURL:)`` makes one that belongs to no service.
/// Edits are on the disk when `add`, `update` and `delete` of a table return. Triggers within the file log every edit, also those
/// of other programs, so that ``SyncGeodatabaseJob`` finds them.
///
/// ```swift
/// let geodatabase = Geodatabase(fileURL: file)
/// try await geodatabase.load()
/// guard let trees = geodatabase.featureTable(named: "Trees") else { return }
/// try geodatabase.beginTransaction()
/// try await trees.add(tree)
/// try await trees.add(another)
/// try geodatabase.commitTransaction()       // both, or neither after rollbackTransaction()
/// try await geodatabase.undo()              // takes both back
/// ```
///
/// A transaction belongs to the geodatabase and not to a task: every edit between begin and commit or rollback is part of
/// it, wherever it is made. What changes is behind locks or in `Streamed`, which locks for itself.
public final class Geodatabase: Loadable, @unchecked Sendable {
    /// How a replica counts what it has: not at all, as a whole, or layer by layer.
    public enum SyncModel: String, Sendable {
        /// No replica, one generation for all, or one for each layer.
        case none, geodatabase, layer
    }

    private struct State {
        var session: GeodatabaseSession?
        var tables: [GeodatabaseFeatureTable] = []
        var isClosed = false
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// Whether a transaction is open.
    @Streamed public private(set) var isInTransaction = false
    /// The file; that of the package for a geodatabase in a map package of one file.
    public let fileURL: URL
    private let part: Range<Int>?
    private let loading: LoadOnce
    private let state = Mutex(State())

    /// A geodatabase by its file, which is not touched before `load`.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        part = nil
        loading = LoadOnce(status: _loadStatus)
    }

    init(_ file: FileSection) {
        fileURL = file.url
        part = file.bytes
        loading = LoadOnce(status: _loadStatus)
    }

    /// Makes a new file without tables. Throws `CommonError.illegalState` when there is a file already.
    public static func createEmpty(fileURL: URL) async throws -> Geodatabase {
        let name = ServiceName(name: fileURL.deletingPathExtension().lastPathComponent)
        let session = try await GeodatabaseSession.create(
            at: fileURL, definition: ServiceDefinition(name: name, layers: []))
        session.file.closeNow()
        let geodatabase = Geodatabase(fileURL: fileURL)
        try await geodatabase.load()
        return geodatabase
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Opens the file. Throws `CommonError.notFound` when there is none, `CommonError.io` when it is no GeoPackage,
    /// `GeodatabaseError.databaseClosed` after `close`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            guard FileManager.default.fileExists(atPath: fileURL.path) else {
                throw CommonError.notFound(details: "There is no file \(fileURL.lastPathComponent).")
            }
            if let part {
                adopt(try await GeodatabaseSession.look(at: fileURL, part: part))
            } else {
                adopt(try await GeodatabaseSession.open(at: fileURL))
            }
        }
    }

    private func adopt(_ session: GeodatabaseSession) {
        let tables = session.file.definition.layers.map {
            GeodatabaseFeatureTable(geodatabase: self, layer: $0, session: session)
        }
        let isClosed = state.withLock { state in
            if !state.isClosed { (state.session, state.tables) = (session, tables) }
            return state.isClosed
        }
        if isClosed { session.file.closeNow() }
    }

    func openSession() throws -> GeodatabaseSession {
        let (session, isClosed) = state.withLock { ($0.session, $0.isClosed) }
        if isClosed { throw GeodatabaseError.databaseClosed(details: "The geodatabase is closed.") }
        guard let session else { throw MappingError.notLoaded(details: "The geodatabase is not loaded.") }
        return session
    }

    func withTables<Result>(_ body: (inout [GeodatabaseFeatureTable]) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0.tables) }
    }

    /// Ends the work with the file; an open transaction is rolled back. All that was committed is in the file itself when
    /// the call returns: it may be copied, moved or deleted.
    public func close() {
        let session = state.withLock { state in
            state.isClosed = true
            defer { state.session = nil }
            return state.session
        }
        session?.file.closeNow()
        isInTransaction = false
    }

    // MARK: Tables

    /// The tables, with and without geometry, in the order of their layer ids; none before the geodatabase is loaded.
    public var featureTables: [GeodatabaseFeatureTable] { state.withLock { $0.tables } }

    /// The table of a name; nil when there is none.
    public func featureTable(named name: String) -> GeodatabaseFeatureTable? {
        featureTables.first { $0.tableName == name }
    }

    /// The table of a layer's id in the service; nil when there is none.
    public func featureTable(withServiceLayerID id: Int) -> GeodatabaseFeatureTable? {
        featureTables.first { $0.serviceLayerID == Int64(id) }
    }

    // MARK: Edits and transactions

    /// Whether there are edits since the last sync, also such that another program made while the file was closed.
    public var hasLocalEdits: Bool { state.withLock { $0.session }?.hasLocalEdits ?? false }

    /// How many features have edits that the service has not taken: those since the last sync and those that it refused, which stay
    /// in the file and go again with the next sync. In a file that is no replica all edits count. Throws as `load` does. Not part of
    /// the vendor's API, whose counts of a table know the last sync alone.
    public func localEditsCount() async throws -> Int {
        try await load()
        return try await openSession().localEditsCount()
    }

    /// Opens a transaction. Throws `CommonError.illegalState` inside another one.
    public func beginTransaction() throws {
        try openSession().beginTransaction()
        isInTransaction = true
    }

    /// Makes all edits since the begin durable, at once. Throws `CommonError.io` when it can't; the transaction is then
    /// still open, unless the device ended it.
    public func commitTransaction() throws {
        let session = try openSession()
        defer { isInTransaction = session.file.isInTransaction }
        try session.commitTransaction()
    }

    /// Takes back all edits since the begin. Feature objects in hand are stale afterwards.
    public func rollbackTransaction() throws {
        let session = try openSession()
        defer { isInTransaction = session.file.isInTransaction }
        try session.rollbackTransaction()
    }

    // MARK: Replica

    var replica: ReplicaRecord? { state.withLock { $0.session }?.replica }

    /// The service that the file was taken from; nil for a file that is no replica.
    public var serviceURL: URL? { replica?.serviceURL }

    /// The replica's id at the service; nil for a file that is no replica.
    public var syncID: UUID? { replica?.replicaID }

    /// How the replica counts what it has.
    public var syncModel: SyncModel { replica?.syncModel ?? .none }

    /// The newest generation of the service that the file has; 0 for a file that is no replica.
    public var serverGeneration: Int64 {
        guard let replica else { return 0 }
        return replica.layerGenerations.values.max() ?? replica.serverGeneration
    }

    /// The oldest generation that a layer of the file has.
    public var minServerGeneration: Int64 {
        guard let replica else { return 0 }
        return replica.layerGenerations.values.min() ?? replica.serverGeneration
    }

    /// The area that was taken offline; edits outside of it are refused.
    public var generateGeodatabaseGeometry: Geometry? { replica?.area }

    /// The extent of the area that was taken offline.
    public var generateGeodatabaseExtent: Envelope? { replica?.area?.extent }
}
