import CFileParts
import CLogWriting
import CSQLiteSettings
import FieldworkREST
import Foundation
import GRDBSQLite

/// One connection to a service's data: a SQLite file, or a session of another database. It is not thread-safe and never
/// leaves the actor that owns it.
package final class StoreConnection {
    /// Owns the C handle; the only place that closes it.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer?

        // Of nothing, it does nothing.
        deinit { sqlite3_close_v2(pointer) }
    }

    package enum Mode: Equatable {
        case readOnly, readWrite, create
        /// Looks without leaving a trace. A file that no program has open may lie where nothing can be written; its log is not
        /// read then.
        case look(isAlone: Bool)
        /// Reads a database that is these bytes of the file, which never changes.
        case part(Range<Int>)
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
    /// Batches that share a transaction are each guarded by a savepoint; so are statements of a session whose failure may be the
    /// caller's data, since it can't go on after one. Without, such a failure throws `SavepointsNeeded`.
    var usesSavepoints = false

    /// Ends what runs on the connection when it must not go on.
    package let watch = WorkWatch()

    /// Whether each transaction leaves its stamp; see `LogStamp`.
    private var stampsLog = false
    private let logLength = LogLength()
    private var hold: FileWatch.Hold?

    /// SQLite's handle; nil for a session.
    var pointer: OpaquePointer? { handle.pointer }

    init(session: any DatabaseSession) {
        handle = Handle(pointer: nil)
        self.session = session
        dialect = .postgres
        session.watch = watch
    }

    package init(path: String, mode: Mode) throws {
        _ = Self.memoryIsBounded
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var files: UnsafePointer<CChar>?
        switch mode {
        // A reader of a WAL database writes to the shared index beside it; `query_only` keeps it from writing data.
        case .readOnly: flags |= SQLITE_OPEN_READWRITE
        case .readWrite: (flags, files) = (flags | SQLITE_OPEN_READWRITE, fieldwork_gatheringFiles())
        case .create: (flags, files) = (flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, fieldwork_gatheringFiles())
        case .look: flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        case .part:
            // Without it the file would be read from its beginning, as another database.
            guard let parts = fieldwork_fileParts() else {
                throw StoreError(.failure, "A part of a file can't be read.")
            }
            (flags, files) = (flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, parts)
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(Self.address(path, mode), &opened, flags, files)
        guard let opened else { throw StoreError(.failure, "SQLite can't open a database: out of memory.") }
        handle = Handle(pointer: opened)
        session = nil
        dialect = .sqlite
        guard code == SQLITE_OK else { throw Self.error(of: opened, code: code) }
        let isReader =
            switch mode {
            case .readOnly, .part: true
            case .readWrite, .create, .look: false
            }
        sqlite3_busy_timeout(opened, Limits.busyMilliseconds)
        _disableDoubleQuotedStringLiterals(opened)
        try execute("PRAGMA foreign_keys = OFF")
        try execute("PRAGMA trusted_schema = ON")
        try execute("PRAGMA case_sensitive_like = ON")
        let cache = isReader ? Limits.readerCacheKibibytes : Limits.writerCacheKibibytes
        try execute("PRAGMA cache_size = -\(cache)")
        try execute("PRAGMA wal_autocheckpoint = \(Limits.logPages)")
        if isReader { try execute("PRAGMA query_only = ON") }
        try SpatialFunctions.register(on: self)
        try QueryFunctions.register(on: self)
        try IDList.register(on: self)
        try ScalarFunctions.register(on: self)
        try VarianceFunction.register(on: self)
        try GeometryAggregate.register(on: self)
        beWatched()
    }

    private static func address(_ path: String, _ mode: Mode) -> String {
        let place = "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)"
        switch mode {
        case .readOnly, .readWrite, .create: return path
        case .look(let isAlone): return place + (isAlone ? "?immutable=1" : "")
        case .part(let part): return place + "?immutable=1&offset=\(part.lowerBound)&size=\(part.count)"
        }
    }

    // The last connection moves the log into the file, whatever file that is, and removes it. So each one looks first whether the log
    // is the file's own; and what watches the log lets go of it before.
    deinit {
        if hold?.ownsLog == false { leaveLog() }
        hold = nil
    }

    /// Opens the log and has it watched for as long as the connection is open.
    func hold(_ watch: FileWatch?) throws {
        guard let watch, hold == nil else { return }
        _ = try integer("SELECT 1 FROM sqlite_master LIMIT 1")
        hold = watch.hold()
    }

    /// The pages of all connections of the process together: near the bound, each takes the place of another page of its connection.
    static let memoryIsBounded = sqlite3_soft_heap_limit64(Int64(Limits.cacheBytes)) >= 0

    /// The bound that holds; for tests.
    static var memoryBound: Int { Int(sqlite3_soft_heap_limit64(-1)) }

    /// Bytes of the pages that are kept; for tests.
    var keptBytes: Int {
        var (now, most): (Int32, Int32) = (0, 0)
        sqlite3_db_status(pointer, SQLITE_DBSTATUS_CACHE_USED, &now, &most, 0)
        return Int(now)
    }

    /// Gives back the pages that are kept and not in use.
    func releaseMemory() {
        if let pointer { sqlite3_db_release_memory(pointer) }
    }

    /// Runs SQL of ours that takes no arguments.
    package func execute(_ sql: String) throws {
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
    /// when done. A statement in use is not given twice: the second caller gets one of its own. One that is long is not kept.
    package func cached(_ sql: String) throws -> StoreStatement {
        // A session keeps its statements itself.
        if let session { return StoreStatement(try session.statement(sql), on: self) }
        if let statement = statements[sql], !statement.isInUse {
            statement.isInUse = true
            return statement
        }
        let statement = try prepare(sql)
        statement.isInUse = true
        if statements[sql] == nil, sql.utf8.count <= Limits.cachedStatementBytes {
            if cacheOrder.count >= Limits.cachedStatements { statements[cacheOrder.removeFirst()] = nil }
            cacheOrder.append(sql)
            statements[sql] = statement
        }
        return statement
    }

    /// Runs a cached statement: `bind` gives the arguments, `row` is called for each row.
    package func run(
        _ sql: String, bind: (StoreStatement) throws -> Void = { _ in },
        row: (StoreStatement) throws -> Void = { _ in }
    ) throws {
        let statement = try cached(sql)
        defer { statement.finish() }
        try bind(statement)
        while try statement.step() { try row(statement) }
    }

    /// The first column of the first row.
    package func integer(_ sql: String, bind: (StoreStatement) throws -> Void = { _ in }) throws -> Int64? {
        var result: Int64?
        try run(sql, bind: bind) { if result == nil, !$0.isNull(0) { result = $0.integer(0) } }
        return result
    }

    /// The first column of all rows.
    package func texts(_ sql: String) throws -> [String] {
        var texts: [String] = []
        try run(sql, row: { if let text = $0.optionalText(0) { texts.append(text) } })
        return texts
    }

    package func text(_ sql: String, bind: (StoreStatement) throws -> Void = { _ in }) throws -> String? {
        var result: String?
        try run(sql, bind: bind) { if result == nil, !$0.isNull(0) { result = $0.text(0) } }
        return result
    }

    /// The id of the last row that a statement inserted; of a session's, when the statement ends in `dialect.returning`.
    var lastInsertedRowID: Int64 { session == nil ? sqlite3_last_insert_rowid(pointer) : returnedID }
    /// Rows that the last statement itself changed; what triggers changed isn't counted.
    package var changedRows: Int { session == nil ? Int(sqlite3_changes(pointer)) : sessionChanges }
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
        // Of use only behind the sync of each commit. Where it can't be had, each page is written by itself.
        sqlite3_file_control(pointer, nil, Int32(fieldwork_gatherLogWrites), nil)
        // What a statement with triggers needs to undo itself stays in memory; in a file it would cost more than the edit.
        try execute("PRAGMA temp_store = MEMORY")
        try stampTransactions()
        // Its owner moves the log, after a look whether it is the file's own.
        try execute("PRAGMA wal_autocheckpoint = 0")
        logLength.follow(pointer)
    }

    /// From here on each transaction ties the log to the file.
    func stampTransactions() throws { stampsLog = try LogStamp.exists(on: self) }

    /// Pages in the log after the last commit of this connection.
    var loggedPages: Int { logLength.pages }

    /// Moves what no reader needs of the log into the file, also while another connection has a transaction open.
    /// - Returns: pages of the log that were not moved; nil when another program is moving it.
    func moveLog() throws -> Int? {
        var (logged, moved): (Int32, Int32) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &moved)
        if code & 0xFF == SQLITE_BUSY { return nil }
        guard code == SQLITE_OK else { throw error(code) }
        return Int(logged - moved)
    }

    /// Leaves the log as it is when the connection closes: it no longer belongs to the file at its place.
    func leaveLog() {
        if let pointer { _ = fieldwork_leaveLogOnClose(UnsafeMutableRawPointer(pointer)) }
    }

    /// Moves the log into the file.
    func checkpoint() throws {
        if dialect.isSQLite { try run("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    package func hasTable(_ name: String) throws -> Bool {
        try integer(dialect.tableNamed) { try $0.bind(name, at: 1) } != nil
    }

    // MARK: Transactions

    /// Opens a transaction that writes; no other one of the service writes until it has ended. None is open when it throws.
    /// - Parameter opening: opens another kind of transaction.
    package func begin(_ opening: String? = nil) throws {
        do {
            let edits = opening == nil
            let opening = opening ?? dialect.begin
            // Each edit runs it: a statement that is kept is not compiled again.
            if let session { try session.perform(opening) } else { try run(opening) }
            if stampsLog, edits { try run(LogStamp.renewal) }
        } catch {
            // Where it has several steps, one may fail that comes after the first: it waits for a lock.
            if isInTransaction { try? rollBack() }
            throw error
        }
    }

    /// Throws `StoreError.inDoubt` when it may have been committed without having been confirmed.
    package func commit() throws {
        if let session { return try session.commitTransaction() }
        try run("COMMIT")
    }

    func rollBack() throws {
        if let session { return try session.rollBackTransaction() }
        try execute("ROLLBACK")
    }

    /// Everything in one transaction that is undone when the body throws.
    /// - Parameter opening: opens another kind of transaction than one that edits the service.
    package func transaction<Result>(_ opening: String? = nil, _ body: () throws -> Result) throws -> Result {
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

/// How long the log of a file is, as SQLite tells after each commit.
private final class LogLength {
    private(set) var pages = 0

    func follow(_ pointer: OpaquePointer?) {
        sqlite3_wal_hook(
            pointer,
            { context, _, _, pages in
                if let context { Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().pages = Int(pages) }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
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
