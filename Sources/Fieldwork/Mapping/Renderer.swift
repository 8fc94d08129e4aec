import FieldworkGeometry
public import Foundation
import FieldworkREST

/// How features are drawn: which symbol each gets. Drawing itself is the app's.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class Renderer: @unchecked Sendable {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

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

    /// The renderer as web maps write it.
    public func toJSON() -> Data { Data(json.text.utf8) }

    /// The symbol of a feature; nil when it is not drawn.
    public func symbol(for feature: any GeoElement) -> Symbol? { nil }
}

/// All features look the same.
public final class SimpleRenderer: Renderer, @unchecked Sendable {
    /// The symbol of all features.
    public var symbol: Symbol? { Symbol(json["symbol"]) }
    /// What a legend says.
    public var label: String { json["label"]?.stringValue ?? "" }

    /// The symbol of all features.
    public override func symbol(for feature: any GeoElement) -> Symbol? { symbol }
}

/// A value of a field, or values of several, and what features with it look like.
public final class UniqueValue: Sendable {
    /// What a legend says.
    public let label: String
    /// What the value means.
    public let description: String
    /// The symbol of the features.
    public let symbol: Symbol?
    /// The values, one a field of the renderer, as text.
    public let values: [String]

    /// One row of a class's values: the newer form, in which several rows share a symbol.
    init(_ json: JSONValue, row: [JSONValue]) {
        label = json["label"]?.stringValue ?? ""
        description = json["description"]?.stringValue ?? ""
        symbol = Symbol(json["symbol"])
        values = row.map { $0.stringValue ?? $0.text }
    }

    init(_ json: JSONValue, delimiter: String) {
        label = json["label"]?.stringValue ?? ""
        description = json["description"]?.stringValue ?? ""
        symbol = Symbol(json["symbol"])
        let text = json["value"].map { $0.stringValue ?? $0.text } ?? ""
        values = delimiter.isEmpty ? [text] : text.components(separatedBy: delimiter)
    }
}

/// Features look as the values of up to three fields say.
public final class UniqueValueRenderer: Renderer, @unchecked Sendable {
    /// The fields whose values decide.
    public var fieldNames: [String] {
        ["field1", "field2", "field3"].compactMap { json[$0]?.stringValue }.filter { !$0.isEmpty }
    }

    /// The values that have symbols.
    public var uniqueValues: [UniqueValue] {
        // Writers give both forms; the groups are the preferred one.
        let groups = json["uniqueValueGroups"]?.arrayValue ?? []
        if !groups.isEmpty {
            return groups.flatMap { $0["classes"]?.arrayValue ?? [] }.flatMap { info in
                (info["values"]?.arrayValue ?? []).map { UniqueValue(info, row: $0.arrayValue ?? [$0]) }
            }
        }
        let delimiter = fieldNames.count > 1 ? json["fieldDelimiter"]?.stringValue ?? "," : ""
        return (json["uniqueValueInfos"]?.arrayValue ?? []).map { UniqueValue($0, delimiter: delimiter) }
    }

    /// The symbol of features with other values.
    public var defaultSymbol: Symbol? { Symbol(json["defaultSymbol"]) }
    /// What a legend says of them.
    public var defaultLabel: String { json["defaultLabel"]?.stringValue ?? "" }

    /// The symbol of a feature's values; the default symbol for values without one.
    public override func symbol(for feature: any GeoElement) -> Symbol? {
        let values = fieldNames.map { RendererFields.text(feature.attributeValue(forKey: $0)) }
        return uniqueValues.first { $0.values == values }?.symbol ?? defaultSymbol
    }
}

/// A range of values and what features within it look like.
public final class ClassBreak: Sendable {
    /// What a legend says.
    public let label: String
    /// The limits; the upper one belongs to the class.
    public let minValue: Double, maxValue: Double
    /// The symbol of the features.
    public let symbol: Symbol?

    init(_ json: JSONValue, minimum: Double) {
        label = json["label"]?.stringValue ?? ""
        minValue = json["classMinValue"]?.doubleValue ?? minimum
        maxValue = json["classMaxValue"]?.doubleValue ?? .infinity
        symbol = Symbol(json["symbol"])
    }
}

/// Features look as the class says into which the value of a field falls.
public final class ClassBreaksRenderer: Renderer, @unchecked Sendable {
    /// The field whose value decides.
    public var fieldName: String { json["field"]?.stringValue ?? "" }

    /// The classes, the lowest first.
    public var classBreaks: [ClassBreak] {
        var breaks: [ClassBreak] = []
        var minimum = json["minValue"]?.doubleValue ?? -.infinity
        for info in json["classBreakInfos"]?.arrayValue ?? [] {
            let next = ClassBreak(info, minimum: minimum)
            breaks.append(next)
            minimum = next.maxValue
        }
        return breaks
    }

    /// The symbol of features in no class.
    public var defaultSymbol: Symbol? { Symbol(json["defaultSymbol"]) }

    /// The symbol of the class into which a feature's value falls; the default symbol for none.
    public override func symbol(for feature: any GeoElement) -> Symbol? {
        guard let value = RendererFields.number(feature.attributeValue(forKey: fieldName)) else { return defaultSymbol }
        let found = classBreaks.enumerated().first { index, range in
            value <= range.maxValue && (value > range.minValue || (index == 0 && value >= range.minValue))
        }
        return found?.element.symbol ?? defaultSymbol
    }
}

/// What renderers look at.
enum RendererFields {
    /// The fields that a layer's drawing info names.
    static func names(in drawingInfo: JSONValue?) -> [String] {
        let renderer = drawingInfo?["renderer"]
        return ["field", "field1", "field2", "field3"].compactMap { renderer?[$0]?.stringValue }
    }

    static func text(_ value: (any Sendable)?) -> String {
        switch value {
        case nil: "<Null>"
        case let text as String: text
        case let id as UUID: GUID.normalForm(id)
        case let number as Double where number == number.rounded() && abs(number) < 1e15: String(Int64(number))
        case let value?: "\(value)"
        }
    }

    static func number(_ value: (any Sendable)?) -> Double? {
        switch value {
        case let number as any BinaryInteger: Double(number)
        case let number as any BinaryFloatingPoint: Double(number)
        case let date as Date: date.timeIntervalSince1970 * 1_000
        default: nil
        }
    }
}
