import CPostgres
package import FieldworkStore
import Foundation

/// One connection to PostgreSQL. It blocks its thread while it waits for the server, is not thread-safe and never leaves
/// the actor that owns it, which runs on a queue of its own.
///
/// A connection that broke outside a transaction is made anew at its next use, and so is one whose server goes down or no
/// longer writes: of several hosts in its address, another may do so by then. While a statement runs, and within a
/// transaction until its end, `PostgresError.Kind.connectionLost` is thrown: what was not committed is undone. When the
/// connection breaks over a COMMIT, `inDoubt` is.
package final class PostgresConnection {
    /// Owns the C handle; the only place that closes it.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer

        deinit { PQfinish(pointer) }
    }

    private let handle: Handle
    private let settings: PostgresSettings
    private var statements: [String: PostgresStatement] = [:]
    /// SQL of the cached statements, least recently prepared first.
    private var cacheOrder: [String] = []
    private var lastStatementNumber = 0
    /// Counts the times that the connection was made: what was prepared on an earlier one is gone.
    private(set) var epoch = 1
    /// The number that PostgreSQL gave the type `geometry`, which is no type of its own; nil without PostGIS.
    private(set) var geometryType: Oid?
    /// How to interrupt what runs, from any thread.
    package private(set) var canceller: PostgresCanceller
    /// The server said that it goes down, or writes no more.
    private var isForsaken = false
    /// What the transaction was when the server last answered: one that broke stays broken until somebody ends it.
    private var wasInTransaction = false
    private let notices = PostgresNotices()
    /// Ends the wait for the server when the work must not go on.
    package var watch: WorkWatch?
    /// Until when the end of a statement that was cancelled is waited for; nil while none is.
    var cancellationEnd: ContinuousClock.Instant?
    /// The bytes of an answer from which on it is cancelled, and those that have come of it.
    var mostBytes: Int?
    var receivedBytes = 0
    /// libpq has made room for a large row, which it keeps for as long as the connection lasts.
    private var hasLargeBuffer = false

    var pointer: OpaquePointer { handle.pointer }

    package init(_ settings: PostgresSettings) throws(PostgresError) {
        self.settings = settings
        guard let pointer = Self.connect(settings) else {
            throw PostgresError(.connectionLost, "libpq can't make a connection: out of memory.")
        }
        handle = Handle(pointer: pointer)
        // The reason of a refusal comes with its SQLSTATE only to who asks for it, which can't be done earlier.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        if PQstatus(pointer) == CONNECTION_BAD, PostgresError.isRefusal(pointer) { PQreset(pointer) }
        canceller = PostgresCanceller(connection: pointer)
        guard PQstatus(pointer) == CONNECTION_OK else { throw PostgresError(connection: pointer) }
        try prepareSession()
    }

    private static func connect(_ settings: PostgresSettings) -> OpaquePointer? {
        let pairs = settings.keywordsAndValues
        let keywords = pairs.map { strdup($0.keyword) }
        let values = pairs.map { strdup($0.value) }
        defer { for text in keywords + values { free(text) } }
        return PQconnectdbParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }

    private func prepareSession() throws(PostgresError) {
        notices.receive(from: pointer)
        notices.clear()
        try execute(settings.sessionStatements)
        guard !notices.tellUnreplicatedCommit else {
            throw PostgresError(.notAvailable, "The wait for the standby was broken off.")
        }
        geometryType = try integer("SELECT oid::int8 FROM pg_type WHERE typname = 'geometry' LIMIT 1").map {
            Oid(truncatingIfNeeded: $0)
        }
    }

    /// Makes a broken connection anew, unless a transaction was lost with it.
    func restoreIfBroken() throws(PostgresError) {
        guard PQstatus(pointer) == CONNECTION_BAD || (isForsaken || hasLargeBuffer) && !isInTransaction else { return }
        guard !wasInTransaction else {
            throw PostgresError(.connectionLost, "The connection broke in the midst of the transaction.")
        }
        (isForsaken, hasLargeBuffer) = (false, false)
        PQreset(pointer)
        epoch += 1
        statements = [:]
        cacheOrder = []
        canceller = PostgresCanceller(connection: pointer)
        guard PQstatus(pointer) == CONNECTION_OK else { throw PostgresError(connection: pointer) }
        do {
            try prepareSession()
        } catch {
            // Without its settings it is of no use to anybody.
            isForsaken = true
            throw error
        }
    }

    /// A row has come that is so large that the connection had better be made anew.
    func noteLargeRow() { hasLargeBuffer = true }

    // MARK: Statements

    /// Runs SQL of ours that takes no arguments; several statements are parted by semicolons.
    package func execute(_ sql: String) throws(PostgresError) {
        try restoreIfBroken()
        let result = answer(to: sql)
        try heeding { () throws(PostgresError) in try result.check(on: pointer) }
    }

    /// Runs something that hears the server, and takes note of what its errors say of the connection.
    func heeding<Result>(_ body: () throws(PostgresError) -> Result) throws(PostgresError) -> Result {
        defer { noteTransaction() }
        do {
            return try body()
        } catch {
            if error.kind == .notAvailable, settings.writes || !error.isReadOnly { isForsaken = true }
            throw error
        }
    }

    /// A statement that is kept for the next time its SQL is wanted. It is ready to be bound; whoever takes it finishes it
    /// when done. A statement in use is not given twice: the second caller gets one of its own, and one that is long is not
    /// kept: each keeps memory of the server for as long as the connection lasts.
    package func cached(_ sql: String) throws(PostgresError) -> PostgresStatement {
        if let statement = statements[sql], !statement.isInUse {
            statement.isInUse = true
            return statement
        }
        let statement = PostgresStatement(StatementText.numbered(sql), on: self)
        statement.isInUse = true
        if statements[sql] == nil, sql.utf8.count <= Limits.cachedStatementBytes {
            statement.isKept = true
            if cacheOrder.count >= Limits.cachedStatements { forget(cacheOrder.removeFirst()) }
            cacheOrder.append(sql)
            statements[sql] = statement
        }
        return statement
    }

    private func forget(_ sql: String) {
        guard let statement = statements.removeValue(forKey: sql) else { return }
        statement.isKept = false
        // One in use is dropped by its user.
        if !statement.isInUse { statement.deallocate() }
    }

    func newStatementName() -> String {
        lastStatementNumber += 1
        return "fieldwork_\(lastStatementNumber)"
    }

    /// Runs a cached statement: `bind` gives the arguments, `row` is called for each row.
    package func run(
        _ sql: String, bind: (PostgresStatement) throws(PostgresError) -> Void = { _ in },
        row: (PostgresStatement) throws(PostgresError) -> Void = { _ in }
    ) throws(PostgresError) {
        let statement = try cached(sql)
        defer { statement.finish() }
        try bind(statement)
        while try statement.step() { try row(statement) }
    }

    /// The first column of the first row.
    package func integer(
        _ sql: String, bind: (PostgresStatement) throws(PostgresError) -> Void = { _ in }
    ) throws(PostgresError) -> Int64? {
        var result: Int64?
        try run(sql, bind: bind) { row in if result == nil, !row.isNull(0) { result = row.integer(0) } }
        return result
    }

    /// The first column of the first row.
    package func text(
        _ sql: String, bind: (PostgresStatement) throws(PostgresError) -> Void = { _ in }
    ) throws(PostgresError) -> String? {
        var result: String?
        try run(sql, bind: bind) { row in if result == nil, !row.isNull(0) { result = row.text(0) } }
        return result
    }

    // MARK: Transactions

    private func noteTransaction() {
        switch PQtransactionStatus(pointer) {
        case PQTRANS_IDLE: wasInTransaction = false
        case PQTRANS_INTRANS, PQTRANS_INERROR: wasInTransaction = true
        // A statement runs, or the connection has broken: what was before still holds.
        default: break
        }
    }

    package var isInTransaction: Bool {
        switch PQtransactionStatus(pointer) {
        case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
        case PQTRANS_UNKNOWN: wasInTransaction
        default: false
        }
    }

    /// Undoes the transaction. One that broke with its connection is undone already.
    package func rollBack() throws(PostgresError) {
        guard PQstatus(pointer) == CONNECTION_OK else {
            wasInTransaction = false
            return
        }
        do {
            // Not within the limits of the work that is undone.
            let result = PostgresResult(PQexec(pointer, "ROLLBACK"))
            try heeding { () throws(PostgresError) in try result.check(on: pointer) }
        } catch {
            // It broke on the way, which nobody had noticed before.
            guard PQstatus(pointer) != CONNECTION_OK else { throw error }
            wasInTransaction = false
        }
    }

    /// Everything in one transaction that is undone when the body throws.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN")
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            if isInTransaction { try? rollBack() }
            throw error
        }
    }

    /// Commits. A transaction in which a statement failed can't be: PostgreSQL answers COMMIT with a rollback and calls it
    /// success, which must not pass for one.
    ///
    /// Throws `PostgresError.Kind.inDoubt` when it may have been committed without having been confirmed, also where a
    /// standby is waited for and somebody has broken off the waiting; after every other error nothing was committed.
    package func commit() throws(PostgresError) {
        guard PQstatus(pointer) == CONNECTION_OK else {
            wasInTransaction = false
            throw PostgresError(.connectionLost, "The connection broke before the transaction was committed.")
        }
        guard PQtransactionStatus(pointer) != PQTRANS_INERROR else {
            throw PostgresError(.failure, state: "25P02", "A statement failed: the transaction can't be committed.")
        }
        notices.clear()
        let result = PostgresResult(PQexec(pointer, "COMMIT"))
        // Whatever became of it, it has ended.
        defer { wasInTransaction = false }
        do {
            try heeding { () throws(PostgresError) in try result.check(on: pointer) }
        } catch  where !error.leavesCommitUndone || PQtransactionStatus(pointer) != PQTRANS_IDLE {
            throw PostgresError(.inDoubt, state: error.state, "A COMMIT was not confirmed: \(error.message)")
        }
        guard !notices.tellUnreplicatedCommit else {
            throw PostgresError(
                .inDoubt, state: "01000", "A COMMIT was not confirmed by the standby that it waits for.")
        }
        guard result.command == "COMMIT" else {
            throw PostgresError(.failure, state: "25P02", "The transaction was rolled back.")
        }
    }
}
