import Fieldwork
import FieldworkGeometry
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// The SDK gives a feature a symbol, the style draws it, the legend lists it: all three from one renderer.
@Suite("Renderers: SDK, style and legend agree")
struct RendererAgreementTests {
    // MARK: Features

    /// The fields that a renderer names, and for each the values that tell its classes apart, and some that none names.
    private static func values(_ renderer: JSONValue) -> [String: [(any Sendable)?]] {
        var result: [String: [(any Sendable)?]] = [:]
        let infos = (renderer["uniqueValueInfos"]?.arrayValue ?? []).compactMap { $0["value"] }
        let classes = (renderer["uniqueValueGroups"]?.arrayValue ?? []).flatMap { $0["classes"]?.arrayValue ?? [] }
        let rows = classes.flatMap { $0["values"]?.arrayValue ?? [] }
        for (index, name) in ["field1", "field2", "field3"].enumerated() {
            guard let field = renderer[name]?.stringValue, !field.isEmpty else { continue }
            let listed = rows.compactMap { $0.arrayValue.flatMap { index < $0.count ? $0[index] : nil } }
            // The older list joins the values of several fields in one text.
            let delimiter = renderer["fieldDelimiter"]?.stringValue ?? ","
            let joined = infos.compactMap { info -> JSONValue? in
                guard let text = info.stringValue, renderer["field2"]?.stringValue?.isEmpty == false else {
                    return info
                }
                let parts = text.components(separatedBy: delimiter)
                return index < parts.count ? .string(parts[index]) : nil
            }
            let texts = (joined + listed).map { $0.stringValue ?? $0.text }
            result[field] = [nil, "another", 3.0, Int32(1)] + texts + texts.compactMap { Int64($0) }
        }
        let breaks = (renderer["classBreakInfos"]?.arrayValue ?? []).compactMap { $0["classMaxValue"]?.doubleValue }
        for field in [renderer["field"], renderer["normalizationField"]].compactMap({ $0?.stringValue }) {
            let around: [Double] = breaks.flatMap { [$0 - 0.5, $0, $0 + 0.5] }
            result[field] = [nil, -1.0, 0.0, 1.0, Int32(7)] + around
        }
        for variable in renderer["visualVariables"]?.arrayValue ?? [] {
            guard let field = variable["field"]?.stringValue, result[field] == nil else { continue }
            result[field] = [nil, 0.0, 3.5, 40.0, 1e6]
        }
        return result
    }

    /// Up to a thousand combinations.
    private static func features(_ renderer: JSONValue) -> [[String: any Sendable]] {
        var features: [[String: any Sendable]] = [[:]]
        for (field, values) in values(renderer).sorted(by: { $0.key < $1.key }) {
            features = features.flatMap { known in
                values.map { value in
                    var feature = known
                    feature[field] = value
                    return feature
                }
            }
            if features.count > 1_000 { features = Array(features.shuffled().prefix(1_000)) }
        }
        return features
    }

    private static func json(_ value: any Sendable) -> JSONValue {
        if let text = value as? String { return .string(text) }
        return Symbology.number(value).map(JSONValue.number) ?? .null
    }

    private static func layers(_ renderer: Renderer, _ type: String, _ fields: [String]) throws -> [JSONValue] {
        let looks = LayerStyle.Looks(
            geometryType: type, fields: fields, objectIDField: "OBJECTID", renderer: renderer.toJSON(), labels: [],
            opacity: 1, minScale: 0, maxScale: 0)
        return try #require(try JSONParser.parse(LayerStyle(looks, source: "s").drawing).arrayValue)
    }

    // MARK: Tests

    @Test("There are recorded renderers", .enabled(if: RecordedRenderer.areInstalled))
    func thereAreRecordings() { #expect(RecordedRenderer.recorded.count >= 15) }

    @Test(
        "The style draws each feature as it draws the symbol that the SDK gives it",
        arguments: RecordedRenderer.recorded + RecordedRenderer.made)
    func styleAgrees(_ recorded: RecordedRenderer) throws {
        let renderer = try Renderer.fromJSON(Data(recorded.renderer.text.utf8))
        let type = recorded.type
        let symbology = Symbology(renderer, kind: type.kind)
        let fields = Self.values(recorded.renderer).keys.sorted()
        let style = try Self.layers(symbology.renderer, type.name, fields)
        var looks: Set<[String]> = []
        for attributes in Self.features(recorded.renderer) {
            let evaluator = StyleEvaluator(attributes: attributes.mapValues(Self.json))
            let drawn = evaluator.drawn(style)
            let symbol = symbology.renderer.symbol(for: Graphic(attributes: attributes))
            // Of opacity the SDK speaks in a symbol's colour, the style beside it.
            let hasOpacity = recorded.renderer["visualVariables"]?.arrayValue?.contains {
                $0["type"] == "transparencyInfo" || $0["type"] == "colorInfo"
            }
            if let symbol, hasOpacity != true {
                let alone = evaluator.drawn(try Self.layers(SimpleRenderer(symbol: symbol), type.name, fields))
                #expect(drawn == alone, "\(attributes)")
            } else {
                #expect(drawn.isEmpty == (symbol == nil), "\(attributes)")
            }
            looks.insert(drawn)
        }
        if recorded.renderer["type"] != "simple" { #expect(looks.count > 1) }
    }

    @Test(
        "The legend lists each symbol that a feature may get",
        arguments: RecordedRenderer.recorded + RecordedRenderer.made)
    func legendAgrees(_ recorded: RecordedRenderer) throws {
        guard recorded.renderer["visualVariables"] == nil else { return }
        let renderer = try Renderer.fromJSON(Data(recorded.renderer.text.utf8))
        let symbology = Symbology(renderer, kind: recorded.type.kind)
        let listed = Set(symbology.legend.map(\.swatch))
        #expect(!listed.isEmpty)
        for attributes in Self.features(recorded.renderer) {
            guard let swatch = symbology.swatch(of: Graphic(attributes: attributes)) else { continue }
            #expect(listed.contains(swatch), "\(attributes)")
        }
    }
}
