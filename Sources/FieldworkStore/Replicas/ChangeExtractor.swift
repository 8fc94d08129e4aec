import FieldworkREST
import Foundation

/// Reads the changes of several layers, or whole layers, as one state of the file, into a document.
struct ChangeExtractor {
    let catalogue: ServiceCatalogue
    let connection: StoreConnection

    /// Runs within one transaction: what is committed meanwhile is the next delta's.
    func extract<Sink: ChangeSink>(_ request: ChangeRequest, into sink: inout Sink) throws {
        try connection.begin(connection.dialect.beginReading)
        // Nothing was written; and a transaction that was lost with its connection ends so too.
        defer { connection.watch.cleaningUp { try? connection.rollBack() } }
        try sink.begin(generation: ChangeLog.generation(on: connection))
        let rows = ReplicaRowsReader(catalogue: catalogue, connection: connection, rows: request.rows)
        var whole: [ChangeRequest.Layer] = []
        for part in request.layers {
            // A log that begins too late is no delta: the client gets its rows anew.
            if let since = part.since, since >= (try rows.floor(of: part.layerID)) {
                try extract(part, since: since, rows, into: &sink)
            } else {
                whole.append(part)
            }
        }
        for part in whole { try extractWhole(part, rows, into: &sink) }
        try sink.end()
    }

    private func extract<Sink: ChangeSink>(
        _ part: ChangeRequest.Layer, since: Int64, _ rows: ReplicaRowsReader, into sink: inout Sink
    ) throws {
        let layer = try catalogue.layer(part.layerID)
        var delta = try rows.delta(of: part.layerID, after: since, replicaID: part.replicaID)
        if let upload = part.upload, !upload.isEmpty {
            let filter = EchoFilter(layer: layer, connection: connection, base: since) {
                try rows.contains($0, in: part.layerID)
            }
            try filter.leaveOutWhatIsKnown(from: upload, in: &delta)
        }
        try tellAnew(part, &delta)
        // After that: what the client has deleted and the service kept comes to it anew, with its attachments.
        let attachments = try attachments(part, since: since, delta, rows)
        try sink.beginLayer(layer.definition, delta: delta)
        try encode(delta.adds, .adds, layer, part.output, into: &sink)
        try encode(delta.updates, .updates, layer, part.output, into: &sink)
        if let attachments {
            let extractor = AttachmentExtractor(layer: layer, connection: connection)
            try sink.beginAttachments(.adds)
            try extractor.extract(attachments.adds, into: &sink)
            try sink.beginAttachments(.updates)
            try extractor.extract(attachments.updates, into: &sink)
            try sink.deletedAttachments(attachments.deletes)
        }
        try sink.endLayer(layer.definition)
    }

    /// A client whose delete lost in a sync that brought it nothing lacks the feature, of which the log tells a change at
    /// most.
    private func tellAnew(_ part: ChangeRequest.Layer, _ delta: inout LayerDelta) throws {
        guard part.includesAttachments, let replicaID = part.replicaID, !delta.updates.isEmpty else { return }
        let kept = try ConflictLog(connection: connection).keptFeatures(of: part.layerID, deletedBy: replicaID)
        guard !kept.isEmpty else { return }
        delta.adds += delta.updates.filter(kept.contains)
        delta.updates.removeAll(where: kept.contains)
    }

    /// nil when none are wanted.
    private func attachments(
        _ part: ChangeRequest.Layer, since: Int64, _ delta: LayerDelta, _ rows: ReplicaRowsReader
    ) throws -> AttachmentDeltaReader.Delta? {
        let layer = try catalogue.layer(part.layerID)
        guard part.includesAttachments, layer.definition.hasAttachments else { return nil }
        let reader = AttachmentDeltaReader(layer: layer, connection: connection, replicaID: part.replicaID) {
            try rows.contains($0, in: part.layerID)
        }
        return try reader.delta(
            after: since, features: delta, upload: part.upload?.attachments, uploadGeneration: part.uploadGeneration)
    }

    private func extractWhole<Sink: ChangeSink>(
        _ part: ChangeRequest.Layer, _ rows: ReplicaRowsReader, into sink: inout Sink
    ) throws {
        let layer = try catalogue.layer(part.layerID)
        try sink.beginLayer(layer.definition, delta: nil)
        let queries: [FeatureQuery]
        switch rows.rows[part.layerID] ?? .none {
        case .none: queries = []
        case .matching(var query):
            query.output = part.output
            queries = [query]
        case .related(let relations):
            queries = try rows.relatedIDs(relations, in: layer).sorted().chunks(of: Limits.idsPerStatement)
                .map { FeatureQuery(objectIDs: $0, output: part.output) }
        }
        try encode(queries, .all, layer, into: &sink)
        if part.includesAttachments, layer.definition.hasAttachments {
            try sink.beginAttachments(.all)
            try AttachmentExtractor(layer: layer, connection: connection).extract(of: queries, into: &sink)
        }
        try sink.endLayer(layer.definition)
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
