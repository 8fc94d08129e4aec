import FieldworkGeometry

/// The classes of a renderer of the protocol, as expressions of MapLibre's styles.
struct StyleClasses {
    private enum Rule {
        case all
        /// The text that decides, and the values of each class.
        case values(key: JSONValue, [[String]])
        /// The number that decides, the least of all, and the greatest of each class.
        case breaks(number: JSONValue, fields: [String], least: Double?, [Double])
    }

    private let rule: Rule
    /// The symbols of the classes; after them that of everything else, where there is one.
    let symbols: [JSONValue]
    private let hasDefault: Bool

    init(_ renderer: JSONValue?) {
        var infos: [JSONValue] = []
        var rule = Rule.all
        switch renderer?["type"]?.stringValue {
        case "uniqueValue": (rule, infos) = Self.uniqueValues(renderer)
        case "classBreaks": (rule, infos) = Self.classBreaks(renderer)
        default: infos = [["symbol": renderer?["symbol"] ?? .null]]
        }
        self.rule = rule
        let other = renderer?["defaultSymbol"] ?? .null
        if case .all = rule { hasDefault = false } else { hasDefault = !other.isNull }
        symbols = infos.map { $0["symbol"] ?? .null } + (hasDefault ? [other] : [])
    }

    private static func uniqueValues(_ renderer: JSONValue?) -> (Rule, [JSONValue]) {
        var infos = renderer?["uniqueValueInfos"]?.arrayValue ?? []
        let fields = ["field1", "field2", "field3"].compactMap { renderer?[$0]?.stringValue }.filter { !$0.isEmpty }
        let delimiter = renderer?["fieldDelimiter"]?.stringValue ?? ","
        var values = infos.map { [$0["value"].map(Self.text) ?? ""] }
        let groups = (renderer?["uniqueValueGroups"]?.arrayValue ?? []).flatMap { $0["classes"]?.arrayValue ?? [] }
        if !groups.isEmpty {
            infos = groups
            values = groups.map { group in
                (group["values"]?.arrayValue ?? []).map { value in
                    (value.arrayValue ?? [value]).map(Self.text).joined(separator: delimiter)
                }
            }
        }
        (infos, values) = (
            Array(infos.prefix(Limits.styleClasses)), Array(values.prefix(Limits.styleClasses))
        )
        // A value belongs to the first class that names it; a style that names one twice is refused.
        var known: Set<String> = []
        values = values.map { $0.filter { known.insert($0).inserted } }
        var parts: [JSONValue] = []
        for field in fields {
            if !parts.isEmpty { parts.append(.string(delimiter)) }
            parts.append(["case", ["has", .string(field)], ["to-string", ["get", .string(field)]], "<Null>"])
        }
        let key = parts.count == 1 ? parts[0] : .array(["concat"] + parts)
        return (.values(key: key, values), infos)
    }

    private static func classBreaks(_ renderer: JSONValue?) -> (Rule, [JSONValue]) {
        let infos = Array((renderer?["classBreakInfos"]?.arrayValue ?? []).prefix(Limits.styleClasses))
        let field = renderer?["field"]?.stringValue ?? ""
        var fields = [field]
        var number: JSONValue = ["to-number", ["get", .string(field)]]
        switch renderer?["normalizationType"]?.stringValue {
        case "esriNormalizeByField":
            if let other = renderer?["normalizationField"]?.stringValue {
                fields.append(other)
                number = ["/", number, ["to-number", ["get", .string(other)]]]
            }
        case "esriNormalizeByLog": number = ["log10", number]
        case "esriNormalizeByPercentOfTotal":
            let total = renderer?["normalizationTotal"]?.doubleValue ?? 100
            number = ["/", ["*", 100, number], .number(total == 0 ? 1 : total)]
        default: break
        }
        let greatest = infos.map { $0["classMaxValue"]?.doubleValue ?? .greatestFiniteMagnitude }
        return (
            .breaks(number: number, fields: fields, least: renderer?["minValue"]?.doubleValue, greatest), infos
        )
    }

    /// A value as texts of a style are compared: numbers in their shortest form.
    private static func text(_ value: JSONValue) -> String {
        if let text = value.stringValue { return text }
        if let integer = value.integerValue { return String(integer) }
        return value.doubleValue.map { "\($0)" } ?? "<Null>"
    }

    /// An expression that gives the value of a feature's class.
    /// - Parameter values: as many as there are symbols.
    func expression(_ values: [JSONValue], otherwise: JSONValue) -> JSONValue {
        guard let first = values.first else { return otherwise }
        // What no class takes is left out by the filter.
        guard values.contains(where: { $0 != first }) else { return first }
        let rest = hasDefault ? values.last ?? otherwise : otherwise
        switch rule {
        case .all: return first
        case .values(let key, let classes):
            var result: [JSONValue] = ["match", key]
            for (value, texts) in zip(values, classes) where !texts.isEmpty && value != rest {
                result += [texts.count == 1 ? .string(texts[0]) : .array(texts.map(JSONValue.string)), value]
            }
            return result.count > 2 ? .array(result + [rest]) : rest
        case .breaks:
            var result: [JSONValue] = ["case"]
            for (index, condition) in conditions.enumerated() { result += [condition, values[index]] }
            return .array(result + [rest])
        }
    }

    /// The conditions of the classes of numbers, each of which comes after those before it.
    private var conditions: [JSONValue] {
        guard case .breaks(let number, let fields, let least, let greatest) = rule else { return [] }
        var below = least.map { ["<", number, .number($0)] as JSONValue }
        return greatest.map { limit in
            var parts: [JSONValue] = ["all"] + fields.map { ["has", .string($0)] }
            if let below { parts.append(["!", below]) }
            let isWithin: JSONValue = ["<=", number, .number(limit)]
            parts.append(isWithin)
            below = isWithin
            return .array(parts)
        }
    }

    /// The condition for features of some classes; nil when it is no condition.
    func filter(_ wanted: Set<Int>) -> JSONValue? {
        let all = Set(symbols.indices)
        if hasDefault, wanted == all { return nil }
        switch rule {
        case .all: return nil
        case .values(let key, let classes):
            func named(_ indices: Set<Int>) -> JSONValue {
                let texts = indices.sorted().filter { $0 < classes.count }.flatMap { classes[$0] }
                return ["in", key, ["literal", .array(texts.map(JSONValue.string))]]
            }
            let takesRest = hasDefault && wanted.contains(symbols.count - 1)
            return takesRest ? ["!", named(all.subtracting(wanted))] : named(wanted)
        case .breaks:
            let flags = symbols.indices.map { JSONValue.bool(wanted.contains($0)) }
            let chosen = expression(flags, otherwise: false)
            return chosen == true ? .array(["any"] + conditions) : chosen
        }
    }

}
