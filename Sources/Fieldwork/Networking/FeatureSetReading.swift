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
        let types = Dictionary(layer.fields.map { ($0.name, $0.type) }) { first, _ in first }
        records = try set.features.map { feature in
            // As a rule names and values are as they should be.
            var attributes = feature.attributes
            for (name, value) in feature.attributes {
                if let type = types[name] {
                    if AttributeConversion.isNormal(value, type: type) { continue }
                    attributes[name] = AttributeConversion.normalised(value, type: type)
                    continue
                }
                attributes[name] = nil
                guard let field = layer.field(named: name) else { continue }
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
