import FieldworkGeometry

/// Evaluates expressions of MapLibre's styles as its specification says, as far as our writer writes them.
struct StyleEvaluator {
    let attributes: [String: JSONValue]

    /// nil where the library would fall back to the property's default.
    func value(_ expression: JSONValue) -> JSONValue? {
        guard case .array(let parts) = expression, let name = parts.first?.stringValue else { return expression }
        func part(_ index: Int) -> JSONValue? { index < parts.count ? value(parts[index]) : nil }
        func numbers() -> [Double]? {
            let values = parts.dropFirst().map { value($0)?.doubleValue }
            return values.contains { $0 == nil } ? nil : values.compactMap(\.self)
        }
        switch name {
        case "literal": return parts[1]
        case "get": return parts[1].stringValue.flatMap { attributes[$0] } ?? .null
        case "has": return .bool(parts[1].stringValue.map { attributes[$0] != nil } ?? false)
        case "to-string": return part(1).map { .string(Self.text($0)) }
        case "to-number":
            return part(1).flatMap { value in
                value.doubleValue.map(JSONValue.number) ?? value.stringValue.flatMap(Double.init).map(JSONValue.number)
                    ?? (value.isNull ? .number(0) : nil)
            }
        case "concat": return .string(parts.dropFirst().map { value($0).map(Self.text) ?? "" }.joined())
        case "all": return .bool(parts.dropFirst().allSatisfy { value($0) == true })
        case "any": return .bool(parts.dropFirst().contains { value($0) == true })
        case "!": return .bool(part(1) != true)
        case "!=": return .bool(numbers().map { $0[0] != $0[1] } ?? false)
        case "<": return .bool(numbers().map { $0[0] < $0[1] } ?? false)
        case "<=": return .bool(numbers().map { $0[0] <= $0[1] } ?? false)
        case "in": return .bool(part(2)?.arrayValue?.contains { $0 == part(1) } ?? false)
        case "/": return numbers().map { .number($0[0] / $0[1]) }
        case "*": return numbers().map { .number($0.reduce(1, *)) }
        case "+": return numbers().map { .number($0.reduce(0, +)) }
        case "-": return numbers().map { .number($0.count == 1 ? -$0[0] : $0[0] - $0[1]) }
        case "case":
            for index in stride(from: 1, to: parts.count - 1, by: 2) where part(index) == true {
                return part(index + 1)
            }
            return part(parts.count - 1)
        case "match":
            let input = part(1)
            for index in stride(from: 2, to: parts.count - 1, by: 2) {
                let labels = parts[index].arrayValue ?? [parts[index]]
                if labels.contains(where: { $0 == input }) { return part(index + 1) }
            }
            return part(parts.count - 1)
        case "interpolate": return interpolated(parts)
        default: return expression
        }
    }

    private func interpolated(_ parts: [JSONValue]) -> JSONValue? {
        guard let input = value(parts[2])?.doubleValue else { return nil }
        let stops = stride(from: 3, to: parts.count - 1, by: 2).compactMap { index in
            parts[index].doubleValue.flatMap { at in value(parts[index + 1])?.doubleValue.map { (at, $0) } }
        }
        guard let first = stops.first, let last = stops.last else { return nil }
        if input <= first.0 { return .number(first.1) }
        guard let upper = stops.firstIndex(where: { input < $0.0 }), upper > 0 else { return .number(last.1) }
        let (low, high) = (stops[upper - 1], stops[upper])
        return .number(low.1 + (high.1 - low.1) * (input - low.0) / (high.0 - low.0))
    }

    /// As ECMAScript writes it.
    private static func text(_ value: JSONValue) -> String {
        if let text = value.stringValue { return text }
        if value.isNull { return "" }
        guard let number = value.doubleValue else { return value.text }
        return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
    }

    /// What the layers of a style draw of a feature, in words that can be compared: kind, paint and layout of each layer whose
    /// condition holds, without what is clear.
    func drawn(_ layers: [JSONValue]) -> [String] {
        layers.compactMap { layer -> String? in
            if let filter = layer["filter"], value(filter) != true { return nil }
            var words = [layer["type"]?.stringValue ?? ""]
            for part in ["layout", "paint"] {
                for member in layer[part]?.objectValue?.members ?? [] {
                    let shown = value(member.value) ?? .null
                    let text = shown.doubleValue.map { "\(($0 * 1_000).rounded() / 1_000)" } ?? shown.text
                    words.append("\(member.key)=\(text)")
                }
            }
            return words.joined(separator: " ")
        }
    }
}
