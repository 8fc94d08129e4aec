import Foundation
import GRDBSQLite

/// Another program that has the file open and knows the functions of the GeoPackage standard, as QGIS does.
enum ForeignTool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    enum Value {
        case text(String)
        case bytes([UInt8])
    }

    /// Does one statement.
    static func run(_ sql: String, _ values: [Value] = [], on file: URL) throws { _ = try rows(sql, values, of: file) }

    /// Does several statements in one transaction.
    static func runAll(_ statements: [(sql: String, values: [Value])], on file: URL) throws {
        try with(file) { connection in
            _ = try rows("BEGIN IMMEDIATE", [], connection)
            for statement in statements { _ = try rows(statement.sql, statement.values, connection) }
            _ = try rows("COMMIT", [], connection)
        }
    }

    /// The rows of one statement, as texts.
    static func rows(_ sql: String, _ values: [Value] = [], of file: URL) throws -> [[String?]] {
        try with(file) { try rows(sql, values, $0) }
    }

    private static func with<Result>(_ file: URL, _ body: (OpaquePointer?) throws -> Result) throws -> Result {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard sqlite3_open_v2(file.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure(description: "\(file.lastPathComponent) can't be opened")
        }
        sqlite3_busy_timeout(connection, 5_000)
        PointFunctions.register(on: connection)
        return try body(connection)
    }

    private static func rows(
        _ sql: String, _ values: [Value], _ connection: OpaquePointer?
    ) throws -> [[String?]] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        for (index, value) in values.enumerated() where code == SQLITE_OK {
            code = bind(value, Int32(index + 1), statement)
        }
        guard code == SQLITE_OK else { throw Failure(description: String(cString: sqlite3_errmsg(connection))) }
        var rows: [[String?]] = []
        code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) }
                })
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw Failure(description: String(cString: sqlite3_errmsg(connection))) }
        return rows
    }

    private static func bind(_ value: Value, _ index: Int32, _ statement: OpaquePointer?) -> Int32 {
        switch value {
        case .text(let text): sqlite3_bind_text(statement, index, text, -1, copied)
        case .bytes(let bytes): sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copied)
        }
    }

    /// SQLITE_TRANSIENT, which is a macro that Swift does not see.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
