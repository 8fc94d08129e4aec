import FieldworkREST

/// The features of an answer.
struct FeaturePage: Sendable {
    var records: [FeatureRecord]
    var exceededTransferLimit: Bool
}

extension FeaturePage {
    /// The features of a set with names and values in the layer's own spelling. Throws when a feature has no object id:
    /// what can't be told apart can't be edited.
    init(_ set: FieldworkREST.FeatureSet, layer: LayerDefinition) throws {
        var spellings: [String: FieldDefinition] = [:]
        for field in layer.fields { spellings[field.name] = field }
        records = try set.features.map { feature in
            // As a rule names and values are as they should be.
            var attributes = feature.attributes
            for (name, value) in feature.attributes {
                guard let field = spellings[name] ?? layer.field(named: name) else {
                    attributes[name] = nil
                    continue
                }
                if field.name != name { attributes[name] = nil }
                if field.name == name, AttributeConversion.isNormal(value, type: field.type) { continue }
                attributes[field.name] = AttributeConversion.normalised(value, type: field.type)
            }
            guard let objectID = attributes[layer.objectIDField]?.integerValue else {
                throw ServiceError.unknown(details: "A feature of the answer has no \(layer.objectIDField).")
            }
            let globalID = layer.globalIDField.flatMap { attributes[$0]?.textValue }.flatMap(GUID.parse)
            return FeatureRecord(
                objectID: objectID, globalID: globalID, attributes: attributes, geometry: feature.geometry)
        }
        exceededTransferLimit = set.exceededTransferLimit
    }
}
