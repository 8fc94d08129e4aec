package import FieldworkGeometry
package import Foundation

/// A request that edits the attachments of one feature: `addAttachment`, `updateAttachment`, `deleteAttachments`.
package struct AttachmentEditRequest: Sendable {
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        case addAttachment, updateAttachment, deleteAttachments
    }

    package var operation: Operation
    package var batch: EditBatch
    /// Whether the answer says when the edit was made.
    package var returnsEditMoment: Bool

    /// - Parameters:
    ///   - file: the file of the request's form.
    ///   - uploads: finds what `uploadId` names.
    package init(
        _ operation: Operation, _ parameters: RequestParameters, file: UploadedFile?, uploads: UploadedFile.Finder,
        layer: LayerDefinition, objectID: Int64, moment: Date, editor: String?
    ) throws(ServiceError) {
        try parameters.refuse(["gdbVersion", "sessionID"])
        self.operation = operation
        returnsEditMoment = try parameters.bool("returnEditMoment") ?? false
        let feature = FeatureIdentifier.objectID(objectID)
        var attachments = AttachmentEdits()
        switch operation {
        case .addAttachment:
            guard let file = try Self.file(parameters, file, uploads) else {
                throw .invalidParameter("'attachment' (a file of a multipart form) or 'uploadId' is required.")
            }
            attachments.adds = [Self.edit(feature, file, parameters)]
        case .updateAttachment:
            guard let id = try parameters.objectIDs("attachmentId")?.first else {
                throw .invalidParameter("'attachmentId' is required.")
            }
            let file = try Self.file(parameters, file, uploads)
            guard file != nil || parameters.names("keywords") else {
                throw .invalidParameter("'attachment' (a file of a multipart form) or 'uploadId' is required.")
            }
            var edit = Self.edit(feature, file, parameters)
            edit.id = id
            attachments.updates = [edit]
        case .deleteAttachments:
            guard let ids = try parameters.objectIDs("attachmentIds"), !ids.isEmpty else {
                throw .invalidParameter("'attachmentIds' is required.")
            }
            attachments.deletes = ids.map { AttachmentDelete(.id($0), parent: feature) }
        }
        var edits = LayerEdits(layerID: layer.id)
        edits.attachments = attachments
        batch = EditBatch(
            layers: [edits], rollsBackOnFailure: try parameters.bool("rollbackOnFailure") ?? true, editor: editor,
            moment: moment)
    }

    private static func edit(
        _ feature: FeatureIdentifier, _ file: UploadedFile?, _ parameters: RequestParameters
    ) -> AttachmentEdit {
        AttachmentEdit(
            parent: feature, name: file?.name, contentType: file?.contentType,
            keywords: parameters["keywords"] ?? (parameters.names("keywords") ? "" : nil), content: file?.content)
    }

    private static func file(
        _ parameters: RequestParameters, _ file: UploadedFile?, _ uploads: UploadedFile.Finder
    ) throws(ServiceError) -> UploadedFile? {
        if let file { return file }
        guard let id = parameters["uploadId"] else { return nil }
        guard let uploaded = uploads(id) else {
            throw .invalidParameter("'uploadId': there is no upload '\(id.prefix(64))' (any more).")
        }
        return uploaded
    }

    /// The answer: one result, or one for each attachment that was to be deleted. The object ids are those of attachments.
    package func answer(_ result: EditBatchResult) -> JSONValue {
        let results = result.layers.first?.attachments ?? AttachmentEditResults()
        var answer = JSONObject()
        switch operation {
        case .addAttachment: answer.append("addAttachmentResult", results.adds.first.map(EditAnswer.json) ?? .null)
        case .updateAttachment:
            answer.append("updateAttachmentResult", results.updates.first.map(EditAnswer.json) ?? .null)
        case .deleteAttachments:
            answer.append("deleteAttachmentResults", .array(results.deletes.map(EditAnswer.json)))
        }
        if returnsEditMoment { answer.append("editMoment", EditAnswer.moment(result)) }
        return .object(answer)
    }
}
