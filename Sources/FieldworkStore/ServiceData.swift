package import FieldworkGeometry
package import FieldworkREST
package import Foundation
import Synchronization

/// The data of one service, in a file or in a database: what is read, written and logged is the same on both.
package protocol ServiceData: AnyObject, Sendable {
    var writer: Writer { get }
    var readers: ReaderPool { get }
    var source: ConnectionSource { get }
    /// The definition as it was read last.
    var catalogueSnapshot: ServiceCatalogue { get }
    var definition: ServiceDefinition { get }
    /// Which contents of attachments were compared with their hashes; nil where that can't be known.
    var verifiedContents: VerifiedContents? { get }
    func layer(_ id: Int) throws -> StoredLayer
    func adopt(_ catalogue: ServiceCatalogue)
    /// Runs a query on the readers that are to answer it. They may lie elsewhere, and show no older state for that.
    func querying<Result>(_ body: (ReaderPool) async throws -> Result) async throws -> Result
    /// What a view shows of the service; nil for the service itself.
    var view: ViewScope? { get }
    /// See `ReplicaStore.write`.
    /// - Parameter catalogue: the layers with the fields that the file gets.
    func write(
        _ request: ChangeRequest, of catalogue: ServiceCatalogue, as definition: ServiceDefinition, into target: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64
}

extension ServiceData {
    package var view: ViewScope? { nil }

    // MARK: Definition

    /// Takes over a definition that another program wrote.
    package func refresh() async throws {
        let known = catalogueSnapshot.source
        let fresh = try await readers.read { connection in
            try ServiceCatalogue.source(on: connection) == known ? nil : ServiceCatalogue.read(from: connection)
        }
        if let fresh { adopt(fresh) }
    }

    // MARK: Reading

    package func encodedFeatures<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layerID: Int, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let layer = try layer(layerID)
        return try await querying { try await FeatureStream.start(query, in: layer, encoder: encoder, pool: $0) }
    }

    package func encodedStatistics<Encoder: FeatureEncoder>(
        _ query: StatisticsQuery, in layerID: Int, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let layer = try layer(layerID)
        return try await querying { pool in
            try await FeatureStream.start(encoder: encoder, pool: pool) {
                try StatisticsCompiler(
                    features: QueryCompiler(layer: layer, connection: $0, now: Date.now.milliseconds), query: query
                ).plan()
            }
        }
    }

    /// Rows of statistics as values, each in the order of the query's fields.
    package func statistics(_ query: StatisticsQuery, in layerID: Int, most: Int) async throws -> [[AttributeValue]] {
        let layer = try layer(layerID)
        return try await readQuery { try StatisticsReader(layer: layer, connection: $0).rows(query, most: most) }
    }

    package func encodedRelatedFeatures<Encoder: FeatureEncoder>(
        _ query: RelatedQuery, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let compiler = try RelatedCompiler(
            source: layer(query.path.sourceLayerID), related: layer(query.path.relatedLayerID),
            through: query.path.through.map { try layer($0.layerID) }, now: Date.now.milliseconds)
        let isGlance = query.isGlance(at: compiler.related)
        return try await querying { pool in
            try await FeatureStream.start(encoder: encoder, pool: pool, isGlance: isGlance) {
                try compiler.plan(query, on: $0)
            }
        }
    }

    package func records(_ query: FeatureQuery, in layerID: Int) async throws -> [FeatureRecord] {
        let layer = try layer(layerID)
        return try await readQuery { try RecordReader(layer: layer, connection: $0).records(query) }
    }

    package func objectIDs(_ query: FeatureQuery, in layerID: Int) async throws -> [Int64] {
        let layer = try layer(layerID)
        return try await readQuery { try IdentifierReader(layer: layer, connection: $0).objectIDs(query) }
    }

    package func count(_ query: FeatureQuery, in layerID: Int) async throws -> Int {
        let layer = try layer(layerID)
        return try await readQuery(isGlance: query.asksForAll) { connection in
            let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds).count(query)
            let statement = try plan.statement(on: connection)
            defer { statement.finish() }
            return try statement.step() ? Int(statement.integer(0)) : 0
        }
    }

    package func extent(_ query: FeatureQuery, in layerID: Int) async throws -> (extent: Envelope?, count: Int) {
        let layer = try layer(layerID)
        let (box, count) = try await readQuery { connection in
            try ExtentReader(layer: layer, connection: connection).extent(query)
        }
        let extent = box.map {
            Envelope(
                xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax,
                spatialReference: layer.definition.spatialReference)
        }
        return (extent, count)
    }

    /// Whether a transaction that spans batches is open.
    package var isInTransaction: Bool { writer.isInTransaction.withLock { $0 } }

    /// Reads on a connection of its own, or, while a transaction is open, on the one that sees what it has written.
    /// - Parameter isGlance: whether it touches a few rows only; see `FeatureQuery.isGlance`.
    func read<Result: Sendable>(
        isGlance: Bool = false, _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        isInTransaction ? try await writer.inspect(body) : try await readers.read(isGlance: isGlance, body)
    }

    package func querying<Result>(_ body: (ReaderPool) async throws -> Result) async throws -> Result {
        try await body(readers)
    }

    /// The same for a query, which a standby may answer.
    /// - Parameter isGlance: whether it touches a few rows only; see `FeatureQuery.isGlance`.
    func readQuery<Result: Sendable>(
        isGlance: Bool = false, _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        if isInTransaction { return try await writer.inspect(body) }
        return try await querying { try await $0.read(isGlance: isGlance, body) }
    }

    // MARK: Writing

    /// Applies edits in one transaction; see `FeatureStore.apply`. The batch is one generation.
    package func apply(_ batch: EditBatch) async throws -> EditBatchResult {
        guard let view else { return try await writer.apply(batch) }
        return view.shown(try await writer.apply(try view.restricted(batch)))
    }

    // MARK: Change log

    package func generation() async throws -> Int64 {
        try await read(isGlance: true) { try ChangeLog.generation(on: $0) }
    }

    /// The last generation that was made before a moment; 0 for none.
    package func generation(before moment: Date) async throws -> Int64 {
        let text = DateText.text(milliseconds: moment.milliseconds)
        return try await read { connection in
            try connection.integer("SELECT max(generation) FROM fieldwork_generations WHERE moment < ?") {
                try $0.bind(text, at: 1)
            } ?? 0
        }
    }

    package func changes(after generation: Int64, in layerID: Int, limit: Int) async throws -> [FeatureChange] {
        let layer = try layer(layerID)
        return try await read {
            try ChangeLog(layer: layer, connection: $0).changes(after: generation, limit: limit)
        }
    }

    package func history(of feature: FeatureIdentifier, in layerID: Int) async throws -> [FeatureVersion] {
        let layer = try layer(layerID)
        // What a feature was before may be what the view does not show.
        guard view?.conditions[layerID] == nil else { return [] }
        return try await read { try ChangeLog(layer: layer, connection: $0).history(of: feature) }
    }

    package func historyStart(in layerID: Int) async throws -> Int64? {
        let layer = try layer(layerID)
        return try await read { try ChangeLog(layer: layer, connection: $0).start() }
    }
}
