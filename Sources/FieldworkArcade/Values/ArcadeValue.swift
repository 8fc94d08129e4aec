public import FieldworkGeometry

/// A value that goes into an evaluation or comes out of it. It holds nothing of the evaluation.
public enum ArcadeValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// True or false.
    case boolean(Bool)
    /// A number; may be NaN or infinite.
    case number(Double)
    /// A text.
    case text(String)
    /// An instant, and the zone in which its parts are read.
    case date(DateValue)
    /// A day.
    case dateOnly(CalendarDay)
    /// A time of the day, in milliseconds since midnight.
    case time(Int)
    /// Values in order.
    case array([ArcadeValue])
    /// Values by name, in order.
    case dictionary([ArcadeMember])
    /// A geometry.
    case geometry(Geometry)
    /// A feature.
    case feature(ArcadeFeature)
    /// A description of features that nobody has fetched.
    case featureSet(ArcadeFeatureQuery)
    /// A function, which means nothing outside of its script.
    case function

    /// The value of a member of a dictionary.
    public subscript(key: String) -> ArcadeValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
            ?? members.first { $0.key.lowercased() == key.lowercased() }?.value
    }
}

/// A member of a dictionary.
public struct ArcadeMember: Sendable, Hashable {
    /// Its name.
    public var key: String
    /// Its value.
    public var value: ArcadeValue

    /// A name and a value.
    public init(_ key: String, _ value: ArcadeValue) {
        self.key = key
        self.value = value
    }
}

/// A feature that a script can read: values in the order of its schema's fields.
public struct ArcadeFeature: Sendable, Hashable {
    /// What it has in common with others.
    public let schema: ArcadeSchema
    /// Values in the order of the fields. Dates may be given as numbers: the type of the field decides.
    public let values: [ArcadeValue]
    /// The geometry, when there is one.
    public let geometry: Geometry?
    /// The layer that it comes from, for related features and for what the service calls its own.
    public let layer: ArcadeLayer?

    /// By schema and values. Missing values are null.
    public init(
        schema: ArcadeSchema, values: [ArcadeValue], geometry: Geometry? = nil, layer: ArcadeLayer? = nil
    ) {
        self.schema = schema
        self.values = values
        self.geometry = geometry
        self.layer = layer
    }

    /// The value of a field, found without regard to case.
    public func value(of field: String) -> ArcadeValue? {
        schema.place(of: field).map { $0 < values.count ? values[$0] : .null }
    }

    /// Equal when they have the same fields and values.
    public static func == (one: ArcadeFeature, other: ArcadeFeature) -> Bool {
        one.values == other.values && one.geometry == other.geometry
            && (one.schema === other.schema || one.schema.fields == other.schema.fields)
    }

    /// Equal features give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
