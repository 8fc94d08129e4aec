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
        /// As it was when the open transaction began.
        var hadLocalEdits = false
        var isSyncing = false
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
            return try await session(over: GeoPackageStore.openFile(at: url))
        }
    }

    static func create(at url: URL, definition: ServiceDefinition) async throws -> GeodatabaseSession {
        try await onDevice {
            try await session(over: GeoPackageStore.createFile(at: url, definition: definition.takenOffline()))
        }
    }

    private static func session(over file: GeoPackageFile) async throws -> GeodatabaseSession {
        let replica = try await file.note(ReplicaRecord.note).map { try ReplicaRecord(json: JSONParser.parse($0)) }
        let session = GeodatabaseSession(file, Memory(replica: replica, hasLocalEdits: false))
        try await session.lookForEdits()
        return session
    }

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

    /// Looks whether the file has changes that the service has not: also those that another program made.
    func lookForEdits() async throws {
        let replica = replica
        var found = replica?.refused.values.contains { !$0.isEmpty } ?? false
        for layer in file.definition.layers where !found {
            let base = replica?.sentGeneration(of: layer.id) ?? 0
            found = try await !onDevice { try await file.changes(after: base, in: layer.id, limit: 1) }.isEmpty
        }
        memory.withLock { [found] in $0.hasLocalEdits = found }
    }

    /// Applies edits of one table, all or none; they are on disk when it returns, or belong to the open transaction.
    func apply(_ edits: LayerEdits) async throws -> LayerEditResults {
        let result = try await onDevice {
            try await file.apply(EditBatch(layers: [edits], usesGlobalIDs: true, moment: DeviceClock.now()))
        }
        let results = result.layers.first ?? LayerEditResults(layerID: edits.layerID)
        let failures = (results.adds + results.updates + results.deletes).compactMap(\.error)
        if let failure = failures.first(where: { $0 != .rolledBack }) ?? failures.first {
            throw GeodatabaseError(failure)
        }
        memory.withLock { $0.hasLocalEdits = true }
        return results
    }

    // MARK: Transactions

    func beginTransaction() throws {
        if memory.withLock({ $0.isSyncing }) {
            throw CommonError.illegalState(details: "The geodatabase is being synced.")
        }
        try translated { try file.beginTransaction() }
        memory.withLock { $0.hadLocalEdits = $0.hasLocalEdits }
    }

    func commitTransaction() throws { try translated { try file.commitTransaction() } }

    func rollbackTransaction() throws {
        try translated { try file.rollbackTransaction() }
        memory.withLock { $0.hasLocalEdits = $0.hadLocalEdits }
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
