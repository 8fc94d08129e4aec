import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Takes over the attachments that a service tells of (rest-api §5.2, §5.6). A content that is here already is not fetched;
/// one whose download broke off goes on where it was.
struct AttachmentDownload: Sendable {
    let session: GeodatabaseSession
    let layer: LayerDefinition
    let downloads: any FileDownloading
    /// Where contents lie until they are in the file.
    let folder: URL
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

    /// - Parameters:
    ///   - items: attachments as they are in the service.
    ///   - pending: those with edits of this device, which the service has not decided about.
    ///   - discardsFiles: whether contents leave the folder when they are in the file.
    func take(
        _ items: [JSONValue], gone: [UUID], keeping pending: Set<UUID>, discardsFiles: Bool = true
    ) async throws -> Awaited {
        guard layer.hasAttachments else { return Awaited(failure: failure) }
        let all = items.compactMap(Item.init)
        var awaited = Awaited(failure: failure)
        for item in all where pending.contains(item.globalID) { awaited.items[item.globalID] = item.json }
        let items = all.filter { !pending.contains($0.globalID) }
        let here = try await session.attachments(items.map(\.globalID) + gone, in: layer.id)
        let parents = try await features(Set(items.map(\.parent)))
        var edits = AttachmentEdits()
        var (files, bytes): ([URL], Int) = ([], 0)
        for item in items where parents.contains(item.parent) {
            try Task.checkCancellation()
            var edit = item.edit
            let known = here[item.globalID]
            if try await !isHere(item, known) {
                guard let content = try await content(of: item, &files, &awaited) else {
                    awaited.items[item.globalID] = item.json
                    continue
                }
                edit.content = content
                bytes += content.size
            }
            if let known {
                edit.id = known.id
                edit.parent = nil
                edits.updates.append(edit)
            } else {
                edits.adds.append(edit)
            }
            if !discardsFiles { files = [] }
            if edits.count >= Limits.attachmentsPerLoad || bytes >= Limits.attachmentBytesPerRequest {
                try await keep(&edits, &files)
                bytes = 0
            }
        }
        let deletes = gone.filter { !pending.contains($0) && here[$0] != nil }
        edits.deletes = deletes.map { AttachmentDelete(.globalID($0)) }
        try await session.barUndo(ofAttachments: deletes.compactMap { here[$0]?.id }, in: layer.id)
        try await keep(&edits, &files)
        return awaited
    }

    /// Takes over all attachments of a layer: what is not among them is no longer in the service.
    func takeWhole(_ items: [JSONValue], keeping pending: Set<UUID>) async throws -> Awaited {
        guard layer.hasAttachments else { return Awaited(failure: failure) }
        let present = Set(items.compactMap(Item.init).map(\.globalID))
        let all = try await onDevice { try await session.file.attachmentGlobalIDs(in: layer.id) }
        return try await take(items, gone: all.filter { !present.contains($0) }, keeping: pending)
    }

    private func keep(_ edits: inout AttachmentEdits, _ files: inout [URL]) async throws {
        guard !edits.isEmpty else { return }
        try await session.barUndo(ofAttachments: edits.updates.compactMap(\.id), in: layer.id)
        var batch = LayerEdits(layerID: layer.id)
        batch.attachments = edits
        try await ReplicaFeature.takeOver([batch], into: session.file)
        for file in files { try? FileManager.default.removeItem(at: file) }
        edits = AttachmentEdits()
        files = []
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
        guard awaited.failure == nil else { return nil }
        guard let url = item.json["url"]?.stringValue.flatMap({ URL(string: $0) }) else {
            awaited.refusals += 1
            return nil
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: item.fileName)
        if !FileManager.default.fileExists(atPath: file.path) {
            let part = file.appendingPathExtension("part")
            do {
                try await downloads.download(url, to: part) { _, _ in }
            } catch let error as ServiceError {
                if case .connectionFailed = error {
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
