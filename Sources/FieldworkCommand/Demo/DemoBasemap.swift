import FieldworkGeometry
import FieldworkTiles
import Foundation

/// The map under the demo's features: the world, where set-up put it, and the streets of the demo's city, along which its trees
/// stand.
struct DemoBasemap {
    static let name = "Streets"

    /// Makes the basemap where it is missing.
    static func prepare(in data: URL) throws {
        let folder = BasemapFolder(data: data)
        guard !folder.names().contains(name) else { return }
        let draft = try folder.draft(name)
        defer { try? FileManager.default.removeItem(at: draft) }
        let options = BasemapMaker.Options(
            name: name, attribution: "Made with Natural Earth", levels: 0...14, schema: BasemapSchema.mark)
        var maker = BasemapMaker(
            options, at: draft, layers: BasemapSchema.Layer.allCases.map(\.rawValue), directed: BasemapSchema.directed)
        if let world = try world() { for feature in world { try maker.add(feature) } }
        for feature in city() { try maker.add(feature) }
        let summary = try maker.finish()
        try folder.add(draft, as: name, replaces: false, moves: true)
        Terminal.error("Made \(name): a basemap of \(summary.tiles) tiles")
    }

    /// The member `baseMap` of a web map.
    static func entry(services: String) -> JSONValue {
        [
            "title": .string(name),
            "baseMapLayers": [
                [
                    "id": "basemap-streets", "title": .string(name), "layerType": "VectorTileLayer",
                    "styleUrl": .string("\(services)/\(name)/VectorTileServer/resources/styles/root.json"),
                    "opacity": 1, "visibility": true,
                ]
            ],
        ]
    }

    private typealias Layer = BasemapSchema.Layer

    // MARK: The world

    /// The deepest level of the world's map: its lines are too coarse for others.
    private static let worldLevel = 5

    /// What set-up made of Natural Earth; nil where it is not installed.
    private static func world() throws -> [MapFeature]? {
        guard let file = InstalledFiles.folder("world", containing: "world.geojson")?.appending(path: "world.geojson")
        else { return nil }
        let features = try JSONParser.parse(Data(contentsOf: file))["features"]?.arrayValue ?? []
        return try features.flatMap { feature -> [MapFeature] in
            guard let json = feature["geometry"], let properties = feature["properties"],
                let layer = properties["layer"]?.stringValue.flatMap(Layer.init(rawValue:)),
                let geometry = try GeoJSONCodec.geometry(from: json, spatialReference: .wgs84)
            else { return [] }
            var tags: [MapFeature.Tag] = []
            if let kind = properties["kind"]?.stringValue { tags.append(MapFeature.Tag("class", .text(kind))) }
            if let name = properties["name"]?.stringValue { tags.append(MapFeature.Tag("name", .text(name))) }
            if layer == .boundary { tags.append(MapFeature.Tag("level", .integer(2))) }
            return try MapFeature.Shape.shapes(of: geometry).map { shape in
                MapFeature(
                    layer: layer.rawValue, tags: tags, shape: shape,
                    level: properties["level"]?.integerValue.map(Int.init) ?? 0,
                    deepest: worldLevel)
            }
        }
    }

    // MARK: The city

    private static let width = Double(PortlandGrid.columns) * PortlandGrid.blockWidth
    private static let height = Double(PortlandGrid.rows) * PortlandGrid.blockHeight

    private static func city() -> [MapFeature] {
        let (west, south) = (PortlandGrid.west, PortlandGrid.south)
        var features = [ground]
        for row in 0...PortlandGrid.rows {
            let y = south + Double(row) * PortlandGrid.blockHeight
            features.append(
                road("NE \(PortlandGrid.ordinal(row + 1)) St", row, from: (west, y), to: (west + width, y)))
        }
        for column in 0...PortlandGrid.columns {
            let x = west + Double(column) * PortlandGrid.blockWidth
            features.append(
                road("NE \(PortlandGrid.ordinal(column + 1)) Ave", column, from: (x, south), to: (x, south + height)))
        }
        features.append(place("Portland", kind: "city", level: 6, x: west + width / 2, y: south + height / 2, rank: 50))
        let across = PortlandGrid.columns / PortlandGrid.hoodColumns
        for (index, name) in PortlandGrid.names.enumerated() {
            let column = (Double(index % across) + 0.5) * Double(PortlandGrid.hoodColumns)
            let row = (Double(index / across) + 0.5) * Double(PortlandGrid.hoodRows)
            features.append(
                place(
                    name, kind: "neighbourhood", level: 11, x: west + column * PortlandGrid.blockWidth,
                    y: south + row * PortlandGrid.blockHeight, rank: 80))
        }
        return features
    }

    /// The land that the city stands on: below the world's levels there is no other.
    private static var ground: MapFeature {
        let margin = 60_000.0
        let (left, bottom) = (PortlandGrid.west - margin, PortlandGrid.south - margin)
        let (right, top) = (PortlandGrid.west + width + margin, PortlandGrid.south + height + margin)
        return MapFeature(
            layer: Layer.earth.rawValue, tags: [],
            shape: .area(
                TileShape(
                    xs: [left, left, right, right, left], ys: [bottom, top, top, bottom, bottom], parts: [0..<5],
                    areShells: [true])), level: worldLevel + 1)
    }

    /// Each tenth street is a large one, each fifth of the others a middling one.
    private static func road(
        _ name: String, _ number: Int, from: (Double, Double), to: (Double, Double)
    ) -> MapFeature {
        let (kind, level): (String, Int) =
            number % 10 == 0 ? ("secondary", 9) : number % 5 == 0 ? ("tertiary", 11) : ("minor", 12)
        return MapFeature(
            layer: Layer.road.rawValue,
            tags: [MapFeature.Tag("class", .text(kind)), MapFeature.Tag("name", .text(name), from: 12)],
            shape: .line(TileShape(xs: [from.0, to.0], ys: [from.1, to.1], parts: [0..<2])), level: level,
            order: UInt32(level))
    }

    private static func place(
        _ name: String, kind: String, level: Int, x: Double, y: Double, rank: Int64
    ) -> MapFeature {
        MapFeature(
            layer: Layer.place.rawValue,
            tags: [
                MapFeature.Tag("class", .text(kind)), MapFeature.Tag("rank", .integer(rank)),
                MapFeature.Tag("name", .text(name)),
            ], shape: .point(x: x, y: y), level: level, order: UInt32(rank))
    }
}
