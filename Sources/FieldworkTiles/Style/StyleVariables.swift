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
        variables.first {
            $0["type"]?.stringValue == type && $0["field"]?.stringValue?.isEmpty == false
        }
    }

    private func divisor(_ variable: JSONValue) -> JSONValue? {
        guard let name = variable["normalizationField"]?.stringValue, !name.isEmpty else { return nil }
        return .string(name)
    }

    private func number(_ variable: JSONValue) -> JSONValue {
        let value: JSONValue = ["to-number", ["get", variable["field"] ?? ""]]
        return divisor(variable).map { ["/", value, ["to-number", ["get", $0]]] } ?? value
    }

    /// What a variable makes of a feature's value; features without one keep what their class says.
    private func varied(_ variable: JSONValue, _ result: JSONValue, or own: JSONValue) -> JSONValue {
        var condition: JSONValue = ["has", variable["field"] ?? ""]
        if let other = divisor(variable) {
            condition = ["all", condition, ["has", other], ["!=", ["to-number", ["get", other]], 0]]
        }
        return ["case", condition, result, own]
    }

    private func interpolated(
        _ variable: JSONValue, _ stops: [(value: Double, result: JSONValue)], or own: JSONValue
    ) -> JSONValue {
        // The values of an interpolation must grow.
        var result: [JSONValue] = ["interpolate", ["linear"], number(variable)]
        var last = -Double.infinity
        for stop in stops.sorted(by: { $0.value < $1.value }) where stop.value > last {
            result += [.number(stop.value), stop.result]
            last = stop.value
        }
        return result.count > 4 ? varied(variable, .array(result), or: own) : own
    }

    /// Pixels across. Sizes on the ground, which follow the scale, are not followed.
    /// - Parameter target: what grows of an area: its outline; nil for points and lines.
    func size(target: String? = nil, or own: JSONValue) -> JSONValue {
        guard let variable = variable("sizeInfo"), variable["target"]?.stringValue == target,
            (variable["valueUnit"]?.stringValue ?? "unknown") == "unknown"
        else { return own }
        var stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop -> (Double, JSONValue)? in
            guard let value = stop["value"]?.doubleValue, let size = stop["size"]?.doubleValue else { return nil }
            return (value, .number(SymbolDrawing.pixels(size)))
        }
        if stops.isEmpty, let low = variable["minDataValue"]?.doubleValue,
            let high = variable["maxDataValue"]?.doubleValue, let small = variable["minSize"]?.doubleValue,
            let large = variable["maxSize"]?.doubleValue
        {
            stops = [
                (low, .number(SymbolDrawing.pixels(small))), (high, .number(SymbolDrawing.pixels(large))),
            ]
        }
        return interpolated(variable, stops, or: own)
    }

    func color(or own: JSONValue) -> JSONValue {
        guard let variable = variable("colorInfo") else { return own }
        let stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
            stop["value"]?.doubleValue.map { ($0, StyleSymbol.color(stop["color"], 1)) }
        }
        return interpolated(variable, stops, or: own)
    }

    /// nil where the opacity follows no value.
    var opacity: JSONValue? {
        guard let variable = variable("transparencyInfo") else { return nil }
        let stops = (variable["stops"]?.arrayValue ?? []).compactMap { stop in
            stop["value"]?.doubleValue.map {
                ($0, JSONValue.number(1 - min(max(stop["transparency"]?.doubleValue ?? 0, 0), 100) / 100))
            }
        }
        return interpolated(variable, stops, or: 1)
    }

    /// Degrees with the clock; nil where symbols aren't turned by a value.
    func rotation(or own: JSONValue) -> JSONValue? {
        if let variable = variable("rotationInfo") {
            return turned(number(variable), variable["rotationType"], variable["field"] ?? "", own)
        }
        // The older form of a turn.
        guard let text = renderer?["rotationExpression"]?.stringValue, text.hasPrefix("["), text.hasSuffix("]") else {
            return nil
        }
        let field = JSONValue.string(String(text.dropFirst().dropLast()))
        return turned(["to-number", ["get", field]], renderer?["rotationType"] ?? "arithmetic", field, own)
    }

    private func turned(_ value: JSONValue, _ way: JSONValue?, _ field: JSONValue, _ own: JSONValue) -> JSONValue {
        let angle: JSONValue = way?.stringValue == "arithmetic" ? ["-", 90, value] : value
        return ["case", ["has", field], own == 0 ? angle : ["+", own, angle], own]
    }

    /// Where the map library's bell curve is 1: it is 0.3989 at its point (1/√(2π)).
    private static let peak = 2.5066

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
        let points = renderer?["radius"]?.doubleValue
        let density = renderer?["maxDensity"]?.doubleValue
        let blur = renderer?["blurRadius"]?.doubleValue
        let across: Double
        if points == nil, density == nil, let blur {
            // The map library's bell curve ends at three deviations, of half of the blur's radius each.
            across = max(1, 1.5 * blur)
            paint["heatmap-intensity"] = .number(
                Self.peak / max(renderer?["maxPixelIntensity"]?.doubleValue ?? 100, 1e-9))
        } else {
            let pixels = max(1, SymbolDrawing.pixels(points ?? 18))
            // The library's bell curve exp(−4.5 d²/R²) has the sum of the kernel (1 − d²/r²)², where R² is 1.5 r².
            across = pixels * 1.5.squareRoot()
            // What a point adds at its place, as a share of the density of the last colour.
            let added = 3 / (.pi * pixels * pixels)
            paint["heatmap-intensity"] = .number(Self.peak * added / max(density ?? 0.04, 1e-9))
        }
        paint["heatmap-radius"] = .number(across)
        if let field = renderer?["field"]?.stringValue, !field.isEmpty {
            paint["heatmap-weight"] = ["max", 0, ["to-number", ["get", .string(field)], 0]]
        }
        if colors.count > 4 { paint["heatmap-color"] = .array(colors) }
        if opacity < 1 { paint["heatmap-opacity"] = .number(opacity) }
        return .object(paint)
    }
}
