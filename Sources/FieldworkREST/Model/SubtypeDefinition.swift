/// A kind of feature by the value of the layer's subtype field, with domains and defaults of its own.
package struct SubtypeDefinition: Sendable, Hashable {
    package var code: AttributeValue
    package var name: String
    /// Values of a new feature of this kind, by field name; they come before the fields' own defaults.
    package var defaultValues: [String: AttributeValue]
    /// Domains by field name; they come before the fields' own domains.
    package var domains: [String: DomainDefinition]

    package init(
        code: AttributeValue, name: String, defaultValues: [String: AttributeValue] = [:],
        domains: [String: DomainDefinition] = [:]
    ) {
        self.code = code
        self.name = name
        self.defaultValues = defaultValues
        self.domains = domains
    }
}
