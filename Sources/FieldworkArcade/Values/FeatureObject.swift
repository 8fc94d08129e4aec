import FieldworkGeometry

/// A feature while a script runs.
final class FeatureObject {
    private(set) var schema: ArcadeSchema
    private(set) var values: [ArcadeValue]
    /// What a script set; it may hold what no field can.
    private var changed: [Int: Value] = [:]
    var geometry: Geometry?
    private(set) var layer: ArcadeLayer?
    /// The features from which it was taken; nil when it came with the context.
    let source: FeatureSetObject?
    /// Whether a script may set its values.
    let isMutable: Bool

    init(_ feature: ArcadeFeature, source: FeatureSetObject? = nil, isMutable: Bool = false) {
        schema = feature.schema
        values = feature.values
        geometry = feature.geometry
        layer = feature.layer
        self.source = source
        self.isMutable = isMutable
    }

    /// One that a script makes.
    init(schema: ArcadeSchema, values: [Value], geometry: Geometry?, layer: ArcadeLayer? = nil) {
        self.schema = schema
        self.values = []
        self.geometry = geometry
        self.layer = layer
        source = nil
        isMutable = true
        for (index, value) in values.enumerated() { changed[index] = value }
    }

    func value(at index: Int, _ machine: Machine) -> Value {
        if !changed.isEmpty, let value = changed[index] { return value }
        guard index < values.count else { return .null }
        switch values[index] {
        case .null: return .null
        case .text(let text): return .text(text)
        case .number(let number):
            return FieldTypes.isNumber(schema.fields[index].type)
                ? .number(number) : FieldTypes.value(number, ofType: schema.fields[index].type, machine)
        case let other: return machine.value(other)
        }
    }

    func value(of name: String, _ machine: Machine) -> Value? {
        schema.place(of: name).map { value(at: $0, machine) }
    }

    func set(_ value: Value, at index: Int) { changed[index] = value }

    func detach() { changed = [:] }

    /// Stands for another feature from now on.
    func become(_ feature: ArcadeFeature) {
        if schema !== feature.schema { schema = feature.schema }
        values = feature.values
        geometry = feature.geometry
        if layer !== feature.layer { layer = feature.layer }
        if !changed.isEmpty { changed = [:] }
    }

    /// The value of a field with numbers; nil where there is none.
    @inline(__always)
    func number(at index: Int) -> Double? {
        guard index < values.count, changed.isEmpty, case .number(let number) = values[index] else { return nil }
        return number
    }
}

/// What the protocol's types of fields mean for a script.
enum FieldTypes {
    static func isNumber(_ type: String) -> Bool {
        // The types of days and times are the only ones whose numbers stand for something else.
        !type.hasPrefix("esriFieldTypeDate") && !type.hasPrefix("esriFieldTypeTime")
    }

    static func value(_ number: Double, ofType type: String, _ machine: Machine) -> Value {
        switch type {
        case "esriFieldTypeDate":
            DateValue(milliseconds: number, zone: machine.zone).map(Value.date) ?? .null
        case "esriFieldTypeTimestampOffset":
            DateValue(milliseconds: number, zone: .utc).map(Value.date) ?? .null
        case "esriFieldTypeDateOnly":
            Int(exactly: (number / DateValue.dayLength).rounded(.down)).flatMap(CalendarDay.init(number:))
                .map(Value.dateOnly) ?? .null
        case "esriFieldTypeTimeOnly":
            number >= 0 && number < DateValue.dayLength ? .time(Int(number)) : .null
        default: .number(number)
        }
    }

    /// The type for a value that a script gives a field of its own.
    static func type(of value: Value) -> String {
        switch value {
        case .number, .boolean: "esriFieldTypeDouble"
        case .date: "esriFieldTypeDate"
        case .dateOnly: "esriFieldTypeDateOnly"
        case .time: "esriFieldTypeTimeOnly"
        default: "esriFieldTypeString"
        }
    }
}
