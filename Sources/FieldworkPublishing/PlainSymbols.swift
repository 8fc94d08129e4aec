package import FieldworkGeometry

/// Plain looks of layers, in the protocol's JSON.
package enum PlainSymbols {
    /// A marker; the style is the protocol's without its prefix: Circle, Square, Diamond, Triangle, Cross, X.
    package static func marker(_ style: String, _ color: [Int], size: Double = 10) -> JSONValue {
        // Crosses are nothing but their outline.
        let isStroke = style == "Cross" || style == "X"
        return [
            "type": "esriSMS", "style": .string("esriSMS\(style)"), "color": rgba(color), "size": .number(size),
            "angle": 0, "xoffset": 0, "yoffset": 0,
            "outline": isStroke
                ? ["color": rgba(color), "width": 2] : ["color": [255, 255, 255, 255], "width": 1],
        ]
    }

    package static func fill(_ color: [Int], outline: [Int]) -> JSONValue {
        [
            "type": "esriSFS", "style": "esriSFSSolid", "color": rgba(color),
            "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": rgba(outline), "width": 1.5],
        ]
    }

    /// The look of a layer all of whose features have one symbol.
    package static func simple(_ symbol: JSONValue) -> JSONValue {
        ["renderer": ["type": "simple", "symbol": symbol, "label": "", "description": ""], "transparency": 0]
    }

    private static func rgba(_ color: [Int]) -> JSONValue {
        .array((color.count == 3 ? color + [255] : color).map { JSONValue($0) })
    }
}
