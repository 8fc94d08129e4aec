package import FieldworkGeometry
package import FieldworkREST

/// The MapLibre style of a service: all its layers, the labels above them.
package enum StyleDocument {
    /// How the style names what belongs to it.
    package enum Addresses: Sendable {
        /// As the vendor's clients want it, relative to the style.
        case relative
        /// For everybody else: below the address of the service.
        case absolute(String)
    }

    package static let source = "esri"

    package static func json(name: String, layers: [LayerDefinition], addresses: Addresses) -> JSONValue {
        // The first layer of a service is the topmost of its map.
        let drawn = layers.filter { !$0.isTable && $0.isVisibleByDefault }.reversed()
        let features = drawn.flatMap { StyleLayers.drawing($0, source: source) }
        let labels = drawn.flatMap { StyleLayers.labels($0, source: source) }
        return wrapped(
            name: name, layers: features + labels, addresses: addresses, levels: 0...TileLevels.deepest,
            hasSprites: layers.contains { !StyleLayers.sprites($0).isEmpty })
    }

    /// A style around its layers.
    package static func wrapped(
        name: String, layers: [JSONValue], addresses: Addresses, levels: ClosedRange<Int>, attribution: String = "",
        hasSprites: Bool, source: String = source
    ) -> JSONValue {
        var object = JSONObject()
        object["version"] = 8
        object["name"] = .string(name)
        switch addresses {
        case .relative:
            object["sources"] = .object(JSONObject(uniqueMember: source, ["type": "vector", "url": "../../"]))
            object["sprite"] = "../sprites/sprite"
            object["glyphs"] = "../fonts/{fontstack}/{range}.pbf"
        case .absolute(let base):
            var tiles = JSONObject([
                "type": "vector", "tiles": [.string("\(base)/tile/{z}/{y}/{x}.pbf")],
                "minzoom": JSONValue(levels.lowerBound), "maxzoom": JSONValue(levels.upperBound),
            ])
            if !attribution.isEmpty { tiles["attribution"] = .string(attribution) }
            object["sources"] = .object(JSONObject(uniqueMember: source, .object(tiles)))
            if hasSprites { object["sprite"] = .string("\(base)/resources/sprites/sprite") }
            object["glyphs"] = .string("\(base)/resources/fonts/{fontstack}/{range}.pbf")
        }
        object["layers"] = .array(layers)
        return .object(object)
    }

    /// The pictures that the style of some layers names.
    package static func sprites(_ layers: [LayerDefinition]) -> [String: JSONValue] {
        layers.reduce(into: [:]) { $0.merge(StyleLayers.sprites($1)) { first, _ in first } }
    }
}

extension JSONObject {
    fileprivate init(uniqueMember key: String, _ value: JSONValue) {
        self.init()
        append(key, value)
    }
}
