import Fieldwork
import Foundation

/// Photos and files go through the SDK's features, which keep them on this device until the service has them.
extension OpenMap {
    /// The feature's photos and files; nil where they aren't known for lack of an answer, or where it has none to give.
    func photosIfAnswered(_ found: FoundFeature) async throws -> [Attachment]? {
        guard let feature = found.feature as? ArcGISFeature, found.layer.hasPhotos else { return nil }
        do {
            return try await feature.attachments
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    func photo(_ id: Int, of found: FoundFeature) async throws -> Attachment {
        guard let feature = found.feature as? ArcGISFeature, found.layer.hasPhotos,
            let attachment = try await feature.attachments.first(where: { $0.id == id })
        else { throw CollectError(.notFound, "This photo or file isn't there any more.") }
        return attachment
    }

    /// Keeps what the form staged and deletes what it says is to go. Done again after a crash it adds nothing twice: what was
    /// begun is looked for among the feature's first.
    func commit(_ edits: PhotoEdits, of feature: Feature) async throws -> EditJournal.AttachmentChanges {
        guard !edits.isEmpty, let feature = feature as? ArcGISFeature else { return EditJournal.AttachmentChanges() }
        guard feature.canEditAttachments else {
            throw CollectError(.notAllowed, "Photos and files of this feature can't be changed.")
        }
        let staged = drafts.photos
        let present =
            edits.additions.contains(where: \.photo.isBegun) || !edits.deletions.isEmpty
            ? try await feature.attachments : []
        try staged.begin(edits.additions.map(\.photo), of: edits.draft)
        var changes = EditJournal.AttachmentChanges()
        for addition in edits.additions {
            let data = try staged.content(addition, of: edits.draft)
            let record = EditJournal.AttachmentRecord(
                name: addition.name, contentType: addition.photo.contentType, data: data)
            changes.added.append(record)
            if addition.photo.isBegun, try await record.first(of: present) != nil { continue }
            try await feature.addAttachment(
                named: record.name, contentType: record.contentType, keywords: record.keywords, data: data)
        }
        for attachment in present where edits.deletions.contains(attachment.id) {
            changes.deleted.append(await journal.keep(attachment))
            try await feature.deleteAttachment(attachment)
        }
        return changes
    }

    /// All of a feature's, kept before it is deleted, so that undo can bring them again.
    func keepPhotos(of found: FoundFeature) async throws -> EditJournal.AttachmentChanges {
        var changes = EditJournal.AttachmentChanges()
        for attachment in try await photosIfAnswered(found) ?? [] {
            changes.deleted.append(await journal.keep(attachment))
        }
        return changes
    }
}

extension MapLayer {
    /// Whether its features have photos and files.
    var hasPhotos: Bool { table.hasAttachments }
}
