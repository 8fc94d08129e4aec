import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// What is looked up in the file itself, as other programs do.
@Suite("Attachments in a file", .fewAtATime)
struct AttachmentFileTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore
    private var path: String { folder.url.appending(path: "Trees.gpkg").path }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await GeoPackageStore.open(at: folder.url)
        var service = Samples.service
        service.layers[0].hasAttachments = true
        try await store.createService(service)
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer"), Samples.tree("Ulmus", x: 5)]), to: Samples.name)
    }

    // MARK: Helpers

    @discardableResult
    private func edit(
        _ attachments: AttachmentEdits, deletes: [FeatureIdentifier] = [], rollsBack: Bool = true,
        usesGlobalIDs: Bool = false, editor: String? = "ada"
    ) async throws -> AttachmentEditResults {
        var batch = Samples.batch(
            deletes: deletes, usesGlobalIDs: usesGlobalIDs, rollsBackOnFailure: rollsBack, editor: editor)
        batch.layers[0].attachments = attachments
        return try #require(try await store.apply(batch, to: Samples.name).layers.first).attachments
    }

    private func add(
        _ name: String = "bark.jpg", to objectID: Int64 = 1, _ content: [UInt8] = Array("photo".utf8),
        globalID: UUID? = nil, keywords: String? = nil
    ) -> AttachmentEdit {
        AttachmentEdit(
            globalID: globalID, parent: .objectID(objectID), name: name, keywords: keywords,
            content: AttachmentContent(bytes: content))
    }

    private func list(_ query: AttachmentQuery = AttachmentQuery()) async throws -> [AttachmentInfo] {
        try await store.attachments(query, in: Samples.trees).attachments
    }

    private func bytes(_ id: Int64, of objectID: Int64? = nil, range: Range<Int>? = nil) async throws -> [UInt8]? {
        guard
            let found = try await store.attachmentContent(.id(id), of: objectID, range: range, in: Samples.trees)
        else { return nil }
        return try await all(found.pieces)
    }

    private func all(_ pieces: EncodedFeatures) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in pieces { bytes += piece }
        return bytes
    }

    /// Runs SQL as another program would.
    private func sql(_ text: String) throws -> [[String]] {
        try ShellTool.run("sqlite3", [path, text]).split(separator: "\n").map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private static let hasSQLite = ShellTool.exists("sqlite3")

    // MARK: Safety

    @Test("Bytes that changed on the disk are noticed before any of them is given", .enabled(if: Self.hasSQLite))
    func corrupted() async throws {
        let content = [UInt8](repeating: 65, count: 600_000)
        let id = try #require(try await edit(AttachmentEdits(adds: [add("a.txt", content)])).adds[0].objectID)
        _ = try sql("UPDATE fieldwork_media SET data = CAST(replace(data, 'AAAAA', 'AAAAB') AS BLOB)")
        for range in [nil, 0..<10] {
            do {
                _ = try await bytes(id, range: range)
                Issue.record("Spoiled bytes were given.")
            } catch let error as StoreError {
                #expect(error.code == .corrupt)
            }
        }
        #expect(try await store.check().contains { $0.contains("has changed on the disk") })
    }

    @Test("A removed layer leaves the history of its attachments, and no other takes its id")
    func removedLayer() async throws {
        try await edit(AttachmentEdits(adds: [add()]))
        var service = try await store.service(Samples.name)
        var trees = try #require(service.layer(id: 0))
        service.layers.removeAll { $0.id == 0 }
        for index in service.layers.indices { service.layers[index].relationships = [] }
        try await store.updateService(service, allowing: .removesLayers)
        #expect(try await store.check() == [])
        trees.name = "Other trees"
        trees.relationships = []
        service.layers.append(trees)
        await #expect(throws: StoreError.self, "no id is given twice") {
            try await store.updateService(service, allowing: .addsLayers)
        }
        #expect(try sql("SELECT count(*) FROM fieldwork_attachment_history_0") == [["1"]])
        #expect(try await store.check() == [])
    }

    @Test("What a cache takes over is no change, and its attachments follow a feature to its service's id")
    func cache() async throws {
        let url = folder.url.appending(path: "cache.gpkg")
        var service = Samples.service
        service.layers[0].hasAttachments = true
        let cache = try await GeoPackageStore.createFile(
            at: url, definition: service, options: GeoPackageFile.Options(keepsObjectIDs: true))
        let tree = UUID()
        var batch = Samples.batch(adds: [Samples.tree("Acer", globalID: tree)], usesGlobalIDs: true)
        batch.layers[0].attachments.adds = [add()]
        _ = try await cache.apply(batch)
        var taken = Samples.tree("Acer", globalID: tree)
        taken.objectID = 70
        _ = try await cache.apply(Samples.batch(adds: [taken], usesGlobalIDs: true, origin: .cache))
        #expect(try await cache.attachments(AttachmentQuery(), in: 0).attachments.map(\.parentObjectID) == [70])
        _ = try await cache.apply(Samples.batch(deletes: [.objectID(70)], origin: .cache))
        #expect(try await cache.attachments(AttachmentQuery(), in: 0).attachments == [])
        #expect(try await cache.attachmentHistory(of: 70, in: 0) == [])
        #expect(try ShellTool.run("sqlite3", [url.path, "SELECT count(*) FROM fieldwork_media"]) == "0\n")
        #expect(try await cache.check() == [])
        await cache.close()
    }

    // MARK: Other programs

    @Test("GDAL opens a file with attachments and finds the relation", .enabled(if: ShellTool.exists("ogrinfo")))
    func ogrinfo() async throws {
        try await edit(AttachmentEdits(adds: [add()]))
        let report = try ShellTool.run("ogrinfo", ["-al", "-so", path])
        #expect(report.contains("Layer name: Trees") && report.contains("Feature Count: 2"))
        let relation = try sql(
            "SELECT base_table_name, related_table_name, relation_name, mapping_table_name FROM gpkgext_relations")
        #expect(relation == [["Trees", "fieldwork_media", "media", "fieldwork_attachments_0"]])
        let joined = try sql(
            """
            SELECT t.species, m.content_type, CAST(m.data AS TEXT) FROM Trees AS t
            JOIN fieldwork_attachments_0 AS r ON r.base_id = t.OBJECTID
            JOIN fieldwork_media AS m ON m.id = r.related_id
            """)
        #expect(joined == [["Acer", "image/jpeg", "photo"]])
    }

    @Test("A photo that another program relates to a feature is an attachment", .enabled(if: Self.hasSQLite))
    func foreignRelation() async throws {
        _ = try sql(
            """
            INSERT INTO fieldwork_media (content_type, data) VALUES ('image/png', x'010203');
            INSERT INTO fieldwork_attachments_0 (base_id, related_id) VALUES (2, last_insert_rowid());
            """)
        let info = try #require(try await list().first)
        #expect(info.parentObjectID == 2 && info.contentType == "image/png" && info.size == 3)
        #expect(info.globalID != nil && !info.name.isEmpty)
        #expect(try await bytes(info.id) == [1, 2, 3])
        #expect(try await store.attachmentChanges(after: 1, in: Samples.trees, limit: 10).map(\.operation) == [.add])
        _ = try sql("DELETE FROM Trees WHERE OBJECTID = 2")
        #expect(try await list() == [])
        #expect(try await store.attachmentHistory(of: 2, in: Samples.trees).count == 1)
        #expect(try await store.check() == [])
    }
}
