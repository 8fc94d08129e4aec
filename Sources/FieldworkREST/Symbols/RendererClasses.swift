package import FieldworkGeometry

/// The classes of a renderer of the protocol: which symbol stands for which values.
package struct RendererClasses: Sendable, Hashable {
    package enum Normalization: Sendable, Hashable {
        case plain, log
        case field(String)
        /// Of a total.
        case percent(of: Double)
    }

    package enum Rule: Sendable, Hashable {
        /// One symbol for all features.
        case all
        /// The texts of one to three fields, joined by the delimiter, and the texts of each class.
        case values(fields: [String], delimiter: String, [[String]])
        /// The least number of all, and the greatest of each class.
        case breaks(field: String, Normalization, least: Double?, [Double])
        /// A kind that has no symbols, such as a heat map.
        case unclassed
    }

    package struct Entry: Sendable, Hashable {
        package var label: String
        package var symbol: JSONValue
        /// As the renderer has them; the greatest of a class of numbers.
        package var values: [JSONValue]
    }

    package let rule: Rule
    package let entries: [Entry]
    /// What takes everything that no class takes.
    package let other: Entry?

    /// - Parameter maximum: further classes are left out.
    package init(_ renderer: JSONValue?, maximum: Int) {
        let type = renderer?["type"]?.stringValue
        switch type {
        case "uniqueValue": (rule, entries) = Self.uniqueValues(renderer, maximum)
        case "classBreaks": (rule, entries) = Self.classBreaks(renderer, maximum)
        case "heatmap", "dotDensity", "dictionary", "pieChart", "vectorField", "flowRenderer":
            (rule, entries) = (.unclassed, [])
        default:
            let label = renderer?["label"]?.stringValue ?? ""
            rule = .all
            entries = [Entry(label: label, symbol: renderer?["symbol"] ?? .null, values: [])]
        }
        if let symbol = renderer?["defaultSymbol"], !symbol.isNull, rule != .all, rule != .unclassed {
            other = Entry(label: renderer?["defaultLabel"]?.stringValue ?? "", symbol: symbol, values: [])
        } else {
            other = nil
        }
    }

    /// The classes and after them that of everything else, where there is one.
    package var all: [Entry] { entries + (other.map { [$0] } ?? []) }

    private static func uniqueValues(_ renderer: JSONValue?, _ maximum: Int) -> (Rule, [Entry]) {
        let fields = ["field1", "field2", "field3"].compactMap { renderer?[$0]?.stringValue }.filter { !$0.isEmpty }
        let delimiter = renderer?["fieldDelimiter"]?.stringValue ?? ","
        var infos = (renderer?["uniqueValueInfos"]?.arrayValue ?? []).prefix(maximum).map {
            ($0, [$0["value"] ?? .null])
        }
        let groups = (renderer?["uniqueValueGroups"]?.arrayValue ?? []).flatMap { $0["classes"]?.arrayValue ?? [] }
        if !groups.isEmpty {
            infos = groups.prefix(maximum).map { group in
                let values = (group["values"]?.arrayValue ?? []).map { value -> JSONValue in
                    .string((value.arrayValue ?? [value]).map(text).joined(separator: delimiter))
                }
                return (group, values)
            }
        }
        // A value belongs to the first class that names it.
        var known: Set<String> = []
        let texts = infos.map { $0.1.map(text).filter { known.insert($0).inserted } }
        let entries = infos.map { info, values in
            let first = values.first ?? .null
            return Entry(
                label: info["label"]?.stringValue ?? first.stringValue ?? first.text, symbol: info["symbol"] ?? .null,
                values: values)
        }
        return (.values(fields: fields, delimiter: delimiter, texts), entries)
    }

    private static func classBreaks(_ renderer: JSONValue?, _ maximum: Int) -> (Rule, [Entry]) {
        let infos = (renderer?["classBreakInfos"]?.arrayValue ?? []).prefix(maximum)
        var normalization = Normalization.plain
        switch renderer?["normalizationType"]?.stringValue {
        case "esriNormalizeByField":
            normalization = renderer?["normalizationField"]?.stringValue.map { Normalization.field($0) } ?? .plain
        case "esriNormalizeByLog": normalization = .log
        case "esriNormalizeByPercentOfTotal":
            let total = renderer?["normalizationTotal"]?.doubleValue ?? 100
            normalization = .percent(of: total == 0 ? 1 : total)
        default: break
        }
        let entries = infos.map { info in
            let limit = info["classMaxValue"] ?? .null
            return Entry(
                label: info["label"]?.stringValue ?? limit.text, symbol: info["symbol"] ?? .null, values: [limit])
        }
        let greatest = infos.map { $0["classMaxValue"]?.doubleValue ?? .greatestFiniteMagnitude }
        let rule = Rule.breaks(
            field: renderer?["field"]?.stringValue ?? "", normalization, least: renderer?["minValue"]?.doubleValue,
            greatest)
        return (rule, entries)
    }

    /// A value as classes compare it: numbers in their shortest form.
    package static func text(_ value: JSONValue) -> String {
        if let text = value.stringValue { return text }
        if let integer = value.integerValue { return String(integer) }
        return value.doubleValue.map { "\($0)" } ?? missing
    }

    /// What stands for no value.
    package static let missing = "<Null>"
}
