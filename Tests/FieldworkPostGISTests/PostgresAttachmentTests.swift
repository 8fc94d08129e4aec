import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

/// What only a database can do with attachments: other programs, large objects, moving in. What every store does with them is
/// tested by `AttachmentTests`.
@Suite(
    "Attachments in PostgreSQL", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct PostgresAttachmentTests {
    private let address: String
    private let store: PostgresStore
    private let name = ServiceName(name: "Trees")
    private var trees: LayerAddress { LayerAddress(service: name, layerID: 0) }

    init() async throws {
        address = try await TemporaryPostgres.shared.value.storeAddress()
        store = try await PostgresStore.open(address)
    }

    private var service: ServiceDefinition { PostgresTrees.definition(name, hasAttachments: true) }

    private func photo(_ content: [UInt8], of objectID: Int64 = 1, name: String = "bark.jpg") -> AttachmentEdit {
        AttachmentEdit(
            parent: .objectID(objectID), name: name, keywords: "bark", content: AttachmentContent(bytes: content))
    }

    private func batch(_ adds: [FeatureEdit] = [], photos: [AttachmentEdit] = []) -> EditBatch {
        var edits = LayerEdits(layerID: 0, adds: adds)
        edits.attachments.adds = photos
        return EditBatch(layers: [edits], usesGlobalIDs: false, editor: "ada", moment: .now)
    }

    private func connection() throws -> PostgresConnection {
        var settings = try PostgresSettings(address)
        settings.searchPath = ["trees"]
        return try PostgresConnection(settings)
    }

    private func bytes(_ id: Int64) async throws -> [UInt8]? {
        let found = try await store.attachmentContent(.id(id), of: nil, range: nil, in: trees)
        guard let pieces = found?.pieces else { return nil }
        var bytes: [UInt8] = []
        for try await piece in pieces { bytes += piece }
        return bytes
    }

    private func list() async throws -> [AttachmentInfo] {
        try await store.attachments(AttachmentQuery(), in: trees).attachments
    }

    @Test(
        "A large object that another program relates to a feature is an attachment, and is kept when the feature goes")
    func otherPrograms() async throws {
        try await store.createService(service)
        _ = try await store.apply(
            batch([PostgresTrees.tree("Acer"), PostgresTrees.tree("Tilia")], photos: [photo([9])]), to: name)
        let other = try connection()
        try other.execute("BEGIN")
        try other.execute(
            """
            WITH m AS (INSERT INTO fieldwork_media (content_type, content)
                VALUES ('image/png', lo_from_bytea(0, '\\x010203'::bytea)) RETURNING id)
            INSERT INTO fieldwork_attachments_0 (base_id, related_id) SELECT 2, id FROM m
            """)
        // Somebody else's edit need not wait for it.
        #expect(try await store.apply(batch(photos: [photo([8], name: "leaf.jpg")]), to: name).generation == 2)
        try other.execute("COMMIT")
        let info = try #require(try await list().last)
        #expect(info.parentObjectID == 2 && info.contentType == "image/png" && info.size == 3)
        #expect(info.globalID != nil && !info.name.isEmpty)
        #expect(try await bytes(info.id) == [1, 2, 3])
        #expect(try await store.attachmentChanges(after: 2, in: trees, limit: 10).map(\.operation) == [.add])
        try other.execute("DELETE FROM \"Trees\" WHERE \"OBJECTID\" = 2")
        #expect(try await list().map(\.name) == ["bark.jpg", "leaf.jpg"])
        let versions = try await store.attachmentHistory(of: 2, in: trees)
        #expect(versions.map(\.endedBy) == [.delete])
        let changes = try await store.attachmentChanges(after: 3, in: trees, limit: 10)
        #expect(changes.map(\.operation) == [.delete] && changes.map(\.generation) == [4])
        #expect(try await store.changes(after: 3, in: trees, limit: 10).map(\.generation) == [4], "one generation")
        let version = try #require(versions.first).version
        let pieces = try #require(try await store.attachmentContent(ofVersion: version, in: trees))
        var kept: [UInt8] = []
        for try await piece in pieces { kept += piece }
        #expect(kept == [1, 2, 3])
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("Bytes that changed in the database are noticed before any of them is given")
    func corrupted() async throws {
        try await store.createService(service)
        let content = [UInt8](repeating: 65, count: 600_000)
        let added = try await store.apply(batch([PostgresTrees.tree("Acer")], photos: [photo(content)]), to: name)
        let id = try #require(added.layers.first?.attachments.adds.first?.objectID)
        #expect(try await bytes(id) == content)
        try connection().execute("SELECT lo_put(content, 500000, 'B'::bytea) FROM fieldwork_media")
        for range in [nil, 0..<10] {
            do {
                _ = try await store.attachmentContent(.id(id), of: nil, range: range, in: trees)
                Issue.record("Spoiled bytes were given.")
            } catch let error as StoreError {
                #expect(error.code == .corrupt)
            }
        }
        #expect(try await store.check().contains { $0.contains("has changed on the disk") })
        try await store.close()
    }

    @Test("A published file brings its attachments along with their ids and bytes, and new ids follow on theirs")
    func publishing() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-photos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try await GeoPackageStore.createFile(
            at: folder.appending(path: "Trees.gpkg"), definition: service)
        let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        _ = try await file.apply(
            batch(
                [PostgresTrees.tree("Acer")],
                photos: [photo([1]), photo(content, name: "leaf.png"), photo([1], name: "c.jpg")]))
        let first = try #require(try await file.attachments(AttachmentQuery(), in: 0).attachments.first)
        var deletion = batch()
        deletion.layers[0].attachments.deletes = [AttachmentDelete(.id(first.id))]
        _ = try await file.apply(deletion)
        let before = try await file.attachments(AttachmentQuery(), in: 0).attachments
        #expect(before.map(\.id) == [2, 3])
        #expect(try await store.publish(file, as: name) { _ in } == 1)
        await file.close()
        #expect(try await list() == before)
        #expect(try await bytes(2) == content)
        #expect(try await bytes(3) == [1])
        let added = try await store.apply(batch([PostgresTrees.tree("Tilia")], photos: [photo([4], of: 2)]), to: name)
        #expect(added.layers.first?.adds.map(\.objectID) == [2], "the only id that was brought is not given again")
        #expect(added.layers.first?.attachments.adds.map(\.objectID) == [4])
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("A service that is deleted leaves no large object, whatever their number")
    func deletedService() async throws {
        try await store.createService(service)
        let photos = (0..<700).map { photo([UInt8($0 % 256), UInt8($0 / 256)]) }
        for piece in [photos[..<350], photos[350...]] {
            let result = try await store.apply(batch([PostgresTrees.tree("Acer")], photos: Array(piece)), to: name)
            #expect(result.hasErrors == false)
        }
        let other = try connection()
        let count = "SELECT count(*) FROM pg_largeobject_metadata"
        #expect(try other.integer(count) == 700)
        try await store.deleteService(name)
        #expect(try other.integer(count) == 0)
        #expect(try other.integer("SELECT count(*) FROM fieldwork.dropped_contents") == 0)
        try await store.close()
    }
}
