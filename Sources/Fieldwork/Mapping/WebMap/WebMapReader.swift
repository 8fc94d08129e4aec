import FieldworkGeometry
import Foundation
import Synchronization

/// Makes layers, tables and the rest of a map from a web map's document.
struct WebMapReader {
    let environment: ServiceEnvironment
    let timeZone: TimeZone?
    /// Shows the rows of a file in place of a service's; nil where the service is asked.
    let offline: OfflineTables?
    /// Tables of one service share its edits, and are related to each other.
    private var geodatabases: [URL: ServiceGeodatabase] = [:]

    init(_ document: JSONObject, environment: ServiceEnvironment, offline: OfflineTables? = nil) throws {
        try Self.checkVersion(document)
        self.environment = environment
        self.offline = offline
        // "system" and "unknown" are no names of zones.
        timeZone = document["timeZone"]?.stringValue.flatMap(TimeZone.init(identifier:))
    }

    /// Documents of version 2 are read, and those of version 1 as far as they are the same.
    private static func checkVersion(_ document: JSONObject) throws {
        guard let version = document["version"]?.stringValue, let major = Int(version.prefix { $0 != "." }) else {
            return
        }
        guard (1...2).contains(major) else {
            throw CommonError.invalidJSON(details: "Web maps of version \(version) can't be read.")
        }
    }

    // MARK: Layers

    mutating func layers(_ json: JSONValue?) -> [Layer] {
        var layers: [Layer] = []
        for case .object(let entry) in json?.arrayValue ?? [] { layers.append(layer(entry)) }
        return layers
    }

    private mutating func layer(_ entry: JSONObject) -> Layer {
        let layer: Layer
        if Self.isFeatureLayer(entry), let table = table(entry) {
            layer = FeatureLayer(featureTable: table)
        } else if entry["layerType"]?.stringValue?.lowercased() == "grouplayer" {
            let group = GroupLayer(childLayers: layers(entry["layers"]))
            group.visibilityMode =
                switch entry["visibilityMode"]?.stringValue?.lowercased() {
                case "exclusive": .exclusive
                case "inherited": .inherited
                default: .independent
                }
            layer = group
        } else {
            layer = tiled(entry) ?? UnknownLayer()
        }
        layer.take(entry)
        return layer
    }

    /// A layer of tiles or of images that a service draws; nil for another kind, and for one whose address is missing.
    private func tiled(_ entry: JSONObject) -> Layer? {
        let url = (entry["styleUrl"] ?? entry["url"])?.stringValue.flatMap(URL.init(string:))
        if let url, let taken = offline?.layer(url) { return taken }
        switch entry["layerType"]?.stringValue?.lowercased() ?? entry["type"]?.stringValue?.lowercased() {
        case "vectortilelayer": return url.map { ArcGISVectorTiledLayer(url: $0, client: environment.client) }
        case "arcgistiledmapservicelayer":
            return url.map { ArcGISTiledLayer(url: $0, client: environment.client) }
        case "arcgismapservicelayer": return url.map { ArcGISMapImageLayer(url: $0, client: environment.client) }
        case "openstreetmap": return OpenStreetMapLayer()
        case "webtiledlayer":
            guard let template = entry["templateUrl"]?.stringValue else { return nil }
            let layer = WebTiledLayer(
                urlTemplate: template, subDomains: (entry["subDomains"]?.arrayValue ?? []).compactMap(\.stringValue),
                client: environment.client)
            layer.setAttribution(entry["copyright"]?.stringValue ?? "")
            return layer
        default: return nil
        }
    }

    /// A kind that is not said follows from the address.
    private static func isFeatureLayer(_ entry: JSONObject) -> Bool {
        guard let url = entry["url"]?.stringValue.flatMap(URL.init(string:)), Int(url.lastPathComponent) != nil else {
            return false
        }
        if let type = entry["layerType"]?.stringValue { return type.lowercased() == "arcgisfeaturelayer" }
        return ["FeatureServer", "MapServer"].contains(url.deletingLastPathComponent().lastPathComponent)
    }

