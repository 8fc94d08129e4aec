import Fieldwork
import Foundation

/// What a map is made of, loaded: of a feature service as it is, or of a web map that shows services its own way.
struct MapContent: Sendable {
    /// A layer that the map names and that didn't load.
    struct Failure: Sendable, Hashable {
        let name: String
        let reason: String
    }

    var title: String
    var geodatabases: [ServiceGeodatabase]
    /// Bottom to top, as they are drawn.
    var layers: [MapLayer] = []
    var tables: [MapLayer] = []
    /// The layers that the author switched off.
    var hiddenAtFirst: Set<Int> = []
    /// Where the author wants the map to be looked at first.
    var viewpoint: Viewpoint?
    var failures: [Failure] = []
    var rules = MapRules()
    /// The web map, kept for its layers; nil for a service.
    var webMap: Map?
    /// The file of an offline area; nil for a map of a server.
    var offline: OfflineWork?

    // MARK: A service

    static func service(_ address: MapAddress, dataDirectory: URL) async throws -> MapContent {
        let url = address.url
        let geodatabase = ServiceGeodatabase(
            url: url, keptAt: folder(of: dataDirectory).appending(path: address.folderName))
        try await geodatabase.load()
        guard let info = geodatabase.serviceInfo else {
            throw CollectError(.notAFeatureService, "\(url.absoluteString) tells nothing about its layers.")
        }
        var content = MapContent(
            title: OpenMap.title(of: ServiceDirectory.name(of: url)), geodatabases: [geodatabase])
        func load(_ id: Int?) async throws -> MapLayer? {
            guard let id, let table = geodatabase.table(withLayerID: id) else { return nil }
            return try await MapLayer.load(table, id: id, isAuthored: false)
        }
        for layerInfo in info.layerInfos.reversed() {
            if let layer = try await load(layerInfo.id) { content.layers.append(layer) }
        }
        for tableInfo in info.tableInfos {
            if let table = try await load(tableInfo.id) { content.tables.append(table) }
        }
        guard !content.layers.isEmpty || !content.tables.isEmpty else {
            throw CollectError(.notAFeatureService, "\(url.absoluteString) has no layers.")
        }
        return content
    }

    /// Holds one folder a service, whatever map shows it: an edit made in one map is on its way in all.
    private static func folder(of dataDirectory: URL) -> URL { dataDirectory.appending(path: "services") }

    // MARK: A web map

    static func webMap(_ address: MapAddress, ownRoot: URL?, dataDirectory: URL) async throws -> MapContent {
        let document = try await WebMapDocument.read(address.url)
        let map = try document.map(keptIn: folder(of: dataDirectory)) {
            MapAddress($0, ownRoot: ownRoot).folderName
        }
        let mapFolder = dataDirectory.appending(path: "maps/\(address.folderName)")
        var numbers = try LayerNumbers(file: mapFolder.appending(path: "layers.json"))
        var content = MapContent(
            title: document.title ?? OpenMap.title(of: name(of: address.url)), geodatabases: [],
            viewpoint: map.initialViewpoint, webMap: map)
        let visible = Set(map.visibleFeatureLayers().map(ObjectIdentifier.init))
        var occurrences: [String: Int] = [:]
        func number(_ table: ServiceFeatureTable) -> Int {
            let root = table.url?.deletingLastPathComponent() ?? address.url
            let service = MapAddress(root, ownRoot: ownRoot).key
            let occurrence = occurrences["\(service) \(table.layerID)", default: 0]
            occurrences["\(service) \(table.layerID)"] = occurrence + 1
            return numbers.number(service: service, layer: table.layerID, occurrence: occurrence)
        }
        for layer in featureLayers(map.operationalLayers) {
            guard let table = layer.featureTable as? ServiceFeatureTable else { continue }
            let id = number(table)
            guard let loaded = try await content.loading(table, id: id, layer: layer) else { continue }
            // A layer of the web map without a place is a table to us.
            if loaded.geometry == nil { content.tables.append(loaded) } else { content.layers.append(loaded) }
            if !visible.contains(ObjectIdentifier(layer)) { content.hiddenAtFirst.insert(id) }
        }
        for case let table as ServiceFeatureTable in map.tables {
            if let loaded = try await content.loading(table, id: number(table), layer: nil) {
                content.tables.append(loaded)
            }
        }
        guard !content.layers.isEmpty || !content.tables.isEmpty else { throw content.nothingLoaded }
        try numbers.save()
        content.rules = MapRules(map.rules, layers: content.layers + content.tables)
        return content
    }

    /// A layer that doesn't load is left out and told; the others are worked with.
    private mutating func loading(_ table: ServiceFeatureTable, id: Int, layer: FeatureLayer?) async throws
        -> MapLayer?
    {
        do {
            guard let loaded = try await MapLayer.load(table, id: id, featureLayer: layer, isAuthored: true) else {
                return nil
            }
            if let own = table.serviceGeodatabase, !geodatabases.contains(where: { $0 === own }) {
                geodatabases.append(own)
            }
            return loaded
        } catch let error as CancellationError {
            throw error
        } catch {
            let name = layer?.name ?? table.displayName
            let reason = (error as? any ArcGISError)?.details ?? "\(error)"
            failures.append(Failure(name: name.isEmpty ? "Layer \(table.layerID)" : name, reason: reason))
            return nil
        }
    }

    private var nothingLoaded: CollectError {
        guard let first = failures.first else {
            return CollectError(.notAFeatureService, "The map has no layers of feature services.")
        }
        return CollectError(
            .notAFeatureService, "None of the map's layers loaded. \(first.name): \(first.reason)",
            nextStep: "Check whether their server runs.")
    }

    /// Bottom to top, those of groups in their place.
    private static func featureLayers(_ layers: [Layer]) -> [FeatureLayer] {
        layers.flatMap { layer -> [FeatureLayer] in
            switch layer {
            case let layer as FeatureLayer: [layer]
            case let group as GroupLayer: featureLayers(group.layers)
            default: []
            }
        }
    }

    /// `…/trees-of-portland.webmap.json` is called trees-of-portland.
    private static func name(of url: URL) -> String {
        let last = url.isFileURL ? url.lastPathComponent : url.deletingLastPathComponent().lastPathComponent
        let bare = last.split(separator: ".").first.map(String.init) ?? last
        return bare.isEmpty ? "Map" : bare
    }
}
