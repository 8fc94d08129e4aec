import Crypto
import FieldworkREST

/// The contents of attachments on their way from one store to another: each once, under its own number, in pieces.
struct ContentCopier {
    let source: StoreConnection

    /// Reads the contents in the order of their numbers.
    /// - Parameter target: where they go; nil to look at them alone.
    /// - Returns: a checksum that goes through all their bytes.
    func run(to target: StoreConnection?, progress: () -> Void = {}) throws -> TableChecksum {
        var checksum = ChecksumCounter()
        guard try source.hasTable(AttachmentTables.media) else { return checksum.finish() }
        var last = Int64.min
        while true {
            let page = try rows(after: last)
            guard let newest = page.last else { return checksum.finish() }
            for row in page {
                try Task.checkCancellation()
                let digest = try copy(row, to: target)
                if let known = row.sha256, known != digest {
                    throw StoreError(.corrupt, "The content \(row.id) of an attachment has changed on the disk.")
                }
                checksum.add([.integer(row.id), .text(row.type), row.sha256.map { .text($0) } ?? .null, .text(digest)])
                progress()
            }
            last = newest.id
        }
    }

    private struct Row {
        var id: Int64
        var type: String
        /// Another program notes none.
        var sha256: String?
    }

    private func rows(after last: Int64) throws -> [Row] {
        var rows: [Row] = []
        try source.run(
            """
            SELECT id, content_type, sha256 FROM \(AttachmentTables.media) WHERE id > ?
            ORDER BY id LIMIT \(Limits.attachmentsOfPage)
            """, bind: { try $0.bind(last, at: 1) },
            row: { rows.append(Row(id: $0.integer(0), type: $0.text(1), sha256: $0.optionalText(2))) })
        return rows
    }

    /// - Returns: the SHA-256 of the bytes that were read.
    private func copy(_ row: Row, to target: StoreConnection?) throws -> String {
        let content = try BlobHandle(media: row.id, on: source)
        guard let target else { return try MediaStore.sha256(of: content) }
        try target.run(target.dialect.copiedContent) {
            try $0.bind(row.id, at: 1)
            try $0.bind(row.type, at: 2)
            try $0.bind(row.sha256, at: 3)
            try $0.bind(Int64(content.count), at: 4)
        }
        let copied = try BlobHandle(media: row.id, isWritten: true, on: target)
        var hash = SHA256()
        var position = 0
        while position < content.count {
            let piece = try content.read(position..<min(position + Limits.mediaPiece, content.count))
            try piece.withUnsafeBytes { bytes in
                hash.update(bufferPointer: bytes)
                try copied.write(bytes, at: position)
            }
            position += piece.count
        }
        return hash.finalize().hexadecimal
    }
}
