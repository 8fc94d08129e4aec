package import FieldworkGeometry

extension FeatureSet {
    /// The set as an answer tells it, with whole coordinates: what was quantized is not again.
    package var json: JSONValue {
        var object = JSONObject()
        if let objectIDField { object.append("objectIdFieldName", .string(objectIDField)) }
        object.append("globalIdFieldName", .string(globalIDField ?? ""))
        if let geometryType { object.append("geometryType", .string(geometryType.rawValue)) }
        if let spatialReference {
            object.append("spatialReference", GeoServicesJSON.json(for: spatialReference))
        }
        object.append("hasZ", .bool(hasZ))
        object.append("hasM", .bool(hasM))
        let unread = unknownMembers["fields"]?.arrayValue ?? []
        object.append("fields", .array(fields.map(\.json) + unread))
        object.append("exceededTransferLimit", .bool(exceededTransferLimit))
        object.append("features", .array(features.map(json)))
        object.merge(unknownMembers)
        return .object(object)
    }

    private func json(of feature: Feature) -> JSONValue {
        var attributes = JSONObject()
        for (name, value) in feature.attributes.sorted(by: { $0.key < $1.key }) { attributes.append(name, value.json) }
        var object = JSONObject()
        object.append("attributes", .object(attributes))
        if let geometry = feature.geometry {
            // The set tells once what its geometries have in common.
            let isOther = geometry.spatialReference != spatialReference
            object.append("geometry", GeoServicesJSON.json(for: geometry, includingSpatialReference: isOther))
        }
        object.merge(feature.unknownMembers)
        return .object(object)
    }
}
