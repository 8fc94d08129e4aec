import Fieldwork
import FieldworkTiles
import Foundation

/// What the map library needs of a feature's attributes to draw it: the values that decide its symbol, and its labels' texts.
struct DrawnAttributes: Sendable {
    enum Value: Sendable, Hashable, Encodable {
        case integer(Int64)
        case real(Double)
        case text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let value): try container.encode(value)
            case .real(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            }
        }
    }

    let values: [(name: String, value: Value)]

    /// - Parameter level: the level of the tile; nil for all.
    init(_ feature: Feature, of layer: MapLayer, level: Int? = nil) async throws {
        var values = layer.style.fields.compactMap { name in
            Self.value(feature.attributeValue(forKey: name)).map { (name, $0) }
        }
        values += Self.expressions(feature, of: layer, level: level)
        values += try await Self.labels(feature, of: layer, level: level)
        self.values = values
    }

    /// What the renderer's expressions give: the map library evaluates none.
    private static func expressions(_ feature: Feature, of layer: MapLayer, level: Int?) -> [(String, Value)] {
        let scale = level.map { WebMercator.scale / exp2(Double(min(max($0, 0), Limits.tileLevel))) }
        let values = layer.symbology.renderer.expressionValues(for: feature, scale: scale)
        return values.sorted { $0.key < $1.key }.map { name, value in
            (name, Int64(exactly: value).map(Value.integer) ?? .real(value))
        }
    }

    /// nil for a missing value, and for one that no symbol goes by.
    private static func value(_ attribute: (any Sendable)?) -> Value? {
        switch FeatureSnapshot.Value(attribute) {
        case .null, .bytes: nil
        case .integer(let value): .integer(value)
        case .real(let value): value.isFinite ? .real(value) : nil
        case .text(let value): .text(String(value.prefix(Limits.drawnCharacters)))
        case .date(let date): .integer(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
        case .guid(let id): .text("{\(id.uuidString)}")
        }
    }

    private static func labels(
        _ feature: Feature, of layer: MapLayer, level: Int?
    ) async throws -> [(String, Value)] {
        guard let shown = layer.featureLayer, shown.labelsAreEnabled else { return [] }
        let definitions = shown.labelDefinitions
        // A tile is shown until the next level: where no class is lettered by then, there is nothing to evaluate.
        if let level, !definitions.contains(where: { isShown($0, at: level) }) { return [] }
        return try await shown.labels(for: feature).compactMap { label in
            guard let number = definitions.firstIndex(where: { $0 === label.definition }) else { return nil }
            let text = String(label.text.prefix(Limits.drawnCharacters))
            return (LayerStyle.labelAttribute(number), .text(text))
        }
    }

    private static func isShown(_ definition: LabelDefinition, at level: Int) -> Bool {
        let scale = WebMercator.scale / exp2(Double(min(max(level, 0), Limits.tileLevel) + 1))
        return definition.minScale.map { scale <= $0 } ?? true
    }
}
