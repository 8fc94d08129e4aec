import FieldworkGeometry

/// Adds layers and tables to the document of a service. What a layer needs and its author left out is filled in.
struct ServiceAddition {
    let service: JSONObject
    let change: JSONObject

    func applied() throws(ServiceError) -> (document: JSONValue, added: [(id: Int, name: String)]) {
        var result = service
        var added: [(id: Int, name: String)] = []
        var ids = Set((service.array("layers") + service.array("tables")).compactMap(DefinitionEdit.id))
        // Ids of layers that were removed are not given again.
        var next = max((ids.max() ?? -1), service.integer("lastLayerId") ?? -1) + 1
        for member in change.members {
            guard ["layers", "tables"].contains(member.key), let elements = member.value.arrayValue else {
                throw .invalidParameter("'\(member.key.prefix(64))' can't be added to a service.")
            }
            for element in elements {
                guard var layer = element.objectValue else {
                    throw .invalidParameter("'\(member.key)' must be an array of definitions.")
                }
                let id = DefinitionEdit.id(element) ?? next
                guard ids.insert(id).inserted else {
                    throw .invalidParameter("There is a layer or table \(id) already.")
                }
                next = max(next, id + 1)
                layer["id"] = JSONValue(id)
                // Some clients list tables among the layers.
                let list = layer.string("type") == "Table" ? "tables" : member.key
                result[list] = .array(result.array(list) + [.object(completed(layer))])
                added.append((id, layer.string("name") ?? ""))
            }
        }
        return (.object(result), added)
    }

    private func completed(_ definition: JSONObject) -> JSONObject {
        var layer = definition
        var fields = layer.array("fields").filter { $0["type"]?.stringValue != FieldType.geometry.rawValue }
        func has(_ type: FieldType) -> Bool { fields.contains { $0["type"]?.stringValue == type.rawValue } }
        if !has(.oid) {
            let field = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
            fields.insert(field.json, at: 0)
            layer["objectIdField"] = .string(field.name)
        }
        if !has(.globalID) {
            let field = FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false)
            fields.append(field.json)
            layer["globalIdField"] = .string(field.name)
        }
        layer["fields"] = .array(fields)
        if layer["maxRecordCount"] == nil { layer["maxRecordCount"] = service["maxRecordCount"] }
        if layer["capabilities"] == nil, let text = service["capabilities"]?.stringValue {
            // Words that only another server knew are none of a new layer's.
            layer["capabilities"] = .string(Set<Capability>(text: text).text)
        }
        let reference = layer["spatialReference"] ?? layer["extent"]?["spatialReference"] ?? service["spatialReference"]
        if layer["spatialReference"] == nil, layer["geometryType"] != nil { layer["spatialReference"] = reference }
        return layer
    }
}
