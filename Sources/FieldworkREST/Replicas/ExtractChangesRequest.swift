import FieldworkGeometry
import Foundation

/// A request for what changed since a generation, without a replica.
package struct ExtractChangesRequest: Sendable {
    package var changes: ChangeRequest
    package var transport: ReplicaTransport
    package var isAsynchronous: Bool
    package var options: ReplicaDocument.ChangeOptions
    /// Attachments come as addresses, not as data.
    package var returnsAttachmentsByURL: Bool
    /// Deleted features come as they were before, not as ids.
    package var returnsDeletedFeatures: Bool

    package init(_ parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        let scope = try ReplicaScope(parameters, service: service)
        if let format = parameters["dataFormat"], format.lowercased() != "json" {
            throw .invalidParameter("'dataFormat' must be json.")
        }
        try parameters.refuse(["returnExtentOnly", "fieldsToCompare", "gdbVersion"])
        options = ReplicaDocument.ChangeOptions(
            returnsAdds: try parameters.bool("returnInserts") ?? false,
            returnsUpdates: try parameters.bool("returnUpdates") ?? false,
            returnsDeletes: try parameters.bool("returnDeletes") ?? false,
            returnsIDsOnly: try parameters.bool("returnIdsOnly") ?? false,
            returnsHasGeometryUpdates: try parameters.bool("returnHasGeometryUpdates") ?? false)
        guard options.returnsAdds || options.returnsUpdates || options.returnsDeletes else {
            throw .invalidParameter("One of 'returnInserts', 'returnUpdates' and 'returnDeletes' must be true.")
        }
        let returnsAttachments = try parameters.bool("returnAttachments") ?? false
        returnsAttachmentsByURL = try parameters.bool("returnAttachmentsDataByUrl") ?? true
        returnsDeletedFeatures =
            try parameters.bool("returnDeletedFeatures") ?? false && options.returnsDeletes && !options.returnsIDsOnly
        let generations = try Self.generations(parameters, scope)
        let reference = try parameters.spatialReference("outSR")
        let definition = ReplicaDefinition(
            id: UUID(), name: "", layers: scope.layers, geometry: scope.geometry, created: .distantPast)
        changes = ChangeRequest(layers: [], rows: try definition.rows(in: service))
        for part in scope.layers {
            guard let generation = generations[part.layerID], let layer = service.layer(id: part.layerID) else {
                throw .invalidParameter("'layerServerGens' says nothing of the layer \(part.layerID).")
            }
            var wanted = ChangeRequest.Layer(
                layerID: part.layerID, since: generation,
                output: GeometryOutput(spatialReference: reference, returnsZ: layer.hasZ, returnsM: layer.hasM))
            wanted.includesAttachments = returnsAttachments
            changes.layers.append(wanted)
        }
        transport = try ReplicaTransport(parameters)
        // A client that says nothing of either awaits the address of a job, as the vendor's servers give it.
        isAsynchronous = try parameters.bool("async") ?? (parameters["transportType"] == nil)
    }

    private static func generations(
        _ parameters: RequestParameters, _ scope: ReplicaScope
    ) throws(ServiceError) -> [Int: Int64] {
        if let json = try parameters.json("serverGens"), !json.isNull {
            let number = json["sinceServerGen"] ?? (json.arrayValue?.count == 1 ? json.arrayValue?.first : nil) ?? json
            guard let since = number.integerValue else {
                throw .invalidParameter("'serverGens' must be {\"sinceServerGen\": number} or [number].")
            }
            return Dictionary(scope.layers.map { ($0.layerID, since) }, uniquingKeysWith: { first, _ in first })
        }
        guard let elements = try parameters.json("layerServerGens")?.arrayValue else {
            throw .invalidParameter("'layerServerGens' or 'serverGens' is required.")
        }
        var generations: [Int: Int64] = [:]
        for element in elements {
            guard let id = element["id"]?.integerValue.flatMap({ Int(exactly: $0) }),
                let generation = element["serverGen"]?.integerValue
            else { throw .invalidParameter("'layerServerGens' must be a list of {\"id\", \"serverGen\"}.") }
            generations[id] = generation
        }
        return generations
    }
}
