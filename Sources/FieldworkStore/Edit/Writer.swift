import FieldworkREST
import Foundation
import Synchronization

/// The one connection that writes a file. Batches that arrive while a transaction is being committed wait together and
/// share the next one: each has a savepoint and a generation of its own, and is acknowledged after the COMMIT that made
/// it durable.
actor Writer {
    private struct Waiting {
        var ticket: Int
        var batch: EditBatch
    }

    private struct Queue {
        var waiting: [Waiting] = []
        var lastTicket = 0
    }

    private nonisolated let executor: QueueExecutor
    private nonisolated let queue = Mutex(Queue())
    private let path: String
    private let keepsObjectIDs: Bool
    private var connection: SQLiteConnection?
    private var isClosed = false
    private var outcomes: [Int: Result<EditBatchResult, any Error>] = [:]
    private var catalogue: ServiceCatalogue
    private var rules: [Int: RowRules]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, catalogue: ServiceCatalogue, keepsObjectIDs: Bool) {
        self.path = path
        self.catalogue = catalogue
        self.keepsObjectIDs = keepsObjectIDs
        rules = catalogue.layers.mapValues(RowRules.init)
        executor = QueueExecutor(label: "fieldwork.writer")
    }

    nonisolated func apply(_ batch: EditBatch) async throws -> EditBatchResult {
        let ticket = queue.withLock { queue in
            queue.lastTicket += 1
            queue.waiting.append(Waiting(ticket: queue.lastTicket, batch: batch))
            return queue.lastTicket
        }
        return try await outcome(of: ticket)
    }

    /// Whoever comes first commits for all that wait; the others find their outcome.
    private func outcome(of ticket: Int) throws -> EditBatchResult {
        while outcomes[ticket] == nil { commitWaiting() }
        guard let outcome = outcomes.removeValue(forKey: ticket) else {
            throw StoreError(.failure, "A batch was lost before it was applied.")
        }
        return try outcome.get()
    }

    private func commitWaiting() {
        let batches = queue.withLock { queue in
            let taken = Array(queue.waiting.prefix(Limits.batchesPerCommit))
            queue.waiting.removeFirst(taken.count)
            return taken
        }
        do {
            let connection = try opened()
            var results: [Int: Result<EditBatchResult, any Error>] = [:]
            try connection.transaction {
                let applier = EditApplier(
                    connection: connection, catalogue: catalogue, rules: rules, keepsObjectIDs: keepsObjectIDs)
                for waiting in batches {
                    results[waiting.ticket] = try Self.outcome(of: waiting.batch, applier)
                }
                try EditApplier.close(on: connection)
            }
            outcomes.merge(results) { _, new in new }
        } catch {
            // The transaction is undone as a whole: nobody is told otherwise.
            for waiting in batches { outcomes[waiting.ticket] = .failure(error) }
        }
    }

    /// A batch that fails alone leaves the others in the transaction as they are.
    private static func outcome(
        of batch: EditBatch, _ applier: EditApplier
    ) throws -> Result<EditBatchResult, any Error> {
        do {
            return .success(try applier.apply(batch))
        } catch {
            guard applier.connection.isInTransaction else { throw error }
            return .failure(error)
        }
    }

    private func opened() throws -> SQLiteConnection {
        if isClosed { throw StoreError(.closed, "The store is closed.") }
        if let connection { return connection }
        let opened = try SQLiteConnection(path: path, mode: .readWrite)
        try opened.execute("PRAGMA journal_mode = WAL")
        try opened.execute("PRAGMA synchronous = FULL")
        connection = opened
        return opened
    }

    /// Something else that writes, in a transaction of its own.
    func write<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
        let connection = try opened()
        return try connection.transaction { try body(connection) }
    }

    /// Reads where no edit can come between two looks.
    func inspect<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
        try body(opened())
    }

    func replaceCatalogue(_ new: ServiceCatalogue) throws {
        try write { try new.write(on: $0) }
        catalogue = new
        rules = new.layers.mapValues(RowRules.init)
    }

    /// Moves the log into the file, so that the file alone is the whole truth.
    func checkpoint() throws {
        try opened().run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    func close() {
        guard !isClosed else { return }
        if let connection { try? connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        connection?.forgetStatements()
        connection = nil
        isClosed = true
    }
}
