import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import HTTPTypes

/// The vector tile face of a feature service: the same layers as tiles, with a style that draws them as their renderers say.
struct TileService: Sendable {
    let features: FeatureService
    let generations: TileGenerations
    let keeper: TileKeeper
    let measures: LayerMeasures

    init(features: FeatureService, cacheBytes: Int) {
        self.features = features
        generations = TileGenerations(store: features.store)
        keeper = TileKeeper(maximum: cacheBytes)
        measures = LayerMeasures(store: features.store)
    }

    var store: any FeatureStore { features.store }

    /// The layers that are drawn, which are those that may be read.
    static func layers(of service: ServiceDefinition) throws(ServiceError) -> [LayerDefinition] {
        let layers = service.layers.filter {
            !$0.isTable && Permissions(service: service, layer: $0).allow(.query)
        }
        guard !layers.isEmpty else { throw .notSupported }
        return layers
    }

    // MARK: Tiles

    /// One tile. A client that has it already is answered before any feature is read.
    func tile(_ address: TileAddress, of published: PublishedService, _ request: ServiceRequest) async throws -> Answer
    {
        let service = published.definition
        let layers = try Self.layers(of: service)
        // Read before the rows: an edit in between makes the tile newer than its tag, never older.
        let generation = try await generations.generation(of: address, in: service)
        let plans = try await plans(layers, address, of: service)
        let scope = Self.scope(published, plans)
        let name = "\(address.level)/\(address.row)/\(address.column)"
        let tag = "\"\(generation)-\(scope)\""
        if EntityTag.matchesAny(request.ifNoneMatch, tag) { return .unchanged(tag) }
        // Whether features are shown may depend on when it is: then a tile has no tag, and none is kept.
        if layers.contains(where: \.isDrawnByTime) {
            return Self.answer(try await Self.tile(address, plans, in: store), nil)
        }
        let bytes = try await keeper.bytes(.init(scope: "\(service.name.path)/\(tag)", name: name)) { [store] in
            try await Self.tile(address, plans, in: store)
        }
        return Self.answer(bytes, tag)
    }

    /// - Parameter bytes: compressed; none for a tile without features, which is no tile.
    static func answer(_ bytes: [UInt8], _ tag: String?) -> Answer {
        var answer = Answer(contentType: Answer.pbfType, body: .bytes(bytes))
        if bytes.isEmpty { answer.status = .notFound } else { answer.isGzipped = true }
        answer.entityTag = tag
        return answer
    }

    /// What besides the features decides a tile's bytes: the definition, who asks, and how crowded levels are thinned.
    private static func scope(_ published: PublishedService, _ plans: [TilePlan]) -> String {
        var hash = FNV1a()
        for plan in plans {
            let text = "\(plan.layer.id)/\(plan.steps)/\(plan.layer.restriction.map { "\($0)" } ?? "")"
            for byte in text.utf8 { hash.combine(byte) }
        }
        return "\(String(published.version, radix: 36))-\(String(hash.value, radix: 36))"
    }

    /// Tiles within the limit of their bytes: what is drawn is halved until it fits.
    private static func tile(_ address: TileAddress, _ plans: [TilePlan], in store: any FeatureStore) async throws
        -> [UInt8]
    {
        var maximum = 3 * FieldworkTiles.Limits.tileBytes
        while true {
            var tile: [UInt8] = []
            for plan in plans { tile += try await plan.encoded(address, from: store, maximumBytes: maximum) }
            guard !tile.isEmpty else { return [] }
            let bytes = try GzipStream.compressed(tile)
            if bytes.count <= FieldworkTiles.Limits.tileBytes || maximum < 65_536 { return bytes }
            maximum /= 2
        }
    }

    private func plans(
        _ layers: [LayerDefinition], _ address: TileAddress, of service: ServiceDefinition
    ) async throws -> [TilePlan] {
        var plans: [TilePlan] = []
        for layer in layers where TilePlan.shows(layer, at: address.level) {
            plans.append(try await TilePlan(layer, address, of: service, measures))
        }
        return plans
    }

    // MARK: Glyphs

    /// A range of glyphs, made from a font of the system.
    func glyphs(_ stack: String, _ range: String) async throws -> Answer {
        let parts = range.split(separator: ".").first?.split(separator: "-").map { Int($0) } ?? []
        guard parts.count == 2, let start = parts[0], let end = parts[1],
            (0..<65_536).contains(start), end == start + FieldworkTiles.Limits.glyphRange - 1
        else {
            throw ServiceError.notFound("There is no such range of glyphs.")
        }
        let bytes: [UInt8]
        do {
            let file = try FontFolder.file(for: stack)
            bytes = try await keeper.bytes(.init(scope: file, name: String(start))) {
                try GzipStream.compressed(try GlyphRange.bytes(stack: stack, start: start))
            }
        } catch let error as TileError {
            throw ServiceError.notFound(error.message)
        }
        return Self.answer(bytes, EntityTag.ofBytes(bytes))
    }
}
