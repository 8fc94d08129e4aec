import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// An open geodatabase: the file, and what properties answer without waiting.
final class GeodatabaseSession: Sendable {
    private struct Memory {
        var replica: ReplicaRecord?
        var hasLocalEdits: Bool
        /// As they were when the open transaction began.
        var hadLocalEdits = false
        var couldUndo = UndoState()
        var undo = UndoState()
        var isSyncing = false
        /// Why the tables take no edits; nil where they do.
        var bar: String?
    }

    let file: GeoPackageFile
    private let memory: Mutex<Memory>

    private init(_ file: GeoPackageFile, _ memory: Memory) {
        self.file = file
        self.memory = Mutex(memory)
    }

    /// Opens a file. One that another program made gets what it lacks: ids, change log.
    static func open(at url: URL) async throws -> GeodatabaseSession {
        try await onDevice {
            try await GeoPackageFile.prepare(
                at: url, as: ServiceName(name: url.deletingPathExtension().lastPathComponent))
            return try await session(over: GeoPackageStore.openFile(at: url, options: options))
        }
    }

    /// Opens a file to look at it: nothing is written, and what an older version left out is not added. Throws
    /// `StoreError.notAGeoPackage` for a file that is not prepared.
    static func look(at url: URL) async throws -> GeodatabaseSession {
        try await looking(at: GeoPackageFile.look(at: url))
    }

    /// Opens a geodatabase that is a stretch of a map package of one file: its tables take no edits. Throws as `open`.
    static func look(at url: URL, part: Range<Int>) async throws -> GeodatabaseSession {
        let session = try await onDevice { try await looking(at: GeoPackageFile.look(at: url, part: part)) }
        session.bar("its map package is one file, which is read where it lies; unpack it to edit it")
        return session
    }

    private static func looking(at file: GeoPackageFile) async throws -> GeodatabaseSession {
        do {
            let replica = try await file.note(ReplicaRecord.note).map { try ReplicaRecord(json: JSONParser.parse($0)) }
            return GeodatabaseSession(file, Memory(replica: replica, hasLocalEdits: false))
        } catch {
            await file.close()
            throw error
        }
    }

    static func create(at url: URL, definition: ServiceDefinition) async throws -> GeodatabaseSession {
        try await onDevice {
            try await session(
                over: GeoPackageStore.createFile(at: url, definition: definition.takenOffline(), options: options))
        }
    }

    private static func session(over file: GeoPackageFile) async throws -> GeodatabaseSession {
        let replica = try await file.note(ReplicaRecord.note).map { try ReplicaRecord(json: JSONParser.parse($0)) }
        let session = GeodatabaseSession(file, Memory(replica: replica, hasLocalEdits: false))
        try await session.lookForEdits()
        try await session.lookForSteps()
        return session
    }

    private static let options = GeoPackageFile.Options(recordsUndo: true)

    // MARK: Replica

    var replica: ReplicaRecord? { memory.withLock { $0.replica } }

    /// Keeps what is known about the replica: on disk first.
    func keep(_ replica: ReplicaRecord?) async throws {
        try await onDevice { try await file.keepNote(replica?.json.text, as: ReplicaRecord.note) }
        memory.withLock { $0.replica = replica }
    }