    private mutating func table(_ entry: JSONObject) -> ArcGISFeatureTable? {
        guard let url = entry["url"]?.stringValue.flatMap(URL.init(string:)) else { return nil }
        guard let table = offline == nil ? serviceTable(url) : offline?.table(url) else { return nil }
        table.state.withLock { state in
            state.timeZone = timeZone
            state.isReadOnly = !LayerEntry.allowsEditing(entry)
        }
        return table
    }

    private mutating func serviceTable(_ url: URL) -> ArcGISFeatureTable {
        let root = ServiceGeodatabase.serviceRoot(of: url)
        let geodatabase = geodatabases[root] ?? ServiceGeodatabase(url: url, environment: environment)
        geodatabases[root] = geodatabase
        return ServiceFeatureTable(url: url, geodatabase: geodatabase)
    }

    /// Tables, each with its entry. An entry without an address is kept in the document alone.
    mutating func tables(_ json: JSONValue?) -> [FeatureTable] {
        var tables: [FeatureTable] = []
        for case .object(let entry) in json?.arrayValue ?? [] where Self.isFeatureLayer(entry) {
            guard let table = table(entry) else { continue }
            table.take(entry)
            tables.append(table)
        }
        return tables
    }

    // MARK: The rest

    mutating func basemap(_ json: JSONValue?) -> Basemap? {
        guard let json, let entries = json["baseMapLayers"]?.arrayValue?.compactMap(\.objectValue) else { return nil }
        let references = entries.filter { $0["isReference"]?.boolValue == true }
        let bases = entries.filter { $0["isReference"]?.boolValue != true }
        let basemap = Basemap(baseLayers: bases.map { layer($0) }, referenceLayers: references.map { layer($0) })
        basemap.name = json["title"]?.stringValue ?? ""
        return basemap
    }

    /// The target first, then the scale, which takes the place of the one that an extent implies.
    static func viewpoint(_ json: JSONValue?) -> Viewpoint? {
        guard let target = json?["targetGeometry"], let geometry = try? GeoServicesJSON.geometry(from: target) else {
            return nil
        }
        let rotation = json?["rotation"]?.doubleValue ?? 0
        guard let scale = json?["scale"]?.doubleValue, scale > 0 else {
            return Viewpoint(boundingGeometry: geometry, rotation: rotation)
        }
        let center = geometry as? Point ?? geometry.extent.center
        return Viewpoint(center: center, scale: scale, rotation: rotation)
    }

    static func bookmark(_ json: JSONValue) -> Bookmark {
        let name = json["name"]?.stringValue ?? "Untitled"
        if let viewpoint = viewpoint(json["viewpoint"]) { return Bookmark(name: name, viewpoint: viewpoint) }
        let extent = json["extent"].flatMap { try? GeoServicesJSON.geometry(from: $0) }
        return Bookmark(name: name, viewpoint: extent.map { Viewpoint(boundingGeometry: $0) })
    }
}

// MARK: - Entries

extension Layer {
    /// Takes over what a web map says of the layer.
    func take(_ json: JSONObject) {
        let entry = LayerEntry(json)
        shared.withLock { shared in
            shared.entry = json
            shared.id = json["id"]?.stringValue ?? shared.id
            shared.name = entry.title
            shared.isVisible = entry.isVisible
            shared.opacity = entry.opacity
            shared.minScale = entry.minScale.flatMap { $0 > 0 ? $0 : nil }
            shared.maxScale = entry.maxScale.flatMap { $0 > 0 ? $0 : nil }
            shared.hasOwnMinScale = entry.minScale != nil
            shared.hasOwnMaxScale = entry.maxScale != nil
        }
        (self as? FeatureLayer)?.takeContent(json, entry)
    }

