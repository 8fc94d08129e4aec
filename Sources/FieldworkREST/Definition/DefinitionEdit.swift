package import FieldworkGeometry

/// What the administrative operations do to a definition document. The result is read and checked like any
/// other document.
package struct DefinitionEdit: Sendable {
    package enum Operation: String, Sendable, CaseIterable {
        case addToDefinition, updateDefinition, deleteFromDefinition
    }

    package let operation: Operation
    /// The layer or table to change; nil for the service.
    package let layerID: Int?
    package let change: JSONObject
    /// Members of a layer that are lists whose elements have a name or id.
    static let layerLists = [
        "fields": "name", "indexes": "name", "relationships": "id", "types": "id", "templates": "name",
    ]

    package init(_ operation: Operation, layerID: Int?, parameters: RequestParameters) throws(ServiceError) {
        self.operation = operation
        self.layerID = layerID
        guard let change = try parameters.json(operation.rawValue)?.objectValue, !change.isEmpty else {
            throw .invalidParameter("'\(operation.rawValue)' must be a JSON object.")
        }
        self.change = change
    }

    /// Changes what a document names: the service's members, and layers by their ids.
    package init(updating document: JSONValue) throws(ServiceError) {
        guard var change = document.objectValue else { throw .invalidParameter("A definition is a JSON object.") }
        change["revision"] = nil
        (operation, layerID, self.change) = (.updateDefinition, nil, change)
    }

    /// - Returns: the document with the change, and the layers that were added.
    package func applied(
        to document: JSONValue
    ) throws(ServiceError) -> (document: JSONValue, added: [(id: Int, name: String)]) {
        var service = document.objectValue ?? JSONObject()
        guard let layerID else {
            switch operation {
            case .addToDefinition: return try ServiceAddition(service: service, change: change).applied()
            case .updateDefinition: try update(&service)
            case .deleteFromDefinition: try deleteLayers(from: &service)
            }
            return (.object(service), [])
        }
        let change = change
        try Self.change(layerID, in: &service) { layer throws(ServiceError) in
            switch operation {
            case .addToDefinition: try LayerEdit(layer: layer).adding(change)
            case .updateDefinition: try LayerEdit(layer: layer).updating(change)
            case .deleteFromDefinition: try LayerEdit(layer: layer).deleting(change)
            }
        }
        return (.object(service), [])
    }

    // MARK: Service

    private func update(_ service: inout JSONObject) throws(ServiceError) {
        for member in change.members {
            guard ["layers", "tables"].contains(member.key) else {
                service[member.key] = member.value
                continue
            }
            for element in member.value.arrayValue ?? [] {
                guard let object = element.objectValue, let id = Self.id(element) else {
                    throw .invalidParameter("'\(member.key)' must be an array of objects with ids.")
                }
                try Self.change(id, in: &service) { layer throws(ServiceError) in
                    try LayerEdit(layer: layer).updating(object)
                }
            }
        }
    }

    private func deleteLayers(from service: inout JSONObject) throws(ServiceError) {
        var gone: Set<Int> = []
        for member in change.members {
            guard ["layers", "tables"].contains(member.key), let elements = member.value.arrayValue else {
                throw .invalidParameter("'\(member.key.prefix(64))' can't be removed from a service.")
            }
            for element in elements {
                guard let id = Self.id(element) else { throw .invalidParameter("A layer is removed by its 'id'.") }
                var isFound = false
                for key in ["layers", "tables"] {
                    var list = service.array(key)
                    let count = list.count
                    list.removeAll { Self.id($0) == id }
                    isFound = isFound || list.count < count
                    service[key] = .array(list)
                }
                guard isFound else { throw .notFound("Layer or table \(id) not found.") }
                gone.insert(id)
            }
        }
        // A relationship whose other side is gone leads nowhere.
        for key in ["layers", "tables"] {
            service[key] = .array(
                service.array(key).map { element in
                    var layer = element.objectValue ?? JSONObject()
                    let kept = layer.array("relationships").filter { relationship in
                        let ends = [relationship["relatedTableId"], relationship["relationshipTableId"]]
                        return !ends.contains { $0?.integerValue.map { gone.contains(Int($0)) } ?? false }
                    }
                    if layer["relationships"] != nil { layer["relationships"] = .array(kept) }
                    return .object(layer)
                })
        }
    }

    /// The id of an element: a number, or the text of one, which is how some clients send it.
    package static func id(_ element: JSONValue) -> Int? {
        element["id"].flatMap { id in
            id.integerValue.flatMap { Int(exactly: $0) } ?? id.stringValue.flatMap { Int($0) }
        }
    }

    private static func change(
        _ id: Int, in service: inout JSONObject,
        _ body: (JSONObject) throws(ServiceError) -> JSONObject
    ) throws(ServiceError) {
        for key in ["layers", "tables"] {
            var list = service.array(key)
            guard let index = list.firstIndex(where: { Self.id($0) == id }), let layer = list[index].objectValue else {
                continue
            }
            list[index] = .object(try body(layer))
            service[key] = .array(list)
            return
        }
        throw .notFound("Layer or table \(id) not found.")
    }
}
