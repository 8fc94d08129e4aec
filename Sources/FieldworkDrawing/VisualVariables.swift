import FieldworkGeometry
import FieldworkREST

/// Sizes, colours, opacity and rotation of a feature that follow its values.
struct VisualVariables: Sendable {
    /// What the variables say for one feature; nil where there is none, or where the feature has no value.
    struct Result: Sendable, Hashable {
        /// Pixels across, of 96 to the inch.
        var size: Float?
        /// Red, green, blue and opacity.
        var color: SIMD4<UInt8>?
        var opacity: Float?
        /// Degrees with the clock.
        var rotation: Float?

        var isEmpty: Bool { size == nil && color == nil && opacity == nil && rotation == nil }
    }

    private struct Number: Sendable {
        var column: Int
        var divisor: Int?

        func value(_ values: [DrawingValue]) -> Double? {
            guard let number = values[column].number else { return nil }
            guard let divisor else { return number }
            guard let by = values[divisor].number, by != 0 else { return nil }
            return number / by
        }
    }

    private struct Stops<Value: Sendable>: Sendable {
        var number: Number
        var stops: [(at: Double, value: Value)]

        /// The stops on both sides of a feature's value, and how far it is from the first to the second.
        func place(_ values: [DrawingValue]) -> (Value, Value, Double)? {
            guard let number = number.value(values), let first = stops.first, let last = stops.last else { return nil }
            guard number > first.at else { return (first.value, first.value, 0) }
            guard number < last.at, let next = stops.firstIndex(where: { $0.at >= number }), next > 0 else {
                return (last.value, last.value, 0)
            }
            let (low, high) = (stops[next - 1], stops[next])
            let share = (number - low.at) / (high.at - low.at)
            return (low.value, high.value, share.isFinite ? share : 0)
        }
    }

    private var size: Stops<Double>?
    private var color: Stops<SIMD4<Double>>?
    private var opacity: Stops<Double>?
    private var rotation: Number?
    private var isArithmetic = false

    var isEmpty: Bool { size == nil && color == nil && opacity == nil && rotation == nil }

    init(_ renderer: JSONValue?, columns: [String]) {
        for variable in renderer?["visualVariables"]?.arrayValue ?? [] {
            func column(_ member: String) -> Int? {
                guard let name = variable[member]?.stringValue, !name.isEmpty else { return nil }
                return columns.firstIndex { $0.lowercased() == name.lowercased() }
            }
            guard let field = column("field") else { continue }
            let number = Number(column: field, divisor: column("normalizationField"))
            switch variable["type"]?.stringValue {
            case "sizeInfo":
                var stops = Self.stops(variable) { $0["size"]?.doubleValue.map(SymbolDrawing.pixels) }
                if stops.isEmpty, let least = variable["minDataValue"]?.doubleValue,
                    let most = variable["maxDataValue"]?.doubleValue, least < most
                {
                    stops = [
                        (least, SymbolDrawing.pixels(variable["minSize"]?.doubleValue ?? 8)),
                        (most, SymbolDrawing.pixels(variable["maxSize"]?.doubleValue ?? 8)),
                    ]
                }
                size = Stops(number: number, stops: stops)
            case "colorInfo":
                let stops = Self.stops(variable) { stop in
                    SwatchColor(stop["color"]).map { SIMD4($0.red, $0.green, $0.blue, $0.opacity * 255) }
                }
                color = Stops(number: number, stops: stops)
            case "transparencyInfo":
                let stops = Self.stops(variable) { stop in
                    stop["transparency"]?.doubleValue.map { 1 - min(max($0, 0), 100) / 100 }
                }
                opacity = Stops(number: number, stops: stops)
            case "rotationInfo":
                rotation = number
                isArithmetic = variable["rotationType"]?.stringValue == "arithmetic"
            default: break
            }
        }
    }

    private static func stops<Value>(
        _ variable: JSONValue, _ value: (JSONValue) -> Value?
    ) -> [(at: Double, value: Value)] {
        var last = -Double.infinity
        return (variable["stops"]?.arrayValue ?? []).compactMap { stop -> (at: Double, value: Value)? in
            guard let at = stop["value"]?.doubleValue, let value = value(stop) else { return nil }
            return (at, value)
        }.sorted { $0.0 < $1.0 }.filter { stop in
            defer { last = stop.0 }
            return stop.0 > last
        }
    }

    func result(_ values: [DrawingValue]) -> Result {
        var result = Result()
        if let (low, high, share) = size?.place(values) {
            result.size = Float(min(max(low + (high - low) * share, 0), 256))
        }
        if let (low, high, share) = color?.place(values) {
            let mixed = low + (high - low) * share
            result.color = SIMD4<UInt8>(clamping: SIMD4<Int>(mixed.rounded(.toNearestOrEven)))
        }
        if let (low, high, share) = opacity?.place(values) { result.opacity = Float(low + (high - low) * share) }
        if let degrees = rotation?.value(values), degrees.isFinite {
            result.rotation = Float((isArithmetic ? 90 - degrees : degrees).truncatingRemainder(dividingBy: 360))
        }
        return result
    }
}
