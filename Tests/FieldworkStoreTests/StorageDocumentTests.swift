import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Documentation of the file format", .fewAtATime)
struct StorageDocumentTests {
    @Test("Documentation/storage.md names every table that Fieldwork adds to a GeoPackage")
    func namesEveryTable() async throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appending(path: "Trees.gpkg")
        var service = Samples.service
        service.layers[0].hasAttachments = true
        let file = try await GeoPackageStore.createFile(
            at: url, definition: service, options: GeoPackageFile.Options(recordsUndo: true))
        var batch = Samples.batch(adds: [Samples.tree("Acer")])
        batch.turn = EditTurn(sender: UUID(), number: 1)
        _ = try await file.apply(batch)
        try await file.barUndo(ofAttachments: [1], in: 0)
        try await file.keepNote("kept", as: "note")
        service.layers[0].fields.append(FieldDefinition(name: "Added", type: .string, length: 10))
        try await file.updateDefinition(service, allowing: .addsFields, replacing: nil)
        await file.close()

        let connection = try StoreConnection(path: url.path, mode: .readOnly)
        let tables = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'fieldwork%'")
        try #require(tables.count > 15, "\(tables)")
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Documentation/storage.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for table in tables {
            let documented = table.replacing(/_\d+$/, with: "_<layer>")
            #expect(text.contains("`\(documented)`"), "\(table) is not in storage.md")
        }
    }
}
