import FieldworkGeometry
import FieldworkREST
import Foundation

/// The journal of unsent edits as a table of the local GeoPackage: it is written in the same transaction as the rows.
enum LocalEditCoding {
    /// Far from the ids that services give to their layers.
    static let tableID = 2_000_000_000

    static let table = LayerDefinition(
        id: tableID, name: "unsent_edits", description: "Edits that the service has not been told of yet",
        fields: [
            FieldDefinition(name: "row_id", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "layer_id", type: .integer, isNullable: false),
            FieldDefinition(name: "feature_id", type: .bigInteger, isNullable: false),
            FieldDefinition(name: "content", type: .string, isNullable: false),
        ],
        objectIDField: "row_id")

    /// The row of the device's last turn: those of edits have ids from 1.
    static let turnRowID: Int64 = 0

    static func row(_ turn: EditTurn) -> FeatureEdit {
        FeatureEdit(
            objectID: turnRowID,
            attributes: [
                ("layer_id", .integer(-1)), ("feature_id", .integer(turn.number)),
                ("content", .text(GUID.normalForm(turn.sender))),
            ])
    }

    static func turn(_ row: FeatureRecord) -> EditTurn? {
        guard let sender = row.attributes["content"]?.textValue.flatMap(GUID.parse),
            let number = row.attributes["feature_id"]?.integerValue
        else { return nil }
        return EditTurn(sender: sender, number: number)
    }

    static func row(_ edit: LocalEdit) -> FeatureEdit {
        FeatureEdit(
            objectID: edit.rowID,
            attributes: [
                ("layer_id", .integer(Int64(edit.key.layerID))), ("feature_id", .integer(edit.key.objectID)),
                ("content", .text(content(edit).text)),
            ])
    }

    /// Reads a row. Throws `CommonError.invalidJSON` rather than lose an edit in silence.
    static func edit(_ row: FeatureRecord, layer: (Int) -> LayerDefinition?) throws -> LocalEdit {
        guard let id = row.attributes["layer_id"]?.integerValue.flatMap({ Int(exactly: $0) }), let layer = layer(id),
            let objectID = row.attributes["feature_id"]?.integerValue,
            let content = try row.attributes["content"]?.textValue.map({ try JSONParser.parse($0) }),
            let operation = content["operation"]?.stringValue.flatMap(LocalEdit.Operation.init(rawValue:))
        else { throw CommonError.invalidJSON(details: "The unsent edit \(row.objectID) can't be read.") }
        var edit = LocalEdit(
            key: .init(layerID: id, objectID: objectID), rowID: row.objectID,
            globalID: content["globalID"]?.stringValue.flatMap(GUID.parse), operation: operation)
        edit.revision = content["revision"]?.integerValue ?? 1
        edit.base = try record(content["base"], layer)
        edit.current = try record(content["current"], layer)
        edit.firstSent = try record(content["firstSent"], layer)
        edit.isCached = content["isCached"]?.boolValue ?? false
        edit.refusal = content["refusal"]?.stringValue
        edit.attachments = try (content["attachments"]?.arrayValue ?? []).map { try AttachmentEdit(json: $0) }
        edit.setAside = try (content["setAside"]?.arrayValue ?? []).map { try AttachmentEdit(json: $0) }
        if let attempt = content["attempt"], let revision = attempt["revision"]?.integerValue,
            let operation = attempt["operation"]?.stringValue.flatMap(LocalEdit.Operation.init(rawValue:))
        {
            edit.attempt = .init(
                revision: revision, operation: operation, record: try record(attempt["record"], layer))
        }
        return edit
    }

    private static func content(_ edit: LocalEdit) -> JSONValue {
        var object = JSONObject()
        object.append("operation", .string(edit.operation.rawValue))
        object.append("globalID", JSONValue(edit.globalID.map(GUID.normalForm)))
        object.append("revision", .integer(edit.revision))
        object.append("base", json(edit.base))
        object.append("current", json(edit.current))
        if let first = edit.firstSent { object.append("firstSent", json(first)) }
        object.append("isCached", .bool(edit.isCached))
        object.append("refusal", JSONValue(edit.refusal))
        if !edit.attachments.isEmpty { object.append("attachments", .array(edit.attachments.map(\.json))) }
        if !edit.setAside.isEmpty { object.append("setAside", .array(edit.setAside.map(\.json))) }
        if let attempt = edit.attempt {
            object.append(
                "attempt",
                [
                    "revision": .integer(attempt.revision), "operation": .string(attempt.operation.rawValue),
                    "record": json(attempt.record),
                ])
        }
        return .object(object)
    }

    private static func json(_ record: FeatureRecord?) -> JSONValue {
        guard let record else { return .null }
        var attributes = JSONObject()
        for (name, value) in record.attributes.sorted(by: { $0.key < $1.key }) { attributes.append(name, value.json) }
        return [
            "objectID": .integer(record.objectID), "attributes": .object(attributes),
            "geometry": record.geometry.map { GeoServicesJSON.json(for: $0) } ?? .null,
        ]
    }

    private static func record(_ json: JSONValue?, _ layer: LayerDefinition) throws -> FeatureRecord? {
        guard let json, !json.isNull else { return nil }
        var attributes: [String: AttributeValue] = [:]
        for member in json["attributes"]?.objectValue?.members ?? [] {
            let type = layer.field(named: member.key)?.type ?? .string
            attributes[member.key] = AttributeConversion.normalised(AttributeValue(json: member.value), type: type)
        }
        return FeatureRecord(
            objectID: json["objectID"]?.integerValue ?? 0,
            globalID: layer.globalIDField.flatMap { attributes[$0]?.textValue }.flatMap(GUID.parse),
            attributes: AttributeValues(attributes),
            geometry: try json["geometry"].flatMap {
                try GeoServicesJSON.geometry(from: $0, defaultSpatialReference: layer.spatialReference)
            })
    }
}
