import FieldworkGeometry
import FieldworkREST
import Foundation

/// What another program does to the files of trees, by the tables of GeoPackage's related tables extension.
extension Simulation {
    private static let mapping = "fieldwork_attachments_\(OrchardService.trees)"

    private func keepsFiles(_ file: URL) throws -> Bool {
        try !ForeignTool.rows(
            "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '\(Self.mapping)'", of: file
        ).isEmpty
    }

    func attachOutside(
        _ author: String, to tree: (id: UUID, name: String), _ file: URL
    ) throws -> [SavedEdits.Fact] {
        guard try keepsFiles(file) else { return [] }
        let (id, content) = (generator.uuid(), freshValue("\(author)\(Self.outsideMark)"))
        note("  another program attaches \(content) to \(tree.name) \(id.uuidString.prefix(8))")
        // One transaction, as of an editor that saves; it leaves out what it does not know.
        try ForeignTool.runAll(
            [
                (
                    "INSERT INTO fieldwork_media (content_type, data) VALUES ('text/plain', ?)",
                    [.bytes(FileContent.bytes(of: content))]
                ),
                (
                    """
                    INSERT INTO \(Self.mapping) (globalid, base_id, related_id)
                    SELECT ?, rowid, (SELECT max(id) FROM fieldwork_media) FROM Trees WHERE GlobalID = ?
                    """, [.text(GUID.normalForm(id)), .text(GUID.normalForm(tree.id))]
                ),
            ], on: file)
        saved.note(file: id, of: tree.id)
        return [
            SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, content),
        ]
    }

    func detachOutside(_ file: URL) throws -> [SavedEdits.Fact] {
        guard try keepsFiles(file) else { return [] }
        let found = try ForeignTool.rows("SELECT globalid FROM \(Self.mapping) ORDER BY globalid", of: file)
        guard let text = pick(found)?[0], let id = GUID.parse(text) else { return [] }
        note("  another program detaches \(id.uuidString.prefix(8))")
        try ForeignTool.run("DELETE FROM \(Self.mapping) WHERE globalid = ?", [.text(text)], on: file)
        return [SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.deleted)]
    }

    /// What is in a file that another program attached: nobody notes its hash, and nobody attaches the same again.
    static let outsideMark = "-outside"
}
