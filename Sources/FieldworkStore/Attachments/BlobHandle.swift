import FieldworkREST
import Foundation
import GRDBSQLite

/// The bytes of one content, open to be read or written in pieces: a binary value of a SQLite file, or a large object of
/// PostgreSQL. Their number is fixed.
final class BlobHandle {
    private enum Place {
        case value(OpaquePointer)
        case largeObject(Int64)
    }

    private let place: Place
    private let connection: StoreConnection
    /// Whether the transaction whose snapshot is read was opened for it.
    private let holdsSnapshot: Bool
    let count: Int

    /// - Parameter row: of the content in the table of media.
    init(media row: Int64, isWritten: Bool = false, on connection: StoreConnection) throws {
        self.connection = connection
        if connection.dialect.isSQLite {
            var opened: OpaquePointer?
            let code = sqlite3_blob_open(
                connection.pointer, "main", AttachmentTables.media, "data", row, isWritten ? 1 : 0, &opened)
            guard code == SQLITE_OK, let opened else { throw connection.error(code) }
            place = .value(opened)
            count = Int(sqlite3_blob_bytes(opened))
            holdsSnapshot = false
            return
        }
        let opensTransaction = !isWritten && !connection.isInTransaction
        if opensTransaction { try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
        do {
            let found = try Self.largeObject(row, on: connection)
            place = .largeObject(found.object)
            count = found.size
            holdsSnapshot = opensTransaction
        } catch {
            if opensTransaction { try? connection.rollBack() }
            throw error
        }
    }

    private static func largeObject(
        _ row: Int64, on connection: StoreConnection
    ) throws -> (object: Int64, size: Int) {
        var found: (object: Int64, size: Int)?
        try connection.run(
            "SELECT content::bigint, size FROM \(AttachmentTables.media) WHERE id = ?",
            bind: { try $0.bind(row, at: 1) }, row: { found = ($0.integer(0), Int($0.integer(1))) })
        guard let found else { throw StoreError(.failure, "The content \(row) is not there.") }
        return found
    }

    deinit {
        if case .value(let pointer) = place { sqlite3_blob_close(pointer) }
        if holdsSnapshot, connection.isInTransaction { try? connection.rollBack() }
    }

    /// - Parameter range: within 0..<count.
    func read(_ range: Range<Int>) throws -> [UInt8] {
        switch place {
        case .value(let pointer):
            return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
                let code = sqlite3_blob_read(pointer, buffer.baseAddress, Int32(range.count), Int32(range.lowerBound))
                guard code == SQLITE_OK else { throw connection.error(code) }
                initialized = range.count
            }
        case .largeObject(let object):
            var bytes: [UInt8] = []
            try connection.run(
                "SELECT lo_get(?::oid, ?::bigint, ?::integer)",
                bind: {
                    try $0.bind(object, at: 1)
                    try $0.bind(Int64(range.lowerBound), at: 2)
                    try $0.bind(Int64(range.count), at: 3)
                }, row: { bytes = Array($0.blob(0)) })
            guard bytes.count == range.count else {
                throw StoreError(.corrupt, "The content of an attachment has lost its end.")
            }
            return bytes
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        guard !bytes.isEmpty else { return }
        switch place {
        case .value(let pointer):
            let code = sqlite3_blob_write(pointer, bytes.baseAddress, Int32(bytes.count), Int32(offset))
            guard code == SQLITE_OK else { throw connection.error(code) }
        case .largeObject(let object):
            try connection.run("SELECT lo_put(?::oid, ?::bigint, ?::bytea)") {
                try $0.bind(object, at: 1)
                try $0.bind(Int64(offset), at: 2)
                try $0.bind(blob: bytes, at: 3)
            }
        }
    }
}
