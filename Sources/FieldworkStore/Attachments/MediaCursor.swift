import FieldworkREST

/// Gives the bytes of one content, or a range of them, in pieces. The whole content is compared with its hash before the
/// first piece leaves: nobody gets half of what the disk has spoiled.
final class MediaCursor: PieceSource {
    private let blob: BlobHandle
    private var position: Int
    private let end: Int

    var isAtEnd: Bool { position >= end }

    /// - Parameter range: cut to what is there; nil for all.
    init(mediaRow: Int64, range: Range<Int>?, on connection: SQLiteConnection) throws {
        blob = try BlobHandle(table: AttachmentTables.media, column: "data", row: mediaRow, on: connection)
        try MediaStore.verify(
            blob,
            sha256: try connection.text("SELECT sha256 FROM \(AttachmentTables.media) WHERE id = ?") {
                try $0.bind(mediaRow, at: 1)
            })
        let range = (range ?? 0..<blob.count).clamped(to: 0..<blob.count)
        position = range.lowerBound
        end = range.upperBound
    }

    func piece(of size: Int) throws -> [UInt8] {
        guard position < end else { return [] }
        let next = min(position + size, end)
        let bytes = try blob.read(position..<next)
        position = next
        return bytes
    }
}
