import FieldworkREST

/// A column of a table.
public struct Field: Sendable {
    /// The column's name.
    public let name: String
    /// The name that people see.
    public let alias: String
    /// The type; nil when the SDK does not know it.
    public let type: FieldType?
    /// The most characters of a text; 0 when there is no limit.
    public let length: Int
    /// The values that are allowed; nil for all of the type.
    public let domain: Domain?
    /// Whether clients may set it.
    public let isEditable: Bool
    /// Whether it may be null.
    public let isNullable: Bool
    /// The value of new rows.
    public let defaultValue: (any Sendable)?

    /// Whether a value must be given.
    public var isRequired: Bool { !isNullable && isEditable && defaultValue == nil }

    /// A field of a table that a client makes.
    public init(
        type: FieldType, name: String, alias: String, length: Int = 0, domain: Domain? = nil, isEditable: Bool = true,
        allowsNull: Bool = true
    ) {
        self.name = name
        self.alias = alias
        self.type = type
        self.length = length
        self.domain = domain
        self.isEditable = isEditable
        isNullable = allowsNull
        defaultValue = nil
    }

    init(_ definition: FieldDefinition) {
        name = definition.name
        alias = definition.alias
        type = FieldType(definition.type)
        length = definition.length
        domain = definition.domain.map { Domain.make($0, type: definition.type) }
        isEditable = definition.isEditable
        isNullable = definition.isNullable
        defaultValue = AttributeConversion.clientValue(
            AttributeConversion.normalised(definition.defaultValue, type: definition.type), type: definition.type)
    }

    /// A text field.
    public static func text(name: String, alias: String, length: Int) -> Field {
        Field(type: .text, name: name, alias: alias, length: length)
    }

    /// A field of whole numbers of 16 bits.
    public static func int16(name: String, alias: String) -> Field { Field(type: .int16, name: name, alias: alias) }

    /// A field of whole numbers of 32 bits.
    public static func int32(name: String, alias: String) -> Field { Field(type: .int32, name: name, alias: alias) }

    /// A field of whole numbers of 64 bits.
    public static func int64(name: String, alias: String) -> Field { Field(type: .int64, name: name, alias: alias) }

    /// A field of numbers with a fraction, of 32 bits.
    public static func float32(name: String, alias: String) -> Field { Field(type: .float32, name: name, alias: alias) }

    /// A field of numbers with a fraction, of 64 bits.
    public static func float64(name: String, alias: String) -> Field { Field(type: .float64, name: name, alias: alias) }

    /// A field of moments.
    public static func date(name: String, alias: String) -> Field { Field(type: .date, name: name, alias: alias) }
}
