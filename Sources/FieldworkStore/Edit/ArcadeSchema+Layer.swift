package import FieldworkArcade
import FieldworkGeometry
package import FieldworkREST

extension ArcadeSchema {
    /// The fields, domains and subtypes of a layer.
    package convenience init(_ layer: LayerDefinition) {
        let types = layer.types.map { (code: $0.id, name: $0.name, domains: $0.domains) }
        let subtypes = layer.subtypes.map { (code: $0.code, name: $0.name, domains: $0.domains) }
        self.init(
            fields: layer.fields.map { field in
                ArcadeField(
                    name: field.name, alias: field.alias, type: field.type.rawValue,
                    length: field.length > 0 ? field.length : nil, isNullable: field.isNullable,
                    isEditable: field.isEditable, domain: field.domain.flatMap(ArcadeDomain.init))
            },
            geometryType: layer.geometryType?.rawValue ?? "", objectIDField: layer.objectIDField,
            globalIDField: layer.globalIDField, subtypeField: layer.subtypeField ?? layer.typeIDField,
            subtypes: (subtypes.isEmpty ? types : subtypes).map { subtype in
                var domains: [String: ArcadeDomain] = [:]
                for (field, domain) in subtype.domains { domains[field.lowercased()] = ArcadeDomain(domain) }
                return ArcadeSubtype(code: ArcadeValue(json: subtype.code.json), name: subtype.name, domains: domains)
            })
    }
}

extension ArcadeDomain {
    /// nil for a domain that stands for another.
    fileprivate init?(_ domain: DomainDefinition) {
        switch domain.kind {
        case .codedValues(let codes):
            self.init(
                name: domain.name, codes: codes.map { Code(code: ArcadeValue(json: $0.code.json), name: $0.name) })
        case .range(let minimum, let maximum):
            guard let low = minimum.doubleValue, let high = maximum.doubleValue, low <= high else { return nil }
            self.init(name: domain.name, range: low...high)
        case .inherited: return nil
        }
    }
}

extension ArcadeLayer {
    /// A layer of a store as scripts know it.
    convenience init(_ definition: LayerDefinition) {
        self.init(
            id: String(definition.id), name: definition.name, schema: ArcadeSchema(definition),
            spatialReference: definition.spatialReference)
    }
}
