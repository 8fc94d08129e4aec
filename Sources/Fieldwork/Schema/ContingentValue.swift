import FieldworkREST

/// What a field of a combination may hold.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class ContingentValue: @unchecked Sendable {
    let definition: ContingencyDefinition.Value

    init(_ definition: ContingencyDefinition.Value) { self.definition = definition }

    /// - Parameter subtype: the subtype whose domain names the codes.
    static func make(
        _ value: ContingencyDefinition.Value, field: FieldDefinition, layer: LayerDefinition,
        subtype: SubtypeDefinition?
    ) -> ContingentValue {
        switch value {
        case .any: return ContingentAnyValue(value)
        case .null: return ContingentNullValue(value)
        case .code(let code):
            let stored = AttributeConversion.normalised(code, type: field.type)
            var name: String?
            if case .codedValues(let values) = layer.domain(of: field.name, in: subtype)?.kind {
                name = values.first { AttributeConversion.normalised($0.code, type: field.type) == stored }?.name
            }
            let client = AttributeConversion.clientValue(stored, type: field.type)
            return ContingentCodedValue(
                value, CodedValue(code: client, name: name ?? client.map { "\($0)" } ?? ""))
        case .range(let minimum, let maximum):
            let limits = [minimum, maximum].map { limit in
                AttributeConversion.clientValue(
                    AttributeConversion.normalised(limit, type: field.type), type: field.type)
            }
            return ContingentRangeValue(value, limits[0], limits[1])
        }
    }
}

/// One code of the field's domain.
public final class ContingentCodedValue: ContingentValue, @unchecked Sendable {
    /// The code and what people see of it.
    public let codedValue: CodedValue

    init(_ definition: ContingencyDefinition.Value, _ codedValue: CodedValue) {
        self.codedValue = codedValue
        super.init(definition)
    }
}

/// All values between two limits, which belong to it.
public final class ContingentRangeValue: ContingentValue, @unchecked Sendable {
    /// The least value.
    public let minValue: (any Sendable)?
    /// The greatest value.
    public let maxValue: (any Sendable)?

    init(_ definition: ContingencyDefinition.Value, _ minValue: (any Sendable)?, _ maxValue: (any Sendable)?) {
        self.minValue = minValue
        self.maxValue = maxValue
        super.init(definition)
    }
}

/// Whatever the field may hold, nothing included.
public final class ContingentAnyValue: ContingentValue, @unchecked Sendable {}

/// No value.
public final class ContingentNullValue: ContingentValue, @unchecked Sendable {}

/// Fields whose values depend on each other, and the combinations that belong together.
public final class FieldGroup: Sendable {
    /// Its name.
    public let name: String
    /// Whether another combination is an error; else it is worth a warning.
    public let isRestrictive: Bool
    /// The combinations.
    public let contingencies: [Contingency]

    init(_ definition: FieldGroupDefinition, layer: LayerDefinition) {
        name = definition.name
        isRestrictive = definition.isRestrictive
        contingencies = definition.contingencies.filter { !$0.isRetired }
            .map { Contingency($0, fields: definition.fields, layer: layer) }
    }
}

/// One combination of values of a field group.
public final class Contingency: Sendable {
    /// Its number in the definition.
    public let id: Int
    /// The subtype for which it holds; nil for all.
    public let subtype: FeatureSubtype?
    /// What each field may hold, by field name.
    public let values: [String: ContingentValue]

    init(_ definition: ContingencyDefinition, fields: [String], layer: LayerDefinition) {
        id = definition.id
        let own = layer.subtypes.first { $0.code == definition.subtypeCode }
        subtype = own.map { FeatureSubtype($0, layer: layer) }
        var values: [String: ContingentValue] = [:]
        for (name, value) in zip(fields, definition.values) {
            guard let field = layer.field(named: name) else { continue }
            values[field.name] = .make(value, field: field, layer: layer, subtype: own)
        }
        self.values = values
    }
}

/// What one field of a feature may hold, given the values of the others.
public final class ContingentValuesResult: Sendable {
    /// The values that one group or another allows, each once.
    public let contingentValues: [ContingentValue]
    /// The values that each group allows, by its name.
    public let contingentValuesByFieldGroup: [String: [ContingentValue]]

    init(_ values: [(group: String, values: [ContingentValue])]) {
        var known: Set<ContingencyDefinition.Value> = []
        contingentValues = values.flatMap(\.values).filter { known.insert($0.definition).inserted }
        contingentValuesByFieldGroup = Dictionary(values.map { ($0.group, $0.values) }) { first, _ in first }
    }
}

/// A combination of values that does not belong together.
public final class ContingencyConstraintViolation: Sendable {
    /// How bad it is.
    public enum Severity: Sendable {
        /// The service refuses it, or would rather not have it.
        case error, warning
    }

    /// The group whose fields do not go together.
    public let fieldGroup: FieldGroup
    /// How bad it is.
    public let severity: Severity
    /// The feature's subtype.
    public let subtype: FeatureSubtype?

    init(fieldGroup: FieldGroup, subtype: FeatureSubtype?) {
        self.fieldGroup = fieldGroup
        self.subtype = subtype
        severity = fieldGroup.isRestrictive ? .error : .warning
    }
}
