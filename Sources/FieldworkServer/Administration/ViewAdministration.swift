import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore

/// Changes of what a view shows, as clients ask for them: layers come by `addToDefinition` with the service that they are of,
/// conditions and hidden fields by `updateDefinition`.
struct ViewAdministration {
    let portal: Portal
    let context: RouteContext
    let view: ServiceView

    private var request: ServiceRequest { context.request }
    private var author: Author { Author(name: request.principal.name ?? "", address: request.peer) }

    func edit(_ edit: DefinitionEdit) async throws -> JSONValue {
        var answer = JSONObject(["success": true])
        switch (edit.operation, edit.layerID) {
        case (.addToDefinition, nil):
            let (source, parts) = try await added(edit.change)
            try await portal.changeView(view.name.path, by: author) { view in
                guard view.source == nil || view.source == source.name else {
                    throw PortalError(.invalid, "A view shows layers of one service.")
                }
                view.source = source.name
                for part in parts {
                    view.layers.removeAll { $0.id == part.id }
                    view.layers.append(part)
                }
            }
            answer["layers"] = .array(
                parts.map { part in
                    let name = part.name ?? source.layer(id: part.id)?.name ?? ""
                    return ["id": JSONValue(part.id), "name": .string(name)]
                })
        case (.updateDefinition, let layerID):
            let source = try await source()
            let changed = try changed(edit.change, layerID, source)
            try await portal.changeView(view.name.path, by: author) { view in
                if let description = changed.description { view.description = description }
                if let capabilities = changed.capabilities { view.capabilities = capabilities }
                for part in changed.layers {
                    guard let index = view.layers.firstIndex(where: { $0.id == part.id }) else { continue }
                    view.layers[index] = part
                }
            }
        case (.deleteFromDefinition, nil):
            let gone = Set(
                Self.elements(edit.change).compactMap(DefinitionEdit.id))
            guard !gone.isEmpty else { throw ServiceError.invalidParameter("A layer is removed by its 'id'.") }
            try await portal.changeView(view.name.path, by: author) { view in
                view.layers.removeAll { gone.contains($0.id) }
            }
        case (.addToDefinition, _), (.deleteFromDefinition, _):
            throw ServiceError.invalidParameter(
                "A view has no fields of its own: 'updateDefinition' shows and hides those of its source.")
        }
        return .object(answer)
    }

    /// What the administrative resource of a layer tells of the view, which nobody else is told.
    static func members(of layer: ViewLayer, source: ServiceName) -> JSONObject {
        let fields: JSONValue = layer.fields.map { .array($0.map(JSONValue.string)) } ?? "*"
        return JSONObject([
            "viewDefinitionQuery": JSONValue(layer.filter),
            "adminLayerInfo": [
                "viewLayerDefinition": [
                    "sourceServiceName": .string(source.path), "sourceLayerId": JSONValue(layer.id),
                    "sourceLayerFields": fields,
                ]
            ],
        ])
    }

    // MARK: The source

    /// Whoever decides what a view shows must be one who may see and change all of it.
    private func owned(_ name: ServiceName) async throws -> ServiceDefinition {
        if let key = context.server.administration.key, let token = request.token, key.opens(with: token) {
            return try await context.server.store.service(name)
        }
        let principal = request.principal
        let rights = try await context.server.access.rights(of: principal, on: name)
        guard rights.administers else { throw Access.refusal(of: principal) }
        return try await context.server.store.service(name)
    }

    private func source() async throws -> ServiceDefinition {
        guard let name = view.source else {
            throw ServiceError.invalidParameter("The view has no layers yet: 'addToDefinition' names their service.")
        }
        return try await owned(name)
    }

    // MARK: Layers

    private static func elements(_ change: JSONObject) -> [JSONValue] {
        (change["layers"]?.arrayValue ?? []) + (change["tables"]?.arrayValue ?? [])
    }

    private func added(_ change: JSONObject) async throws -> (source: ServiceDefinition, parts: [ViewLayer]) {
        let elements = Self.elements(change)
        var found: ServiceDefinition?
        var parts: [ViewLayer] = []
        for element in elements {
            guard let object = element.objectValue,
                let definition = object["adminLayerInfo"]?["viewLayerDefinition"]?.objectValue,
                let sourceName = definition["sourceServiceName"]?.stringValue,
                let id = definition["sourceLayerId"]?.integerValue.flatMap({ Int(exactly: $0) })
            else {
                throw ServiceError.invalidParameter(
                    "A layer of a view has 'adminLayerInfo' with a 'viewLayerDefinition': 'sourceServiceName' and 'sourceLayerId'."
                )
            }
            guard definition["table"] == nil, definition["sourceServiceItemIds"] == nil else {
                throw ServiceError.invalidParameter("Views that join layers are not made here.")
            }
            if found == nil { found = try await owned(try await name(of: sourceName)) }
            guard let source = found, source.name.path.lowercased() == sourceName.lowercased(),
                let layer = source.layer(id: id)
            else {
                throw ServiceError.invalidParameter("A view shows layers of one service, which has them.")
            }
            var part = view.layer(id) ?? ViewLayer(id: id)
            if let fields = definition["sourceLayerFields"]?.arrayValue { part.fields = try Self.names(fields, layer) }
            try Self.apply(object, to: &part, layer)
            parts.append(part)
        }
        guard let found, !parts.isEmpty else { throw ServiceError.invalidParameter("There are no 'layers' to add.") }
        return (found, parts)
    }

