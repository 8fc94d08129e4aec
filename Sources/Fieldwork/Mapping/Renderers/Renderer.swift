import FieldworkArcade
import FieldworkGeometry
import FieldworkTiles
public import Foundation

/// How features are drawn: which symbol each gets. Drawing itself is the app's.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class Renderer: @unchecked Sendable {
    let json: JSONValue
    /// What gives the value that decides, in place of a field.
    let expression: RendererExpression?
    private let variables: RendererVariables
    private let drawn: DrawnExpressions?

    init(_ json: JSONValue) {
        self.json = json
        drawn = DrawnExpressions(renderer: json)
        expression = RendererExpression(json)
        variables = RendererVariables(json)
    }

    /// The renderer of a layer's drawing info.
    static func make(_ json: JSONValue) -> Renderer? {
        switch json["type"]?.stringValue {
        case "simple": SimpleRenderer(json)
        case "uniqueValue": UniqueValueRenderer(json)
        case "classBreaks": ClassBreaksRenderer(json)
        case nil: nil
        default: Renderer(json)
        }
    }

    /// Reads a renderer as web maps write it. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> Renderer {
        guard let renderer = (try? JSONParser.parse(json)).flatMap(make) else {
            throw CommonError.invalidJSON(details: "The text is not a renderer.")
        }
        return renderer
    }

    /// The renderer as web maps write it.
    public func toJSON() -> Data { Data(json.text.utf8) }

    /// Whether `symbol(for:)` knows what the author wanted. Not for kinds that the SDK does not know, and not where an
    /// expression has an error or reads layers: then all features look neutral, which is no statement about any of them.
    public var isSupported: Bool { false }

    /// The symbol of a feature; nil when it is not drawn.
    public final func symbol(for feature: any GeoElement) -> Symbol? {
        guard isSupported else { return NeutralSymbol.symbol(for: feature.geometry) }
        return variables.varied(baseSymbol(for: feature), for: feature)
    }

    /// The symbol of a feature before visual variables change it.
    func baseSymbol(for feature: any GeoElement) -> Symbol? { nil }

    /// What the renderer's expressions give for a feature, for who draws without evaluating Arcade: the number of the class that the
    /// value expression chooses, under `expression/class`, and the values of visual variables under `expression/0` and so on, by
    /// their places among all of the renderer's. An expression that fails with the feature gives no value.
    /// - Parameter scale: the denominator of the map's scale, for expressions that ask for it.
    public final func expressionValues(for feature: any GeoElement, scale: Double? = nil) -> [String: Double] {
        guard let drawn, isSupported else { return [:] }
        let table = (feature as? Feature)?.table
        var context = ArcadeSnapshot(feature, table, timeZone: table?.timeZone ?? .current).context
        guard let arcade = context.feature else { return [:] }
        context.viewScale = scale
        var values: [String: Double] = [:]
        for (name, value) in DrawnExpressionRunner(drawn, context).values(arcade) {
            switch value {
            case .integer(let number): values[name] = Double(number)
            case .real(let number): values[name] = number
            case .text: continue
            }
        }
        return values
    }

    /// What a legend lists, in the author's order.
    public var legendEntries: [RendererLegendEntry] { [] }
}

/// One line of a renderer's legend.
public struct RendererLegendEntry: Sendable {
    /// What it says.
    public let label: String
    /// The symbol beside it.
    public let symbol: Symbol
}

/// All features look the same.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class SimpleRenderer: Renderer, @unchecked Sendable {
    /// The symbol of all features.
    public let symbol: Symbol?

    /// All features look like a symbol.
    public convenience init(symbol: Symbol) {
        self.init(["type": "simple", "symbol": symbol.json, "label": "", "description": ""])
    }

    override init(_ json: JSONValue) {
        symbol = Symbol.make(json["symbol"])
        super.init(json)
    }

    /// What a legend says.
    public var label: String { json["label"]?.stringValue ?? "" }
    /// What the features are.
    public var description: String { json["description"]?.stringValue ?? "" }

    /// Always.
    public override var isSupported: Bool { true }

    override func baseSymbol(for feature: any GeoElement) -> Symbol? { symbol }

    /// The one symbol.
    public override var legendEntries: [RendererLegendEntry] {
        symbol.map { [RendererLegendEntry(label: label, symbol: $0)] } ?? []
    }
}

/// What features look like when nobody can say what they should look like.
enum NeutralSymbol {
    private static let color = SymbolColor(red: 110, green: 110, blue: 110)

    static func symbol(for geometry: Geometry?) -> Symbol {
        switch geometry {
        case is Polyline: SimpleLineSymbol(color: color, width: 2)
        case is Polygon, is Envelope:
            SimpleFillSymbol(color: color.withAlphaComponent(0.3), outline: SimpleLineSymbol(color: color))
        default:
            SimpleMarkerSymbol(color: color, size: 8)
        }
    }
}
