package import FieldworkGeometry
import Foundation

extension MergeConflict.Side {
    /// One side of a conflict as JSON: what a store keeps and what clients are shown.
    package var json: JSONValue {
        var object = JSONObject()
        if let attributes {
            var members = JSONObject()
            for name in attributes.keys.sorted() { members.append(name, attributes[name]?.json ?? .null) }
            object.append("attributes", .object(members))
        } else {
            object.append("deleted", true)
        }
        if let geometry { object.append("geometry", geometry.geometry.map { GeoServicesJSON.json(for: $0) } ?? .null) }
        if let attachment { object.append("attachment", attachment.json) }
        object.append("editor", JSONValue(editor))
        object.append("moment", .integer(Int64((moment.timeIntervalSince1970 * 1_000).rounded())))
        object.append("replicaID", JSONValue(replicaID?.uuidString))
        return .object(object)
    }

    /// Reads what `json` wrote.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let moment = object["moment"]?.doubleValue else {
            throw .invalidParameter("A stored conflict is malformed.")
        }
        self.init(
            attributes: MergeConflict.attributes(object), geometry: try MergeConflict.geometry(object),
            editor: object.string("editor"),
            moment: Date(timeIntervalSince1970: moment / 1_000),
            replicaID: object.string("replicaID").flatMap(UUID.init(uuidString:)))
        attachment = object["attachment"].flatMap(MergeConflict.AttachmentValue.init(json:))
    }
}

extension MergeConflict {
    fileprivate static func attributes(_ object: JSONObject) -> [String: AttributeValue]? {
        guard let members = object["attributes"]?.objectValue?.members else { return nil }
        return Dictionary(
            members.map { ($0.key, AttributeValue(json: $0.value)) }, uniquingKeysWith: { _, last in last })
    }

    fileprivate static func geometry(_ object: JSONObject) throws(ServiceError) -> GeometryValue? {
        guard let json = object["geometry"] else { return nil }
        do {
            return GeometryValue(try GeoServicesJSON.geometry(from: json))
        } catch {
            throw .invalidParameter("A stored conflict is malformed.")
        }
    }
}

extension MergeConflict.Base {
    /// The base as JSON: what a store keeps and what clients are shown.
    package var json: JSONValue {
        var members = JSONObject()
        for name in attributes.keys.sorted() { members.append(name, attributes[name]?.json ?? .null) }
        var object = JSONObject()
        object.append("attributes", .object(members))
        if let geometry { object.append("geometry", geometry.geometry.map { GeoServicesJSON.json(for: $0) } ?? .null) }
        object.append("uploadOnly", .array(uploadOnly.map { .string($0) }))
        object.append("serviceOnly", .array(serviceOnly.map { .string($0) }))
        return .object(object)
    }

    /// Reads what `json` wrote.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let attributes = MergeConflict.attributes(object) else {
            throw .invalidParameter("A stored conflict is malformed.")
        }
        self.init(
            attributes: attributes, geometry: try MergeConflict.geometry(object),
            uploadOnly: (object["uploadOnly"]?.arrayValue ?? []).compactMap(\.stringValue),
            serviceOnly: (object["serviceOnly"]?.arrayValue ?? []).compactMap(\.stringValue))
    }
}

extension MergeConflict.AttachmentValue {
    fileprivate var json: JSONValue {
        [
            "globalId": .string(GUID.normalForm(globalID)), "name": .string(name), "contentType": .string(contentType),
            "size": .integer(size), "keywords": .string(keywords), "version": version.map { .integer($0) } ?? .null,
        ]
    }

    fileprivate init?(json: JSONValue) {
        guard let globalID = json["globalId"]?.stringValue.flatMap(GUID.parse) else { return nil }
        self.init(
            globalID: globalID, name: json["name"]?.stringValue ?? "",
            contentType: json["contentType"]?.stringValue ?? "", size: json["size"]?.integerValue ?? 0,
            keywords: json["keywords"]?.stringValue ?? "", version: json["version"]?.integerValue)
    }
}

extension MergeConflict {
    /// The conflict as clients are shown it.
    package var json: JSONValue {
        var json: JSONValue = [
            "id": .integer(id), "layerId": JSONValue(layerID), "objectId": .integer(objectID),
            "globalId": .string(GUID.normalForm(globalID)), "kind": .string(kind.rawValue),
            "rule": .string(rule.rawValue), "winner": .string(winner.rawValue), "state": .string(state.rawValue),
            "lost": lost.json, "won": won.json,
            "moment": .integer(Int64((moment.timeIntervalSince1970 * 1_000).rounded())),
        ]
        if let base, var object = json.objectValue {
            object.append("base", base.json)
            json = .object(object)
        }
        return json
    }
}

extension ReplicaUploadResult {
    /// The result in a form that gives it back whole: what a store records.
    package var storageJSON: JSONValue {
        [
            "generation": generation.map { .integer($0) } ?? .null,
            "conflicts": .array(conflicts.map { .integer($0) }),
            "layers": .array(
                layers.map { layer in
                    let attachments = layer.attachments
                    return [
                        "id": JSONValue(layer.layerID), "adds": .array(layer.adds.map(Self.json)),
                        "updates": .array(layer.updates.map(Self.json)),
                        "deletes": .array(layer.deletes.map(Self.json)),
                        "attachmentAdds": .array(attachments.adds.map(Self.json)),
                        "attachmentUpdates": .array(attachments.updates.map(Self.json)),
                        "attachmentDeletes": .array(attachments.deletes.map(Self.json)),
                    ]
                }),
        ]
    }

    private static func json(_ result: EditResult) -> JSONValue {
        var object = JSONObject()
        if let id = result.objectID { object.append("o", .integer(id)) }
        if let id = result.globalID { object.append("g", .string(id.uuidString)) }
        if let error = result.error {
            object.append("c", JSONValue(error.code))
            object.append("d", .string(error.description))
        }
        return .object(object)
    }

    /// Reads what `storageJSON` wrote.
    package init(storageJSON json: JSONValue) {
        func results(_ json: JSONValue?) -> [EditResult] { (json?.arrayValue ?? []).map(Self.result) }
        self.init(
            layers: (json["layers"]?.arrayValue ?? []).map { json in
                var layer = LayerEditResults(
                    layerID: json["id"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0, adds: results(json["adds"]),
                    updates: results(json["updates"]), deletes: results(json["deletes"]))
                layer.attachments = AttachmentEditResults(
                    adds: results(json["attachmentAdds"]), updates: results(json["attachmentUpdates"]),
                    deletes: results(json["attachmentDeletes"]))
                return layer
            },
            generation: json["generation"]?.integerValue, isRecorded: true,
            conflicts: (json["conflicts"]?.arrayValue ?? []).compactMap(\.integerValue))
    }

    private static func result(_ json: JSONValue) -> EditResult {
        EditResult(
            objectID: json["o"]?.integerValue, globalID: json["g"]?.stringValue.flatMap(UUID.init(uuidString:)),
            error: json["c"]?.integerValue.map {
                EditError(code: Int(clamping: $0), description: json["d"]?.stringValue ?? "")
            })
    }
}
