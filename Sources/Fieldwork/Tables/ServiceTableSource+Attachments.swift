import FieldworkREST
import Foundation

/// Attachments of a service's features: what the service has, and over it the edits on this device.
extension ServiceTableSource: AttachmentSource {
    func attachments(of feature: ArcGISFeature) async throws -> [Attachment] {
        guard let objectID = feature.objectID else { return [] }
        let key = session.local.resolved(.init(layerID: layer.id, objectID: objectID))
        var there: [AttachmentInfo] = []
        if key.objectID >= 0 {
            there = try await session.remote.attachments(of: key.objectID, layerID: layer.id)
        }
        // Read after the answer has come: what arrived meanwhile is no longer among the edits.
        let staged = session.local.edit(key)?.attachments ?? []
        // An add whose answer was lost may be there.
        let edits = Dictionary(
            staged.map { ($0.operation == .add ? $0.arrived(in: there) ?? $0.id : $0.id, $0) }
        ) { first, _ in first }
        let known = there.map { edits[$0.id] ?? AttachmentEdit($0) }
        let ids = Set(there.map(\.id))
        let added = edits.filter { !ids.contains($0.key) }.values.sorted { $0.id > $1.id }
        return (known + added).filter { $0.operation != .delete }
            .map { Attachment($0, of: key.objectID, source: self) }
    }

    func stage(
        _ edit: AttachmentEdit, content: AttachmentFiles.Source?, of feature: ArcGISFeature
    ) async throws -> AttachmentEdit? {
        try await feature.load()
        guard let base = feature.origin else {
            throw GeodatabaseError.itemNotFound(details: "The feature has not been added.")
        }
        var edit = edit
        edit.attempt = nil
        edit.refusal = nil
        edit.revision = 1
        if let content {
            let kept = try session.local.attachmentFiles.keep(content)
            edit.content = kept.id
            edit.size = kept.size
        }
        if edit.operation == .add {
            let keepsIDs = base.globalID != nil && session.keepsGlobalIDs(layer)
            if keepsIDs, edit.globalID != nil {
                // The service may have given it back with its feature: as after a lost answer, it is looked up before it is sent.
                edit.attempt = .init(revision: 1, operation: .add, name: edit.name, size: edit.size)
            }
            edit.globalID = keepsIDs ? edit.globalID ?? DeviceIDs.next() : nil
        }
        return try await session.local.stage(edit, of: base, in: layer)
    }

    func stagedFile(of edit: AttachmentEdit) -> URL? {
        guard let url = edit.content.map(session.local.attachmentFiles.url) else { return nil }
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    func fetch(_ edit: AttachmentEdit, of objectID: Int64, to file: URL) async throws {
        let key = session.local.resolved(.init(layerID: layer.id, objectID: objectID))
        let id = session.local.resolvedAttachment(edit.id)
        let url = session.remote.contentURL(of: id, objectID: key.objectID, layerID: layer.id)
        try await session.downloads.download(url, to: file) { _, _ in }
    }
}
