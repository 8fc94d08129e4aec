import FieldworkREST
import Foundation

/// Reads the changes of several layers, or whole layers, as one state of the file, into a document.
struct ChangeExtractor {
    let catalogue: ServiceCatalogue
    let connection: SQLiteConnection

    /// Runs within one transaction: what is committed meanwhile is the next delta's.
    func extract<Sink: ChangeSink>(_ request: ChangeRequest, into sink: inout Sink) throws {
        try connection.execute("BEGIN")
        defer { try? connection.execute("COMMIT") }
        try sink.begin(generation: ChangeLog.generation(on: connection))
        for part in request.layers { try extract(part, into: &sink) }
        try sink.end()
    }

    private func extract<Sink: ChangeSink>(_ part: ChangeRequest.Layer, into sink: inout Sink) throws {
        let layer = try catalogue.layer(part.layerID)
        let definition = layer.definition
        // A log that begins too late is no delta: the client gets its rows anew.
        let floor = try LogCompaction.floor(of: part.layerID, on: connection)
        if let since = part.since, since >= floor {
            var delta = LayerDelta()
            if let rows = part.rows {
                delta = try DeltaReader(layer: layer, connection: connection).delta(after: since, rows: rows)
                if let upload = part.upload, !upload.isEmpty {
                    try EchoFilter(layer: layer, connection: connection, base: since)
                        .leaveOutWhatIsKnown(from: upload, rows: rows, in: &delta)
                }
            }
            try sink.beginLayer(definition, delta: delta)
            try encode(delta.adds, .adds, layer, part.output, into: &sink)
            try encode(delta.updates, .updates, layer, part.output, into: &sink)
        } else {
            try sink.beginLayer(definition, delta: nil)
            if var rows = part.rows {
                rows.output = part.output
                try encode([rows], .all, layer, into: &sink)
            } else {
                try encode([], .all, layer, into: &sink)
            }
        }
        try sink.endLayer(definition)
    }

    private func encode<Sink: ChangeSink>(
        _ ids: [Int64], _ kind: ChangedFeatures, _ layer: StoredLayer, _ output: GeometryOutput, into sink: inout Sink
    ) throws {
        let queries = ids.chunks(of: Limits.idsPerStatement).map { FeatureQuery(objectIDs: $0, output: output) }
        try encode(queries, kind, layer, into: &sink)
    }

    private func encode<Sink: ChangeSink>(
        _ queries: [FeatureQuery], _ kind: ChangedFeatures, _ layer: StoredLayer, into sink: inout Sink
    ) throws {
        for query in queries {
            guard let encoder = try sink.encoder(for: kind, of: layer.definition, query: query) else { break }
            let compiler = QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            let cursor = try FeatureCursor(compiler.features(query), encoder: encoder, on: connection)
            while !cursor.isAtEnd { try sink.features(cursor.piece(of: EncodedFeatures.pieceSize)) }
        }
        try sink.endFeatures(kind)
    }
}
