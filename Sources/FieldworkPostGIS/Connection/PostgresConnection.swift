import CPostgres
import Foundation

/// One connection to PostgreSQL. It blocks its thread while it waits for the server, is not thread-safe and never leaves
/// the actor that owns it, which runs on a queue of its own.
///
/// A connection that broke outside a transaction is made anew at its next use. Within a transaction, or while a statement
/// runs, `PostgresError.Kind.connectionLost` is thrown: what was not committed is undone, and whether a COMMIT arrived
/// is for the caller to find out.
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

    var pointer: OpaquePointer { handle.pointer }

    package init(_ settings: PostgresSettings) throws(PostgresError) {
        self.settings = settings
        guard let pointer = Self.connect(settings) else {
            throw PostgresError(.connectionLost, "libpq can't make a connection: out of memory.")
        }
        handle = Handle(pointer: pointer)
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
        // Notices are told to nobody: they would go to the process's standard error.
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        try execute(settings.sessionStatements)
        geometryType = try integer("SELECT oid::int8 FROM pg_type WHERE typname = 'geometry' LIMIT 1").map {
            Oid(truncatingIfNeeded: $0)
        }
    }

    /// Makes a broken connection anew, unless a transaction was lost with it.
    func restoreIfBroken() throws(PostgresError) {
        guard PQstatus(pointer) == CONNECTION_BAD else { return }
        PQreset(pointer)
        epoch += 1
        statements = [:]
        cacheOrder = []
        canceller = PostgresCanceller(connection: pointer)
        guard PQstatus(pointer) == CONNECTION_OK else { throw PostgresError(connection: pointer) }
        try prepareSession()
    }

    // MARK: Statements

    /// Runs SQL of ours that takes no arguments; several statements are parted by semicolons.
    package func execute(_ sql: String) throws(PostgresError) {
        try restoreIfBroken()
        let result = PostgresResult(PQexec(pointer, sql))
        try result.check(on: pointer)
    }

    /// A statement that is kept for the next time its SQL is wanted. It is ready to be bound; whoever takes it finishes it
    /// when done. A statement in use is not given twice: the second caller gets one of its own.
    package func cached(_ sql: String) throws(PostgresError) -> PostgresStatement {
        if let statement = statements[sql], !statement.isInUse {
            statement.isInUse = true
            return statement
        }
        let statement = PostgresStatement(StatementText.numbered(sql), on: self)
        statement.isInUse = true
        if statements[sql] == nil {
            if cacheOrder.count >= Limits.cachedStatements { forget(cacheOrder.removeFirst()) }
            cacheOrder.append(sql)
            statements[sql] = statement
        }
        return statement
    }

    private func forget(_ sql: String) {
        guard let statement = statements.removeValue(forKey: sql) else { return }
        statement.deallocate()
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

    package var isInTransaction: Bool {
        switch PQtransactionStatus(pointer) {
        case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
        default: false
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
            // A connection that broke has undone it already; to restore it here would be for nothing.
            if PQstatus(pointer) == CONNECTION_OK, isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Commits. A transaction in which a statement failed can't be: PostgreSQL answers COMMIT with a rollback and calls it
    /// success, which must not pass for one.
    package func commit() throws(PostgresError) {
        guard PQstatus(pointer) == CONNECTION_OK else {
            throw PostgresError(.connectionLost, "The connection broke before the transaction was committed.")
        }
        guard PQtransactionStatus(pointer) != PQTRANS_INERROR else {
            throw PostgresError(.failure, state: "25P02", "A statement failed: the transaction can't be committed.")
        }
        let result = PostgresResult(PQexec(pointer, "COMMIT"))
        try result.check(on: pointer)
        guard result.command == "COMMIT" else {
            throw PostgresError(.failure, state: "25P02", "The transaction was rolled back.")
        }
    }
}
