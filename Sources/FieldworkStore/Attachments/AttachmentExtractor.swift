import FieldworkREST

/// Gives attachments with their contents to a document, as one state of the file.
struct AttachmentExtractor {
    let layer: StoredLayer
    let connection: StoreConnection

    private var reader: AttachmentReader { AttachmentReader(layer: layer, connection: connection, now: 0) }

    /// The attachments of the features of queries.
    func extract<Sink: ChangeSink>(of queries: [FeatureQuery], into sink: inout Sink) throws {
        for query in queries { try extract(AttachmentQuery(features: query), into: &sink) }
    }

    /// Attachments by their ids.
    func extract<Sink: ChangeSink>(_ ids: [Int64], into sink: inout Sink) throws {
        for chunk in ids.chunks(of: Limits.idsPerStatement) {
            try extract(AttachmentQuery(ids: chunk), into: &sink)
        }
    }

    private func extract<Sink: ChangeSink>(_ query: AttachmentQuery, into sink: inout Sink) throws {
        // The list is small beside the contents: those are read one after the other.
        for found in try reader.all(query) {
            try sink.attachment(found.info) { take in
                let cursor = try MediaCursor(mediaRow: found.mediaRow, range: nil, on: connection)
                while !cursor.isAtEnd { try take(cursor.piece(of: Limits.mediaPiece)) }
            }
        }
    }
}
