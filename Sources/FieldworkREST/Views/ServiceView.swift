package import FieldworkGeometry

/// A service that shows a part of another one: some of its layers, fields and features, with fewer capabilities. It keeps no
/// features of its own; what is edited through it is edited in its source.
package struct ServiceView: Sendable, Hashable {
    package var name: ServiceName
    /// The service whose features are shown; nil for a view that was made and has no layers yet.
    package var source: ServiceName?
    package var description: String
    /// nil: those of the source. Never more than those.
    package var capabilities: Set<Capability>?
    package var layers: [ViewLayer]
    /// Milliseconds since 1970 of the last change of what is shown; 0 for a view that is as it was made. What a device took before
    /// is no state that a delta could begin with.
    package var changed: Int64

    package init(
        name: ServiceName, source: ServiceName? = nil, description: String = "", capabilities: Set<Capability>? = nil,
        layers: [ViewLayer] = [], changed: Int64 = 0
    ) {
        self.name = name
        self.source = source
        self.description = description
        self.capabilities = capabilities
        self.layers = layers
        self.changed = changed
    }

    package func layer(_ id: Int) -> ViewLayer? { layers.first { $0.id == id } }
}

/// What a view shows of a layer or table.
package struct ViewLayer: Sendable, Hashable {
    /// The same in the source and in the view.
    package var id: Int
    /// nil: that of the source.
    package var name: String?
    /// The fields that are shown beside the object id, the global id and the geometry; nil for all, also those that the source gets
    /// later.
    package var fields: [String]?
    /// The features that are shown, as a condition on the source's fields, hidden ones included; nil for all.
    package var filter: String?
    /// Renderer, labels and transparency; nil: those of the source.
    package var drawingInfo: JSONValue?

    package init(
        id: Int, name: String? = nil, fields: [String]? = nil, filter: String? = nil, drawingInfo: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.fields = fields
        self.filter = filter
        self.drawingInfo = drawingInfo
    }

    /// The fields that are not shown.
    package func hidden(in layer: LayerDefinition) -> [FieldDefinition] {
        guard let fields else { return [] }
        let shown = Set(fields.map { $0.lowercased() })
        return layer.fields.filter { field in
            let isKey = field.name == layer.objectIDField || field.name == layer.globalIDField
            return !isKey && field.type != .geometry && !shown.contains(field.name.lowercased())
        }
    }

    /// The features that are shown, as the layer's own fields spell it.
    package func condition(in layer: LayerDefinition) throws(ServiceError) -> SQLExpression? {
        guard let filter, !filter.isEmpty else { return nil }
        guard filter.utf8.count <= Limits.whereBytes else { throw .invalidQuery("The condition is too long.") }
        return try FeatureQuery.condition(filter, layer, parameter: "viewDefinitionQuery")
    }
}

extension ServiceView {
    /// The view in a form that gives it back whole: what a portal keeps.
    package var storageJSON: JSONValue {
        var object = JSONObject()
        object.append("name", Self.json(name))
        if let source { object.append("source", Self.json(source)) }
        object.append("description", .string(description))
        if let capabilities { object.append("capabilities", .string(capabilities.text)) }
        object.append("layers", .array(layers.map(Self.json)))
        object.append("changed", .integer(changed))
        return .object(object)
    }

    /// Reads what `storageJSON` wrote; nil for anything else.
    package init?(storageJSON json: JSONValue) {
        guard let object = json.objectValue, let name = Self.name(object["name"]) else { return nil }
        var layers: [ViewLayer] = []
        for layer in object.array("layers") {
            // A part that can't be read might be what hides something.
            guard let read = Self.layer(layer) else { return nil }
            layers.append(read)
        }
        self.init(
            name: name, source: Self.name(object["source"]), description: object.string("description") ?? "",
            capabilities: object.string("capabilities").map { Set(text: $0) }, layers: layers,
            changed: object["changed"]?.integerValue ?? 0)
    }

    private static func json(_ name: ServiceName) -> JSONValue {
        ["folder": JSONValue(name.folder), "name": .string(name.name)]
    }

    private static func name(_ json: JSONValue?) -> ServiceName? {
        guard let object = json?.objectValue, let name = object.string("name"), !name.isEmpty else { return nil }
        return ServiceName(folder: object.string("folder"), name: name)
    }

    private static func json(_ layer: ViewLayer) -> JSONValue {
        var object = JSONObject()
        object.append("id", JSONValue(layer.id))
        if let name = layer.name { object.append("name", .string(name)) }
        if let fields = layer.fields { object.append("fields", .array(fields.map(JSONValue.string))) }
        if let filter = layer.filter { object.append("filter", .string(filter)) }
        if let drawingInfo = layer.drawingInfo { object.append("drawingInfo", drawingInfo) }
        return .object(object)
    }

    private static func layer(_ json: JSONValue) -> ViewLayer? {
        guard let object = json.objectValue, let id = object.integer("id") else { return nil }
        var layer = ViewLayer(id: id, name: object.string("name"), drawingInfo: object["drawingInfo"])
        if let fields = object["fields"] {
            guard let names = fields.arrayValue?.map(\.stringValue), !names.contains(nil) else { return nil }
            layer.fields = names.compactMap(\.self)
        }
        if let filter = object["filter"] {
            guard let text = filter.stringValue else { return nil }
            layer.filter = text
        }
        return layer
    }
}
