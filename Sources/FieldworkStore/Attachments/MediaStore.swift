import Crypto
package import FieldworkREST
import Foundation

/// The contents of attachments, each once, in the transaction that its caller has opened. Bytes go in and out in pieces.
struct MediaStore {
    let connection: StoreConnection

    /// The row of a content, written when it is not there yet.
    /// - Throws: `EditError` when the content can't be read or is not what was announced.
    func keep(_ content: AttachmentContent, contentType: String) throws -> Int64 {
        let hash = try content.sha256?.lowercased() ?? Self.sha256(of: content)
        if let known = try row(of: hash, size: content.size) { return known }
        let inserted = try connection.integer(connection.dialect.newContent) {
            try $0.bind(contentType, at: 1)
            try $0.bind(hash, at: 2)
            try $0.bind(Int64(content.size), at: 3)
        }
        guard let row = inserted else { throw StoreError(.failure, "A content was not given an id.") }
        do {
            try write(content, to: row, hash: hash)
        } catch {
            // The transaction may go on with other items.
            try dropUnused(row)
            throw error
        }
        return row
    }

    /// Forgets a content that was written for an attachment that could not be.
    func dropUnused(_ row: Int64) throws {
        try connection.run(
            """
            DELETE FROM \(AttachmentTables.media)
            WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM \(AttachmentTables.uses) WHERE media_id = ?1)
            """
        ) { try $0.bind(row, at: 1) }
    }

    private func row(of hash: String, size: Int) throws -> Int64? {
        try connection.integer(
            "SELECT id FROM \(AttachmentTables.media) WHERE sha256 = ? AND \(connection.dialect.contentSize) = ?"
        ) {
            try $0.bind(hash, at: 1)
            try $0.bind(Int64(size), at: 2)
        }
    }

    private func write(_ content: AttachmentContent, to row: Int64, hash: String) throws {
        let blob = try BlobHandle(media: row, isWritten: true, on: connection)
        var written = 0
        var counted = SHA256()
        try Self.eachPiece(of: content) { piece in
            guard written + piece.count <= blob.count else { throw Self.changed }
            counted.update(bufferPointer: piece)
            try blob.write(piece, at: written)
            written += piece.count
        }
        guard written == blob.count, counted.finalize().hexadecimal == hash else { throw Self.changed }
    }

    private static let changed = EditError(
        code: 1000, description: "The attachment's content is not complete or not what was announced.")

    // MARK: Pieces

    static func sha256(of content: AttachmentContent) throws -> String {
        var hash = SHA256()
        try eachPiece(of: content) { hash.update(bufferPointer: $0) }
        return hash.finalize().hexadecimal
    }

    private static func eachPiece(
        of content: AttachmentContent, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        switch content.source {
        case .bytes(let bytes): try bytes.withUnsafeBytes(body)
        case .file(let path):
            guard let file = FileHandle(forReadingAtPath: path) else { throw changed }
            defer { try? file.close() }
            while let piece = try file.read(upToCount: Limits.mediaPiece), !piece.isEmpty {
                try piece.withUnsafeBytes(body)
            }
        }
    }

    // MARK: Reading

    /// The SHA-256 of a content; counted when another program has put it there, which notes none.
    func sha256(ofRow row: Int64) throws -> String {
        let known = try connection.text("SELECT sha256 FROM \(AttachmentTables.media) WHERE id = ?") {
            try $0.bind(row, at: 1)
        }
        if let known { return known }
        return try Self.sha256(of: BlobHandle(media: row, on: connection))
    }

    /// Reads a whole content in pieces.
    /// - Throws: `StoreError.corrupt` when its bytes are not those that were stored.
    static func verify(_ blob: BlobHandle, sha256: String?) throws {
        // What another program has put there has no hash.
        guard let sha256 else { return }
        guard try Self.sha256(of: blob) == sha256 else {
            throw StoreError(.corrupt, "The content of an attachment has changed on the disk.")
        }
    }

    static func sha256(of blob: BlobHandle) throws -> String {
        var hash = SHA256()
        var position = 0
        while position < blob.count {
            let end = min(position + Limits.mediaPiece, blob.count)
            try blob.read(position..<end).withUnsafeBytes { hash.update(bufferPointer: $0) }
            position = end
        }
        return hash.finalize().hexadecimal
    }
}

extension AttachmentContent {
    /// The SHA-256 of the bytes in hexadecimal. Throws `EditError` when they can't be read.
    package func digest() throws -> String { try MediaStore.sha256(of: self) }
}

extension SHA256.Digest {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
