import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Synchronization

/// What deleted features were before they were deleted, for clients that ask for more than their ids.
struct DeletedFeatures: Sendable {
    let store: any ReplicaStore

    /// By layer and object id. Of features beyond the limit, and of layers that show each only his own, the ids have to
    /// suffice.
    func of(_ request: ExtractChangesRequest, service: ServiceDefinition) async throws -> [Int: [Int64: JSONValue]] {
        var found: [Int: [Int64: JSONValue]] = [:]
        var count = 0
        let deleted = try await objectIDs(request, service)
        for wanted in request.changes.layers {
            guard let layer = service.layer(id: wanted.layerID) else { continue }
            found[layer.id] = [:]
            guard layer.restriction == nil else { continue }
            let address = LayerAddress(service: service.name, layerID: layer.id)
            for objectID in deleted[layer.id] ?? [] {
                guard count < Limits.deletedFeaturesPerAnswer else { return found }
                count += 1
                guard let version = try await store.history(of: .objectID(objectID), in: address).first else {
                    continue
                }
                found[layer.id]?[objectID] = try Self.json(version.record, layer, wanted.output)
            }
        }
        return found
    }

    /// The object ids that the changes will say are deleted.
    private func objectIDs(
        _ request: ExtractChangesRequest, _ service: ServiceDefinition
    ) async throws -> [Int: [Int64]] {
        let bytes = Mutex<[UInt8]>([])
        var document = ReplicaDocument(
            .changes, model: .none, head: JSONObject(), layerIDs: request.changes.layers.map(\.layerID)
        ) { piece in bytes.withLock { $0 += piece } }
        document.options.returnsAdds = false
        document.options.returnsUpdates = false
        document.options.returnsIDsOnly = true
        var changes = request.changes
        for index in changes.layers.indices { changes.layers[index].includesAttachments = false }
        _ = try await store.extract(changes, from: service.name, into: document)
        var found: [Int: [Int64]] = [:]
        for layer in try JSONParser.parse(bytes.withLock { $0 })["edits"]?.arrayValue ?? [] {
            guard let id = layer["id"]?.integerValue.flatMap({ Int(exactly: $0) }) else { continue }
            found[id] = layer["objectIds"]?["deletes"]?.arrayValue?.compactMap(\.integerValue) ?? []
        }
        return found
    }

    private static func json(
        _ record: FeatureRecord, _ layer: LayerDefinition, _ output: GeometryOutput
    ) throws -> JSONValue {
        var attributes = JSONObject()
        for field in layer.fields {
            guard let value = record.attributes[field.name] else { continue }
            attributes.append(field.name, value.json)
        }
        attributes[layer.objectIDField] = .integer(record.objectID)
        var object = JSONObject()
        if var geometry = record.geometry {
            if let reference = output.spatialReference, reference != geometry.spatialReference {
                geometry = try GeometryEngine.projected(geometry, into: reference)
            }
            object.append("geometry", GeoServicesJSON.json(for: geometry, includingSpatialReference: false))
        }
        object.append("attributes", .object(attributes))
        return .object(object)
    }
}
