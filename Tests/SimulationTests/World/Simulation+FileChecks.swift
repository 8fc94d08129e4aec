import FieldworkREST
import FieldworkStore
import Foundation

/// What must hold for files that are with trees.
extension Simulation {
    /// Each belongs to a tree that is there and is there once; each content that was acknowledged is there or in the
    /// history.
    func checkFiles(_ current: [SavedEdits.File], _ trees: [UUID: OrchardRow]) async throws {
        for file in current where trees[file.tree] == nil {
            complain(.filesAreWhole, "\(file.content) is with a tree that is gone")
        }
        for file in current where saved.trees[file.id] != file.tree {
            complain(.onlyOnce, "nobody made the file \(file.content) of \(trees[file.tree]?.name ?? "?") like this")
        }
        if Set(current.map(\.id)).count < current.count { complain(.onlyOnce, "a file is there twice") }
        var kept = Set(current)
        var deleted = saved.revived
        for tree in Set(saved.files.map(\.tree)) { kept.formUnion(try await formerFiles(of: tree, &deleted)) }
        for file in saved.files where !kept.contains(file) {
            complain(
                .savedIsKept, "lost: the file \(file.content) of \(trees[file.tree]?.name ?? "a tree that is gone")")
        }
        try await checkDetached(current, deleted)
        // What a database keeps is compared with its hashes by the check of the store.
        guard let files = server.store as? GeoPackageStore else { return }
        let service = try GeoPackageStore.place(of: OrchardService.name, in: files.folder)
        try checkContents(of: service, Set(kept.map(\.content)))
    }

    /// Who is detached has gone, has gone once, or is in a conflict.
    /// - Parameter gone: what is known to have been deleted at some time, or to have come back.
    private func checkDetached(_ current: [SavedEdits.File], _ gone: Set<UUID>) async throws {
        let there = current.filter { saved.deletedFiles.contains($0.id) && !gone.contains($0.id) }
        if there.isEmpty { return }
        let conflicts = try await server.store.conflicts(
            in: Set(MergeConflict.State.allCases), of: OrchardService.name, limit: 10_000)
        let lost = Set(conflicts.filter { $0.lost.attributes == nil }.compactMap { $0.lost.attachment?.globalID })
        for file in there where !lost.contains(file.id) {
            complain(.savedIsKept, "lost: that somebody detached \(file.content)")
        }
    }

    /// Whether the service has a file, or had it.
    func isKnownFile(_ id: UUID) async throws -> Bool {
        if try await servedFiles().contains(where: { $0.id == id }) { return true }
        guard let tree = saved.trees[id] else { return false }
        var deleted: Set<UUID> = []
        return try await formerFiles(of: tree, &deleted).contains { $0.id == id }
    }

    /// - Parameter deleted: takes those that were deleted at some time.
    private func formerFiles(of tree: UUID, _ deleted: inout Set<UUID>) async throws -> [SavedEdits.File] {
        let layer = LayerAddress(service: OrchardService.name, layerID: OrchardService.trees)
        let present = try await server.store.records(FeatureQuery(globalIDs: [tree]), in: layer).map(\.objectID)
        let past = try await server.store.history(of: .globalID(tree), in: layer).map(\.record.objectID)
        var files: [SavedEdits.File] = []
        for objectID in Set(present + past) {
            for version in try await server.store.attachmentHistory(of: objectID, in: layer) {
                guard let id = version.info.globalID,
                    let pieces = try await server.store.attachmentContent(ofVersion: version.version, in: layer)
                else {
                    complain(.filesAreWhole, "a former version of a file has no content")
                    continue
                }
                if version.endedBy == .delete { deleted.insert(id) }
                files.append(SavedEdits.File(tree: tree, id: id, content: try await Self.text(pieces)))
            }
        }
        return files
    }

    /// The service and each device keep a content once.
    func checkContents(of file: URL, _ contents: Set<String>) throws {
        let table = try ForeignTool.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'fieldwork_media'", of: file)
        if table.isEmpty { return }
        let stored = try ForeignTool.rows("SELECT CAST(data AS TEXT) FROM fieldwork_media", of: file)
            .compactMap { $0[0].map { FileContent.name(of: Array($0.utf8)) } }
        // What another program has put there nobody knows by its hash: it may come once more from the service.
        let own = stored.filter { !$0.contains(Self.outsideMark) }
        if Set(own).count < own.count { complain(.onlyOnce, "a content is stored twice") }
        for content in contents.subtracting(stored).sorted() {
            complain(.filesAreWhole, "the content \(content) is not stored")
        }
    }
}
