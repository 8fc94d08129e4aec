import FieldworkREST
import Foundation

/// What a service tells of how features and values belong together.
extension FeatureServiceClient {
    /// The ids of the features that are related to one.
    func relatedIDs(
        of objectID: Int64, in layer: LayerDefinition, over relationship: RelationshipDefinition,
        to related: LayerDefinition
    ) async throws -> [Int64] {
        let request = ServiceRequest(
            root.appending(path: "\(layer.id)/queryRelatedRecords"),
            [
                ("objectIds", String(objectID)), ("relationshipId", String(relationship.id)),
                ("outFields", related.objectIDField), ("returnGeometry", "false"), ("f", "json"),
            ])
        let answer = try await json(request)
        let groups = try reading { () throws(FieldworkREST.ServiceError) in
            try RelatedRecordsReader.read(json: answer).groups
        }
        return groups.flatMap(\.records).compactMap { $0.attributes[related.objectIDField]?.integerValue }
    }

    /// The fields of a layer whose values depend on each other, with the combinations that belong together.
    func fieldGroups(of layer: LayerDefinition) async throws -> [FieldGroupDefinition] {
        let address = root.appending(path: String(layer.id))
        async let groups = json(ServiceRequest(address.appending(path: "fieldGroups"), [("f", "json")]))
        async let values = json(ServiceRequest(address.appending(path: "contingentValues"), [("f", "json")]))
        let (fieldGroups, contingentValues) = try await (groups, values)
        return try reading { () throws(FieldworkREST.ServiceError) in
            try ContingentValuesCoding.read(
                fieldGroups: fieldGroups, contingentValues: contingentValues, layer: layer)
        }
    }
}
