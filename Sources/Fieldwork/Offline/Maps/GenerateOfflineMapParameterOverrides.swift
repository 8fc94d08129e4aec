import Foundation
import Synchronization

/// What of a map some parameters are for: a service of features, or a layer of tiles.
public final class OfflineMapParametersKey: Hashable, Sendable {
    let address: String

    init(address: String) { self.address = address }

    /// The key of a layer; nil for one that has no service.
    public convenience init?(layer: Layer) {
        switch layer {
        case let layer as FeatureLayer:
            guard let table = layer.featureTable else { return nil }
            self.init(featureTable: table)
        case let layer as ArcGISVectorTiledLayer where layer.url != nil: self.init(address: layer.offlineAddress)
        case let layer as ArcGISTiledLayer where layer.url != nil: self.init(address: layer.offlineAddress)
        default: return nil
        }
    }

    /// The key of a table: that of its service; nil for one that has none.
    public convenience init?(featureTable: FeatureTable) {
        guard let url = (featureTable as? ServiceFeatureTable)?.url else { return nil }
        self.init(address: ServiceGeodatabase.serviceRoot(of: url).absoluteString)
    }

    /// Whether both are of the same.
    public static func == (one: OfflineMapParametersKey, other: OfflineMapParametersKey) -> Bool {
        one.address == other.address
    }

    /// Tells keys apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(address) }
}

/// What is asked of each service of a map, to be changed before the job is made: the parameters are objects, and what is removed
/// does not come along.
public final class GenerateOfflineMapParameterOverrides: Sendable {
    private struct State: Sendable {
        var plan: OfflineMapPlan
        var removed: Set<OfflineMapParametersKey> = []
    }

    private let state: Mutex<State>

    init(_ plan: OfflineMapPlan) { state = Mutex(State(plan: plan)) }

    private static func key(_ part: OfflineMapPart) -> OfflineMapParametersKey {
        if case .geodatabase = part.content { return OfflineMapParametersKey(address: part.source.absoluteString) }
        return OfflineMapParametersKey(address: part.layers.first ?? part.source.absoluteString)
    }

    private func parameters<Value>(_ value: (OfflineMapPart.Content) -> Value?) -> [OfflineMapParametersKey: Value] {
        let state = state.withLock { $0 }
        var found: [OfflineMapParametersKey: Value] = [:]
        for part in state.plan.parts where !state.removed.contains(Self.key(part)) {
            if let value = value(part.content) { found[Self.key(part)] = value }
        }
        return found
    }

    /// By the key of a layer of images.
    public var exportTileCacheParameters: [OfflineMapParametersKey: ExportTileCacheParameters] {
        parameters { if case .tiles(let parameters) = $0 { parameters } else { nil } }
    }

    /// By the key of a layer of vector tiles.
    public var exportVectorTilesParameters: [OfflineMapParametersKey: ExportVectorTilesParameters] {
        parameters { if case .vectorTiles(let parameters) = $0 { parameters } else { nil } }
    }

    /// By the key of any layer or table of a feature service.
    public var generateGeodatabaseParameters: [OfflineMapParametersKey: GenerateGeodatabaseParameters] {
        parameters { if case .geodatabase(let parameters) = $0 { parameters } else { nil } }
    }

    /// Leaves the tiles of a layer, or all layers of a feature service, out of the map.
    public func removeParameters(for key: OfflineMapParametersKey) {
        state.withLock { _ = $0.removed.insert(key) }
    }

    /// What comes along.
    var plan: OfflineMapPlan {
        let state = state.withLock { $0 }
        var plan = state.plan
        plan.parts.removeAll { state.removed.contains(Self.key($0)) }
        for part in state.plan.parts where state.removed.contains(Self.key(part)) {
            plan.refusals += part.layers.map {
                OfflineMapRefusal(layer: $0, title: "", reason: "The layer was left out by the parameters.")
            }
        }
        return plan
    }
}
