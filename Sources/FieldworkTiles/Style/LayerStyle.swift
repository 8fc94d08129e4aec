import FieldworkGeometry
import FieldworkREST
package import Foundation

/// How the features of one layer are drawn and lettered, for who has the looks of a layer and not its definition: the app, whose
/// web maps say how a layer looks. The style is the one that servers give for the same looks.
package struct LayerStyle: Sendable {
    /// What decides how features look.
    package struct Looks: Sendable {
        /// As the protocol names it: `esriGeometryPoint`.
        package var geometryType: String
        package var fields: [String]
        package var objectIDField: String
        /// The renderer's JSON; nil: a plain symbol.
        package var renderer: Data?
        /// The JSON of each class of labels.
        package var labels: [Data]
        /// From 0 to 1.
        package var opacity: Double
        /// Denominators; 0 for no limit.
        package var minScale: Double
        package var maxScale: Double

        package init(
            geometryType: String, fields: [String], objectIDField: String, renderer: Data?, labels: [Data],
            opacity: Double, minScale: Double, maxScale: Double
        ) {
            self.geometryType = geometryType
            self.fields = fields
            self.objectIDField = objectIDField
            self.renderer = renderer
            self.labels = labels
            self.opacity = opacity
            self.minScale = minScale
            self.maxScale = maxScale
        }
    }

    /// The name of the layer in its tiles.
    package static let sourceLayer = "f"
    /// What the names of pictures begin with.
    package static let pictures = "data:"

    /// Layers of a MapLibre style, an array of JSON: they draw the features.
    package let drawing: String
    /// The same for the labels.
    package let labels: String
    /// The attributes that features need for it.
    package let fields: [String]
    fileprivate let sprites: [String: JSONValue]

    /// The attribute that carries the text of a class of labels.
    package static func labelAttribute(_ number: Int) -> String { DrawnExpressions.labelAttribute(number) }

    package init(_ looks: Looks, source: String) {
        var drawing = JSONObject()
        drawing["renderer"] = looks.renderer.flatMap { try? JSONParser.parse($0) }
        drawing["labelingInfo"] = .array(looks.labels.compactMap { try? JSONParser.parse($0) })
        drawing["transparency"] = .number((1 - looks.opacity) * 100)
        let layer = LayerDefinition(
            id: 0, name: Self.sourceLayer, geometryType: LayerGeometryType(rawValue: looks.geometryType),
            fields: looks.fields.map { FieldDefinition(name: $0, type: .string) }, objectIDField: looks.objectIDField,
            minScale: looks.minScale, maxScale: looks.maxScale, drawingInfo: .object(drawing))
        self.drawing =
            JSONValue.array(
                StyleLayers.drawing(layer, source: source, pictures: Self.pictures)
            ).text
        labels =
            JSONValue.array(
                StyleLayers.labels(layer, source: source, attribute: Self.labelAttribute)
            ).text
        fields = StyleFields.drawn(layer)
        sprites = StyleLayers.sprites(layer)
    }
}

/// The sheet of the pictures that the styles of some layers name.
package struct LayerSprites: Sendable {
    private let symbols: [String: JSONValue]

    package init(_ styles: [LayerStyle]) {
        symbols = styles.reduce(into: [:]) { $0.merge($1.sprites) { first, _ in first } }
    }

    package var isEmpty: Bool { symbols.isEmpty }

    /// Where each picture lies, as JSON, and the sheet.
    /// - Parameter scale: pixels of the picture on a pixel of the map, 1 or 2.
    package func sheet(scale: Int) throws -> (index: String, png: [UInt8]) {
        let sprite = try StyleSprite(symbols: symbols, scale: scale)
        return (sprite.index.text, sprite.png)
    }
}
