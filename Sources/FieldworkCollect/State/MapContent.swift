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
    /// Why a layer didn't load, where its server wants a sign-in.
    var signIn: ArcGISChallengeCancellationError?
    var rules = MapRules()
    /// The web map, kept for its layers; nil for a service.
    var webMap: Map?
    /// The files of an offline area; nil for a map of a server.
    var offline: OfflineWork?

    /// The tables of its layers by the numbers that these have in the map.
    var numberedTables: [Int: ArcGISFeatureTable] {
        Dictionary((layers + tables).map { ($0.id, $0.table) }) { first, _ in first }
    }

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
        var content = MapContent(
            title: document.title ?? OpenMap.title(of: name(of: address.url)), geodatabases: [],
            viewpoint: map.initialViewpoint)
        try await content.show(map, folder: mapFolder) { table in
            guard let table = table as? ServiceFeatureTable else { return nil }
            let root = table.url?.deletingLastPathComponent() ?? address.url
            return (MapAddress(root, ownRoot: ownRoot).key, table.layerID)
        }
        guard !content.layers.isEmpty || !content.tables.isEmpty else { throw content.nothingLoaded }
        return content
    }

    /// Shows what was taken along as the web map says.
    /// - Parameters:
    ///   - document: the web map as it was when the area was taken.
    ///   - folder: keeps what belongs to the work in the area.
    /// - Returns: false where the web map can't be read, or shows nothing of the area.
    mutating func show(_ document: Data, folder: URL) async throws -> Bool {
        guard let offline,
            let map = try? WebMapDocument(title: nil, json: document).map(
                over: offline.parts.map { ($0.geodatabase, $0.file.service) })
        else { return false }
        try await show(map, folder: folder) { table in
            guard let table = table as? GeodatabaseFeatureTable,
                let part = offline.parts.first(where: { $0.geodatabase === table.geodatabase })
            else { return nil }
            return (offline.key(of: part), Int(table.serviceLayerID))
        }
        return !layers.isEmpty || !tables.isEmpty
    }

    /// Takes over the layers and tables of a web map.
    /// - Parameter origin: the service and the layer's number there; nil for what isn't shown.
    private mutating func show(
        _ map: Map, folder: URL, origin: (FeatureTable) -> (service: String, layer: Int)?
    ) async throws {
        webMap = map
        var numbers = try LayerNumbers(file: folder.appending(path: "layers.json"))
        let visible = Set(map.visibleFeatureLayers().map(ObjectIdentifier.init))
        var occurrences: [String: Int] = [:]
        func number(_ table: FeatureTable) -> Int? {
            guard let (service, layer) = origin(table) else { return nil }
            let occurrence = occurrences["\(service) \(layer)", default: 0]
            occurrences["\(service) \(layer)"] = occurrence + 1
            return numbers.number(service: service, layer: layer, occurrence: occurrence)
        }
        for layer in Self.featureLayers(map.operationalLayers) {
            guard let table = layer.featureTable as? ArcGISFeatureTable, let id = number(table),
                let loaded = try await loading(table, id: id, layer: layer)
            else { continue }
            // A layer of the web map without a place is a table to us.
            if loaded.geometry == nil { tables.append(loaded) } else { layers.append(loaded) }
            if !visible.contains(ObjectIdentifier(layer)) { hiddenAtFirst.insert(id) }
        }
        for case let table as ArcGISFeatureTable in map.tables {
            guard let id = number(table) else { continue }
            if let loaded = try await loading(table, id: id, layer: nil) { tables.append(loaded) }
        }
        try numbers.save()
        rules = MapRules(map.rules, layers: layers + tables)
    }

    /// A layer that doesn't load is left out and told; the others are worked with.
    private mutating func loading(
        _ table: ArcGISFeatureTable, id: Int, layer: FeatureLayer?
    ) async throws -> MapLayer? {
        do {
            guard let loaded = try await MapLayer.load(table, id: id, featureLayer: layer, isAuthored: true) else {
                return nil
            }
            if let own = (table as? ServiceFeatureTable)?.serviceGeodatabase,
                !geodatabases.contains(where: { $0 === own })
            {
                geodatabases.append(own)
            }
            return loaded
        } catch let error as CancellationError {
            throw error
        } catch {
            if let wanted = error as? ArcGISChallengeCancellationError { signIn = wanted }
            let name = layer?.name ?? table.displayName
            let reason = (error as? any ArcGISError)?.details ?? "\(error)"
            failures.append(Failure(name: name.isEmpty ? "Layer \(id)" : name, reason: reason))
            return nil
        }
    }

    private var nothingLoaded: any Error {
        if let signIn { return signIn }
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
