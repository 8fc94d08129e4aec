import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

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
    }

    /// - Parameters:
    ///   - items: attachments as they are in the service.
    ///   - own: asked again before anything is written: people go on editing while contents are fetched.
    ///   - discardsFiles: whether contents leave the folder when they are in the file.
    func take(
        _ items: [JSONValue], gone: [UUID], keeping own: () async throws -> Own, discardsFiles: Bool = true
    ) async throws -> Awaited {
        guard layer.hasAttachments else { return Awaited(failure: failure) }
        let items = Self.latest(items.compactMap(Item.init))
        // What the service deleted and has again is there.
        let gone = Set(gone).subtracting(items.map(\.globalID)).sorted { $0.uuidString < $1.uuidString }
        var awaited = Awaited(failure: failure)
        let pending = try await own()
        let here = try await session.attachments(items.map(\.globalID), in: layer.id)
        let parents = try await features(Set(items.map(\.parent)))
        for load in Self.loads(items) {
            var wanted: [Item] = []
            var batch = Batch()
            for item in load {
                try Task.checkCancellation()
                if pending.attachments.contains(item.globalID) || pending.deletedFeatures.contains(item.parent) {
                    awaited.items[item.globalID] = item.json
                } else if parents.contains(item.parent) {
                    if try await isHere(item, here[item.globalID]) {
                        batch.items.append((item, nil))
                    } else {
                        wanted.append(item)
                    }
                }
            }
            try await fetch(wanted, into: &batch, &awaited)
            if !discardsFiles { batch.files = [] }
            try await keep(batch, [], try await own(), &awaited)
        }
        if !gone.isEmpty { try await keep(Batch(), gone, try await own(), &awaited) }
        return awaited
    }

    /// The items without those that a later one of the same attachment replaces: two downloads would write into one file.
    private static func latest(_ items: [Item]) -> [Item] {
        var known: Set<UUID> = []
        return Array(items.reversed().filter { known.insert($0.globalID).inserted }.reversed())
    }

    /// The items in parts that one transaction takes.
    private static func loads(_ items: [Item]) -> [[Item]] {
        var loads: [[Item]] = []
        var bytes: Int64 = 0
        for item in items {
            let size = min(max(item.size ?? 0, 0), Limits.attachmentBytesPerRequest)
            if let last = loads.last, last.count < Limits.attachmentsPerLoad, bytes < Limits.attachmentBytesPerRequest {
                loads[loads.count - 1].append(item)
                bytes += size
            } else {
                loads.append([item])
                bytes = size
            }
        }
        return loads
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
    private struct Item: Sendable {
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

    /// What became of the content of one attachment.
    private enum Fetched: Sendable {
        /// - Parameter file: where it lies; nil for one that came with the answer.
        case content(AttachmentContent, file: URL?)
        /// The service does not give it now: it was deleted there, or the service has an error. The next sync tells which.
        case refused
        /// The line broke; what is there of it stays.
        case broken(ServiceError)
        /// The line broke before, so that it was not asked for.
        case notAsked
    }

    /// Fetches the contents of attachments, some at a time: on a line with long delays one after the other would mostly wait.
    private func fetch(_ items: [Item], into batch: inout Batch, _ awaited: inout Awaited) async throws {
        guard !items.isEmpty else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let isBroken = Mutex(awaited.failure != nil)
        let results = try await concurrently(items, atOnce: downloads.filesAtOnce) { item in
            let result = try await content(of: item, isAsked: !isBroken.withLock { $0 })
            if case .broken = result { isBroken.withLock { $0 = true } }
            return result
        }
        for (item, result) in zip(items, results) {
            switch result {
            case .content(let content, let file):
                batch.items.append((item, content))
                batch.files += [file].compactMap(\.self)
                continue
            case .refused: awaited.refusals += 1
            case .broken(let error): awaited.failure = awaited.failure ?? error
            case .notAsked: break
            }
            awaited.items[item.globalID] = item.json
        }
    }

    /// - Parameter isAsked: whether the service may be asked for it.
    private func content(of item: Item, isAsked: Bool) async throws -> Fetched {
        if let text = item.json["data"]?.stringValue {
            guard let data = Data(base64Encoded: text) else {
                throw ServiceError.unknown(details: "An attachment that the service sent can't be read.")
            }
            return .content(AttachmentContent(bytes: [UInt8](data)), file: nil)
        }
        let file = folder.appending(path: item.fileName)
        if try await !isOnDevice(item, file) {
            guard isAsked else { return .notAsked }
            guard let url = item.json["url"]?.stringValue.flatMap({ URL(string: $0) }) else { return .refused }
            let part = file.appendingPathExtension("part")
            do {
                try await downloads.download(url, to: part) { _, _ in }
            } catch let error as ServiceError {
                if error.isTransient { return .broken(error) }
                try? FileManager.default.removeItem(at: part)
                return .refused
            }
            try FileManager.default.moveItem(at: part, to: file)
        }
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let content = AttachmentContent(path: file.path, size: size)
        guard try isWhole(content, item) else {
            // An error that came as a body like any other, or a content that changed meanwhile.
            try? FileManager.default.removeItem(at: file)
            return .refused
        }
        return .content(content, file: file)
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
