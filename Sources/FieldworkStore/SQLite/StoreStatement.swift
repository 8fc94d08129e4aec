import FieldworkREST
import Foundation
import GRDBSQLite

/// A prepared statement of a connection; used only where its connection may be used.
package final class StoreStatement {
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer?

        // Of nothing, it does nothing.
        deinit { sqlite3_finalize(pointer) }
    }

    private let handle: Handle
    /// The statement of a database that is no file.
    let session: (any DatabaseStatement)?
    /// The connection of `session`.
    private let connection: StoreConnection?
    /// Taken from the cache and not yet finished.
    var isInUse = false

    init(pointer: OpaquePointer) {
        handle = Handle(pointer: pointer)
        session = nil
        connection = nil
    }

    init(_ session: any DatabaseStatement, on connection: StoreConnection) {
        handle = Handle(pointer: nil)
        self.session = session
        self.connection = connection
    }

    private var pointer: OpaquePointer? { handle.pointer }

    /// Copies the value while the call lasts (`SQLITE_TRANSIENT`): the caller's memory may go.
    static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Where an empty text starts: no pointer at all would be NULL.
    static var emptyText: UnsafePointer<CChar> {
        UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    }

    // MARK: Arguments, counted from 1

    package func bind(_ value: Int64, at index: Int) throws {
        if let session { return session.bind(.integer(value), at: index) }
        try check(sqlite3_bind_int64(pointer, Int32(index), value))
    }

    package func bind(_ value: Double, at index: Int) throws {
        if let session { return session.bind(.real(value), at: index) }
        try check(sqlite3_bind_double(pointer, Int32(index), value))
    }

    package func bindNull(at index: Int) throws {
        if let session { return session.bind(.null, at: index) }
        try check(sqlite3_bind_null(pointer, Int32(index)))
    }

    package func bind(_ value: String?, at index: Int) throws {
        guard var value else { return try bindNull(at: index) }
        if let session { return session.bind(.text(value), at: index) }
        let code = value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(
                    pointer, Int32(index), $0.baseAddress ?? Self.emptyText, Int32($0.count), Self.transient)
            }
        }
        try check(code)
    }

    package func bind(blob: UnsafeRawBufferPointer, at index: Int) throws {
        if let session { return session.bind(blob: blob, at: index) }
        // A nil pointer would bind NULL: an empty value is a value.
        guard let start = blob.baseAddress, !blob.isEmpty else {
            return try check(sqlite3_bind_zeroblob(pointer, Int32(index), 0))
        }
        try check(sqlite3_bind_blob(pointer, Int32(index), start, Int32(blob.count), Self.transient))
    }

    func bind(_ value: AttributeValue, at index: Int) throws {
        if let session { return session.bind(value, at: index) }
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let value): try bind(value, at: index)
        case .real(let value): try bind(value, at: index)
        case .text(let value): try bind(value, at: index)
        case .data(let value): try value.withUnsafeBytes { try bind(blob: $0, at: index) }
        }
    }

    /// Hands an object to an SQL function; the statement keeps it alive until it is bound anew or finalised.
    func bind(object: AnyObject, type: StaticString, at index: Int) throws {
        let unmanagedObject = Unmanaged.passRetained(object)
        let name = UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
        // SQLite calls the destructor even when binding fails.
        let code = sqlite3_bind_pointer(pointer, Int32(index), unmanagedObject.toOpaque(), name) { released in
            guard let released else { return }
            Unmanaged<AnyObject>.fromOpaque(released).release()
        }
        try check(code)
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else {
            throw StoreConnection.error(of: sqlite3_db_handle(pointer), code: code)
        }
    }

    // MARK: Rows

    /// Advances to the next row; false at the end.
    package func step() throws -> Bool {
        if let session { return try step(session) }
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw StoreConnection.error(of: sqlite3_db_handle(pointer), code: code)
        }
    }

    /// Runs a statement that gives no rows and whose failure may be the caller's data: a broken constraint is told, every
    /// other failure is thrown.
    func execute() throws -> Outcome {
        if let session, let connection { return try connection.guarding { try execute(session, connection) } }
        let code = sqlite3_step(pointer)
        if code == SQLITE_DONE || code == SQLITE_ROW { return .done }
        let error = StoreConnection.error(of: sqlite3_db_handle(pointer), code: code)
        switch code {
        case Self.uniqueViolation, Self.primaryKeyViolation, Self.rowIDViolation:
            return .notUnique(error.message)
        case let code where code & 0xFF == SQLITE_CONSTRAINT: return .refused(error.message)
        default: throw error
        }
    }

    private func step(_ session: any DatabaseStatement) throws -> Bool {
        if try session.advance() { return true }
        connection?.note(changes: session.changedRows)
        return false
    }

    private func execute(_ session: any DatabaseStatement, _ connection: StoreConnection) throws -> Outcome {
        let outcome = try session.advanceTellingConstraints()
        connection.note(changes: session.changedRows)
        // The row of `dialect.returning`.
        if case .done = outcome, session.kind(0) == .integer { connection.note(returnedID: session.integer(0)) }
        return outcome
    }

    // SQLite's extended codes are macros that Swift can't see.
    private static let uniqueViolation = SQLITE_CONSTRAINT | (8 << 8)
    private static let primaryKeyViolation = SQLITE_CONSTRAINT | (6 << 8)
    private static let rowIDViolation = SQLITE_CONSTRAINT | (10 << 8)

    package enum Outcome {
        case done
        case notUnique(String)
        /// By another constraint of the table.
        case refused(String)
    }

    /// Ends the execution and forgets the arguments: ready for the next user.
    package func finish() {
        if let session { return session.finish() }
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        isInUse = false
    }

    /// Ends the execution, keeps the arguments: for the next of many rows.
    package func reset() {
        if let session { return session.reset() }
        sqlite3_reset(pointer)
    }

    /// Rows will be many: a session is to give them one by one, as SQLite does.
    func stream() { session?.isStreamed = true }

    /// Rows will be few: a session may give them whole.
    func page() { session?.isPage = true }

    // MARK: Columns of the row, counted from 0

    var columnCount: Int { session?.forms.count ?? Int(sqlite3_column_count(pointer)) }

    func type(_ column: Int) -> Int32 {
        session?.kind(column).rawValue ?? sqlite3_column_type(pointer, Int32(column))
    }

    package func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

    package func integer(_ column: Int) -> Int64 {
        session?.integer(column) ?? sqlite3_column_int64(pointer, Int32(column))
    }

    package func double(_ column: Int) -> Double {
        session?.double(column) ?? sqlite3_column_double(pointer, Int32(column))
    }

    /// The value of a column of a SQLite file for a reader that asks it more than one thing: its kind, then its content. Good
    /// until the next step, and only on the connection's own queue.
    @inline(__always)
    func value(_ column: Int) -> ColumnValue { ColumnValue(pointer: sqlite3_column_value(pointer, Int32(column))) }

    package func text(_ column: Int) -> String { String(decoding: textBytes(column), as: UTF8.self) }

    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// UTF-8 that stays until the next step.
    func textBytes(_ column: Int) -> UnsafeRawBufferPointer {
        if let session { return session.textBytes(column) }
        let start = sqlite3_column_text(pointer, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, Int32(column))))
    }

    package func blob(_ column: Int) -> UnsafeRawBufferPointer {
        if let session { return session.blob(column) }
        let start = sqlite3_column_blob(pointer, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, Int32(column))))
    }
}
