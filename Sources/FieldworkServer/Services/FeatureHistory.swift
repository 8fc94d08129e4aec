import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What a feature was before, and the way back: nothing that somebody saved is out of reach.
struct FeatureHistory: Sendable {
    let store: any FeatureStore

    /// The superseded versions of a feature, also of one that has been deleted, the newest first.
    func versions(
        of feature: FeatureIdentifier, in layer: LayerDefinition, of published: PublishedService
    ) async throws -> JSONValue {
        let versions = try await found(feature, layer, published)
        return [
            "layerId": JSONValue(layer.id),
            "objectId": versions.first.flatMap(\.record.objectID).map { .integer($0) } ?? .null,
            "globalId": JSONValue(versions.first?.record.globalID.map(GUID.normalForm)),
            "versions": .array(versions.prefix(Limits.versionsPerAnswer).map(Self.json)),
            "exceededTransferLimit": .bool(versions.count > Limits.versionsPerAnswer),
        ]
    }

    /// Makes a feature again what it was until a generation, as an edit like any other: what stands now becomes a version.
    /// A deleted feature comes back under its ids.
    func restore(
        _ feature: FeatureIdentifier, until generation: Int64, in layer: LayerDefinition,
        of published: PublishedService,
        editor: String?
    ) async throws -> JSONValue {
        let versions = try await found(feature, layer, published)
        guard let version = versions.first(where: { $0.toGeneration == generation }) else {
            throw ServiceError.notFound("The feature has no version that ended with generation \(generation).")
        }
        var edit = FeatureEdit(
            attributes: version.record.attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            geometry: layer.isTable
                ? .unchanged : version.record.geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
        var edits = LayerEdits(layerID: layer.id)
        if let globalID = version.record.globalID {
            edit.globalID = globalID
            edits.restores = [globalID]
        } else {
            edit.objectID = version.record.objectID
        }
        edits.updates = [edit]
        let batch = EditBatch(
            layers: [edits], usesGlobalIDs: version.record.globalID != nil, editor: editor, moment: Date.now)
        let result = try await store.apply(batch, to: published.definition.name).layers.first?.updates.first
        guard let result, result.isSuccess else {
            throw ServiceError(
                code: 400, message: "The version could not be restored.",
                details: [result?.error?.description].compactMap(\.self))
        }
        return ["success": true, "objectId": result.objectID.map { .integer($0) } ?? .null]
    }

    private func found(
        _ feature: FeatureIdentifier, _ layer: LayerDefinition, _ published: PublishedService
    ) async throws -> [FeatureVersion] {
        try Permissions(service: published.definition, layer: layer).require(.query)
        // Where each sees only some features, the past would tell of the others.
        guard layer.restriction == nil else { throw ServiceError.notSupported }
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        let versions = try await store.history(of: feature, in: address)
        guard versions.isEmpty else { return versions }
        let query =
            switch feature {
            case .objectID(let id): FeatureQuery(objectIDs: [id])
            case .globalID(let id): FeatureQuery(globalIDs: [id])
            }
        guard try await store.count(query, in: address) > 0 else {
            throw ServiceError.notFound("There is and was no such feature.")
        }
        return []
    }

    private static func json(_ version: FeatureVersion) -> JSONValue {
        var attributes = JSONObject()
        for name in version.record.attributes.keys.sorted() {
            attributes.append(name, version.record.attributes[name]?.json ?? .null)
        }
        return [
            "fromGeneration": .integer(version.fromGeneration), "toGeneration": .integer(version.toGeneration),
            "endedBy": .string(version.endedBy.rawValue), "endedAt": ReplicaAnswer.milliseconds(version.endedAt),
            "editor": JSONValue(version.editor), "replicaID": JSONValue(version.replicaID.map(ReplicaID.text)),
            "feature": [
                "attributes": .object(attributes),
                "geometry": version.record.geometry.map { GeoServicesJSON.json(for: $0) } ?? .null,
            ],
        ]
    }
}