    /// Runs a sync; a second one at the same time is refused.
    func syncing<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let isFree = memory.withLock { memory in
            defer { memory.isSyncing = true }
            return !memory.isSyncing
        }
        guard isFree else { throw CommonError.illegalState(details: "The geodatabase is being synced already.") }
        defer { memory.withLock { $0.isSyncing = false } }
        return try await body()
    }

    // MARK: Edits

    var hasLocalEdits: Bool { memory.withLock { $0.hasLocalEdits } }

    /// Why the tables may not be edited, as the end of a sentence; nil where they may.
    var bar: String? { memory.withLock { $0.bar } }

    /// Has the tables refuse edits: they would go nowhere.
    func bar(_ reason: String) { memory.withLock { $0.bar = reason } }

    /// Looks whether the file has changes that the service has not: also those that another program made.
    func lookForEdits() async throws {
        let replica = replica
        var found = replica?.hasRefused ?? false
        for layer in file.definition.layers where !found {
            let base = replica?.sentGeneration(of: layer.id) ?? 0
            found = try await !netAttachmentChanges(of: layer.id).isEmpty
            if found { break }
            // What was done and undone is no edit; most files that are opened have none at all.
            if try await onDevice({ try await file.changes(after: base, in: layer.id, limit: 1) }).isEmpty { continue }
            found = try await !netChanges(of: layer.id).isEmpty
        }
        memory.withLock { [found] in $0.hasLocalEdits = found }
    }

    /// Applies edits of one table, all or none; they are on disk when it returns, or belong to the open transaction.
    func apply(_ edits: LayerEdits) async throws -> LayerEditResults {
        let result = try await onDevice {
            try await file.apply(EditBatch(layers: [edits], usesGlobalIDs: true, moment: DeviceClock.now()))
        }
        let results = result.layers.first ?? LayerEditResults(layerID: edits.layerID)
        let failures = results.all.compactMap(\.error)
        if let failure = failures.first(where: { $0 != .rolledBack }) ?? failures.first {
            throw GeodatabaseError(failure)
        }
        memory.withLock { memory in
            memory.hasLocalEdits = true
            memory.undo = UndoState(canUndo: true)
        }
        return results
    }

    // MARK: Undo

    var undoState: UndoState { memory.withLock { $0.undo } }

    private func lookForSteps() async throws {
        let state = try await onDevice { try await file.undoState() }
        memory.withLock { $0.undo = state }
    }

    /// Takes the last step back, or does again what was taken back last.
    /// - Returns: whether that changed a feature.
    func step(back: Bool) async throws -> Bool {
        if file.isInTransaction {
            throw CommonError.illegalState(details: "Nothing can be undone or redone while a transaction is open.")
        }
        return try await syncing {
            let changed = try await onDevice {
                back ? try await file.undo(at: DeviceClock.now()) : try await file.redo(at: DeviceClock.now())
            }
            try await lookForSteps()
            try await lookForEdits()
            return changed
        }
    }

    /// Keeps what the service gives another state out of what can be undone.
    func barUndo(of objectIDs: [Int64], in layerID: Int) async throws {
        if objectIDs.isEmpty { return }
        try await onDevice { try await file.barUndo(of: objectIDs, in: layerID) }
    }

    /// The same of attachments.
    func barUndo(ofAttachments ids: [Int64], in layerID: Int) async throws {
        if ids.isEmpty { return }
        try await onDevice { try await file.barUndo(ofAttachments: ids, in: layerID) }
    }

    // MARK: Transactions

    func beginTransaction() throws {
        if memory.withLock({ $0.isSyncing }) {
            throw CommonError.illegalState(details: "The geodatabase is being synced.")
        }
        if let bar { throw GeodatabaseError.tableNotEditable(details: "The geodatabase takes no edits: \(bar).") }
        if file.isInTransaction { throw GeodatabaseError.transactionStarted(details: "A transaction is open already.") }
        try translated { try file.beginTransaction() }
        memory.withLock { memory in
            memory.hadLocalEdits = memory.hasLocalEdits
            memory.couldUndo = memory.undo
        }
    }

    func commitTransaction() throws {
        try checkTransaction()
        try translated { try file.commitTransaction() }
    }

    private func checkTransaction() throws {
        guard file.isInTransaction else {
            throw GeodatabaseError.transactionNotStarted(details: "No transaction is open.")
        }
    }

    func rollbackTransaction() throws {
        try checkTransaction()
        try translated { try file.rollbackTransaction() }
        memory.withLock { memory in
            memory.hasLocalEdits = memory.hadLocalEdits
            memory.undo = memory.couldUndo
        }
    }

    private func translated(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError {
            switch error.code {
            case .busy where file.isInTransaction: throw CommonError.illegalState(details: error.message)
            case .closed: throw GeodatabaseError.databaseClosed(details: error.message)
            default: throw CommonError.io(details: error.message)
            }
        }
    }
}

extension GeodatabaseError {
    /// Why the file refused an edit.
    init(_ error: EditError) {
        switch error.code {
        case 1_016: self = .itemAlreadyExists(details: error.description)
        case 1_018, 1_019: self = .itemNotFound(details: error.description)
        default: self = .invalidArgument(details: error.description)
        }
    }
}
