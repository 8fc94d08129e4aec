import FieldworkREST
import Foundation
import GRDBSQLite

/// One connection to a service's data: a SQLite file, or a session of another database. It is not thread-safe and never
/// leaves the actor that owns it.
final class StoreConnection {
    /// Owns the C handle; the only place that closes it.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer?

        // Of nothing, it does nothing.
        deinit { sqlite3_close_v2(pointer) }
    }

    enum Mode {
        case readOnly, readWrite, create
    }

    private let handle: Handle
    private let session: (any DatabaseSession)?
    /// How SQL is spelt here.
    let dialect: SQLDialect
    private var statements: [String: StoreStatement] = [:]
    /// SQL of the cached statements, least recently prepared first.
    private var cacheOrder: [String] = []
    /// What the last row was given for an id, where a session tells it.
    fileprivate(set) var returnedID: Int64 = 0
    fileprivate(set) var sessionChanges = 0
    /// Statements whose failure may be the caller's data are each guarded by a savepoint, which a session needs to go on after
    /// one. Without, such a failure throws `SavepointsNeeded`.
    var usesSavepoints = false

    /// Ends what runs on the connection when it must not go on.
    let watch = WorkWatch()

    /// SQLite's handle; nil for a session.
    var pointer: OpaquePointer? { handle.pointer }

    init(session: any DatabaseSession) {
        handle = Handle(pointer: nil)
        self.session = session
        dialect = .postgres
        session.watch = watch
    }

    init(path: String, mode: Mode) throws {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch mode {
        // A reader of a WAL database writes to the shared index beside it; `query_only` keeps it from writing data.
        case .readOnly, .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else { throw StoreError(.failure, "SQLite can't open a database: out of memory.") }
        handle = Handle(pointer: opened)
        session = nil
        dialect = .sqlite
        guard code == SQLITE_OK else { throw Self.error(of: opened, code: code) }
        sqlite3_busy_timeout(opened, Limits.busyMilliseconds)
        _disableDoubleQuotedStringLiterals(opened)
        try execute("PRAGMA foreign_keys = OFF")
        try execute("PRAGMA trusted_schema = ON")
        try execute("PRAGMA case_sensitive_like = ON")
        let cache = mode == .readOnly ? Limits.readerCacheKibibytes : Limits.writerCacheKibibytes
        try execute("PRAGMA cache_size = -\(cache)")
        try execute("PRAGMA wal_autocheckpoint = \(Limits.logPages)")
        if mode == .readOnly { try execute("PRAGMA query_only = ON") }
        try SpatialFunctions.register(on: self)
        try QueryFunctions.register(on: self)
        try ScalarFunctions.register(on: self)
        try VarianceFunction.register(on: self)
        try GeometryAggregate.register(on: self)
        beWatched()
    }

    /// Runs SQL of ours that takes no arguments.
    func execute(_ sql: String) throws {
        if let session { return try session.perform(sql) }
        let code = sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func prepare(_ sql: String) throws -> StoreStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code) }
        return StoreStatement(pointer: statement)
    }

    /// A statement that is kept for the next time its SQL is wanted. It is ready to be bound; whoever takes it resets it
    /// when done. A statement in use is not given twice: the second caller gets one of its own.
    func cached(_ sql: String) throws -> StoreStatement {
        // A session keeps its statements itself.
        if let session { return StoreStatement(try session.statement(sql), on: self) }
        if let statement = statements[sql], !statement.isInUse {
            statement.isInUse = true
            return statement
        }
        let statement = try prepare(sql)
        statement.isInUse = true
        if statements[sql] == nil {
            if cacheOrder.count >= Limits.cachedStatements { statements[cacheOrder.removeFirst()] = nil }
            cacheOrder.append(sql)
            statements[sql] = statement
        }
        return statement
    }

    /// Runs a cached statement: `bind` gives the arguments, `row` is called for each row.
    func run(
        _ sql: String, bind: (StoreStatement) throws -> Void = { _ in },
        row: (StoreStatement) throws -> Void = { _ in }
    ) throws {
        let statement = try cached(sql)
        defer { statement.finish() }
        try bind(statement)
        while try statement.step() { try row(statement) }
    }

    /// The first column of the first row.
    func integer(_ sql: String, bind: (StoreStatement) throws -> Void = { _ in }) throws -> Int64? {
        var result: Int64?
        try run(sql, bind: bind) { if result == nil, !$0.isNull(0) { result = $0.integer(0) } }
        return result
    }

    /// The first column of all rows.
    func texts(_ sql: String) throws -> [String] {
        var texts: [String] = []
        try run(sql, row: { if let text = $0.optionalText(0) { texts.append(text) } })
        return texts
    }

    func text(_ sql: String, bind: (StoreStatement) throws -> Void = { _ in }) throws -> String? {
        var result: String?
        try run(sql, bind: bind) { if result == nil, !$0.isNull(0) { result = $0.text(0) } }
        return result
    }

    /// The id of the last row that a statement inserted; of a session's, when the statement ends in `dialect.returning`.
    var lastInsertedRowID: Int64 { session == nil ? sqlite3_last_insert_rowid(pointer) : returnedID }
    /// Rows that the last statement itself changed; what triggers changed isn't counted.
    var changedRows: Int { session == nil ? Int(sqlite3_changes(pointer)) : sessionChanges }
    var isInTransaction: Bool { session?.isInTransaction ?? (sqlite3_get_autocommit(pointer) == 0) }

    /// Begins a bulk load; see `DatabaseSession.load`.
    func load(into table: String, columns: [String]) throws -> any DatabaseLoad {
        if let session { return try session.load(into: table, columns: columns) }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        return InsertLoad(
            try cached(
                """
                INSERT INTO \(quoted(table)) (\(columns.map(quoted).joined(separator: ", "))) VALUES (\(marks))
                """))
    }

    // MARK: Files

    /// Makes a file's commits survive the loss of power.
    func prepareToWrite() throws {
        guard dialect.isSQLite else { return }
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = FULL")
        // What a statement with triggers needs to undo itself stays in memory; in a file it would cost more than the edit.
        try execute("PRAGMA temp_store = MEMORY")
    }

    /// Moves the log into the file.
    func checkpoint() throws {
        if dialect.isSQLite { try run("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    func hasTable(_ name: String) throws -> Bool {
        try integer(dialect.tableNamed) { try $0.bind(name, at: 1) } != nil
    }

    // MARK: Transactions

    /// Opens a transaction that writes; no other one of the service writes until it has ended. None is open when it throws.
    /// - Parameter opening: opens another kind of transaction.
    func begin(_ opening: String? = nil) throws {
        do {
            try execute(opening ?? dialect.begin)
        } catch {
            // Where it has several steps, one may fail that comes after the first: it waits for a lock.
            if isInTransaction { try? rollBack() }
            throw error
        }
    }

    /// Throws `StoreError.inDoubt` when it may have been committed without having been confirmed.
    func commit() throws {
        if let session { return try session.commitTransaction() }
        try execute("COMMIT")
    }

    func rollBack() throws {
        if let session { return try session.rollBackTransaction() }
        try execute("ROLLBACK")
    }

    /// Everything in one transaction that is undone when the body throws.
    /// - Parameter opening: opens another kind of transaction than one that edits the service.
    func transaction<Result>(_ opening: String? = nil, _ body: () throws -> Result) throws -> Result {
        try begin(opening)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // A failed COMMIT (disk full) leaves the transaction open; some errors have ended it already.
            if isInTransaction { try? rollBack() }
            throw error
        }
    }

    func forgetStatements() {
        statements = [:]
        cacheOrder = []
    }

    func error(_ code: Int32) -> StoreError { Self.error(of: pointer, code: code) }

    static func error(of connection: OpaquePointer?, code: Int32) -> StoreError {
        let message = connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "SQLite error \(code)"
        let kind: StoreError.Code
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: kind = .busy
        case SQLITE_CORRUPT: kind = .corrupt
        case SQLITE_NOTADB: kind = .notAGeoPackage
        case SQLITE_FULL: kind = .full
        default: kind = .failure
        }
        return StoreError(kind, "\(message) (SQLite \(code)).")
    }
}

