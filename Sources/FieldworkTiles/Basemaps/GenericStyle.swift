package import FieldworkGeometry

/// A style for vector tiles of which nothing is known but the names of their layers: areas, lines and points, each layer in a
/// colour of its own.
package enum GenericStyle {
    private static let colors = ["#8da0cb", "#66c2a5", "#e5c494", "#fc8d62", "#a6d854", "#b3b3b3", "#e78ac3"]

    package static func json(_ description: TileSetDescription, addresses: StyleDocument.Addresses) -> JSONValue {
        let names = description.vectorLayers.compactMap { $0["id"]?.stringValue }
        var layers: [JSONValue] = [
            ["id": "background", "type": "background", "paint": ["background-color": "#f4f3ef"]]
        ]
        for (kind, geometry) in [("fill", "Polygon"), ("line", "LineString"), ("circle", "Point")] {
            for (index, name) in names.enumerated() {
                let color = JSONValue.string(colors[index % colors.count])
                let paint: JSONValue =
                    switch kind {
                    case "fill": ["fill-color": color, "fill-opacity": 0.6]
                    case "line": ["line-color": color, "line-width": 1]
                    default: ["circle-color": color, "circle-radius": 2]
                    }
                layers.append([
                    "id": .string("\(name)/\(kind)"), "type": .string(kind), "source": "esri",
                    "source-layer": .string(name), "filter": ["==", ["geometry-type"], .string(geometry)],
                    "paint": paint,
                ])
            }
        }
        return StyleDocument.wrapped(
            name: description.name, layers: layers, addresses: addresses, levels: description.levels,
            attribution: description.attribution, hasSprites: false)
    }
}
