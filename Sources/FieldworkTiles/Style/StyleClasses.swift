import FieldworkGeometry
import FieldworkREST

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
        let classes = RendererClasses(renderer, maximum: Limits.styleClasses)
        switch classes.rule {
        // A heat map has no classes, and is drawn otherwise.
        case .all, .unclassed: rule = .all
        case .values(let fields, let delimiter, let values):
            rule = .values(key: Self.key(fields, delimiter), values)
        case .breaks(let field, let normalization, let least, let greatest):
            let (number, fields) = Self.number(field, normalization)
            rule = .breaks(number: number, fields: fields, least: least, greatest)
        }
        hasDefault = classes.other != nil
        symbols = classes.rule == .unclassed ? [.null] : classes.all.map(\.symbol)
    }

    private static func key(_ fields: [String], _ delimiter: String) -> JSONValue {
        var parts: [JSONValue] = []
        for field in fields {
            if !parts.isEmpty { parts.append(.string(delimiter)) }
            parts.append([
                "case", ["has", .string(field)], ["to-string", ["get", .string(field)]],
                .string(RendererClasses.missing),
            ])
        }
        return parts.count == 1 ? parts[0] : .array(["concat"] + parts)
    }

    private static func number(
        _ field: String, _ normalization: RendererClasses.Normalization
    ) -> (JSONValue, fields: [String]) {
        let number: JSONValue = ["to-number", ["get", .string(field)]]
        switch normalization {
        case .plain: return (number, [field])
        case .field(let other): return (["/", number, ["to-number", ["get", .string(other)]]], [field, other])
        case .log: return (["log10", number], [field])
        case .percent(let total): return (["/", ["*", 100, number], .number(total)], [field])
        }
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
