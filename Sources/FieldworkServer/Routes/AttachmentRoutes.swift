import FieldworkREST

extension Route {
    /// The files that belong to a feature. Attachments are parts of their feature: who may add features may add files to
    /// them, and who may update features may change their files; the edit tells which of both it is.
    static let attachmentRoutes: [Route] =
        [
            Route(.featureServer, "{layer}/{objectId}/attachments", metric: .attachments, needs: .query) {
                try await $0.attachments.list($0)
            },
            Route(
                .featureServer, "{layer}/{objectId}/attachments/{attachmentId}", .read, [.file], metric: .attachments,
                needs: .query
            ) {
                try await $0.attachments.content($0)
            },
        ]
        + AttachmentEditRequest.Operation.allCases.map { operation in
            Route(
                .featureServer, "{layer}/{objectId}/\(operation.rawValue)", .write, metric: .editAttachments,
                needs: .edit, body: operation == .deleteAttachments ? .parameters : .files
            ) {
                try await $0.attachments.edit(operation, $0)
            }
        }
}
