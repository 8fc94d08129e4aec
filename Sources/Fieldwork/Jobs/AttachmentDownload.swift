import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Takes over the attachments that a service tells of. A content that is here already is not fetched;
/// one whose download broke off goes on where it was.
struct AttachmentDownload: Sendable {
    let session: GeodatabaseSession
    let layer: LayerDefinition
    let downloads: any FileDownloading
    /// Where contents lie until they are in the file.
    let folder: URL
    /// Where contents may be on this device already.
    var sources = AttachmentSources.none
    /// The line broke before: only what came with the answer is taken over.
    var failure: ServiceError?

    /// What could not be taken over, for the next attempt: nothing else waits for the content of a photo.
    struct Awaited {
        /// The attachments as the service told of them.
        var items: [UUID: JSONValue] = [:]
        /// How many contents the service did not give.
        var refusals = 0
        /// The line broke, and what came after was not asked for.
        var failure: ServiceError?
    }

    /// What is this device's still: edits that the service has not decided about.
    struct Own {
        var attachments: Set<UUID> = []
        var deletedFeatures: Set<UUID> = []
    }

    /// What was fetched and is not in the file yet.
    private struct Batch {
        /// Without a content for one whose content is here.
        var items: [(item: Item, content: AttachmentContent?)] = []
        var files: [URL] = []
        var bytes = 0
    }

    /// - Parameters:
    ///   - items: attachments as they are in the service.
    ///   - own: asked again before anything is written: people go on editing while contents are fetched.
    ///   - discardsFiles: whether contents leave the folder when they are in the file.
    func take(
        _ items: [JSONValue], gone: [UUID], keeping own: () async throws -> Own, discardsFiles: Bool = true
    ) async throws -> Awaited {
        guard layer.hasAttachments else { return Awaited(failure: failure) }
        let items = items.compactMap(Item.init)
        // What the service deleted and has again is there.
        let gone = Set(gone).subtracting(items.map(\.globalID)).sorted { $0.uuidString < $1.uuidString }
        var awaited = Awaited(failure: failure)
        let pending = try await own()
        let here = try await session.attachments(items.map(\.globalID), in: layer.id)
        let parents = try await features(Set(items.map(\.parent)))
        var batch = Batch()
        for item in items {
            try Task.checkCancellation()
            if pending.attachments.contains(item.globalID) || pending.deletedFeatures.contains(item.parent) {
                awaited.items[item.globalID] = item.json
                continue
            }
            guard parents.contains(item.parent) else { continue }
            var fetched: AttachmentContent?
            if try await !isHere(item, here[item.globalID]) {
                guard let content = try await content(of: item, &batch.files, &awaited) else {
                    awaited.items[item.globalID] = item.json
                    continue
                }
                fetched = content
                batch.bytes += content.size
            }
            batch.items.append((item, fetched))
            if !discardsFiles { batch.files = [] }
            if batch.items.count >= Limits.attachmentsPerLoad || batch.bytes >= Limits.attachmentBytesPerRequest {
                try await keep(batch, [], try await own(), &awaited)
                batch = Batch()
            }
        }
        try await keep(batch, gone, try await own(), &awaited)
        return awaited
    }

    /// Takes over all attachments of a layer: what is not among them is no longer in the service.
    func takeWhole(_ items: [JSONValue], keeping own: () async throws -> Own) async throws -> Awaited {
        guard layer.hasAttachments else { return Awaited(failure: failure) }
        let present = Set(items.compactMap(Item.init).map(\.globalID))
        let all = try await onDevice { try await session.file.attachmentGlobalIDs(in: layer.id) }
        return try await take(items, gone: all.filter { !present.contains($0) }, keeping: own)
    }

    private func keep(_ batch: Batch, _ gone: [UUID], _ own: Own, _ awaited: inout Awaited) async throws {
        let here = try await session.attachments(batch.items.map(\.item.globalID) + gone, in: layer.id)
        let parents = try await features(Set(batch.items.map(\.item.parent)))
        var edits = AttachmentEdits()
        for (item, content) in batch.items {
            var edit = item.edit
            edit.content = content
            let known = here[item.globalID]
            // Deleted or edited while it was fetched, or while another was.
            let isOwn = own.attachments.contains(item.globalID)
            guard !isOwn, parents.contains(item.parent), known != nil || content != nil else {
                awaited.items[item.globalID] = item.json
                continue
            }
            if let known {
                edit.id = known.id
                edit.parent = nil
                edits.updates.append(edit)
            } else {
                edits.adds.append(edit)
            }
        }
        let deletes = gone.filter { !own.attachments.contains($0) && here[$0] != nil }
        edits.deletes = deletes.map { AttachmentDelete(.globalID($0)) }
        if !edits.isEmpty {
            try await session.barUndo(
                ofAttachments: edits.updates.compactMap(\.id) + deletes.compactMap { here[$0]?.id }, in: layer.id)
            var layerEdits = LayerEdits(layerID: layer.id)
            layerEdits.attachments = edits
            try await ReplicaFeature.takeOver([layerEdits], into: session.file)
        }
        for file in batch.files { try? FileManager.default.removeItem(at: file) }
    }

