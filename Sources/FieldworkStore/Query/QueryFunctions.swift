import FieldworkREST
import Foundation
import GRDBSQLite

/// SQL functions that compiled queries call. Triggers and views never do, so that a file stays usable without them.
enum QueryFunctions {
    static func register(on connection: StoreConnection) throws {
        try connection.addFunction("fieldwork_matches", arguments: 2) { context, _, values in
            let name = UnsafeRawPointer(SpatialMatcher.pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
            guard let blob = values?[0], let filter = sqlite3_value_pointer(values?[1], name),
                sqlite3_value_type(blob) == SQLITE_BLOB
            else { return sqlite3_result_int(context, 0) }
            let bytes = UnsafeRawBufferPointer(start: sqlite3_value_blob(blob), count: Int(sqlite3_value_bytes(blob)))
            let matcher = Unmanaged<SpatialMatcher>.fromOpaque(filter).takeUnretainedValue()
            sqlite3_result_int(context, matcher.matches(bytes) ? 1 : 0)
            if matcher.isOver { sqlite3_result_error_code(context, SQLITE_INTERRUPT) }
        }
        try connection.addFunction("fieldwork_ms") { context, _, values in
            // A date that was counted with before is its milliseconds already.
            if let value = values?[0], sqlite3_value_type(value) == SQLITE_INTEGER {
                return sqlite3_result_int64(context, sqlite3_value_int64(value))
            }
            QueryFunctions.result(context, QueryFunctions.milliseconds(values))
        }
        try connection.addFunction("fieldwork_time") { context, _, values in
            QueryFunctions.result(context, QueryFunctions.timeMilliseconds(values))
        }
    }

    private static func milliseconds(_ values: UnsafeMutablePointer<OpaquePointer?>?) -> Int64? {
        text(values, 0).flatMap { DateText.milliseconds($0) }
    }

    private static func timeMilliseconds(_ values: UnsafeMutablePointer<OpaquePointer?>?) -> Int64? {
        text(values, 0).flatMap { DateText.timeMilliseconds(String(decoding: $0, as: UTF8.self)) }
    }

    static func result(_ context: OpaquePointer?, _ value: Int64?) {
        if let value { sqlite3_result_int64(context, value) } else { sqlite3_result_null(context) }
    }

    /// An argument's UTF-8, which stays while the function runs; nil for NULL and for numbers.
    static func text(_ values: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> UnsafeRawBufferPointer? {
        guard let value = values?[index], sqlite3_value_type(value) == SQLITE_TEXT else { return nil }
        let start = sqlite3_value_text(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }
}