/// A bulk load into a table of a file: row by row, which is its fastest way.
private final class InsertLoad: DatabaseLoad {
    private let statement: StoreStatement
    private var rows = 0

    init(_ statement: StoreStatement) { self.statement = statement }

    deinit { statement.finish() }

    func add(_ values: [AttributeValue]) throws {
        for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
        _ = try statement.step()
        statement.reset()
        rows += 1
    }

    func finish() -> Int { rows }
}

/// A statement failed whose failure may be one edit's alone, and the transaction can't go on after it: the same again with
/// savepoints tells.
struct SavepointsNeeded: Error {}

extension StoreConnection {
    /// Guards one statement of a session by a savepoint.
    func guarding(_ body: () throws -> StoreStatement.Outcome) throws -> StoreStatement.Outcome {
        guard usesSavepoints else {
            if case .done = try body() { return .done }
            throw SavepointsNeeded()
        }
        try execute("SAVEPOINT fieldwork_statement")
        let outcome = try body()
        if case .done = outcome {
            try execute("RELEASE fieldwork_statement")
        } else {
            try execute("ROLLBACK TO fieldwork_statement; RELEASE fieldwork_statement")
        }
        return outcome
    }

    func note(changes: Int) { sessionChanges = changes }
    func note(returnedID: Int64) { self.returnedID = returnedID }
}

/// A field, table or column name inside SQL. The only way a name gets there.
func quoted(_ name: String) -> String {
    // Nearly every name is free of quotes; looking is far cheaper than replacing.
    "\"" + (name.utf8.contains(0x22) ? name.replacing("\"", with: "\"\"") : name) + "\""
}

/// Text as an SQL literal: for DDL, which takes no arguments.
func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
}
