import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles

/// In which generation each tile of a service changed last. It reads the change log: an edit makes only those tiles anew that
/// show the feature as it was or as it is now.
actor TileGenerations {
    private struct Known {
        /// No tile is older, as far as this process knows.
        var floor: Int64
        /// What came up to here is among the changed tiles.
        var seen: Int64
        var changed: [TileAddress: Int64] = [:]
    }

    /// Deeper tiles are as old as the one of this level that they are a part of.
    private static let deepest = 14

    private let store: any FeatureStore
    private var services: [ServiceName: Known] = [:]

    init(store: any FeatureStore) { self.store = store }

    func generation(of tile: TileAddress, in service: ServiceDefinition) async throws -> Int64 {
        let current = try await store.generation(of: service.name)
        if services.count > Limits.cachedServices { services.removeAll() }
        // A generation that is smaller than before is that of a backup that was put in place.
        guard let known = services[service.name], known.seen <= current else {
            services[service.name] = Known(floor: current, seen: current)
            return current
        }
        if known.seen < current { try await catchUp(service, from: known.seen, to: current) }
        guard let caughtUp = services[service.name] else { return current }
        let changed = caughtUp.changed[tile.ancestor(level: Self.deepest)] ?? caughtUp.floor
        return max(changed, caughtUp.floor)
    }

    /// Notes the tiles of what changed since; all of them where there was too much to look at, or where the log doesn't tell what a
    /// generation changed, as of a bulk load.
    private func catchUp(_ service: ServiceDefinition, from seen: Int64, to current: Int64) async throws {
        var touched: [Touched]?
        if current - seen <= Int64(Limits.tileChanges) { touched = try await tiles(of: service, seen, current) }
        guard var known = services[service.name] else { return }
        if let touched, known.changed.count + touched.count <= Limits.changedTiles {
            for (tile, generation) in touched { known.changed[tile] = max(known.changed[tile] ?? 0, generation) }
        } else {
            known.floor = max(known.floor, current)
            known.changed = [:]
        }
        known.seen = max(known.seen, current)
        services[service.name] = known
    }

    private typealias Touched = (tile: TileAddress, generation: Int64)

    /// nil: too many to tell.
    private func tiles(of service: ServiceDefinition, _ seen: Int64, _ current: Int64) async throws -> [Touched]? {
        var result: [Touched] = []
        var told: Set<Int64> = []
        let floors = try await (store as? any ReplicaStore)?.logFloors(of: service.name) ?? [:]
        for layer in service.layers {
            // Where the log no longer reaches so far back, it isn't known what changed.
            guard floors[layer.id, default: 0] <= seen else { return nil }
            let address = LayerAddress(service: service.name, layerID: layer.id)
            let changes = try await store.changes(after: seen, in: address, limit: Limits.tileChanges + 1)
            guard changes.count <= Limits.tileChanges else { return nil }
            told.formUnion(changes.map(\.generation))
            if layer.isTable || changes.isEmpty { continue }
            guard let more = try await tiles(of: changes, in: layer, address, after: seen) else { return nil }
            result += more
        }
        guard ((seen + 1)...current).allSatisfy(told.contains) else { return nil }
        return result
    }

    /// nil: too many to tell.
    private func tiles(
        of changes: [FeatureChange], in layer: LayerDefinition, _ address: LayerAddress, after seen: Int64
    ) async throws -> [Touched]? {
        // Without a history it isn't known where things were.
        guard try await store.historyStart(in: address) != nil else { return nil }
        var result: [Touched] = []
        let query = FeatureQuery(objectIDs: Array(Set(changes.map(\.objectID))), outFields: [layer.objectIDField])
        var now: [Int64: Geometry] = [:]
        for record in try await store.records(query, in: address) { now[record.objectID] = record.geometry }
        for change in changes {
            var places = [now[change.objectID]]
            if change.operation != .add {
                let versions = try await store.history(of: .objectID(change.objectID), in: address)
                // A view that shows some of the features gives no history: where they were is not known.
                guard !versions.isEmpty else { return nil }
                places += versions.filter { $0.toGeneration > seen }.map(\.record.geometry)
            }
            for case let place? in places {
                guard let tiles = Self.tiles(showing: place, of: layer) else { return nil }
                result += tiles.map { ($0, change.generation) }
            }
        }
        return result
    }

    /// The tiles of all levels that a shape is drawn in; nil for one in very many.
    private static func tiles(showing geometry: Geometry, of layer: LayerDefinition) -> [TileAddress]? {
        guard !geometry.isEmpty else { return [] }
        guard let extent = try? GeometryEngine.projected(geometry.extent, into: .webMercator),
            let world = TileAddress(level: 0, column: 0, row: 0)
        else { return nil }
        let box = PlaneBox(xMin: extent.xMin, yMin: extent.yMin, xMax: extent.xMax, yMax: extent.yMax)
        var result: [TileAddress] = []
        for level in 0...deepest {
            let side = world.side / Double(1 << level)
            let margin = TileFeatureEncoder.margin(layer.geometryType ?? .polygon, world) * side / world.side
            let (columns, rows) = box.grown(by: margin).tiles(level: level)
            guard columns.count * rows.count <= Limits.tilesPerChange else { return nil }
            for column in columns {
                result += rows.compactMap { TileAddress(level: level, column: column, row: $0) }
            }
        }
        return result
    }
}
