import FieldworkGeometry
import FieldworkREST
import FieldworkTiles

/// A service by the standards OGC API - Maps (20-058) and OGC API - Tiles (20-057): below the map service its layers as images,
/// below the vector tile service the tiles themselves. The landing page leads to all of it.
struct OGCService: Sendable {
    let title: String
    let attribution: String
    /// The address of the landing page.
    let address: String
    let face: ServiceFace
    /// What the tiles are.
    let tileType: String
    let levels: ClosedRange<Int>
    /// Where there is something, in metres of the plane of web maps; nil where that isn't known.
    let extent: Envelope?
    /// The layers that are drawn; none of a basemap, whose tiles are ready.
    let layers: [LayerDefinition]
    /// The box of each layer in degrees, by its id.
    let boxes: [Int: Envelope]
    /// Layers of vector tiles, by their names.
    let tileLayers: [String]

    private var isVector: Bool { face == .vectorTile }
    /// Whether images of any box are drawn.
    private var drawsMaps: Bool { !isVector && !layers.isEmpty }
    private var tilesPath: String { isVector ? "tiles" : "map/tiles" }

    private func link(_ rel: String, _ path: String, _ title: String, type: String = "application/json") -> OGCLink {
        OGCLink(rel: rel, href: path.isEmpty ? address : "\(address)/\(path)", type: type, title: title)
    }

    private static func links(_ links: [OGCLink]) -> JSONValue { .array(links.map(\.json)) }

    // MARK: What there is

    var landingPage: JSONValue {
        var links = [
            link("self", "", "This page"),
            link("service-desc", "api", "The operations", type: "application/vnd.oai.openapi+json;version=3.0"),
            link(OGCName.conformance, "conformance", "What is conformed to"),
            link("conformance", "conformance", "What is conformed to"),
            link(isVector ? OGCName.vectorTiles : OGCName.mapTiles, tilesPath, "Tiles"),
            link(OGCName.grids, "tileMatrixSets", "The grid of the tiles"),
        ]
        if drawsMaps {
            links += [
                link(OGCName.collections, "collections", "The layers"), link("data", "collections", "The layers"),
                link(OGCName.map, "map", "The map", type: "image/png"),
            ]
        }
        var object = JSONObject(["title": .string(title), "description": .string("\(title), as maps and tiles")])
        if !attribution.isEmpty { object.append("attribution", .string(attribution)) }
        if let box = degrees { object.append("extent", Self.spatial(box)) }
        object.append("links", Self.links(links))
        return .object(object)
    }

    var conformance: JSONValue {
        let (common, tiles) = (
            "http://www.opengis.net/spec/ogcapi-common-", "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/"
        )
        let maps = "http://www.opengis.net/spec/ogcapi-maps-1/1.0/conf/"
        var classes = ["core", "landing-page", "json", "oas30"].map { "\(common)1/1.0/conf/\($0)" }
        classes += ["core", "tileset", "tilesets-list", "dataset-tilesets", "oas30", isVector ? "mvt" : "png"].map {
            "\(tiles)\($0)"
        }
        if drawsMaps {
            classes.append("\(common)2/1.0/conf/collections")
            classes += [
                "core", "dataset-map", "collection-map", "tilesets", "background", "crs", "png", "jpeg", "svg", "oas30",
            ].map { "\(maps)\($0)" }
        }
        return ["conformsTo": .array(classes.map { .string($0) })]
    }

    var collections: JSONValue {
        [
            "links": Self.links([link("self", "collections", "The layers")]),
            "collections": .array(layers.map(collection)),
        ]
    }

    func collection(_ layer: LayerDefinition) -> JSONValue {
        let path = "collections/\(layer.id)"
        var object = JSONObject(["id": .string("\(layer.id)"), "title": .string(layer.name)])
        if !layer.description.isEmpty { object.append("description", .string(layer.description)) }
        if let box = boxes[layer.id] { object.append("extent", Self.spatial(box.withArea)) }
        object.append("crs", [.string(OGCName.longitudeLatitude), .string(OGCName.webMercator)])
        object.append(
            "links",
            Self.links([
                link("self", path, layer.name), link(OGCName.map, "\(path)/map", "The layer", type: "image/png"),
            ]))
        return .object(object)
    }

    // MARK: Tiles

    static let vectorTileType = "application/vnd.mapbox-vector-tile"

