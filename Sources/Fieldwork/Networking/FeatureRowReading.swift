import FieldworkGeometry
import FieldworkREST

/// The features of an answer as rows of a layer's table, each with all fields in the layer's order: what the cache takes over.
struct FeatureRows: Sendable {
    var rows: [FeatureEdit]
    var exceededTransferLimit: Bool

    /// The object ids of the rows.
    var ids: [Int64] { rows.compactMap(\.objectID) }

    init(json: JSONValue, layer: LayerDefinition) throws(FieldworkREST.ServiceError) {
        var rows: [FeatureEdit] = []
        var reader = try FeatureRowReader(layer)
        let set = try FeatureSetReader.read(json: json) { members, geometry throws(FieldworkREST.ServiceError) in
            rows.append(try reader.row(members, geometry))
        }
        self.rows = rows
        exceededTransferLimit = set.exceededTransferLimit
    }
}

/// Reads features of one answer. They name their fields in the same order as a rule: where a value goes is found out once.
private struct FeatureRowReader {
    private let layer: LayerDefinition
    private let types: [FieldworkREST.FieldType]
    private let objectID: Int
    private let globalID: Int?
    /// A row without values.
    private let blank: [(name: String, value: AttributeValue)]
    /// The names in the feature before, and the places of their values.
    private var keys: [String] = []
    private var places: [Int?] = []

    init(_ layer: LayerDefinition) throws(FieldworkREST.ServiceError) {
        guard let objectID = layer.fields.firstIndex(where: { $0.name == layer.objectIDField }) else {
            throw FieldworkREST.ServiceError(code: 500, message: "The layer has no field \(layer.objectIDField).")
        }
        self.layer = layer
        self.objectID = objectID
        types = layer.fields.map(\.type)
        globalID = layer.globalIDField.flatMap { name in layer.fields.firstIndex { $0.name == name } }
        blank = layer.fields.map { ($0.name, .null) }
    }

    /// Throws when a feature has no object id: what can't be told apart can't be edited.
    mutating func row(
        _ members: [JSONObject.Member], _ geometry: Geometry?
    ) throws(FieldworkREST.ServiceError) -> FeatureEdit {
        if members.count != keys.count || !zip(members, keys).allSatisfy({ $0.key == $1 }) { learn(members) }
        var attributes = blank
        for index in members.indices {
            guard let place = places[index] else { continue }
            let value = AttributeValue(json: members[index].value)
            attributes[place].value =
                AttributeConversion.isNormal(value, type: types[place])
                ? value : AttributeConversion.normalised(value, type: types[place])
        }
        guard let id = attributes[objectID].value.integerValue else {
            throw FieldworkREST.ServiceError(
                code: 500, message: "A feature of the answer has no \(layer.objectIDField).")
        }
        return FeatureEdit(
            objectID: id, globalID: globalID.flatMap { attributes[$0].value.textValue }.flatMap(GUID.parse),
            attributes: attributes, geometry: geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
    }

    private mutating func learn(_ members: [JSONObject.Member]) {
        keys = members.map(\.key)
        places = keys.map { key in
            layer.fields.firstIndex { $0.name == key }
                ?? layer.field(named: key).flatMap { field in layer.fields.firstIndex { $0.name == field.name } }
        }
    }
}

extension FeatureRecord {
    /// A row that was read, as a record.
    init(_ row: FeatureEdit) {
        var place: Geometry?
        if case .geometry(let geometry) = row.geometry { place = geometry }
        self.init(
            objectID: row.objectID ?? 0, globalID: row.globalID,
            attributes: AttributeValues(Dictionary(row.attributes.map { ($0.name, $0.value) }) { first, _ in first }),
            geometry: place)
    }
}
