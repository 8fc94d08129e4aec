import Fieldwork
import FieldworkTiles
import Foundation

/// Makes the tiles of a map from queries by extent, and keeps the latest. Crowded tiles of points are thinned by a rank
/// that a feature keeps at all levels, so that nothing flickers and tiles agree at their borders.
actor TileMaker {
    struct Tile: Sendable {
        let bytes: [UInt8]
        let tag: String
    }

    private struct Key: Hashable {
        let layer: Int
        let address: TileAddress
    }

    private struct Kept {
        let tile: Tile
        let generation: Int
        let date: Date
    }

    private let layers: [Int: MapLayer]
    private var kept: [Key: Kept] = [:]
    private var order: [Key] = []
    private var underWay: [Key: Task<Tile, any Error>] = [:]
    private var generations: [Int: Int] = [:]
    private var totals: [Int: Int] = [:]
    private let start = Int(Date().timeIntervalSince1970)

    init(layers: [MapLayer]) {
        self.layers = Dictionary(layers.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Grows when the layer's features changed on the server.
    func generation(of layer: Int) -> Int { start + (generations[layer] ?? 0) }

    func invalidate(_ layers: Set<Int>) {
        for layer in layers {
            generations[layer, default: 0] += 1
            totals[layer] = nil
        }
    }

    func tile(layer id: Int, at address: TileAddress) async throws -> Tile {
        guard let layer = layers[id], let kind = layer.geometry else {
            throw CollectError(.notFound, "The map has no layer \(id).")
        }
        let key = Key(layer: id, address: address)
        let generation = generation(of: id)
        if let known = kept[key], known.generation == generation,
            Date().timeIntervalSince(known.date) < Limits.tileSeconds
        {
            return known.tile
        }
        if let task = underWay[key] { return try await task.value }
        let task = Task { try await self.make(layer, kind: kind, at: address) }
        underWay[key] = task
        defer { underWay[key] = nil }
        do {
            let tile = try await task.value
            keep(tile, for: key, generation: generation)
            return tile
        } catch {
            // Without the server, the older picture is better than none.
            if let known = kept[key] { return known.tile }
            throw error
        }
    }

    private func keep(_ tile: Tile, for key: Key, generation: Int) {
        if kept.updateValue(Kept(tile: tile, generation: generation, date: Date()), forKey: key) == nil {
            order.append(key)
            if order.count > Limits.cachedTiles { kept[order.removeFirst()] = nil }
        }
    }

    private func make(_ layer: MapLayer, kind: GeometryKind, at address: TileAddress) async throws -> Tile {
        let parameters = QueryParameters()
        let margin = address.side * (kind == .point ? 0.125 : 0.016)
        let area = Envelope(
            xMin: address.xMin - margin, yMin: address.yMax - address.side - margin,
            xMax: address.xMin + address.side + margin, yMax: address.yMax + margin, spatialReference: .webMercator)
        parameters.geometry = area
        parameters.spatialRelationship = .envelopeIntersects
        parameters.outSpatialReference = .webMercator
        parameters.maxFeatures = Limits.tileFeatures
        if kind == .point {
            if let clause = try await thinning(layer, at: address) { parameters.whereClause = clause }
        } else {
            parameters.maxAllowableOffset = address.side / 1_024
        }
        let result = try await layer.table.features(parameters, .minimum)
        var encoder = TileEncoder(layer: layer, kind: kind, address: address)
        for feature in result.features() { try await encoder.add(feature) }
        let bytes = encoder.encoded()
        return Tile(bytes: bytes, tag: "\"\(StableHash.hex(bytes))\"")
    }

    /// Whether only a share of the layer's features is drawn at a level.
    func isThinned(_ layer: MapLayer, level: Int) async throws -> Bool {
        guard layer.geometry == .point, let address = TileAddress(level: max(level, 0), column: 0, row: 0) else {
            return false
        }
        return try await thinning(layer, at: address) != nil
    }

    /// The condition that keeps only a share of the features at small scales; nil where all are drawn.
    private func thinning(_ layer: MapLayer, at address: TileAddress) async throws -> String? {
        let total: Int
        if let known = totals[layer.id] {
            total = known
        } else {
            total = try await layer.table.queryFeatureCount(using: QueryParameters())
            totals[layer.id] = total
        }
        guard total > Limits.tileFeatures, let extent = layer.table.extent,
            let plane = GeometryEngine.project(extent, into: .webMercator)
        else { return nil }
        let share = Self.share(
            total: total, width: plane.width, height: plane.height, side: address.side)
        guard share < 1 else { return nil }
        // The rank: a hash of the object id that spreads evenly.
        let most = Int64(4_294_967_296 * share)
        return "MOD(\(layer.objectIDField) * 2654435761, 4294967296) < \(most)"
    }

    /// The share of features that leaves a tile as full as it may be. Places are denser than the mean: fourfold counts.
    static func share(total: Int, width: Double, height: Double, side: Double) -> Double {
        let tiles = max(1, width / side) * max(1, height / side)
        let densest = min(Double(total), 4 * Double(total) / tiles)
        guard densest > Double(Limits.tileFeatures) else { return 1 }
        return Double(Limits.thinnedFeatures) / densest
    }
}

extension StableHash {
    static func hex(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash ^= UInt64(byte)
            hash &*= 0x100_0000_01b3
        }
        return String(hash, radix: 16)
    }
}
