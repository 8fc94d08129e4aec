import FieldworkGeometry
import Foundation

/// Reads the edits that a client hands in (rest-api §5.5). A member `baseServerGen` of a feature names the generation on
/// which that edit was made, where it is another than the layer's.
struct ReplicaEditsReader {
    let service: ServiceDefinition
    let replica: ReplicaDefinition
    /// Finds the files that attachments name by the id of their upload.
    let uploads: UploadedFile.Finder

    /// - Parameter bases: the generations that the client has, by layer.
    func uploads(_ json: JSONValue, bases: [Int: Int64]) throws(ServiceError) -> [ReplicaLayerUpload] {
        guard let elements = json.arrayValue else {
            throw .invalidParameter("'edits' must be an array of the edits of layers.")
        }
        var uploads: [ReplicaLayerUpload] = []
        for element in elements {
            guard let id = element["id"]?.integerValue.flatMap({ Int(exactly: $0) }), replica.layer(id: id) != nil,
                let layer = service.layer(id: id)
            else { throw .invalidParameter("'edits' names a layer or table that is not in the replica.") }
            guard !uploads.contains(where: { $0.layerID == id }) else {
                throw .invalidParameter("'edits' names the layer \(id) twice.")
            }
            uploads.append(try upload(element, layer, base: bases[id]))
        }
        return uploads
    }

    private func upload(
        _ element: JSONValue, _ layer: LayerDefinition, base: Int64?
    ) throws(ServiceError) -> ReplicaLayerUpload {
        // Some clients leave out the level between.
        let features = element["features"] ?? element
        let attachments = try AttachmentEditsReader(usesGlobalIDs: true, uploads: uploads).edits(element["attachments"])
        guard attachments.isEmpty || replica.attachments.direction != .none else {
            throw .invalidParameter("'attachments': the replica was made without 'attachmentsSyncDirection'.")
        }
        let reader = FeatureEditReader(layer: layer, usesGlobalIDs: true)
        var upload = ReplicaLayerUpload(
            layerID: layer.id, baseGeneration: base,
            adds: withBases(try reader.edits(features["adds"], .add, name: "adds"), features["adds"]),
            updates: withBases(try reader.edits(features["updates"], .update, name: "updates"), features["updates"]),
            deletes: try deletes(features["deletes"] ?? features["deleteIds"]))
        upload.attachments = attachments
        return upload
    }

    private func withBases(_ edits: [FeatureEdit], _ json: JSONValue?) -> [FeatureEdit] {
        guard let features = json?.arrayValue, features.count == edits.count else { return edits }
        return zip(edits, features).map { edit, feature in
            var edit = edit
            edit.baseGeneration = feature["baseServerGen"]?.integerValue
            // Object ids are each side's own.
            edit.objectID = nil
            if edit.rejection == nil, edit.globalID == nil {
                edit.rejection = EditError(code: 1016, description: "A feature of a replica needs its global id.")
            }
            return edit
        }
    }

    private func deletes(_ json: JSONValue?) throws(ServiceError) -> [UUID] {
        guard let json, !json.isNull else { return [] }
        return try RequestParameters([("deletes", json.stringValue ?? json.text)]).globalIDs("deletes") ?? []
    }
}
