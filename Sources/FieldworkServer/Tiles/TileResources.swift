import FieldworkGeometry
import FieldworkREST
import FieldworkTiles

/// What tile services say of themselves, whatever their tiles come from.
enum TileResources {
    /// The root of a service of vector tiles.
    /// - Parameter isExported: whether parts of it can be taken along.
    static func root(
        name: String, copyright: String, extent: Envelope?, levels: ClosedRange<Int>, isExported: Bool = false
    ) -> JSONValue {
        var object = JSONObject()
        object.append("currentVersion", .number(ServerInfo.currentVersion))
        object.append("name", .string(name))
        object.append("copyrightText", .string(copyright))
        object.append("capabilities", "TilesOnly,Tilemap")
        // Each level has its whole grid: there is no index of what is missing.
        object.append("type", "indexedFlat")
        object.append("defaultStyles", "resources/styles")
        object.append("tiles", ["tile/{z}/{y}/{x}.pbf"])
        object.append("exportTilesAllowed", .bool(isExported))
        object.append("maxExportTilesCount", JSONValue(isExported ? Limits.exportedTiles : 0))
        let area = Self.area(extent)
        object.append("initialExtent", area)
        object.append("fullExtent", area)
        object.append("minScale", .number(WebMercator.scale / Double(1 << levels.lowerBound)))
        object.append("maxScale", .number(WebMercator.scale / Double(1 << levels.upperBound)))
        object.append("maxzoom", JSONValue(levels.upperBound))
        object.append(
            "resourceInfo",
            [
                "styleVersion": 8, "tileCompression": "gzip",
                "cacheInfo": ["storageInfo": ["packetSize": 128, "storageFormat": "compactV2"]],
            ])
        object.append("tileInfo", TileScheme.grid(side: 512, format: "pbf", levels: levels))
        object.append("minLOD", JSONValue(levels.lowerBound))
        object.append("maxLOD", JSONValue(levels.upperBound))
        return .object(object)
    }

    /// The root of a map service whose tiles are ready images.
    static func imageRoot(
        name: String, copyright: String, extent: Envelope?, levels: ClosedRange<Int>, format: String, isExported: Bool
    ) -> JSONValue {
        var object = JSONObject()
        object.append("currentVersion", .number(ServerInfo.currentVersion))
        object.append("serviceDescription", "")
        object.append("mapName", .string(name))
        object.append("description", "")
        object.append("copyrightText", .string(copyright))
        object.append("supportsDynamicLayers", false)
        object.append("layers", [])
        object.append("tables", [])
        object.append("spatialReference", TileScheme.reference)
        object.append("singleFusedMapCache", true)
        object.append("tileInfo", TileScheme.grid(side: 256, format: format, levels: levels))
        object.append("storageInfo", ["storageFormat": "esriMapCacheStorageModeCompactV2", "packetSize": 128])
        let area = Self.area(extent)
        object.append("initialExtent", area)
        object.append("fullExtent", area)
        object.append("minScale", .number(2 * WebMercator.scale / Double(1 << levels.lowerBound)))
        object.append("maxScale", .number(2 * WebMercator.scale / Double(1 << levels.upperBound)))
        object.append("units", "esriMeters")
        object.append("supportedImageFormatTypes", .string(format))
        object.append("capabilities", "TilesOnly,Tilemap")
        object.append("exportTilesAllowed", .bool(isExported))
        object.append("maxExportTilesCount", JSONValue(isExported ? Limits.exportedTiles : 0))
        return .object(object)
    }

    /// The whole plane where nothing is known.
    static func area(_ extent: Envelope?) -> JSONValue {
        TileScheme.area(
            extent.map { PlaneBox(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax) })
    }

    static func tileJSON(
        name: String, attribution: String, base: String, extent: Envelope?, levels: ClosedRange<Int>,
        layers: [JSONValue], suffix: String = ".pbf"
    ) -> JSONValue {
        var object = JSONObject()
        object.append("tilejson", "3.0.0")
        object.append("name", .string(name))
        object.append("attribution", .string(attribution))
        object.append("tiles", [.string("\(base)/tile/{z}/{y}/{x}\(suffix)")])
        object.append("minzoom", JSONValue(levels.lowerBound))
        object.append("maxzoom", JSONValue(levels.upperBound))
        if let extent {
            let west = WebMercator.longitude(x: max(extent.xMin, -WebMercator.halfSide))
            let east = WebMercator.longitude(x: min(extent.xMax, WebMercator.halfSide))
            object.append(
                "bounds",
                [
                    .number(west), .number(WebMercator.latitude(y: extent.yMin)), .number(east),
                    .number(WebMercator.latitude(y: extent.yMax)),
                ])
        }
        if !layers.isEmpty { object.append("vector_layers", .array(layers)) }
        return .object(object)
    }

    /// What belongs to the style.
    static let info: JSONValue = [
        "resourceInfo": [
            "../styles/root.json", "../sprites/sprite.json", "../sprites/sprite.png", "../sprites/sprite@2x.json",
            "../sprites/sprite@2x.png", "../fonts/Noto Sans Regular/0-255.pbf", "../fonts/Noto Sans Bold/0-255.pbf",
            "../fonts/Noto Sans Italic/0-255.pbf",
        ]
    ]
}

/// A block of tiles of one level that a client asks about at once.
struct TileBlock: Sendable {
    var corner: TileAddress
    var width: Int
    var height: Int

    init(corner: TileAddress, width: Int, height: Int) throws(ServiceError) {
        guard (1...Limits.tileBlockSide).contains(width), (1...Limits.tileBlockSide).contains(height) else {
            throw .invalidParameter("A block has from 1 to \(Limits.tileBlockSide) tiles across and down.")
        }
        self.corner = corner
        self.width = width
        self.height = height
    }

    /// The protocol's answer: row by row 1 for a tile that there may be, 0 for one that there is not.
    func json<Failure: Error>(_ isThere: (TileAddress) throws(Failure) -> Bool) throws(Failure) -> JSONValue {
        var data: [JSONValue] = []
        for row in corner.row..<corner.row + height {
            for column in corner.column..<corner.column + width {
                guard let tile = TileAddress(level: corner.level, column: column, row: row) else {
                    data.append(0)
                    continue
                }
                data.append(try isThere(tile) ? 1 : 0)
            }
        }
        return [
            "valid": true, "adjusted": false,
            "location": [
                "left": JSONValue(corner.column), "top": JSONValue(corner.row), "width": JSONValue(width),
                "height": JSONValue(height),
            ],
            "data": .array(data),
        ]
    }
}
