import FieldworkREST
import FieldworkStore
import Foundation

/// Attachments of a geodatabase's features: they are in the file with their bytes, and an edit of one is an edit of the file.
extension GeodatabaseTableSource: AttachmentSource {
    func attachments(of feature: ArcGISFeature) async throws -> [Attachment] {
        guard let objectID = feature.objectID else { return [] }
        let query = AttachmentQuery(features: FeatureQuery(objectIDs: [objectID]))
        let page = try await onDevice { try await session.file.attachments(query, in: layer.id) }
        let changed = Set(try await session.netAttachmentChanges(of: layer.id).map(\.id))
        return page.attachments.map { info in
            Attachment(AttachmentEdit(info, isLocal: changed.contains(info.id)), of: objectID, source: self)
        }
    }

    func stage(
        _ edit: AttachmentEdit, content: AttachmentFiles.Source?, of feature: ArcGISFeature
    ) async throws -> AttachmentEdit? {
        let parent = FeatureIdentifier.objectID(try origin(of: feature).objectID)
        let content = try content.map { try $0.attachmentContent() }
        var edits = AttachmentEdits()
        var fresh = FieldworkREST.AttachmentEdit(
            globalID: edit.globalID, parent: parent, name: edit.name,
            contentType: edit.contentType.isEmpty ? nil : edit.contentType, keywords: edit.keywords, content: content)
        switch edit.operation {
        case .add:
            fresh.globalID = edit.globalID ?? DeviceIDs.next()
            edits.adds = [fresh]
        case .update:
            fresh.id = edit.id
            edits.updates = [fresh]
        case .delete: edits.deletes = [AttachmentDelete(edit.identifier, parent: parent)]
        }
        var batch = LayerEdits(layerID: layer.id)
        batch.attachments = edits
        let results = try await session.apply(batch).attachments
        guard edit.operation != .delete, let id = results.all.first?.objectID else { return nil }
        let query = AttachmentQuery(ids: [id])
        return try await onDevice { try await session.file.attachments(query, in: layer.id) }.attachments.first
            .map { AttachmentEdit($0, isLocal: true) }
    }

    func stagedFile(of edit: AttachmentEdit) -> URL? { nil }
    func isLocal(_ edit: AttachmentEdit) -> Bool { edit.revision > 0 }
    func isOnDevice(_ edit: AttachmentEdit) -> Bool { true }

    func fetch(_ edit: AttachmentEdit, of objectID: Int64, to file: URL) async throws {
        guard
            try await onDevice({
                try await session.file.copyAttachment(edit.identifier, in: layer.id, to: file)
            })
        else { throw GeodatabaseError.itemNotFound(details: "The attachment \(edit.name) has been deleted.") }
    }
}

extension AttachmentEdit {
    /// What a file has, as the edit that would change it.
    fileprivate init(_ info: AttachmentInfo, isLocal: Bool) {
        self.init(id: info.id, globalID: info.globalID, operation: .update, revision: isLocal ? 1 : 0)
        name = info.name
        contentType = info.contentType
        keywords = info.keywords
        size = info.size
    }

    fileprivate var identifier: AttachmentIdentifier { globalID.map { .globalID($0) } ?? .id(id) }
}

extension AttachmentFiles.Source {
    /// The bytes for the file. Throws `GeodatabaseError.valueOutOfRange`, `CommonError.io`.
    fileprivate func attachmentContent() throws -> AttachmentContent {
        let content: AttachmentContent
        switch self {
        case .data(let data): content = AttachmentContent(bytes: [UInt8](data))
        case .file(let url):
            guard let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
                throw CommonError.io(details: "The file \(url.lastPathComponent) can't be read.")
            }
            content = AttachmentContent(path: url.path, size: size)
        }
        guard content.size <= FieldworkREST.Limits.attachmentBytes else {
            throw GeodatabaseError.valueOutOfRange(details: "The attachment is too large: \(content.size) bytes.")
        }
        return content
    }
}
