import FieldworkGeometry

/// Changes one layer of a definition document.
struct LayerEdit {
    let layer: JSONObject

    /// Adds elements to the layer's lists. One that is there already is refused.
    func adding(_ change: JSONObject) throws(ServiceError) -> JSONObject {
        var result = layer
        for member in change.members {
            guard let key = DefinitionEdit.layerLists[member.key], let elements = member.value.arrayValue else {
                throw .invalidParameter("'\(member.key.prefix(64))' can't be added to a layer.")
            }
            var list = layer.array(member.key)
            for element in elements {
                let name = Self.identity(element, key)
                // Both ends of a relationship of a layer with itself have its id.
                if member.key != "relationships", list.contains(where: { Self.identity($0, key) == name }) {
                    throw .invalidParameter("'\(member.key)' has \(name) already.")
                }
                list.append(element)
            }
            result[member.key] = .array(list)
        }
        return result
    }

    /// Replaces members. Fields are changed by name, member by member; the other lists are replaced whole.
    func updating(_ change: JSONObject) throws(ServiceError) -> JSONObject {
        var result = layer
        for member in change.members where member.key != "id" {
            guard member.key == "fields" else {
                result[member.key] = member.value
                continue
            }
            guard let elements = member.value.arrayValue else { throw .invalidParameter("'fields' must be an array.") }
            var fields = layer.array("fields")
            for element in elements {
                let name = Self.identity(element, "name")
                guard let index = fields.firstIndex(where: { Self.identity($0, "name") == name }),
                    var field = fields[index].objectValue
                else { throw .invalidParameter("The layer has no field \(name).") }
                for part in element.objectValue?.members ?? [] where part.key != "name" { field[part.key] = part.value }
                fields[index] = .object(field)
            }
            result["fields"] = .array(fields)
        }
        return result
    }

    /// Takes elements out of the layer's lists. One that is not there is refused.
    func deleting(_ change: JSONObject) throws(ServiceError) -> JSONObject {
        var result = layer
        for member in change.members {
            guard let key = DefinitionEdit.layerLists[member.key], let elements = member.value.arrayValue else {
                throw .invalidParameter("'\(member.key.prefix(64))' can't be removed from a layer.")
            }
            var list = layer.array(member.key)
            for element in elements {
                let name = Self.identity(element, key)
                let count = list.count
                list.removeAll { Self.identity($0, key) == name }
                guard list.count < count else { throw .invalidParameter("'\(member.key)' has no \(name).") }
                if member.key == "fields" { Self.forget(field: name, in: &result) }
            }
            result[member.key] = .array(list)
        }
        return result
    }

    /// What only pointed at a field goes with it. Rules that stand on it (types, relationships, editor tracking) don't: the
    /// check of the document tells of them.
    private static func forget(field name: String, in layer: inout JSONObject) {
        if layer.string("displayField")?.lowercased() == name { layer["displayField"] = "" }
        layer["templates"] = layer["templates"].map { .array(($0.arrayValue ?? []).map { without(name, $0) }) }
        layer["types"] = layer["types"].map { types in
            .array(
                (types.arrayValue ?? []).map { type in
                    var object = type.objectValue ?? JSONObject()
                    object["templates"] = object["templates"].map {
                        .array(($0.arrayValue ?? []).map { without(name, $0) })
                    }
                    object["domains"] = object["domains"].map { .object(without(name, $0.objectValue ?? JSONObject())) }
                    return .object(object)
                })
        }
    }

    private static func without(_ field: String, _ template: JSONValue) -> JSONValue {
        guard var object = template.objectValue, var prototype = object["prototype"]?.objectValue,
            let attributes = prototype["attributes"]?.objectValue
        else { return template }
        prototype["attributes"] = .object(without(field, attributes))
        object["prototype"] = .object(prototype)
        return .object(object)
    }

    private static func without(_ field: String, _ object: JSONObject) -> JSONObject {
        object.without(Set(object.keys.filter { $0.lowercased() == field }))
    }

    /// What an element is known by, without regard to case.
    private static func identity(_ element: JSONValue, _ key: String) -> String {
        let value = element[key] ?? (key == "id" ? element["name"] : nil) ?? .null
        return (value.stringValue ?? value.text).lowercased()
    }
}
