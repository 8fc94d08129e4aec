import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// What of one layer goes into a tile.
struct TilePlan: Sendable {
    let layer: LayerDefinition
    let service: ServiceName
    /// How often the layer's points are thinned at this level.
    let steps: Int

    /// Whether a layer is drawn at some scale at which a tile of a level is.
    static func shows(_ layer: LayerDefinition, at level: Int) -> Bool {
        if let least = WebMercator.level(scale: layer.minScale), Double(level + 1) <= least,
            level < TileLevels.deepest
        {
            return false
        }
        guard let most = WebMercator.level(scale: layer.maxScale) else { return true }
        return Double(level) <= most
    }

    init(
        _ layer: LayerDefinition, _ address: TileAddress, of service: ServiceDefinition, _ measures: LayerMeasures
    ) async throws {
        self.layer = layer
        self.service = service.name
        guard layer.geometryType == .point, address.level < TileLevels.deepest else {
            steps = 0
            return
        }
        let measure = try await measures.measure(layer, of: service.name)
        let total = measure.total
        guard total > FieldworkTiles.Limits.tileFeatures, let extent = measure.extent,
            let plane = try? GeometryEngine.projected(extent, into: .webMercator)
        else {
            steps = 0
            return
        }
        steps = Thinning.steps(total: total, width: plane.width, height: plane.height, level: address.level)
    }

    /// The layer of the tile; empty without features.
    func encoded(_ address: TileAddress, from store: any FeatureStore, maximumBytes: Int) async throws -> [UInt8] {
        guard let type = layer.geometryType, let reference = layer.spatialReference else { return [] }
        let box = address.box.grown(by: TileFeatureEncoder.margin(type, address))
        let area = Envelope(
            xMin: box.xMin, yMin: box.yMin, xMax: box.xMax, yMax: box.yMax, spatialReference: .webMercator)
        // Where the tile has no place in the layer's reference, the layer has no place in the tile.
        guard let place = try? GeometryEngine.projected(area, into: reference) else { return [] }
        let layerAddress = LayerAddress(service: service, layerID: layer.id)
        let carried = StyleFields.names(layer)
        let drawn = DrawnExpressions(layer)
        let read = drawn?.fields(of: layer).filter { !carried.contains($0) } ?? []
        var query = FeatureQuery(
            condition: layer.restriction, spatialFilter: SpatialFilter(geometry: place, relation: .indexIntersects),
            outFields: carried + read)
        var total: Int?
        if let thinned = Thinning.condition(steps: steps, field: layer.objectIDField) {
            total = try await store.count(query, in: layerAddress)
            query.condition = query.condition.map { .binary(.and, $0, thinned) } ?? thinned
        }
        let columns = try AnswerLayout(layer: layer, query: query).fields.map(\.name)
        let expressions = drawn.map { drawn in
            FeatureExpressions(
                drawn, layer, ArcadeSchema(layer), columns: columns, now: Int64(Date.now.timeIntervalSince1970 * 1_000),
                scale: WebMercator.scale / exp2(Double(address.level)))
        }
        let encoder = try TileFeatureEncoder(
            layer: layer, query: query, address: address, total: total, carried: carried, expressions: expressions,
            maximumBytes: maximumBytes)
        return try await FeatureService.collected(
            try await store.encodedFeatures(query, in: layerAddress, encoder: encoder))
    }
}

extension LayerDefinition {
    /// Whether what is drawn depends on when it is asked for, by the features that are shown or by what they look like.
    var isDrawnByTime: Bool { dependsOnCurrentTime || DrawnExpressions(self)?.readClock == true }
}