    var tileSets: JSONValue {
        [
            "links": Self.links([link("self", tilesPath, "Tiles")]),
            "tilesets": [tileSetSummary(Self.links(tileSetLinks(rel: "self")))],
        ]
    }

    private func tileSetSummary(_ links: JSONValue) -> JSONValue {
        [
            "title": .string(title), "dataType": isVector ? "vector" : "map", "crs": .string(OGCName.webMercator),
            "tileMatrixSetURI": .string(OGCName.grid), "links": links,
        ]
    }

    private func tileSetLinks(rel: String) -> [OGCLink] {
        let path = "\(tilesPath)/\(Self.gridName)"
        return [
            link(rel, path, "The tiles"), link(OGCName.gridLink, "tileMatrixSets/\(Self.gridName)", "The grid"),
            OGCLink(
                rel: "item", href: "\(address)/\(path)/{tileMatrix}/{tileRow}/{tileCol}", type: tileType,
                title: "A tile", isTemplate: true),
        ]
    }

    var tileSet: JSONValue {
        var object = tileSetSummary(Self.links(tileSetLinks(rel: "self"))).objectValue ?? JSONObject()
        if !attribution.isEmpty { object.append("attribution", .string(attribution)) }
        if let box = degrees {
            object.append(
                "boundingBox",
                [
                    "lowerLeft": [.number(box.xMin), .number(box.yMin)],
                    "upperRight": [.number(box.xMax), .number(box.yMax)], "crs": .string(OGCName.longitudeLatitude),
                ])
        }
        let plane = extent.map { PlaneBox(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax) }
        object.append(
            "tileMatrixSetLimits",
            .array(
                levels.map { level -> JSONValue in
                    let last = (1 << level) - 1
                    let (columns, rows) = plane?.tiles(level: level) ?? (0...last, 0...last)
                    return [
                        "tileMatrix": .string("\(level)"), "minTileRow": JSONValue(rows.lowerBound),
                        "maxTileRow": JSONValue(rows.upperBound), "minTileCol": JSONValue(columns.lowerBound),
                        "maxTileCol": JSONValue(columns.upperBound),
                    ]
                }))
        if !tileLayers.isEmpty {
            object.append("layers", .array(tileLayers.map { ["id": .string($0), "dataType": "vector"] }))
        }
        return .object(object)
    }

    /// The grid that all web maps share, by its name in the standard.
    static let gridName = "WebMercatorQuad"

    var grids: JSONValue {
        [
            "tileMatrixSets": [
                [
                    "id": .string(Self.gridName), "title": "Google Maps Compatible for the World",
                    "uri": .string(OGCName.grid), "crs": .string(OGCName.webMercator),
                    "links": Self.links([link("self", "tileMatrixSets/\(Self.gridName)", "The grid")]),
                ]
            ]
        ]
    }

    static var grid: JSONValue {
        let origin: JSONValue = [.number(-WebMercator.halfSide), .number(WebMercator.halfSide)]
        let matrices = (0...FieldworkTiles.Limits.tileLevel).map { level -> JSONValue in
            let count = Double(1 << level)
            // Of 256 pixels a tile, as the standard has it; vector tiles fill the same squares.
            let size = 2 * WebMercator.halfSide / 256 / count
            return [
                "id": .string("\(level)"), "scaleDenominator": .number(size / 0.000_28), "cellSize": .number(size),
                "pointOfOrigin": origin, "tileWidth": 256, "tileHeight": 256, "matrixWidth": JSONValue(1 << level),
                "matrixHeight": JSONValue(1 << level),
            ]
        }
        return [
            "id": .string(gridName), "title": "Google Maps Compatible for the World", "uri": .string(OGCName.grid),
            "crs": .string(OGCName.webMercator), "orderedAxes": ["E", "N"],
            "wellKnownScaleSet": "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
            "tileMatrices": .array(matrices),
        ]
    }

    // MARK: Boxes

    private var degrees: Envelope? {
        guard let extent else { return nil }
        return try? GeometryEngine.projected(extent, into: .wgs84)
    }

    private static func spatial(_ box: Envelope) -> JSONValue {
        [
            "spatial": [
                "bbox": [[.number(box.xMin), .number(box.yMin), .number(box.xMax), .number(box.yMax)]],
                "crs": .string(OGCName.longitudeLatitude),
            ]
        ]
    }
}
