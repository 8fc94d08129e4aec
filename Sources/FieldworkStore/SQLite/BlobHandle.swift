import GRDBSQLite

/// One binary value of one row, open to be read or written in pieces. Its length is fixed.
final class BlobHandle {
    private let pointer: OpaquePointer
    private let connection: StoreConnection
    let count: Int

    init(
        table: String, column: String, row: Int64, isWritten: Bool = false, on connection: StoreConnection
    ) throws {
        var opened: OpaquePointer?
        let code = sqlite3_blob_open(connection.pointer, "main", table, column, row, isWritten ? 1 : 0, &opened)
        guard code == SQLITE_OK, let opened else { throw connection.error(code) }
        pointer = opened
        self.connection = connection
        count = Int(sqlite3_blob_bytes(opened))
    }

    deinit { sqlite3_blob_close(pointer) }

    /// - Parameter range: within 0..<count.
    func read(_ range: Range<Int>) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            let code = sqlite3_blob_read(pointer, buffer.baseAddress, Int32(range.count), Int32(range.lowerBound))
            guard code == SQLITE_OK else { throw connection.error(code) }
            initialized = range.count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        guard !bytes.isEmpty else { return }
        let code = sqlite3_blob_write(pointer, bytes.baseAddress, Int32(bytes.count), Int32(offset))
        guard code == SQLITE_OK else { throw connection.error(code) }
    }
}
