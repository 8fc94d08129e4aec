import FieldworkREST
import Foundation

/// The values that a field may hold.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class Domain: @unchecked Sendable {
    /// The name of the domain.
    public let name: String
    /// The type of its values; nil when the domain does not say.
    public let fieldType: FieldType?

    init(name: String, fieldType: FieldType?) {
        self.name = name
        self.fieldType = fieldType
    }

    static func make(_ definition: DomainDefinition, type: FieldworkREST.FieldType) -> Domain {
        switch definition.kind {
        case .codedValues(let values): CodedValueDomain(definition.name, values, type: type)
        case .range(let minimum, let maximum): RangeDomain(definition.name, minimum, maximum, type: type)
        case .inherited: InheritedDomain(name: definition.name, fieldType: FieldType(type))
        }
    }
}

/// A list of values, each with the name that people see.
public final class CodedValueDomain: Domain, @unchecked Sendable {
    /// The values in the author's order.
    public let codedValues: [CodedValue]

    init(_ name: String, _ values: [DomainDefinition.CodedValue], type: FieldworkREST.FieldType) {
        codedValues = values.map {
            let code = AttributeConversion.normalised($0.code, type: type)
            return CodedValue(code: AttributeConversion.clientValue(code, type: type), name: $0.name)
        }
        super.init(name: name, fieldType: FieldType(type))
    }
}

/// All values between two limits, which belong to it.
public final class RangeDomain: Domain, @unchecked Sendable {
    /// The least value.
    public let minValue: (any Sendable)?
    /// The greatest value.
    public let maxValue: (any Sendable)?

    init(_ name: String, _ minimum: AttributeValue, _ maximum: AttributeValue, type: FieldworkREST.FieldType) {
        let value = { AttributeConversion.clientValue(AttributeConversion.normalised($0, type: type), type: type) }
        minValue = value(minimum)
        maxValue = value(maximum)
        super.init(name: name, fieldType: FieldType(type))
    }
}

/// In a type or subtype: the field's own domain applies.
public final class InheritedDomain: Domain, @unchecked Sendable {}

/// A value of a coded-value domain.
public final class CodedValue: Hashable, Sendable {
    /// The value that is stored.
    public let code: (any Sendable)?
    /// The name that people see.
    public let name: String

    /// A value and its name.
    public init(code: (any Sendable)?, name: String) {
        self.code = code
        self.name = name
    }

    private var comparable: AnyHashable? { (code as? any Hashable).map { AnyHashable($0) } }

    /// Equal by code and name.
    public static func == (one: CodedValue, other: CodedValue) -> Bool {
        one.name == other.name && one.comparable == other.comparable
    }

    /// Hashes code and name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(comparable)
    }
}
