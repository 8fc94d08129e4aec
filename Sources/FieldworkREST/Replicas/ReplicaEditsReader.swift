import FieldworkGeometry
import Foundation

/// Reads the edits that a client hands in. A member `baseServerGen` of a feature names the generation on
/// which that edit was made, where it is another than the layer's.
struct ReplicaEditsReader {
    let service: ServiceDefinition
    let replica: ReplicaDefinition
    /// Finds the files that attachments name by the id of their upload.
    let uploads: UploadedFile.Finder

    /// - Parameter bases: the generations that the client has, by layer.
    func uploads(_ edits: JSONText, bases: [Int: Int64]) throws(ServiceError) -> [ReplicaLayerUpload] {
        guard edits.isArray else {
            throw .invalidParameter("'edits' must be an array of the edits of layers.")
        }
        var uploads: [ReplicaLayerUpload] = []
        try edits.forEachElement { text throws(ServiceError) in
            let element = (try? text.members()) ?? [:]
            guard let id = element["id"]?.integer.flatMap({ Int(exactly: $0) }), replica.layer(id: id) != nil,
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
        _ element: [String: JSONText], _ layer: LayerDefinition, base: Int64?
    ) throws(ServiceError) -> ReplicaLayerUpload {
        // Some clients leave out the level between.
        let features = element["features"].map { ((try? $0.members()) ?? nil) ?? [:] } ?? element
        let attachments = try AttachmentEditsReader(usesGlobalIDs: true, uploads: uploads)
            .edits(try element["attachments"]?.read(as: "'attachments'"))
        guard attachments.isEmpty || replica.attachments.direction != .none else {
            throw .invalidParameter("'attachments': the replica was made without 'attachmentsSyncDirection'.")
        }
        let reader = FeatureEditReader(layer: layer, usesGlobalIDs: true)
        var upload = ReplicaLayerUpload(
            layerID: layer.id, baseGeneration: base,
            adds: try reader.edits(features["adds"], .add, name: "adds", finish: Self.addBase),
            updates: try reader.edits(features["updates"], .update, name: "updates", finish: Self.addBase),
            deletes: try deletes(features["deletes"] ?? features["deleteIds"]))
        upload.attachments = attachments
        return upload
    }

    private static func addBase(_ edit: inout FeatureEdit, _ feature: JSONValue) {
        edit.baseGeneration = feature["baseServerGen"]?.integerValue
        // Object ids are each side's own.
        edit.objectID = nil
        if edit.rejection == nil, edit.globalID == nil {
            edit.rejection = EditError(code: 1016, description: "A feature of a replica needs its global id.")
        }
    }

    private func deletes(_ text: JSONText?) throws(ServiceError) -> [UUID] {
        guard let text, !text.isNull else { return [] }
        return try RequestParameters([("deletes", text.parameter)]).globalIDs("deletes") ?? []
    }
}
