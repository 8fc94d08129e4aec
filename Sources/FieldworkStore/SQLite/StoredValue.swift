import GRDBSQLite

/// One value of a row where it lies. Good until the next step.
protocol StoredValue {
    /// By SQLite's numbers.
    var type: Int32 { get }
    var integer: Int64 { get }
    var double: Double { get }
    /// UTF-8 that stays until the next step.
    var textBytes: UnsafeRawBufferPointer { get }
    var blob: UnsafeRawBufferPointer { get }
}

/// One value of a row where it lies in SQLite. The functions on columns look the column up and settle errors each time; on
/// the value itself they don't.
struct ColumnValue: StoredValue {
    let pointer: OpaquePointer?

    @inline(__always) var type: Int32 { sqlite3_value_type(pointer) }
    @inline(__always) var integer: Int64 { sqlite3_value_int64(pointer) }
    @inline(__always) var double: Double { sqlite3_value_double(pointer) }

    /// UTF-8 that stays until the next step.
    @inline(__always) var textBytes: UnsafeRawBufferPointer {
        let start = sqlite3_value_text(pointer)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
    }

    @inline(__always) var blob: UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(pointer)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
    }
}

/// One value of a row of a session.
struct SessionValue: StoredValue {
    let statement: any DatabaseStatement
    let column: Int

    var type: Int32 { statement.kind(column).rawValue }
    var integer: Int64 { statement.integer(column) }
    var double: Double { statement.double(column) }
    var textBytes: UnsafeRawBufferPointer { statement.textBytes(column) }
    var blob: UnsafeRawBufferPointer { statement.blob(column) }
}
