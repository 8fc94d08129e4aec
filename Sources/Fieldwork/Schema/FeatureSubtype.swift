import FieldworkREST

/// A kind of feature that a whole-number field tells, with domains and defaults of its own.
public final class FeatureSubtype: Sendable {
    /// The value of the subtype field that stands for it.
    public let code: (any Sendable)?
    /// Its name.
    public let name: String
    /// Domains by field name; where there is none the field's own applies.
    public let domains: [String: Domain]
    /// What fields of a new feature hold, by field name.
    public let defaultValues: [String: any Sendable]
    let definition: SubtypeDefinition

    init(_ definition: SubtypeDefinition, layer: LayerDefinition) {
        self.definition = definition
        let type = layer.subtypeField.flatMap(layer.field(named:))?.type ?? .integer
        code = AttributeConversion.clientValue(AttributeConversion.normalised(definition.code, type: type), type: type)
        name = definition.name
        var domains: [String: Domain] = [:]
        var defaults: [String: any Sendable] = [:]
        for field in layer.fields {
            let isOwn = definition.domains.keys.contains { $0.lowercased() == field.name.lowercased() }
            if isOwn, let domain = layer.domain(of: field.name, in: definition) {
                domains[field.name] = Domain.make(domain, type: field.type)
            }
            let value = definition.defaultValues.first { $0.key.lowercased() == field.name.lowercased() }?.value
            defaults[field.name] = value.flatMap {
                AttributeConversion.clientValue(
                    AttributeConversion.normalised($0, type: field.type), type: field.type)
            }
        }
        self.domains = domains
        defaultValues = defaults
    }
}

extension ArcGISFeatureTable {
    /// The subtypes.
    public var featureSubtypes: [FeatureSubtype] {
        guard let layer = definition else { return [] }
        return layer.subtypes.map { FeatureSubtype($0, layer: layer) }
    }

    /// The field that says a feature's subtype; empty when there are no subtypes.
    public var subtypeField: String { definition?.subtypeField ?? "" }

    /// The same, by the name that layer definitions have for it.
    public var subtypeFieldName: String { subtypeField }

    /// The subtype code of new features; nil where none is said.
    public var defaultSubtypeCode: (any Sendable)? {
        guard let layer = definition, let field = layer.subtypeField.flatMap(layer.field(named:)) else { return nil }
        return AttributeConversion.clientValue(
            AttributeConversion.normalised(layer.defaultSubtypeCode, type: field.type), type: field.type)
    }

    /// The subtype that a code stands for, or that a feature has.
    func subtype(of feature: ArcGISFeature) -> SubtypeDefinition? {
        guard let layer = definition, let field = layer.subtypeField.flatMap(layer.field(named:)),
            let code = try? AttributeConversion.stored(feature.attributeValue(forKey: field.name), in: field),
            !code.isNull
        else { return nil }
        return layer.subtypes.first { AttributeConversion.normalised($0.code, type: field.type) == code }
    }
}

extension ArcGISFeature {
    /// The subtype that the feature's subtype field tells; nil without one.
    public var featureSubtype: FeatureSubtype? {
        guard let table = table as? ArcGISFeatureTable, let layer = table.definition else { return nil }
        return table.subtype(of: self).map { FeatureSubtype($0, layer: layer) }
    }
}
