import FieldworkGeometry
import Foundation

/// One file of an offline map, and where it comes from.
struct OfflineMapPart: Sendable {
    enum Content: Sendable {
        case geodatabase(GenerateGeodatabaseParameters)
        case vectorTiles(ExportVectorTilesParameters)
        case tiles(ExportTileCacheParameters)
        /// A file of tiles that is on this device already; it takes the place of the basemap.
        case referenceBasemap(isVector: Bool)
        case locator
    }

    var content: Content
    /// The service, or a file of this device.
    var source: URL
    /// The file's name in the package.
    var file: String
    /// The layers and tables that it is for, by their addresses in the map.
    var layers: [String]

    private var kind: String {
        switch content {
        case .geodatabase: "geodatabase"
        case .vectorTiles: "vectorTiles"
        case .tiles: "tiles"
        case .referenceBasemap(let isVector): isVector ? "referenceVectorTiles" : "referenceTiles"
        case .locator: "locator"
        }
    }

    /// Whether its file is never changed after it has come.
    var isSealed: Bool {
        if case .geodatabase = content { return false }
        return true
    }

    var json: JSONValue {
        var object = JSONObject()
        object.append("kind", .string(kind))
        object.append("source", .string(source.absoluteString))
        object.append("file", .string(file))
        object.append("layers", .array(layers.map(JSONValue.string)))
        switch content {
        case .geodatabase(let parameters): object.append("parameters", parameters.json)
        case .vectorTiles(let parameters): object.append("parameters", parameters.json)
        case .tiles(let parameters): object.append("parameters", parameters.json)
        case .referenceBasemap, .locator: break
        }
        return .object(object)
    }

    init(_ content: Content, source: URL, file: String, layers: [String] = []) {
        self.content = content
        self.source = source
        self.file = file
        self.layers = layers
    }

    init(json: JSONValue) throws {
        let parameters = json["parameters"] ?? [:]
        guard let kind = json["kind"]?.stringValue, let source = json["source"]?.stringValue.flatMap(URL.init(string:)),
            let file = json["file"]?.stringValue, Self.isName(file)
        else { throw CommonError.invalidJSON(details: "A part of the offline map is not complete.") }
        self.source = source
        self.file = file
        layers = (json["layers"]?.arrayValue ?? []).compactMap(\.stringValue)
        switch kind {
        case "geodatabase": content = .geodatabase(try GenerateGeodatabaseParameters(json: parameters))
        case "vectorTiles": content = .vectorTiles(try ExportVectorTilesParameters(json: parameters))
        case "tiles": content = .tiles(try ExportTileCacheParameters(json: parameters))
        case "referenceVectorTiles": content = .referenceBasemap(isVector: true)
        case "referenceTiles": content = .referenceBasemap(isVector: false)
        case "locator": content = .locator
        default: throw CommonError.invalidJSON(details: "A part of the offline map is of an unknown kind.")
        }
    }

    /// The prepared replica that its file is of; nil for a file that is made for who asks.
    var reference: UUID? {
        if case .geodatabase(let parameters) = content { parameters.reference } else { nil }
    }

    /// A name of a file within the folder of a package, which leads nowhere else.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && name.utf8.count <= 200
    }
}

/// What can't come along, and why.
struct OfflineMapRefusal: Sendable {
    /// The address of the layer or table in the map.
    var layer: String
    var title: String
    var reason: String

    var json: JSONValue {
        ["layer": .string(layer), "title": .string(title), "reason": .string(reason)]
    }

    init(layer: String, title: String, reason: String) {
        (self.layer, self.title, self.reason) = (layer, title, reason)
    }

    init?(json: JSONValue) {
        guard let layer = json["layer"]?.stringValue, let reason = json["reason"]?.stringValue else { return nil }
        self.init(layer: layer, title: json["title"]?.stringValue ?? "", reason: reason)
    }

    var error: any Error { CommonError.propertyNotSupported(details: reason) }
}

// MARK: - Addresses

extension Layer {
    /// What tells the layer from others of its map, also in another process: its address, else its id.
    var offlineAddress: String {
        switch self {
        case let layer as FeatureLayer: layer.featureTable?.offlineAddress ?? id
        case let layer as ArcGISVectorTiledLayer: (layer.url ?? layer.vectorTileCache?.fileURL)?.absoluteString ?? id
        case let layer as ArcGISTiledLayer: (layer.url ?? layer.tileCache?.fileURL)?.absoluteString ?? id
        default: id
        }
    }

    /// The layers of a group, else the layer itself.
    var offlineLeaves: [Layer] { (self as? GroupLayer)?.layers.flatMap(\.offlineLeaves) ?? [self] }
}

extension FeatureTable {
    var offlineAddress: String { (self as? ServiceFeatureTable)?.url?.absoluteString ?? tableName }
}
