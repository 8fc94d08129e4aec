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
        var spelling: LayerSpelling?
        records = try set.features.map { feature in
            let known = spelling.flatMap { $0.read === feature.attributes.names ? $0 : nil }
            let present = known ?? LayerSpelling(feature.attributes.names, layer)
            spelling = present
            let attributes = present.attributes(feature.attributes)
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

/// What the layer calls the fields that rows of an answer have in common, and the types of their values.
private struct LayerSpelling {
    let read: AttributeValues.Names
    private let names: AttributeValues.Names
    private let fields: [(place: Int, type: FieldworkREST.FieldType)]

    init(_ read: AttributeValues.Names, _ layer: LayerDefinition) {
        self.read = read
        var taken: Set<String> = []
        var (names, fields): ([String], [(place: Int, type: FieldworkREST.FieldType)]) = ([], [])
        for (place, name) in read.all.enumerated() {
            guard let field = layer.field(named: name), taken.insert(field.name).inserted else { continue }
            names.append(field.name)
            fields.append((place, field.type))
        }
        self.names = AttributeValues.Names(names)
        self.fields = fields
    }

    func attributes(_ row: AttributeValues) -> AttributeValues {
        AttributeValues(
            names: names,
            values: fields.map { place, type in
                // As a rule values are as they should be.
                row[place].map { value in
                    AttributeConversion.isNormal(value, type: type)
                        ? value : AttributeConversion.normalised(value, type: type)
                }
            })
    }
}