    // MARK: Contents

    /// One attachment as the service tells of it.
    private struct Item {
        var globalID: UUID
        var parent: UUID
        var json: JSONValue

        init?(_ json: JSONValue) {
            guard let id = json["globalId"]?.stringValue.flatMap(GUID.parse),
                let parent = json["parentGlobalId"]?.stringValue.flatMap(GUID.parse)
            else { return nil }
            globalID = id
            self.parent = parent
            self.json = json
        }

        var size: Int64? { json["size"]?.integerValue }
        var sha256: String? { json["sha256"]?.stringValue?.lowercased() }

        var edit: FieldworkREST.AttachmentEdit {
            FieldworkREST.AttachmentEdit(
                globalID: globalID, parent: .globalID(parent), name: json["name"]?.stringValue ?? "attachment",
                contentType: json["contentType"]?.stringValue ?? "application/octet-stream",
                keywords: json["keywords"]?.stringValue)
        }

        /// The name of its content's file: hexadecimal digits, decimal digits and hyphens.
        var fileName: String {
            let digest = sha256.map { $0.filter { $0.isHexDigit && $0.isASCII } } ?? ""
            return "\(globalID.uuidString.lowercased())-\(size ?? 0)-\(digest.prefix(64))"
        }
    }

    private func isHere(_ item: Item, _ known: AttachmentInfo?) async throws -> Bool {
        guard let known, let sha256 = item.sha256, known.size == item.size else { return false }
        return try await onDevice {
            try await session.file.attachmentDigest(.globalID(item.globalID), in: layer.id)
        } == sha256
    }

    /// - Returns: nil for one that can't be had now. Whether it has gone from the service meanwhile or the service fails over
    ///   it, the next sync tells.
    private func content(
        of item: Item, _ files: inout [URL], _ awaited: inout Awaited
    ) async throws -> AttachmentContent? {
        if let text = item.json["data"]?.stringValue {
            guard let data = Data(base64Encoded: text) else {
                throw ServiceError.unknown(details: "An attachment that the service sent can't be read.")
            }
            return AttachmentContent(bytes: [UInt8](data))
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: item.fileName)
        if try await !isOnDevice(item, file) {
            guard awaited.failure == nil else { return nil }
            guard let url = item.json["url"]?.stringValue.flatMap({ URL(string: $0) }) else {
                awaited.refusals += 1
                return nil
            }
            let part = file.appendingPathExtension("part")
            do {
                try await downloads.download(url, to: part) { _, _ in }
            } catch let error as ServiceError {
                if error.isTransient {
                    // What is there of it stays.
                    awaited.failure = error
                } else {
                    try? FileManager.default.removeItem(at: part)
                    awaited.refusals += 1
                }
                return nil
            }
            try FileManager.default.moveItem(at: part, to: file)
        }
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let content = AttachmentContent(path: file.path, size: size)
        guard try isWhole(content, item) else {
            // An error that came as a body like any other, or a content that changed meanwhile.
            try? FileManager.default.removeItem(at: file)
            awaited.refusals += 1
            return nil
        }
        files.append(file)
        return content
    }

    /// Whether a content lies in the folder: fetched before, or copied now from another geodatabase of this device.
    private func isOnDevice(_ item: Item, _ file: URL) async throws -> Bool {
        if FileManager.default.fileExists(atPath: file.path) { return true }
        guard let sha256 = item.sha256 else { return false }
        let copy = file.appendingPathExtension("copy")
        defer { try? FileManager.default.removeItem(at: copy) }
        guard await sources.copy(item.globalID, sha256: sha256, in: layer.id, to: copy) else { return false }
        try FileManager.default.moveItem(at: copy, to: file)
        return true
    }

    private func isWhole(_ content: AttachmentContent, _ item: Item) throws -> Bool {
        if let size = item.size, size != Int64(content.size) { return false }
        return try item.sha256.map { try content.digest() == $0 } ?? true
    }

    /// The features of global ids that are on this device.
    private func features(_ ids: Set<UUID>) async throws -> Set<UUID> {
        let ids = Array(ids)
        var found: Set<UUID> = []
        for start in stride(from: 0, to: ids.count, by: Limits.idsPerCondition) {
            let part = Array(ids[start..<min(start + Limits.idsPerCondition, ids.count)])
            let query = FeatureQuery(
                globalIDs: part, outFields: layer.globalIDField.map { [$0] }, returnsGeometry: false)
            found.formUnion(
                try await onDevice { try await session.file.records(query, in: layer.id) }.compactMap(\.globalID))
        }
        return found
    }
}
