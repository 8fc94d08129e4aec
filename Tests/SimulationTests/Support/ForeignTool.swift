import Foundation
import GRDBSQLite

/// Another program that has the file open, such as the `sqlite3` shell.
enum ForeignTool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static func run(_ sql: String, on file: URL) throws {
        var connection: OpaquePointer?
        guard sqlite3_open_v2(file.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure(description: "\(file.lastPathComponent) can't be opened")
        }
        defer { sqlite3_close_v2(connection) }
        sqlite3_busy_timeout(connection, 5_000)
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(description: String(cString: sqlite3_errmsg(connection)))
        }
    }
}
