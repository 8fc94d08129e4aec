import Crypto
import Fieldwork
import Foundation

/// Photos and files go through the SDK's features, which keep them on this device until the service has them.
extension OpenMap {
    /// Holds the bytes of deleted photos as long as the journal knows of their deletion.
    private var keptPhotos: URL { folder.appending(path: "kept", directoryHint: .isDirectory) }

    private func keptFile(_ id: UUID) -> URL { keptPhotos.appending(path: id.uuidString.lowercased()) }

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
    func commit(_ edits: PhotoEdits, of feature: Feature) async throws -> PhotoChanges {
        guard !edits.isEmpty, let feature = feature as? ArcGISFeature else { return PhotoChanges() }
        guard feature.canEditAttachments else {
            throw CollectError(.notAllowed, "Photos and files of this feature can't be changed.")
        }
        let staged = drafts.photos
        let present =
            edits.additions.contains(where: \.photo.isBegun) || !edits.deletions.isEmpty
            ? try await feature.attachments : []
        try staged.begin(edits.additions.map(\.photo), of: edits.draft)
        var changes = PhotoChanges()
        for addition in edits.additions {
            let data = try staged.content(addition, of: edits.draft)
            let record = PhotoRecord(
                name: addition.name, contentType: addition.photo.contentType, keywords: "", size: data.count,
                hash: Self.hash(data))
            changes.added.append(record)
            if addition.photo.isBegun, try await Self.first(record, of: present) != nil { continue }
            try await feature.addAttachment(
                named: record.name, contentType: record.contentType, keywords: record.keywords, data: data)
        }
        for attachment in present where edits.deletions.contains(attachment.id) {
            changes.deleted.append(await keep(attachment))
            try await feature.deleteAttachment(attachment)
        }
        return changes
    }

    /// Takes the changes back: what was added goes, what was deleted comes again.
    /// - Parameter cameBack: the feature itself was deleted and is back; its photos may have come with it.
    /// - Returns: the changes that this made.
    func undo(_ changes: PhotoChanges, of feature: Feature, cameBack: Bool = false) async throws -> PhotoChanges {
        guard !changes.isEmpty, let feature = feature as? ArcGISFeature else { return PhotoChanges() }
        var counter = PhotoChanges()
        var present = changes.added.isEmpty ? [] : try await feature.attachments
        if cameBack { present = (try? await feature.attachments) ?? [] }
        for record in changes.added {
            guard let attachment = try await Self.first(record, of: present) else { continue }
            counter.deleted.append(await keep(attachment))
            try await feature.deleteAttachment(attachment)
            present.removeAll { $0 === attachment }
        }
        for record in changes.deleted {
            if cameBack, let here = try await Self.first(record, of: present) {
                present.removeAll { $0 === here }
                continue
            }
            guard let kept = record.kept, let data = try? Data(contentsOf: keptFile(kept)) else {
                throw CollectError(.notAllowed, "\(record.name) isn't kept on this device.")
            }
            try await feature.addAttachment(
                named: record.name, contentType: record.contentType, keywords: record.keywords, data: data,
                globalID: cameBack ? record.globalID : nil)
            counter.added.append(record)
        }
        return counter
    }

    /// All of a feature's, kept before it is deleted, so that undo can bring them again.
    func keepPhotos(of found: FoundFeature) async throws -> PhotoChanges {
        var changes = PhotoChanges()
        for attachment in try await photosIfAnswered(found) ?? [] { changes.deleted.append(await keep(attachment)) }
        return changes
    }

    /// Forgets the bytes of photos that the journal no longer knows of.
    func sweepKeptPhotos() {
        let known = Set(journal.entries.flatMap { $0.photos?.deleted ?? [] }.compactMap(\.kept))
        let files = try? FileManager.default.contentsOfDirectory(at: keptPhotos, includingPropertiesForKeys: nil)
        for file in files ?? [] {
            guard let id = UUID(uuidString: file.lastPathComponent), known.contains(id) else {
                try? FileManager.default.removeItem(at: file)
                continue
            }
        }
    }

    /// What can't be fetched now can be deleted all the same; the server's history has it.
    private func keep(_ attachment: Attachment) async -> PhotoRecord {
        let data = try? await attachment.data
        var kept: UUID?
        if let data {
            let id = UUID()
            try? FileManager.default.createDirectory(at: keptPhotos, withIntermediateDirectories: true)
            if (try? SafeFile.write(data, to: keptFile(id))) != nil { kept = id }
        }
        return PhotoRecord(
            name: attachment.name, contentType: attachment.contentType, keywords: attachment.keywords,
            size: attachment.size, hash: data.map(Self.hash) ?? "", globalID: attachment.globalID, kept: kept)
    }

    /// The same file: its name, its length, its bytes.
    private static func first(_ record: PhotoRecord, of attachments: [Attachment]) async throws -> Attachment? {
        for attachment in attachments where attachment.name == record.name && attachment.size == record.size {
            if hash(try await attachment.data) == record.hash { return attachment }
        }
        return nil
    }

    private static func hash(_ data: Data) -> String {
        SHA256.hash(data: data).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }
}

extension MapLayer {
    /// Whether its features have photos and files.
    var hasPhotos: Bool { table.hasAttachments }
}