    /// The layer as a web map writes it: its entry with what was changed since.
    var webMapEntry: JSONObject {
        let state = shared.withLock { $0 }
        var known = state.entry ?? newEntry
        var entry = LayerEntry(known)
        entry.title = state.name ?? entry.title
        entry.isVisible = state.isVisible
        entry.opacity = state.opacity
        if state.hasOwnMinScale || entry.minScale != nil { entry.minScale = Self.limit(state.minScale, entry.minScale) }
        if state.hasOwnMaxScale || entry.maxScale != nil { entry.maxScale = Self.limit(state.maxScale, entry.maxScale) }
        (self as? FeatureLayer)?.writeContent(to: &entry)
        if let group = self as? GroupLayer {
            let layers = JSONValue.array(group.layers.map { .object($0.webMapEntry) })
            if known["layers"] != layers { known["layers"] = layers }
        }
        if let sublayers = (self as? ArcGISMapImageLayer)?.sublayerEntries { known["layers"] = .array(sublayers) }
        return entry.written(into: known, isFeatureLayer: self is FeatureLayer)
    }

    /// No limit is written as 0, and as it was written before.
    private static func limit(_ scale: Double?, _ known: Double?) -> Double? {
        scale ?? known.flatMap { $0 > 0 ? nil : $0 } ?? 0
    }

    private var newEntry: JSONObject {
        var entry = JSONObject(["id": .string(id), "title": .string(name)])
        switch self {
        case let layer as FeatureLayer:
            entry["layerType"] = "ArcGISFeatureLayer"
            if let url = (layer.featureTable as? ServiceFeatureTable)?.url {
                entry["url"] = .string(WebMapWriter.plain(url))
            }
        case is GroupLayer: entry["layerType"] = "GroupLayer"
        case let layer as ArcGISVectorTiledLayer:
            entry["layerType"] = "VectorTileLayer"
            let isStyle = layer.url?.pathExtension == "json"
            entry[isStyle ? "styleUrl" : "url"] = layer.url.map { .string(WebMapWriter.plain($0)) }
        case let layer as ArcGISTiledLayer:
            entry["layerType"] = "ArcGISTiledMapServiceLayer"
            entry["url"] = layer.url.map { .string(WebMapWriter.plain($0)) }
        case let layer as ArcGISMapImageLayer:
            entry["layerType"] = "ArcGISMapServiceLayer"
            entry["url"] = .string(WebMapWriter.plain(layer.url))
        case is OpenStreetMapLayer: entry["layerType"] = "OpenStreetMap"
        case let layer as WebTiledLayer:
            entry["layerType"] = "WebTiledLayer"
            entry["templateUrl"] = .string(layer.urlTemplate)
            if !layer.subDomains.isEmpty { entry["subDomains"] = .array(layer.subDomains.map(JSONValue.string)) }
            if !layer.attribution.isEmpty { entry["copyright"] = .string(layer.attribution) }
        default: break
        }
        return entry
    }
}

extension FeatureTable {
    /// Takes over what a web map says of the table.
    func take(_ json: JSONObject) {
        let entry = LayerEntry(json)
        state.withLock { state in
            state.entry = json
            state.displayName = entry.title
            state.definitionExpression = entry.definitionExpression
            state.popupDefinition = entry.popup?.objectValue.map(PopupDefinition.init)
            state.popupsAreEnabled = !entry.disablesPopup
            state.formDefinition = entry.form?.objectValue.map(FeatureFormDefinition.init)
        }
    }

    /// The table as a web map writes it: its entry with what was changed since.
    var webMapEntry: JSONObject {
        let state = state.withLock { $0 }
        var known = state.entry ?? JSONObject(["id": .string(UUID().uuidString), "title": .string(displayName)])
        if state.entry == nil, let url = (self as? ServiceFeatureTable)?.url {
            known["url"] = .string(WebMapWriter.plain(url))
            known["layerType"] = "ArcGISFeatureLayer"
        }
        var entry = LayerEntry(known)
        entry.title = state.displayName ?? entry.title
        entry.definitionExpression = state.definitionExpression
        entry.popup = state.popupDefinition?.json
        entry.disablesPopup = !state.popupsAreEnabled
        entry.form = state.formDefinition?.json
        return entry.written(into: known, isFeatureLayer: true)
    }
}
