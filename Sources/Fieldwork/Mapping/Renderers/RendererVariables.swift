import FieldworkGeometry
import FieldworkREST

/// What a renderer changes of a symbol by the values of fields and of expressions: turn, size, colour, opacity.
struct RendererVariables {
    private let variables: [JSONValue]
    /// The expression of each variable; nil for those over a field.
    private let expressions: [RendererExpression?]

    init(_ renderer: JSONValue) {
        var variables = renderer["visualVariables"]?.arrayValue ?? []
        // The older form of a turn.
        if let text = renderer["rotationExpression"]?.stringValue, text.hasPrefix("["), text.hasSuffix("]") {
            variables.append([
                "type": "rotationInfo", "field": .string(String(text.dropFirst().dropLast())),
                "rotationType": renderer["rotationType"] ?? "arithmetic",
            ])
        }
        self.variables = variables
        expressions = variables.map(RendererExpression.init)
    }

    /// The symbol of a feature; the same object where nothing is changed.
    func varied(_ symbol: Symbol?, for feature: any GeoElement) -> Symbol? {
        guard let symbol, !variables.isEmpty else { return symbol }
        var json: JSONObject?
        for (variable, expression) in zip(variables, expressions) {
            guard let value = Self.value(variable, expression, of: feature) else { continue }
            var changed = json ?? symbol.json.objectValue ?? JSONObject()
            apply(variable, value, to: &changed)
            json = changed
        }
        return json.map { Symbol.make(.object($0)) ?? symbol } ?? symbol
    }

    /// nil where there is nothing to go by: then the symbol stays as it is.
    private static func value(
        _ variable: JSONValue, _ expression: RendererExpression?, of feature: any GeoElement
    ) -> Double? {
        if let expression { return expression.isSupported ? expression.number(for: feature) : nil }
        guard let field = variable["field"]?.stringValue,
            let value = RendererFields.number(feature.attributeValue(forKey: field))
        else { return nil }
        guard let divisor = variable["normalizationField"]?.stringValue, !divisor.isEmpty else { return value }
        let number = RendererFields.number(feature.attributeValue(forKey: divisor)) ?? 0
        return number == 0 ? nil : value / number
    }

    private func apply(_ variable: JSONValue, _ value: Double, to symbol: inout JSONObject) {
        switch variable["type"]?.stringValue {
        case "rotationInfo": turn(variable, value, &symbol)
        case "sizeInfo": resize(variable, value, &symbol)
        case "colorInfo":
            guard let color = Stops(variable, "color")?.values(at: value) else { return }
            symbol["color"] = .array(color.map { .integer(Int64($0.rounded())) })
        case "transparencyInfo":
            guard let part = Stops(variable, "transparency")?.values(at: value)?.first,
                let color = SymbolColor(symbol["color"])
            else { return }
            symbol["color"] = color.withAlphaComponent(1 - part / 100).json
        default: break
        }
    }

    /// Symbols point to the north and turn against the clock; compass bearings turn with it, arithmetic angles against
    /// it from the east.
    private func turn(_ variable: JSONValue, _ value: Double, _ symbol: inout JSONObject) {
        let own = symbol["angle"]?.doubleValue ?? 0
        let isArithmetic = variable["rotationType"]?.stringValue == "arithmetic"
        symbol["angle"] = .number(own + (isArithmetic ? value - 90 : -value))
    }

    private func resize(_ variable: JSONValue, _ value: Double, _ symbol: inout JSONObject) {
        // Sizes in metres on the ground need the map's scale, which only who draws knows.
        guard (variable["valueUnit"]?.stringValue ?? "unknown") == "unknown", let size = Self.size(variable, value)
        else { return }
        switch symbol["type"]?.stringValue {
        case "esriSLS": symbol["width"] = .number(size)
        case "esriSMS": symbol["size"] = .number(size)
        case "esriPMS":
            let (width, height) = (symbol["width"]?.doubleValue ?? size, symbol["height"]?.doubleValue ?? size)
            guard height > 0 else { return }
            symbol["width"] = .number(width / height * size)
            symbol["height"] = .number(size)
        case "esriSFS":
            guard variable["target"] == "outline", var outline = symbol["outline"]?.objectValue else { return }
            outline["width"] = .number(size)
            symbol["outline"] = .object(outline)
        default: break
        }
    }

    /// By stops, else between two sizes.
    private static func size(_ variable: JSONValue, _ value: Double) -> Double? {
        if let stops = Stops(variable, "size") { return stops.values(at: value)?.first }
        guard let low = variable["minDataValue"]?.doubleValue, let high = variable["maxDataValue"]?.doubleValue,
            let small = variable["minSize"]?.doubleValue, let large = variable["maxSize"]?.doubleValue, high > low
        else { return nil }
        return small + (large - small) * (min(max(value, low), high) - low) / (high - low)
    }

    /// Values between which a variable goes evenly; outside of them it stays.
    private struct Stops {
        private let stops: [(value: Double, result: [Double])]

        /// nil where the variable has none.
        init?(_ variable: JSONValue, _ member: String) {
            stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
                guard let value = stop["value"]?.doubleValue, let result = stop[member] else { return nil }
                if let number = result.doubleValue { return (value, [number]) }
                guard let color = SymbolColor(result) else { return nil }
                return (value, [color.red, color.green, color.blue, color.alpha].map(Double.init))
            }.sorted { $0.value < $1.value }
            if stops.isEmpty { return nil }
        }

        func values(at value: Double) -> [Double]? {
            guard let first = stops.first, let last = stops.last else { return nil }
            if value <= first.value { return first.result }
            guard let upper = stops.firstIndex(where: { value < $0.value }), upper > 0 else { return last.result }
            let (low, high) = (stops[upper - 1], stops[upper])
            let part = (value - low.value) / (high.value - low.value)
            return zip(low.result, high.result).map { $0 + ($1 - $0) * part }
        }
    }
}
