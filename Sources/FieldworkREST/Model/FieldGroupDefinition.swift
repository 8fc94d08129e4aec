/// Fields whose values depend on each other, and the combinations that belong together.
package struct FieldGroupDefinition: Sendable, Hashable {
    package var name: String
    /// Whether other combinations are refused; else the listed ones are what a form proposes.
    package var isRestrictive: Bool
    package var fields: [String]
    package var contingencies: [ContingencyDefinition]

    package init(
        name: String, isRestrictive: Bool = true, fields: [String], contingencies: [ContingencyDefinition] = []
    ) {
        self.name = name
        self.isRestrictive = isRestrictive
        self.fields = fields
        self.contingencies = contingencies
    }
}

/// One combination of values of a field group.
package struct ContingencyDefinition: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// Whatever the field may hold, nothing included.
        case any
        case null
        case code(AttributeValue)
        /// Both limits belong to it.
        case range(minimum: AttributeValue, maximum: AttributeValue)
    }

    package var id: Int
    /// The subtype for which it holds; null for all.
    package var subtypeCode: AttributeValue
    /// One for each field of the group, in its order.
    package var values: [Value]
    /// Kept for features that have it; no edit may choose it any more.
    package var isRetired: Bool

    package init(id: Int, subtypeCode: AttributeValue = .null, values: [Value], isRetired: Bool = false) {
        self.id = id
        self.subtypeCode = subtypeCode
        self.values = values
        self.isRetired = isRetired
    }
}