    private func name(of path: String) async throws -> ServiceName {
        guard let found = try await context.server.catalog.service(path: path) else {
            throw ServiceError.invalidParameter("There is no service '\(path.prefix(80))'.")
        }
        let name = found.definition.name
        guard try await portal.views()[name.path.lowercased()] == nil else {
            throw ServiceError.invalidParameter("\(name.path) is a view itself.")
        }
        return name
    }

    private static func names(_ fields: [JSONValue], _ layer: LayerDefinition) throws(ServiceError) -> [String] {
        var names: [String] = []
        for field in fields {
            let name = field.stringValue ?? field["name"]?.stringValue ?? ""
            guard let known = layer.field(named: name) else {
                throw .invalidParameter("\(layer.name) has no field '\(name.prefix(80))'.")
            }
            names.append(known.name)
        }
        return names
    }

    // MARK: Updates

    private struct Changed {
        var description: String?
        var capabilities: Set<Capability>?
        var layers: [ViewLayer] = []
    }

    private func changed(
        _ change: JSONObject, _ layerID: Int?, _ source: ServiceDefinition
    ) throws(ServiceError) -> Changed {
        var changed = Changed()
        var pieces: [(id: Int, change: JSONObject)] = []
        if let layerID {
            pieces = [(layerID, change)]
        } else {
            for member in change.members {
                switch member.key {
                case "layers", "tables":
                    for element in member.value.arrayValue ?? [] {
                        guard let object = element.objectValue, let id = DefinitionEdit.id(element) else {
                            throw .invalidParameter("'\(member.key)' must be an array of objects with ids.")
                        }
                        pieces.append((id, object))
                    }
                case "description", "serviceDescription": changed.description = member.value.stringValue ?? ""
                case "capabilities": changed.capabilities = Set(text: member.value.stringValue ?? "")
                default: throw Self.refused(member.key)
                }
            }
        }
        for piece in pieces {
            guard var part = view.layer(piece.id), let layer = source.layer(id: piece.id) else {
                throw .notFound("Layer or table \(piece.id) not found.")
            }
            try Self.apply(piece.change, to: &part, layer)
            changed.layers.append(part)
        }
        return changed
    }

    private static func apply(
        _ change: JSONObject, to part: inout ViewLayer, _ layer: LayerDefinition
    ) throws(ServiceError) {
        for member in change.members {
            switch member.key {
            case "id", "adminLayerInfo", "type", "objectIdField", "globalIdField", "geometryType": break
            case "name": part.name = member.value.stringValue
            case "drawingInfo": part.drawingInfo = member.value.isNull ? nil : member.value
            case "viewDefinitionQuery", "definitionQuery", "definitionExpression":
                let text = member.value.stringValue ?? ""
                part.filter = text.isEmpty ? nil : text
                _ = try part.condition(in: layer)
            case "fields": try show(member.value.arrayValue ?? [], in: &part, layer)
            default: throw refused(member.key)
            }
        }
    }

    /// Fields that the client names with `visible`; the others stay as they are. From the first that is hidden on, a field that the
    /// source gets later is hidden too.
    private static func show(
        _ fields: [JSONValue], in part: inout ViewLayer, _ layer: LayerDefinition
    ) throws(ServiceError) {
        var shown = part.fields ?? layer.fields.map(\.name)
        for field in fields {
            guard let isVisible = field["visible"]?.boolValue else { continue }
            guard let name = try names([field], layer).first else { continue }
            shown.removeAll { $0.lowercased() == name.lowercased() }
            if isVisible { shown.append(name) }
        }
        let all = Set(shown.map { $0.lowercased() })
        part.fields = part.fields == nil && layer.fields.allSatisfy { all.contains($0.name.lowercased()) } ? nil : shown
    }

    private static func refused(_ member: String) -> ServiceError {
        .invalidParameter(
            "'\(member.prefix(64))' of a view is that of its source. A view has 'name', 'drawingInfo', 'viewDefinitionQuery' and 'fields' with 'visible'; the service 'description' and 'capabilities'."
        )
    }
}
