import FieldworkGeometry
import FieldworkREST

/// Visual variables of a renderer: sizes, colours, opacity and rotation that follow a value.
struct StyleVariables {
    private let renderer: JSONValue?
    private let variables: [JSONValue]

    init(_ renderer: JSONValue?) {
        self.renderer = renderer
        variables = renderer?["visualVariables"]?.arrayValue ?? []
    }

    private func variable(_ type: String) -> JSONValue? {
        variables.first { $0["type"]?.stringValue == type && $0["field"]?.stringValue?.isEmpty == false }
    }

    private func number(_ variable: JSONValue) -> JSONValue {
        let value: JSONValue = ["to-number", ["get", variable["field"] ?? ""]]
        guard let other = variable["normalizationField"]?.stringValue, !other.isEmpty else { return value }
        return ["/", value, ["to-number", ["get", .string(other)], 1]]
    }

    private func interpolated(_ variable: JSONValue, _ stops: [(value: Double, result: JSONValue)]) -> JSONValue? {
        // The values of an interpolation must grow.
        var result: [JSONValue] = ["interpolate", ["linear"], number(variable)]
        var last = -Double.infinity
        for stop in stops.sorted(by: { $0.value < $1.value }) where stop.value > last {
            result += [.number(stop.value), stop.result]
            last = stop.value
        }
        return result.count > 4 ? .array(result) : nil
    }

    /// Pixels across.
    var size: JSONValue? {
        guard let variable = variable("sizeInfo") else { return nil }
        func pixels(_ json: JSONValue?) -> JSONValue { .number(SymbolDrawing.pixels(json?.doubleValue ?? 8)) }
        var stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
            stop["value"]?.doubleValue.map { ($0, pixels(stop["size"])) }
        }
        if stops.isEmpty, let least = variable["minDataValue"]?.doubleValue,
            let most = variable["maxDataValue"]?.doubleValue
        {
            stops = [(least, pixels(variable["minSize"])), (most, pixels(variable["maxSize"]))]
        }
        return interpolated(variable, stops)
    }

    var color: JSONValue? {
        guard let variable = variable("colorInfo") else { return nil }
        let stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
            stop["value"]?.doubleValue.map { ($0, StyleSymbol.color(stop["color"], 1)) }
        }
        return interpolated(variable, stops)
    }

    var opacity: JSONValue? {
        guard let variable = variable("transparencyInfo") else { return nil }
        let stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
            stop["value"]?.doubleValue.map {
                ($0, JSONValue.number(1 - min(max(stop["transparency"]?.doubleValue ?? 0, 0), 100) / 100))
            }
        }
        return interpolated(variable, stops)
    }

    /// Degrees with the clock.
    var rotation: JSONValue? {
        guard let variable = variable("rotationInfo") else { return nil }
        let value = number(variable)
        return variable["rotationType"]?.stringValue == "arithmetic" ? ["-", 90, value] : value
    }

    /// How dense points are, as the renderer's colours.
    func heatmap(opacity: Double) -> JSONValue {
        var colors: [JSONValue] = ["interpolate", ["linear"], ["heatmap-density"]]
        var last = -1.0
        for stop in renderer?["colorStops"]?.arrayValue ?? [] {
            guard let ratio = stop["ratio"]?.doubleValue, ratio > last, ratio >= 0, ratio <= 1 else { continue }
            colors += [.number(ratio), StyleSymbol.color(stop["color"], 1)]
            last = ratio
        }
        var paint = JSONObject()
        let radius = renderer?["radius"]?.doubleValue ?? renderer?["blurRadius"]?.doubleValue ?? 10
        paint["heatmap-radius"] = .number(max(1, SymbolDrawing.pixels(radius)))
        if colors.count > 4 { paint["heatmap-color"] = .array(colors) }
        if opacity < 1 { paint["heatmap-opacity"] = .number(opacity) }
        return .object(paint)
    }
}
