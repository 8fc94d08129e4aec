import Foundation
import GRDBSQLite

/// One connection to a SQLite file. It is not thread-safe and never leaves the actor that owns it.
final class SQLiteConnection {
    /// Owns the C handle; the only place that closes it.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer

        deinit { sqlite3_close_v2(pointer) }
    }

    enum Mode {
        case readOnly, readWrite, create
    }

    private let handle: Handle
    private var statements: [String: SQLiteStatement] = [:]
    /// SQL of the cached statements, least recently prepared first.
    private var cacheOrder: [String] = []

    var pointer: OpaquePointer { handle.pointer }

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
    }

    /// Runs SQL of ours that takes no arguments.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    func prepare(_ sql: String) throws -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code) }
        return SQLiteStatement(pointer: statement)
    }

    /// A statement that is kept for the next time its SQL is wanted. It is ready to be bound; whoever takes it resets it
    /// when done. A statement in use is not given twice: the second caller gets one of its own.
    func cached(_ sql: String) throws -> SQLiteStatement {
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
        _ sql: String, bind: (SQLiteStatement) throws -> Void = { _ in },
        row: (SQLiteStatement) throws -> Void = { _ in }
    ) throws {
        let statement = try cached(sql)
        defer { statement.finish() }
        try bind(statement)
        while try statement.step() { try row(statement) }
    }

    /// The first column of the first row.
    func integer(_ sql: String, bind: (SQLiteStatement) throws -> Void = { _ in }) throws -> Int64? {
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

    func text(_ sql: String, bind: (SQLiteStatement) throws -> Void = { _ in }) throws -> String? {
        var result: String?
        try run(sql, bind: bind) { if result == nil, !$0.isNull(0) { result = $0.text(0) } }
        return result
    }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(pointer) }
    /// Rows that the last statement itself changed; what triggers changed isn't counted.
    var changedRows: Int { Int(sqlite3_changes(pointer)) }
    var isInTransaction: Bool { sqlite3_get_autocommit(pointer) == 0 }

    /// Everything in one transaction that is undone when the body throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // A failed COMMIT (disk full) leaves the transaction open; some errors have ended it already.
            if isInTransaction { try? execute("ROLLBACK") }
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

/// A field, table or column name inside SQL. The only way a name gets there.
func quoted(_ name: String) -> String {
    // Nearly every name is free of quotes; looking is far cheaper than replacing.
    "\"" + (name.utf8.contains(0x22) ? name.replacing("\"", with: "\"\"") : name) + "\""
}

/// Text as an SQL literal: for DDL, which takes no arguments.
func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
}
