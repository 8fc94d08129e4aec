import FieldworkREST

/// What a new domain of a geodatabase is to be.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class DomainDescription: @unchecked Sendable {
    /// The domain's name, which no other domain of the geodatabase has.
    public let name: String
    /// The type of its values.
    public let fieldType: FieldType

    init(name: String, fieldType: FieldType) {
        self.name = name
        self.fieldType = fieldType
    }

    /// The values, read as those of a field. Throws `GeodatabaseError.dataTypeMismatch`, `.valueOutOfRange`.
    func kind(in field: FieldDefinition) throws -> DomainDefinition.Kind { .inherited }
}

/// A new list of values, each with the name that people see.
public final class CodedValueDomainDescription: DomainDescription, @unchecked Sendable {
    /// The values in the author's order.
    public let codedValues: [CodedValue]

    /// - Parameters:
    ///   - name: the domain's name.
    ///   - fieldType: the type of the fields that may have it.
    ///   - codedValues: the values.
    public init(name: String, fieldType: FieldType, codedValues: [CodedValue]) {
        self.codedValues = codedValues
        super.init(name: name, fieldType: fieldType)
    }

    override func kind(in field: FieldDefinition) throws -> DomainDefinition.Kind {
        .codedValues(
            try codedValues.map { .init(code: try AttributeConversion.stored($0.code, in: field), name: $0.name) })
    }
}

/// New limits between which values lie.
public final class RangeDomainDescription: DomainDescription, @unchecked Sendable {
    /// The least value.
    public let minValue: (any Sendable)?
    /// The greatest value.
    public let maxValue: (any Sendable)?

    /// - Parameters:
    ///   - name: the domain's name.
    ///   - fieldType: the type of the fields that may have it.
    ///   - minValue: the least value.
    ///   - maxValue: the greatest value.
    public init(name: String, fieldType: FieldType, minValue: (any Sendable)?, maxValue: (any Sendable)?) {
        self.minValue = minValue
        self.maxValue = maxValue
        super.init(name: name, fieldType: fieldType)
    }

    override func kind(in field: FieldDefinition) throws -> DomainDefinition.Kind {
        .range(
            minimum: try AttributeConversion.stored(minValue, in: field),
            maximum: try AttributeConversion.stored(maxValue, in: field))
    }
}
