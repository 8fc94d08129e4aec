import FieldworkGeometry
import Foundation

/// A value of a field, or values of several, and what features with it look like.
public final class UniqueValue: Sendable {
    /// What a legend says.
    public let label: String
    /// What the value means.
    public let description: String
    /// The symbol of the features.
    public let symbol: Symbol?
    /// The values, one a field of the renderer, as text; `<Null>` for a missing one.
    public let values: [String]

    /// - Parameter values: one a field of the renderer.
    public init(description: String = "", label: String = "", symbol: Symbol, values: [any Sendable]) {
        self.label = label
        self.description = description
        self.symbol = symbol
        self.values = values.map { RendererFields.text($0) }
    }

    private init(_ json: JSONValue, symbol: Symbol?, values: [String]) {
        label = json["label"]?.stringValue ?? ""
        description = json["description"]?.stringValue ?? ""
        self.symbol = symbol
        self.values = values
    }

    /// The values of a class: the newer form, in which several rows share a symbol.
    static func values(ofClass json: JSONValue) -> [UniqueValue] {
        let symbol = Symbol.make(json["symbol"])
        return (json["values"]?.arrayValue ?? []).map { row in
            UniqueValue(json, symbol: symbol, values: (row.arrayValue ?? [row]).map(RendererFields.text))
        }
    }

    /// The value of the older form: several are joined in one text.
    static func value(ofInfo json: JSONValue, delimiter: String, fields: Int) -> UniqueValue {
        let text = json["value"].map(RendererFields.text) ?? ""
        let parts = delimiter.isEmpty || fields < 2 ? [text] : text.components(separatedBy: delimiter)
        return UniqueValue(json, symbol: Symbol.make(json["symbol"]), values: parts)
    }

    /// As both forms write it.
    func json(delimiter: String) -> JSONValue {
        [
            "value": .string(values.joined(separator: delimiter)), "label": .string(label),
            "description": .string(description), "symbol": symbol?.json ?? .null,
        ]
    }
}

/// Features look as the values of up to three fields say, or the value of an Arcade expression.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class UniqueValueRenderer: Renderer, @unchecked Sendable {
    /// The fields whose values decide.
    public let fieldNames: [String]
    /// The values that have symbols, in the author's order.
    public let uniqueValues: [UniqueValue]
    /// The symbol of features with other values; nil when they are not drawn.
    public let defaultSymbol: Symbol?
    /// The first symbol of each combination of values.
    private let symbols: [[String]: Symbol]

    /// - Parameters:
    ///   - fieldNames: one to three.
    ///   - defaultSymbol: of features with other values; nil when they are not drawn.
    public convenience init(
        fieldNames: [String], uniqueValues: [UniqueValue], defaultLabel: String = "", defaultSymbol: Symbol? = nil
    ) {
        var json = JSONObject(["type": "uniqueValue"])
        for (index, name) in fieldNames.prefix(3).enumerated() { json["field\(index + 1)"] = .string(name) }
        json["fieldDelimiter"] = ","
        json["defaultLabel"] = .string(defaultLabel)
        json["defaultSymbol"] = defaultSymbol?.json ?? .null
        json["uniqueValueInfos"] = .array(uniqueValues.map { $0.json(delimiter: ",") })
        self.init(.object(json))
    }

    override init(_ json: JSONValue) {
        let fields = ["field1", "field2", "field3"].compactMap { json[$0]?.stringValue }.filter { !$0.isEmpty }
        // Writers give both forms; the groups are the preferred one.
        let groups = json["uniqueValueGroups"]?.arrayValue ?? []
        let values: [UniqueValue]
        if groups.isEmpty {
            let delimiter = json["fieldDelimiter"]?.stringValue ?? ","
            values = (json["uniqueValueInfos"]?.arrayValue ?? []).map {
                UniqueValue.value(ofInfo: $0, delimiter: delimiter, fields: fields.count)
            }
        } else {
            values = groups.flatMap { $0["classes"]?.arrayValue ?? [] }.flatMap(UniqueValue.values(ofClass:))
        }
        fieldNames = fields
        uniqueValues = values
        defaultSymbol = Symbol.make(json["defaultSymbol"])
        let pairs = values.compactMap { value in value.symbol.map { (value.values, $0) } }
        symbols = Dictionary(pairs) { first, _ in first }
        super.init(json)
    }

    /// What a legend says of features with other values.
    public var defaultLabel: String { json["defaultLabel"]?.stringValue ?? "" }

    /// Whether there are fields, or an expression that can be evaluated for every feature.
    public override var isSupported: Bool { expression?.isSupported ?? !fieldNames.isEmpty }

    /// The symbol of a feature's values; the default symbol for values without one.
    override func baseSymbol(for feature: any GeoElement) -> Symbol? {
        guard let expression else {
            return symbols[fieldNames.map { RendererFields.text(feature.attributeValue(forKey: $0)) }] ?? defaultSymbol
        }
        return expression.text(for: feature).flatMap { symbols[[$0]] } ?? defaultSymbol
    }

    /// A line for each value, and one for the others.
    public override var legendEntries: [RendererLegendEntry] {
        let entries = uniqueValues.compactMap { value in
            value.symbol.map { symbol in
                let label = value.label.isEmpty ? value.values.joined(separator: ", ") : value.label
                return RendererLegendEntry(label: label, symbol: symbol)
            }
        }
        return entries + (defaultSymbol.map { [RendererLegendEntry(label: defaultLabel, symbol: $0)] } ?? [])
    }
}
