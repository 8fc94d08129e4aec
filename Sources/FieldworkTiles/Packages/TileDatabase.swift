import Foundation
import GRDBSQLite
import Synchronization

/// A SQLite file of tiles. One that others made is only read, with the views and texts in it held in check: a value has a greatest
/// length, and a query a greatest amount of work.
package final class TileDatabase: Sendable {
    /// Owns the handle of SQLite, and what counts the work of a query.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer?
        let work: UnsafeMutablePointer<Int>

        deinit {
            sqlite3_close_v2(pointer)
            work.deallocate()
        }
    }

    package enum Value: Sendable, Hashable {
        case integer(Int)
        case real(Double)
        case text(String)
        case blob([UInt8])
        case null

        var integer: Int? {
            switch self {
            case .integer(let value): value
            case .text(let text): Int(text)
            default: nil
            }
        }
        var real: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .real(let value): value
            case .text(let text): Double(text)
            default: nil
            }
        }
        /// Bytes in memory, about.
        fileprivate var size: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .blob(let bytes): bytes.count
            case .integer, .real, .null: 8
            }
        }
        var text: String? {
            switch self {
            case .text(let text): text
            case .integer(let value): String(value)
            default: nil
            }
        }
    }

    private let handle: Mutex<Handle>

    package init(path: String, creates: Bool = false) throws(TileError) {
        handle = Mutex(try Self.open(path, creates: creates))
    }

    private static func open(_ path: String, creates: Bool) throws(TileError) -> sending Handle {
        var pointer: OpaquePointer?
        let flags = creates ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        let code = sqlite3_open_v2(path, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, pointer != nil else {
            sqlite3_close_v2(pointer)
            throw TileError(.unreadable, "The package can't be opened (SQLite \(code)).")
        }
        sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, Int32(Limits.packagePieceBytes))
        // A longer pattern in a view could take hours in a single step, where nothing stops it.
        sqlite3_limit(pointer, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, Int32(Limits.packagePatternCharacters))
        sqlite3_busy_timeout(pointer, 5_000)
        let work = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        work.initialize(to: 0)
        if !creates {
            // Views of a foreign file may call nothing but what is harmless.
            sqlite3_exec(pointer, "PRAGMA trusted_schema = OFF", nil, nil, nil)
            sqlite3_progress_handler(
                pointer, 1_000,
                { context in
                    guard let work = context?.assumingMemoryBound(to: Int.self) else { return 1 }
                    work.pointee += 1
                    return work.pointee > Limits.packageQuerySteps ? 1 : 0
                }, work)
        }
        return Handle(pointer: pointer, work: work)
    }

    /// Runs one statement and gives its rows: for statements that have few.
    @discardableResult
    package func run(_ sql: String, _ arguments: [Value] = []) throws(TileError) -> [[Value]] {
        let outcome = handle.withLock { handle -> Result<[[Value]], TileError> in
            handle.work.pointee = 0
            var statement: OpaquePointer?
            let pointer = handle.pointer
            guard sqlite3_prepare_v2(pointer, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
                return .failure(Self.error(pointer))
            }
            defer { sqlite3_finalize(statement) }
            Self.bind(arguments, to: statement)
            var rows: [[Value]] = []
            var size = 0
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW:
                    guard rows.count < Limits.packageRows else {
                        return .failure(
                            TileError(.tooLarge, "A list of the package has more than \(Limits.packageRows) rows."))
                    }
                    let row = (0..<sqlite3_column_count(statement)).map { Self.value(statement, $0) }
                    size += row.reduce(0) { $0 + $1.size }
                    guard size <= Limits.packagePieceBytes else {
                        return .failure(
                            TileError(
                                .tooLarge, "A list of the package has more than \(Limits.packagePieceBytes) bytes."))
                    }
                    rows.append(row)
                case SQLITE_DONE: return .success(rows)
                default: return .failure(Self.error(pointer))
                }
            }
        }
        return try outcome.get()
    }

    private static func bind(_ arguments: [Value], to statement: OpaquePointer) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, argument) in arguments.enumerated() {
            let place = Int32(index + 1)
            switch argument {
            case .integer(let value): sqlite3_bind_int64(statement, place, Int64(value))
            case .real(let value): sqlite3_bind_double(statement, place, value)
            case .text(let text): sqlite3_bind_text(statement, place, text, -1, transient)
            case .blob(let bytes): sqlite3_bind_blob(statement, place, bytes, Int32(bytes.count), transient)
            case .null: sqlite3_bind_null(statement, place)
            }
        }
    }

    private static func value(_ statement: OpaquePointer, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(Int(sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            return sqlite3_column_text(statement, column).map { .text(String(cString: $0)) } ?? .null
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            guard let bytes = sqlite3_column_blob(statement, column) else { return .blob([]) }
            return .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
        default: return .null
        }
    }

    private static func error(_ pointer: OpaquePointer?) -> TileError {
        let code = sqlite3_errcode(pointer)
        let message = sqlite3_errmsg(pointer).map { String(cString: $0) } ?? "SQLite \(code)"
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR:
            return TileError(.broken, "The package is broken: \(message).")
        case SQLITE_TOOBIG:
            return TileError(.tooLarge, "A tile of the package is larger than \(Limits.packagePieceBytes) bytes.")
        case SQLITE_FULL, SQLITE_READONLY:
            return TileError(.unwritable, "The file of tiles can't be written: there may be no room (\(message)).")
        case SQLITE_INTERRUPT: return TileError(.tooLarge, "The package makes more work than a tile may.")
        default: return TileError(.unreadable, "The package can't be read: \(message).")
        }
    }
}
