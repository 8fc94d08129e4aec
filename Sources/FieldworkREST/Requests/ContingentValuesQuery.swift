package import FieldworkGeometry

/// `queryContingentValues` of a service: the contingent values of layers in one answer.
package enum ContingentValuesQuery {
    package static func answer(
        _ parameters: RequestParameters, service: ServiceDefinition
    ) throws(ServiceError) -> JSONValue {
        var layers = service.layers.filter { !$0.fieldGroups.isEmpty }
        if let ids = try parameters.objectIDs("layers") {
            layers = []
            for id in ids {
                guard let layer = Int(exactly: id).flatMap(service.layer) else {
                    throw .invalidParameter("'layers' names layer \(id), which the service does not have.")
                }
                if !layer.fieldGroups.isEmpty { layers.append(layer) }
            }
        }
        return [
            "contingentValueSets": .array(
                layers.map { layer in
                    var set = JSONObject()
                    set.append("layerID", JSONValue(layer.id))
                    set.merge(ContingentValuesCoding.contingentValues(of: layer).objectValue ?? JSONObject())
                    return .object(set)
                })
        ]
    }
}
