import FieldworkGeometry
import Foundation

/// A range of values and what features within it look like.
public final class ClassBreak: Sendable {
    /// What a legend says.
    public let label: String
    /// What the range means.
    public let description: String
    /// The limits; the upper one belongs to the class.
    public let minValue: Double, maxValue: Double
    /// The symbol of the features.
    public let symbol: Symbol?

    /// - Parameters:
    ///   - minValue: belongs to the class when this is the first.
    ///   - maxValue: belongs to the class.
    public init(description: String = "", label: String = "", minValue: Double, maxValue: Double, symbol: Symbol) {
        self.label = label
        self.description = description
        self.minValue = minValue
        self.maxValue = maxValue
        self.symbol = symbol
    }

    init(_ json: JSONValue, minimum: Double) {
        label = json["label"]?.stringValue ?? ""
        description = json["description"]?.stringValue ?? ""
        minValue = json["classMinValue"]?.doubleValue ?? minimum
        maxValue = json["classMaxValue"]?.doubleValue ?? .infinity
        symbol = Symbol.make(json["symbol"])
    }

    var json: JSONValue {
        var json = JSONObject(["label": .string(label), "description": .string(description)])
        json["symbol"] = symbol?.json ?? .null
        // JSON has no endless numbers: a class without a limit has no such member.
        if minValue.isFinite { json["classMinValue"] = .number(minValue) }
        if maxValue.isFinite { json["classMaxValue"] = .number(maxValue) }
        return .object(json)
    }
}

/// Features look as the class says into which the value of a field falls, or the value of an Arcade expression.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class ClassBreaksRenderer: Renderer, @unchecked Sendable {
    /// What a value is divided by before its class is looked for.
    public enum NormalizationKind: Sendable, Hashable {
        /// Nothing; the value of another field; the total, of which the value is so many per cent; its logarithm to 10.
        case none, byField, byPercentOfTotal, byLog
    }

    /// The classes, the lowest first.
    public let classBreaks: [ClassBreak]
    /// The symbol of features in no class; nil when they are not drawn.
    public let defaultSymbol: Symbol?

    /// - Parameters:
    ///   - classBreaks: the lowest first.
    ///   - defaultSymbol: of features in no class; nil when they are not drawn.
    public convenience init(
        fieldName: String, classBreaks: [ClassBreak], defaultLabel: String = "", defaultSymbol: Symbol? = nil
    ) {
        var json = JSONObject(["type": "classBreaks", "field": .string(fieldName)])
        json["minValue"] = classBreaks.first.flatMap { $0.minValue.isFinite ? .number($0.minValue) : nil }
        json["classBreakInfos"] = .array(classBreaks.map(\.json))
        json["defaultLabel"] = .string(defaultLabel)
        json["defaultSymbol"] = defaultSymbol?.json ?? .null
        self.init(.object(json))
    }

    override init(_ json: JSONValue) {
        var breaks: [ClassBreak] = []
        var minimum = json["minValue"]?.doubleValue ?? -.infinity
        for info in json["classBreakInfos"]?.arrayValue ?? [] {
            let next = ClassBreak(info, minimum: minimum)
            breaks.append(next)
            minimum = next.maxValue
        }
        classBreaks = breaks
        defaultSymbol = Symbol.make(json["defaultSymbol"])
        super.init(json)
    }

    /// The field whose value decides.
    public var fieldName: String { json["field"]?.stringValue ?? "" }
    /// What a legend says of features in no class.
    public var defaultLabel: String { json["defaultLabel"]?.stringValue ?? "" }
    /// The field that values are divided by; empty for none.
    public var normalizationFieldName: String { json["normalizationField"]?.stringValue ?? "" }
    /// The number that values are so many per cent of.
    public var normalizationTotal: Double { json["normalizationTotal"]?.doubleValue ?? 0 }

    /// What a value is divided by before its class is looked for.
    public var normalizationKind: NormalizationKind {
        switch json["normalizationType"]?.stringValue {
        case "esriNormalizeByField": .byField
        case "esriNormalizeByPercentOfTotal": .byPercentOfTotal
        case "esriNormalizeByLog": .byLog
        default: .none
        }
    }

    /// Whether there is a field, or an expression that can be evaluated for every feature.
    public override var isSupported: Bool { expression?.isSupported ?? !fieldName.isEmpty }

    /// The symbol of the class into which a feature's value falls; the default symbol for none.
    override func baseSymbol(for feature: any GeoElement) -> Symbol? {
        guard let value = normalized(feature) else { return defaultSymbol }
        let found = classBreaks.enumerated().first { index, range in
            value <= range.maxValue && (value > range.minValue || (index == 0 && value >= range.minValue))
        }
        return found?.element.symbol ?? defaultSymbol
    }

    /// nil when there is nothing to divide, or to divide by.
    private func normalized(_ feature: any GeoElement) -> Double? {
        let own = expression?.number(for: feature)
        guard let value = expression == nil ? RendererFields.number(feature.attributeValue(forKey: fieldName)) : own
        else { return nil }
        switch normalizationKind {
        case .none: return value
        case .byField:
            let divisor = RendererFields.number(feature.attributeValue(forKey: normalizationFieldName)) ?? 0
            return divisor == 0 ? nil : value / divisor
        case .byPercentOfTotal: return normalizationTotal == 0 ? nil : value / normalizationTotal * 100
        case .byLog: return value > 0 ? log10(value) : nil
        }
    }

    /// A line for each class, and one for features in none.
    public override var legendEntries: [RendererLegendEntry] {
        let entries = classBreaks.compactMap { range in
            range.symbol.map { RendererLegendEntry(label: range.label, symbol: $0) }
        }
        return entries + (defaultSymbol.map { [RendererLegendEntry(label: defaultLabel, symbol: $0)] } ?? [])
    }
}
