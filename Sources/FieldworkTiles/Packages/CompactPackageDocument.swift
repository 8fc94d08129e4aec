import FieldworkGeometry

/// What the vendor's packages say of themselves.
struct CompactPackageDocument {
    private let description: TileSetDescription
    private let levels: ClosedRange<Int>

    init(_ description: TileSetDescription, levels: ClosedRange<Int>) {
        self.description = description
        self.levels = levels
    }

    /// The member with what only Fieldwork reads: the layers of the tiles, and the mark of a style that knows them.
    static let ownMember = "fieldwork"

    private var area: JSONValue { TileScheme.area(description.box) }

    private func common(side: Int) -> JSONObject {
        var object = JSONObject()
        let scale = WebMercator.scale * 512 / Double(side)
        object.append("name", .string(description.name))
        object.append("copyrightText", .string(description.attribution))
        object.append("initialExtent", area)
        object.append("fullExtent", area)
        object.append("minScale", .number(scale / Double(1 << levels.lowerBound)))
        object.append("maxScale", .number(scale / Double(1 << levels.upperBound)))
        object.append("minLOD", JSONValue(levels.lowerBound))
        object.append("maxLOD", JSONValue(levels.upperBound))
        object.append("spatialReference", TileScheme.reference)
        return object
    }

    var vectorRoot: JSONValue {
        var object = common(side: 512)
        object.append("currentVersion", 11.2)
        object.append("capabilities", "TilesOnly")
        object.append("type", "indexedVector")
        object.append("tileMap", "tilemap")
        object.append("defaultStyles", "resources/styles")
        object.append("tiles", ["tile/{z}/{y}/{x}.pbf"])
        object.append("exportTilesAllowed", false)
        object.append(
            "resourceInfo",
            [
                "styleVersion": 8, "tileCompression": "gzip",
                "cacheInfo": ["storageInfo": ["packetSize": 128, "storageFormat": "compactV2"]],
            ])
        // The whole grid from its first level on: a reader finds the levels by their numbers.
        object.append("tileInfo", TileScheme.grid(side: 512, format: "pbf", levels: 0...levels.upperBound))
        var own = JSONObject()
        own.append("vectorLayers", .array(description.vectorLayers))
        if let schema = description.schema { own.append("schema", .string(schema)) }
        object.append(Self.ownMember, .object(own))
        return .object(object)
    }

    var imageRoot: JSONValue {
        let format = description.format == .jpeg ? "JPEG" : description.format == .webp ? "WEBP" : "PNG32"
        var object = common(side: 256)
        object.append("version", "1.0.0")
        object.append("tileBundlesPath", "./tile")
        object.append("resampling", false)
        object.append("tileImageInfo", ["format": .string(format), "compressionQuality": 0])
        object.append("tileInfo", TileScheme.grid(side: 256, format: format, levels: 0...levels.upperBound))
        object.append("storageInfo", ["packetSize": 128, "storageFormat": "esriMapCacheStorageModeCompactV2"])
        return .object(object)
    }

    /// The package as an item of a portal.
    var item: JSONValue {
        [
            "title": .string(description.name), "accessInformation": .string(description.attribution),
            "type": .string(description.format == .vector ? "Vector Tile Package" : "Compact Tile Package"),
            "spatialReference": TileScheme.reference,
        ]
    }
}
