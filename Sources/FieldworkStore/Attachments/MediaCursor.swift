import FieldworkREST

/// Gives the bytes of one content, or a range of them, in pieces. The whole content is compared with its hash before the
/// first piece leaves, unless it was since the file last changed: nobody gets half of what the disk has spoiled.
final class MediaCursor: PieceSource {
    private let blob: BlobHandle
    private var position: Int
    private let end: Int

    var isAtEnd: Bool { position >= end }
    /// The bytes of the whole content.
    var count: Int { blob.count }

    /// - Parameters:
    ///   - range: cut to what is there; nil for all.
    ///   - verified: what was compared already; nil compares always.
    ///   - verify: compares a content with its hash.
    init(
        mediaRow: Int64, range: Range<Int>?, verified: VerifiedContents? = nil, on connection: StoreConnection,
        verify: (BlobHandle, String?) throws -> Void = { try MediaStore.verify($0, sha256: $1) }
    ) throws {
        let before = verified?.state
        // An open content holds a snapshot: what is written from here on is not seen.
        blob = try BlobHandle(media: mediaRow, on: connection)
        let isKnown = before.map { verified?.state == $0 && verified?.holds(mediaRow, in: $0) == true } ?? false
        if !isKnown {
            try verify(
                blob,
                try connection.text("SELECT sha256 FROM \(AttachmentTables.media) WHERE id = ?") {
                    try $0.bind(mediaRow, at: 1)
                })
            if let before { verified?.remember(mediaRow, in: before) }
        }
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
