package import FieldworkGeometry

/// The grid of tiles as the protocol and its packages write it.
package enum TileScheme {
    package static let reference: JSONValue = ["wkid": 102_100, "latestWkid": 3857]

    /// The grid, level by level.
    /// - Parameter side: pixels of a tile across and down.
    package static func grid(side: Int, format: String, levels: ClosedRange<Int>) -> JSONValue {
        let lods = levels.map { level -> JSONValue in
            let count = Double(1 << level) * Double(side) / 512
            return [
                "level": JSONValue(level), "resolution": .number(WebMercator.resolution / count),
                "scale": .number(WebMercator.scale / count),
            ]
        }
        return [
            "rows": JSONValue(side), "cols": JSONValue(side), "dpi": 96, "format": .string(format),
            "origin": ["x": .number(-WebMercator.halfSide), "y": .number(WebMercator.halfSide)],
            "spatialReference": reference, "lods": .array(lods),
        ]
    }

    /// A box of the plane; the whole plane for nil.
    package static func area(_ box: PlaneBox?) -> JSONValue {
        let side = WebMercator.halfSide
        return [
            "xmin": .number(box?.xMin ?? -side), "ymin": .number(box?.yMin ?? -side),
            "xmax": .number(box?.xMax ?? side), "ymax": .number(box?.yMax ?? side),
            "spatialReference": reference,
        ]
    }
}
