import FieldworkGeometry
import FieldworkREST

/// The forms that edit a layer or table from its pages.
enum EditForm: Sendable, Hashable, CaseIterable {
    case add, update, delete

    var operation: EditAnswer.Operation {
        switch self {
        case .add: .addFeatures
        case .update: .updateFeatures
        case .delete: .deleteFeatures
        }
    }

    var capability: Capability {
        switch self {
        case .add: .create
        case .update: .update
        case .delete: .delete
        }
    }

    var right: Right {
        switch self {
        case .add: .create
        case .update: .update
        case .delete: .delete
        }
    }

    var metric: ServerMetrics.Operation {
        switch self {
        case .add: .addFeatures
        case .update: .updateFeatures
        case .delete: .deleteFeatures
        }
    }

    var title: String {
        switch self {
        case .add: "Add features"
        case .update: "Update features"
        case .delete: "Delete features"
        }
    }

    /// What the form holds at first: a feature with every field that can be filled in.
    func example(of layer: LayerDefinition) -> String {
        var attributes = JSONObject()
        if self == .update { attributes.append(layer.objectIDField, 0) }
        let prototype = layer.templates.first?.attributes ?? [:]
        for field in layer.fields where field.isEditable && field.type != .oid && field.type != .globalID {
            attributes.append(field.name, (prototype[field.name] ?? field.defaultValue).json)
        }
        var feature = JSONObject(["attributes": .object(attributes)])
        if self == .add, let geometry = Self.place(in: layer) { feature.append("geometry", geometry) }
        var bytes: [UInt8] = []
        JSONValue.array([.object(feature)]).writePretty(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func place(in layer: LayerDefinition) -> JSONValue? {
        guard let type = layer.geometryType else { return nil }
        var geometry: JSONObject
        switch type {
        case .point: geometry = JSONObject(["x": 0, "y": 0])
        case .multipoint: geometry = JSONObject(["points": [[0, 0]]])
        case .polyline: geometry = JSONObject(["paths": [[[0, 0], [1, 1]]]])
        case .polygon, .envelope: geometry = JSONObject(["rings": [[[0, 0], [0, 1], [1, 1], [0, 0]]]])
        }
        if let reference = layer.spatialReference {
            geometry.append("spatialReference", GeoServicesJSON.json(for: reference))
        }
        return .object(geometry)
    }
}
