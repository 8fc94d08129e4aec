import FieldworkREST
import FieldworkStore
import Foundation

/// What must hold for files that are with trees.
extension Simulation {
    /// Each belongs to a tree that is there and is there once; each content that was acknowledged is there or in the
    /// history.
    func checkFiles(_ trees: [UUID: OrchardRow]) async throws {
        let current = try await files(of: nil)
        for file in current where trees[file.tree] == nil {
            complain(.filesAreWhole, "\(file.content) is with a tree that is gone")
        }
        if Set(current.map(\.id)).count < current.count { complain(.onlyOnce, "a file is there twice") }
        var kept = Set(current)
        for tree in Set(saved.files.map(\.tree)) { kept.formUnion(try await formerFiles(of: tree)) }
        for file in saved.files where !kept.contains(file) {
            complain(
                .savedIsKept, "lost: the file \(file.content) of \(trees[file.tree]?.name ?? "a tree that is gone")")
        }
        try checkContents(Set(kept.map(\.content)))
    }

    private func formerFiles(of tree: UUID) async throws -> [SavedEdits.File] {
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
                files.append(SavedEdits.File(tree: tree, id: id, content: try await Self.text(pieces)))
            }
        }
        return files
    }

    /// The service keeps each content once.
    private func checkContents(_ contents: Set<String>) throws {
        let file = try GeoPackageStore.place(of: OrchardService.name, in: server.store.folder)
        let table = try ForeignTool.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'fieldwork_media'", of: file)
        if table.isEmpty { return }
        let stored = try ForeignTool.rows("SELECT CAST(data AS TEXT) FROM fieldwork_media", of: file).compactMap(\.[0])
        if Set(stored).count < stored.count { complain(.onlyOnce, "a content is stored twice") }
        for content in contents.subtracting(stored).sorted() {
            complain(.filesAreWhole, "the content \(content) is not stored")
        }
    }
}
