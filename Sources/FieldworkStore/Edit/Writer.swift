import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// The one connection that writes a file. Batches that arrive while a transaction is being committed wait together and
/// share the next one: each has a savepoint and a generation of its own, and is acknowledged after the COMMIT that made
/// it durable.
package actor Writer: ConnectionBudget.Holder {
    private struct Waiting {
        var ticket: Int
        var batch: EditBatch
        /// Of the request that brought it.
        var allowance: WorkAllowance?
    }

    private struct Queue {
        var waiting: [Waiting] = []
        var lastTicket = 0
    }

    nonisolated let executor: QueueExecutor
    private nonisolated let queue = Mutex(Queue())
    /// Whether its user has opened a transaction that spans batches.
    nonisolated let isInTransaction = Mutex(false)
    private let source: ConnectionSource
    private let options: GeoPackageFile.Options
    /// The first generation of the open transaction that spans batches.
    var transactionStart: Int64?
    private var connection: StoreConnection?
    /// How much of what is under way uses the connection.
    private var uses = 0
    private var isClosed = false
    /// nil for a database that is no file.
    private nonisolated let mover: LogMover?
    /// The state of the definition that was taken into account; in a file, of all that others have committed.
    private var dataVersion: Int64?
    /// When the file was last seen to be the one at its place.
    private var lastLook: ContinuousClock.Instant?
    private var outcomes: [Int: Result<EditBatchResult, any Error>] = [:]
    private var catalogue: ServiceCatalogue
    private var rules: [Int: RowRules]
    private var relationships: RelationshipRules

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(source: ConnectionSource, catalogue: ServiceCatalogue, options: GeoPackageFile.Options) {
        self.source = source
        self.catalogue = catalogue
        self.options = options
        mover = source.watch == nil ? nil : LogMover(source: source)
        rules = catalogue.layers.mapValues(RowRules.init)
        relationships = RelationshipRules(catalogue)
        executor = QueueExecutor(label: "fieldwork.writer")
    }

    nonisolated func apply(_ batch: EditBatch) async throws -> EditBatchResult {
        let ticket = queue.withLock { queue in
            queue.lastTicket += 1
            queue.waiting.append(Waiting(ticket: queue.lastTicket, batch: batch, allowance: WorkAllowance.current))
            return queue.lastTicket
        }
        return try await outcome(of: ticket)
    }

    /// Whoever comes first commits for all that wait; the others find their outcome.
    private func outcome(of ticket: Int) throws -> EditBatchResult {
        using { while outcomes[ticket] == nil { commitWaiting() } }
        guard let outcome = outcomes.removeValue(forKey: ticket) else {
            throw StoreError(.failure, "A batch was lost before it was applied.")
        }
        do {
            return try outcome.get()
        } catch let error as AllowanceError {
            // The same edits may be taken later.
            if error == .disturbed || error == .memoryOfAllIsUp { throw StoreError(.busy, error.description) }
            throw StoreError(.overLimit, "\(error.description) Nothing was changed. Send fewer edits in one request.")
        }
    }

    private func commitWaiting() {
        let batches = takeWaiting(relationships)
        do {
            try watched { try commitOrEachByItself(batches) }
        } catch {
            // The transaction is undone as a whole, or went into a file that is no longer in its place: nobody is told
            // otherwise.
            for waiting in batches { outcomes[waiting.ticket] = .failure(error) }
        }
    }

    private func commitOrEachByItself(_ batches: [Waiting]) throws {
        do {
            try commitTogether(batches)
        } catch is AllowanceError where batches.count > 1 {
            // One of them took too long and SQLite has undone them all: each by itself.
            for waiting in batches {
                do {
                    try commitTogether([waiting])
                } catch {
                    outcomes[waiting.ticket] = .failure(error)
                }
            }
        }
    }

    private func commitTogether(_ batches: [Waiting]) throws {
        do {
            try commit(batches)
        } catch is SavepointsNeeded {
            // One of the batches fails, or one of the edits broke a constraint, and the transaction with it: the same again, each
            // by itself.
            let connection = try opened()
            connection.usesSavepoints = true
            defer { connection.usesSavepoints = false }
            try commit(batches)
        }
    }

    private func commit(_ batches: [Waiting]) throws {
        let connection = try opened()
        if connection.isInTransaction {
            // Its user commits or rolls back: here each batch only stands or falls by itself.
            let applier = applier(on: connection)
            for waiting in batches {
                outcomes[waiting.ticket] = Result {
                    try applier.applyInSavepoint(waiting.batch, within: waiting.allowance)
                }
            }
        } else if batches.count == 1, let only = batches.first {
            outcomes[only.ticket] = .success(try commit(only, on: connection))
        } else {
            outcomes.merge(try commit(batches, on: connection)) { _, new in new }
        }
    }

    /// Small batches share a transaction. A large one has its own: within a savepoint SQLite would keep the old state of
    /// every page that it touches.
    private nonisolated func takeWaiting(_ relationships: RelationshipRules) -> [Waiting] {
        queue.withLock { queue in
            let small = queue.waiting.prefix(Limits.batchesPerCommit).prefix { $0.batch.isSmall(relationships) }
            let taken = small.isEmpty ? Array(queue.waiting.prefix(1)) : Array(small)
            queue.waiting.removeFirst(taken.count)
            return taken
        }
    }

    private func commit(_ waiting: Waiting, on connection: StoreConnection) throws -> EditBatchResult {
        let batch = waiting.batch
        try connection.begin()
        do {
            let applier = try freshApplier(on: connection)
            let (result, isKept) = try applier.apply(batch, within: waiting.allowance)
            if isKept { try applier.close() }
            if isKept { try connection.commit() } else { try connection.rollBack() }
            if !isKept, batch.turn != nil { try connection.transaction { try applier.takeTurn(of: batch) } }
            return result
        } catch {
            if connection.isInTransaction { try? connection.rollBack() }
            throw error
        }
    }

    private func commit(
        _ batches: [Waiting], on connection: StoreConnection
    ) throws -> [Int: Result<EditBatchResult, any Error>] {
        var results: [Int: Result<EditBatchResult, any Error>] = [:]
        try connection.transaction {
            let applier = try freshApplier(on: connection)
            for waiting in batches {
                results[waiting.ticket] = try result(of: waiting, applier)
            }
            try applier.close()
        }
        return results
    }

    /// Applies one of several batches of a transaction. Most succeed, so that the first attempt goes without savepoints: they cost
    /// a copy of each page that a batch touches.
    private func result(of waiting: Waiting, _ applier: EditApplier) throws -> Result<EditBatchResult, any Error> {
        let connection = applier.connection
        do {
            if connection.usesSavepoints {
                return .success(try applier.applyInSavepoint(waiting.batch, within: waiting.allowance))
            }
            let (result, isKept) = try applier.apply(waiting.batch, within: waiting.allowance)
            guard isKept else { throw SavepointsNeeded() }
            return .success(result)
        } catch {
            guard connection.isInTransaction, !(error is SavepointsNeeded) else { throw error }
            // A batch that fails alone leaves the others in the transaction as they are.
            guard connection.usesSavepoints else { throw SavepointsNeeded() }
            return .failure(error)
        }
    }

    /// Looks before and after that the file is the one at its place: nothing is acknowledged that went into another.
    private func watched<Result>(_ body: () throws -> Result) throws -> Result {
        guard let watch = source.watch, !isInTransaction.withLock({ $0 }) else { return try body() }
        // Where commit follows commit, the look after one is the look before the next.
        if lastLook.map({ ContinuousClock.now - $0 >= .microseconds(Limits.lookMicroseconds) }) ?? true {
            try watch.checkPatiently()
        }
        lastLook = nil
        let result = try body()
        do {
            try watch.checkPatiently()
            lastLook = .now
        } catch let error as StoreError where error.code == .busy {
            // It was committed into one of the two.
            throw StoreError(.inDoubt, error.message)
        }
        moveLongLog()
        return result
    }

    /// Moves what can be moved of the log, at once; for tests.
    nonisolated func movePages() {
        guard let watch = source.watch else { return }
        mover?.wait()
        executor.sync { assumeIsolated { writer in watch.movingLog { _ = try? writer.connection?.moveLog() } } }
    }

    /// Once the log is long it moves into the file: most of it beside the edits, the rest here.
    func moveLongLog() {
        guard let connection, let mover, let watch = source.watch, !connection.isInTransaction else { return }
        let pages = connection.loggedPages
        guard mover.advice(pages: pages) == .moveRest, (try? watch.check()) != nil else { return }
        var left: Int?
        watch.movingLog { left = try? connection.moveLog() }
        mover.restWasMoved(pages: pages, isWhole: left == 0)
    }

    func opened() throws -> StoreConnection {
        if isClosed { throw StoreError(.closed, "The store is closed.") }
        if let connection { return connection }
        let opened = try source.openWithinBudget(.readWrite) {
            try $0.prepareToWrite()
            try $0.hold(source.watch)
        }
        connection = opened
        // A file counts the changes of others for each connection anew.
        dataVersion = nil
        return opened
    }

    /// Runs something that uses the connection, which others may need afterwards.
    private func using<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let budget = source.budget else { return try body() }
        if uses == 0 { budget.begin(self) }
        uses += 1
        defer {
            uses -= 1
            if uses == 0, connection != nil, budget.end(self) { closeConnection() }
        }
        return try body()
    }

    func closeIdleConnection() -> Bool {
        guard let connection, !connection.isInTransaction else { return false }
        closeConnection()
        return true
    }

    private func closeConnection() {
        guard connection != nil else { return }
        connection?.forgetStatements()
        connection = nil
        source.budget?.giveBack(self)
    }

    /// Something else that writes, in a transaction of its own.
    func write<Result: Sendable>(_ body: @Sendable (StoreConnection) throws -> Result) throws -> Result {
        try using {
            let connection = try opened()
            if connection.isInTransaction { throw StoreError(.busy, "A transaction is open.") }
            return try watched {
                try WorkAllowance.$current.withValue(nil) { try connection.transaction { try body(connection) } }
            }
        }
    }

    /// Something that edits and writes besides, in a transaction of its own.
    func edit<Result: Sendable>(_ body: @Sendable (EditApplier) throws -> Result) throws -> Result {
        try using { try watched { try WorkAllowance.$current.withValue(nil) { try editUsing(body) } } }
    }

    private func editUsing<Result: Sendable>(_ body: @Sendable (EditApplier) throws -> Result) throws -> Result {
        let connection = try opened()
        if connection.isInTransaction { throw StoreError(.busy, "A transaction is open.") }
        do {
            return try edit(on: connection, body)
        } catch is SavepointsNeeded {
            // As in `commitWaiting`.
            connection.usesSavepoints = true
            defer { connection.usesSavepoints = false }
            return try edit(on: connection, body)
        }
    }

    private func edit<Result>(on connection: StoreConnection, _ body: (EditApplier) throws -> Result) throws -> Result {
        try connection.transaction {
            let applier = try freshApplier(on: connection)
            let result = try body(applier)
            try applier.close()
            return result
        }
    }

    private func applier(on connection: StoreConnection) -> EditApplier {
        EditApplier(
            connection: connection, catalogue: catalogue, rules: rules, relationships: relationships,
            options: options, transactionStart: transactionStart,
            reached: transactionStart == nil ? .init() : nil)
    }

    /// The applier with the definition that holds in this transaction: another program may have changed it.
    private func freshApplier(on connection: StoreConnection) throws -> EditApplier {
        let version = try connection.integer(connection.dialect.dataVersion)
        if version != dataVersion {
            if try ServiceCatalogue.source(on: connection) != catalogue.source {
                adopt(try ServiceCatalogue.read(from: connection))
            }
            dataVersion = version
        }
        return applier(on: connection)
    }

    /// Reads where no edit can come between two looks.
    func inspect<Result: Sendable>(_ body: @Sendable (StoreConnection) throws -> Result) throws -> Result {
        try using { try body(opened()) }
    }

    /// Replaces the definition of the service, in a transaction that is a generation. What the file says counts, not what
    /// was read from it earlier.
    func update(
        to new: ServiceDefinition, allowing changes: DefinitionChanges, replacing expected: ServiceDefinition?
    ) throws -> ServiceCatalogue {
        let updated = try write { connection in
            let old = try ServiceCatalogue.read(from: connection)
            if let expected, expected.document != old.definition.document {
                throw StoreError(.busy, "The definition was changed by somebody else meanwhile. Nothing was done.")
            }
            return try DefinitionUpdate(from: old, to: new, allowing: changes).apply(on: connection)
        }
        adopt(updated)
        return updated
    }

    private func adopt(_ new: ServiceCatalogue) {
        catalogue = new
        rules = new.layers.mapValues(RowRules.init)
        relationships = RelationshipRules(new)
    }

    /// Moves the log into the file, so that the file alone is the whole truth.
    func checkpoint() throws {
        if isInTransaction.withLock({ $0 }) { throw StoreError(.busy, "A transaction is open.") }
        mover?.wait()
        try source.watch?.check()
        try using { try opened().checkpoint() }
    }

    func close() {
        guard !isClosed else { return }
        // What was not committed was not promised.
        if isInTransaction.withLock({ $0 }) { try? endTransaction(keeps: false) }
        mover?.wait()
        if source.watch?.ownsLog ?? true { try? connection?.checkpoint() }
        closeConnection()
        isClosed = true
    }
}

extension EditBatch {
    /// Few enough items to stand in a savepoint among others.
    fileprivate func isSmall(_ relationships: RelationshipRules) -> Bool {
        var items = 0
        for edits in layers {
            guard edits.calculation == nil, case .features(let deletes) = edits.deletes else { return false }
            // Nobody knows yet how many rows go with these.
            if !deletes.isEmpty, relationships.layer(edits.layerID)?.isOrigin == true { return false }
            // Contents may be large, and are written once only outside a savepoint.
            if !edits.attachments.adds.isEmpty || !edits.attachments.updates.isEmpty { return false }
            items += edits.adds.count + edits.updates.count + deletes.count + edits.attachments.deletes.count
        }
        return items <= Limits.itemsPerSharedBatch
    }
}
