import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// What crews do to the files of trees, on their devices. A file is a feature of its own to the ledger of what was saved.
extension Simulation {
    /// The files that are with trees on a device, by their ids.
    func files(of geodatabase: Geodatabase) async throws -> [UUID: SavedEdits.File] {
        let file = try geodatabase.openSession().file
        guard file.definition.layer(id: OrchardService.trees)?.hasAttachments == true else { return [:] }
        let page = try await file.attachments(AttachmentQuery(), in: OrchardService.trees)
        var files: [UUID: SavedEdits.File] = [:]
        for info in page.attachments {
            guard let id = info.globalID, let tree = info.parentGlobalID,
                let bytes = try await file.attachmentBytes(.id(info.id), in: OrchardService.trees)
            else {
                complain(.filesAreWhole, "the file \(info.id) of \(geodatabase.fileURL.path) is with no tree")
                continue
            }
            let content = FileContent.name(of: bytes)
            if files.updateValue(SavedEdits.File(tree: tree, id: id, content: content), forKey: id) != nil {
                complain(.onlyOnce, "the file \(content) is twice in \(geodatabase.fileURL.path)")
            }
        }
        return files
    }

    /// Attaches, replaces or detaches.
    func editFile(
        _ kind: SimulatedEdit, _ trees: [ArcGISFeature], _ index: Int, _ geodatabase: Geodatabase
    ) async throws -> [SavedEdits.Fact] {
        let name = devices[index].name
        if kind == .attach {
            guard let tree = pick(trees), let treeID = id(of: tree), tree.canEditAttachments else { return [] }
            return try await attach(to: tree, treeID, name)
        }
        // One of all: few files are edited by many.
        let there = try await files(of: geodatabase).values.sorted()
        guard let file = pick(there), let tree = trees.first(where: { self.id(of: $0) == file.tree }) else { return [] }
        let id = file.id
        guard let attachment = try await tree.attachments.first(where: { $0.edit.globalID == id }) else {
            complain(.filesAreWhole, "\(name) can't see \(file.content) of \(self.name(of: tree))")
            return []
        }
        if kind == .detach {
            note("\(name) detaches \(id.uuidString.prefix(8)) from \(self.name(of: tree))")
            try await tree.deleteAttachment(attachment)
            return [SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.deleted)]
        }
        let content = freshValue("\(name)-photo")
        note("\(name) replaces \(id.uuidString.prefix(8)) of \(self.name(of: tree)) by \(content)")
        try await tree.updateAttachment(
            attachment, name: "photo.txt", contentType: "text/plain", data: Data(FileContent.bytes(of: content)))
        return [SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, content)]
    }

    func attach(to tree: ArcGISFeature, _ treeID: UUID, _ author: String) async throws -> [SavedEdits.Fact] {
        // Some photos show two trees: whoever keeps such a content keeps it once.
        let content = chance(200) ? pick(saved.files.map(\.content).sorted()) : nil
        let text = content ?? freshValue("\(author)-photo")
        let attachment = try await tree.addAttachment(
            named: "photo.txt", contentType: "text/plain", data: Data(FileContent.bytes(of: text)))
        guard let id = attachment.edit.globalID else {
            complain(.filesAreWhole, "a file of \(author) has no id")
            return []
        }
        note("\(author) attaches \(text) to \(name(of: tree)) \(id.uuidString.prefix(8))")
        saved.note(file: id, of: treeID)
        return [
            SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, text),
        ]
    }

    /// The files that go with a tree.
    func filesGoing(with tree: UUID, _ geodatabase: Geodatabase) async throws -> [SavedEdits.Fact] {
        try await files(of: geodatabase).values.filter { $0.tree == tree }.sorted().map {
            SavedEdits.Fact(OrchardService.files, $0.id, SavedEdits.existence, SavedEdits.gone)
        }
    }

    /// The files that go with a tree and that somebody has saved, and not handed in.
    func filesGoing(with tree: UUID, of pending: SavedEdits.Pending) -> [SavedEdits.Fact] {
        let ids = Set(pending.keys.filter { $0.layer == OrchardService.files && saved.trees[$0.id] == tree }.map(\.id))
        return ids.sorted { $0.uuidString < $1.uuidString }.map {
            SavedEdits.Fact(OrchardService.files, $0, SavedEdits.existence, SavedEdits.gone)
        }
    }

    /// What became of files when a step was taken back or done again.
    static func facts(
        from old: [UUID: SavedEdits.File], to new: [UUID: SavedEdits.File], trees: [UUID: OrchardRow]
    ) -> [SavedEdits.Fact] {
        var facts: [SavedEdits.Fact] = []
        for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
            guard let file = new[id] else {
                let isWithTree = old[id].map { trees[$0.tree] == nil } ?? false
                let value = isWithTree ? SavedEdits.gone : SavedEdits.deleted
                facts.append(SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, value))
                continue
            }
            if old[id] == nil {
                facts.append(SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.added))
            }
            facts.append(SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, file.content))
        }
        return facts
    }

    // MARK: Checks

    /// Whether a device has what a fact says of a file.
    func isSoOfFile(_ fact: SavedEdits.Fact, _ geodatabase: Geodatabase) async throws -> Bool {
        let session = try geodatabase.openSession()
        let info = try await session.attachments([fact.key.id], in: OrchardService.trees)[fact.key.id]
        switch (fact.key.field, fact.value) {
        case (SavedEdits.existence, SavedEdits.added): return info != nil
        case (SavedEdits.existence, _): return info == nil
        default:
            guard let info else { return false }
            let bytes = try await session.file.attachmentBytes(.id(info.id), in: OrchardService.trees)
            return bytes.map { FileContent.name(of: $0) } == fact.value
        }
    }

    func treesOfRefusedFiles(_ session: GeodatabaseSession) -> Set<UUID> {
        Set((session.replica?.refusedAttachments[OrchardService.trees] ?? [:]).keys.compactMap { saved.trees[$0] })
    }

    /// A device that keeps files in step both ways has those of its trees, as they are in the service.
    func checkFiles(
        of device: Device, _ geodatabase: Geodatabase, _ served: [SavedEdits.File], trees: Set<UUID>
    ) async throws {
        let session = try geodatabase.openSession()
        let found = try await files(of: geodatabase)
        let refused = Set((session.replica?.refusedAttachments[OrchardService.trees] ?? [:]).keys)
        let waiting = try await session.netAttachmentChanges(of: OrchardService.trees)
            .compactMap(\.globalID).filter { !refused.contains($0) }
        if !waiting.isEmpty { complain(.workGoesOn, "\(device.name) still has to send \(waiting.count) files at rest") }
        try checkContents(of: session.file.url, Set(found.values.map(\.content)))
        guard device.plan.files == .bidirectional else { return }
        let apart = Set((session.replica?.refused[OrchardService.trees] ?? [:]).keys).union(
            treesOfRefusedFiles(session))
        let expected = Dictionary(
            served.filter { trees.contains($0.tree) }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for id in Set(found.keys).union(expected.keys) where !refused.contains(id) && found[id] != expected[id] {
            if let tree = (found[id] ?? expected[id])?.tree, apart.contains(tree) { continue }
            let (mine, theirs) = (found[id]?.content ?? "nothing", expected[id]?.content ?? "nothing")
            complain(
                .replicasAreEqual,
                "\(device.name) has of the file \(id.uuidString.prefix(8)) \(mine), the service has \(theirs)")
        }
    }
}
