import FieldworkGeometry

/// The member `editedFeatures` of the service's `applyEdits`.
enum EditedFeaturesAnswer {
    static func json(_ edited: EditedFeatures, layer: LayerDefinition) -> JSONValue {
        var object = JSONObject()
        object.append("adds", .array(edited.adds.map { feature($0, layer) }))
        object.append(
            "updates",
            .array(edited.updates.map { .array([feature($0.original, layer), feature($0.current, layer)]) }))
        object.append("deletes", .array(edited.deletes.map { feature($0, layer) }))
        if let reference = layer.spatialReference {
            object.append("spatialReference", GeoServicesJSON.json(for: reference))
        }
        return .object(object)
    }

    private static func feature(_ record: FeatureRecord, _ layer: LayerDefinition) -> JSONValue {
        var attributes = JSONObject()
        for field in layer.fields where field.type != .geometry {
            attributes.append(field.name, record.attributes[field.name]?.json ?? .null)
        }
        var feature = JSONObject()
        feature.append("attributes", .object(attributes))
        if let geometry = record.geometry { feature.append("geometry", GeoServicesJSON.json(for: geometry)) }
        return .object(feature)
    }
}
