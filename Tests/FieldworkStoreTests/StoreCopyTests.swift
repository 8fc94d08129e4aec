import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import Foundation
import Synchronization
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkStore

/// Services that move from a folder to a database and back with all that they are.
@Suite(
    "Copies between stores", .fewAtATime, .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed.")
)
struct StoreCopyTests {
    private let folder: TemporaryFolder
    private let files: GeoPackageStore
    private let database: PostgresStore
    private let address: String

    init() async throws {
        folder = try TemporaryFolder()
        files = try await GeoPackageStore.open(at: folder.url.appending(path: "files"))
        address = try await TemporaryPostgres.shared.value.storeAddress()
        database = try await PostgresStore.open(address)
    }

    private func copy(_ source: any ServiceStore, _ target: any ServiceStore) async throws -> [String: StoreCopier.Step]
    {
        let last = Mutex<[String: StoreCopier.Step]>([:])
        _ = try await StoreCopier(from: source, to: target).run { name, step in
            last.withLock { $0[name.path] = step }
        }
        return last.withLock { $0 }
    }

    private func checksums(_ store: any ServiceStore, _ name: ServiceName = Samples.name) async throws
        -> [String: TableChecksum]
    {
        try await store.data(of: name).source.readOneState {
            try ServiceChecksums.read(ServiceCatalogue.read(from: $0), on: $0)
        }
    }

    private func photo(_ text: String, of parent: Int64, in layerID: Int = 0) throws -> LayerEdits {
        let url = folder.url.appending(path: "photo-\(UUID().uuidString)")
        try Data(text.utf8).write(to: url)
        var edits = LayerEdits(layerID: layerID)
        edits.attachments.adds = [
            AttachmentEdit(
                parent: .objectID(parent), name: "leaf.txt", contentType: "text/plain", keywords: "leaf",
                content: AttachmentContent(path: url.path, size: text.utf8.count))
        ]
        return edits
    }

    private func apply(_ edits: LayerEdits, to store: any FeatureStore) async throws {
        let result = try await store.apply(EditBatch(layers: [edits], moment: Samples.moment), to: Samples.name)
        #expect(!result.hasErrors)
    }

    /// Gives a service a past: features and photos that came, changed and went, a field and a layer that are gone.
    private func live(_ store: any FeatureStore) async throws {
        var definition = Samples.service
        definition.layers[0].hasAttachments = true
        var benches = Samples.treeLayer
        (benches.id, benches.name, benches.hasAttachments) = (5, "Benches", true)
        definition.layers.append(benches)
        try await store.createService(definition)
        let trees = ["Acer", "Tilia", "Salix", "Quercus"].enumerated().map { index, species in
            Samples.tree(
                species, x: Double(index), [("height", .real(Double(index) + 0.5)), ("planted", .integer(1_000))])
        }
        let batches = [
            Samples.batch(adds: trees), Samples.batch(adds: [Samples.tree("oak", x: 9)], layerID: 5),
            Samples.batch(updates: [FeatureEdit(objectID: 2, attributes: [("species", .text("Tilia cordata"))])]),
            Samples.batch(deletes: [.objectID(4)]),
        ]
        for batch in batches {
            let result = try await store.apply(batch, to: Samples.name)
            #expect(!result.hasErrors)
        }
        for edits in [try photo("one", of: 1), try photo("two", of: 2), try photo("bench", of: 1, in: 5)] {
            try await apply(edits, to: store)
        }
        var removal = LayerEdits(layerID: 0)
        removal.attachments.deletes = [AttachmentDelete(.id(2))]
        try await apply(removal, to: store)
        definition.layers.removeLast()
        definition.layers[0].fields.removeAll { $0.name == "height" }
        try await store.updateService(definition, allowing: .removals)
    }

    @Test("A service goes to a database and back with equal checksums, and goes on there as if it had never moved")
    func thereAndBack() async throws {
        try await live(files)
        let original = try await checksums(files)
        #expect(original.keys.contains("fieldwork_history_5"), "of the layer that is gone")
        _ = try await copy(files, database)
        let back = try await GeoPackageStore.open(at: folder.url.appending(path: "back"))
        _ = try await copy(database, back)
        #expect(try await checksums(database) == original)
        #expect(try await checksums(back) == original)
        for store in [database, back] as [any ServiceStore] {
            #expect(try await store.check() == [])
            let generation = try await store.generation(of: Samples.name)
            #expect(try await files.generation(of: Samples.name) == generation)
            let result = try await store.apply(
                Samples.batch(
                    adds: [Samples.tree("Alnus")],
                    updates: [FeatureEdit(objectID: 1, attributes: [("stems", .integer(3))])]), to: Samples.name)
            #expect(result.layers.first?.adds.first?.objectID == 5, "an id that was given once is not given again")
            let changes = try await store.changes(after: generation, in: Samples.trees, limit: 10)
            #expect(changes.first { $0.objectID == 1 }?.changedFields.contains("stems") == true)
            #expect(changes.first { $0.objectID == 1 }?.changedFields.contains("planted") == false)
            let data = try await store.data(of: Samples.name)
            #expect(try await data.attachments(AttachmentQuery(), in: 0).attachments.map(\.id) == [1])
            try await apply(photo("three", of: 5), to: store)
            #expect(try await data.attachments(AttachmentQuery(), in: 0).attachments.map(\.id) == [1, 3])
            let history = try await store.history(of: .objectID(2), in: Samples.trees)
            let there = try await files.history(of: .objectID(2), in: Samples.trees)
            #expect(history.map(\.toGeneration) == there.map(\.toGeneration))
            #expect(!history.isEmpty)
            #expect(try await store.check() == [])
        }
        try await back.close()
        try await database.close()
    }

    @Test(
        "A client goes on syncing with the copy: what it has is known, and an upload that was answered is answered again"
    )
    func replicas() async throws {
        try await files.createService(Samples.service)
        _ = try await files.apply(Samples.batch(adds: [Samples.tree("Acer"), Samples.tree("Tilia")]), to: Samples.name)
        var client = try await files.client("phone")
        let first = try #require(client.trees.keys.min { $0.uuidString < $1.uuidString })
        client.trees[first]?.species = "Salix"
        let upload = client.upload()
        let answer = try await files.apply(upload, to: Samples.name)
        // The answer was lost, and the service has moved meanwhile.
        _ = try await copy(files, database)
        let again = try await database.apply(upload, to: Samples.name)
        #expect(again.isRecorded)
        #expect(again.generation == answer.generation)
        client.take(try await database.delta(for: client, upload: upload.layers[0]))
        #expect(client.trees[first]?.species == "Salix")
        _ = try await database.apply(
            Samples.batch(updates: [FeatureEdit(objectID: 2, attributes: [("note \"x\"; DROP", .text("tall"))])]),
            to: Samples.name)
        client.trees[UUID()] = FieldClient.Tree(species: "Alnus", note: nil, x: 4)
        try await database.synchronize(&client)
        #expect(client.trees == (try await database.currentTrees()))
        #expect(try await files.generation(of: Samples.name) == answer.generation)
        try await database.close()
    }

    @Test("What breaks off in its midst leaves nothing, and the next run does only what is missing")
    func interruption() async throws {
        try await live(files)
        var second = Samples.service
        second.name = ServiceName(folder: "City", name: "Visits")
        try await files.createService(second)
        let settings = try PostgresSettings(address)
        // The process is gone from the database's sight, as after SIGKILL, while the second of the services is on its way.
        await #expect(throws: StoreError.self) {
            _ = try await StoreCopier(from: files, to: database).run { name, step in
                guard case .copying = step, name == Samples.name else { return }
                try? PostgresConnection(settings).execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
                    """
                )
            }
        }
        #expect(try await database.serviceNames() == [second.name])
        let schemas = try PostgresConnection(settings).integer(
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'trees'")
        #expect(schemas == 0)
        let steps = try await copy(files, database)
        guard case .wasThere = steps["City/Visits"], case .copied = steps["Trees"] else {
            Issue.record("\(steps)")
            return
        }
        #expect(try await checksums(database) == (try await checksums(files)))

        // Into a folder: what a killed process has left lies under no service's name.
        let back = try await GeoPackageStore.open(at: folder.url.appending(path: "back"))
        try Data("half".utf8).write(to: back.folder.appending(path: ".Trees.gpkg.copying"))
        #expect(try await back.serviceNames() == [])
        _ = try await copy(database, back)
        #expect(try await checksums(back) == (try await checksums(files)))
        let names = try FileManager.default.contentsOfDirectory(atPath: back.folder.path)
        #expect(!names.contains { $0.hasSuffix(".copying") })
        try await back.close()
        try await database.close()
    }

    @Test("A cancelled copy leaves neither a service nor a file")
    func cancelling() async throws {
        try await live(files)
        let back = try await GeoPackageStore.open(at: folder.url.appending(path: "back"))
        for target in [database, back] as [any ServiceStore] {
            let task = Task { [files] in
                try await StoreCopier(from: files, to: target).run { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await target.serviceNames() == [])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: back.folder.path) == [])
        try await back.close()
        try await database.close()
    }

    @Test("A target that has something else of the name is refused before anything is copied")
    func refused() async throws {
        try await live(files)
        var other = Samples.service
        other.name = ServiceName(name: "Another")
        try await files.createService(other)
        try await database.createService(Samples.service)
        await #expect {
            _ = try await copy(files, database)
        } throws: { error in
            (error as? StoreError)?.code == .serviceExists
                && (error as? StoreError)?.message.contains("features 0") == true
        }
        #expect(try await database.serviceNames() == [Samples.name])
        try await database.close()
    }

    @Test("Edits that the source takes while it is copied are told")
    func editedMeanwhile() async throws {
        try await files.createService(Samples.service)
        let url = try GeoPackageStore.place(of: Samples.name, in: files.folder)
        let sql = "INSERT INTO Trees (species) VALUES ('late')"
        await #expect {
            _ = try await StoreCopier(from: files, to: database).run { _, step in
                guard case .copied = step else { return }
                try? StoreConnection(path: url.path, mode: .readWrite).execute(sql)
            }
        } throws: { ($0 as? StoreError)?.code == .busy }
        try await database.close()
    }

    @Test("A damaged photo is not carried over as if it were sound")
    func damaged() async throws {
        try await live(files)
        let url = try GeoPackageStore.place(of: Samples.name, in: files.folder)
        try StoreConnection(path: url.path, mode: .readWrite).execute(
            "UPDATE fieldwork_media SET data = 'XXX' WHERE id = 1")
        await #expect { _ = try await copy(files, database) } throws: { ($0 as? StoreError)?.code == .corrupt }
        #expect(try await database.serviceNames() == [])
        try await database.close()
    }

    @Test("A database tells what is wrong with it")
    func check() async throws {
        try await live(database)
        #expect(try await database.check() == [])
        var settings = try PostgresSettings(address)
        settings.searchPath = ["trees"]
        let connection = try PostgresConnection(settings)
        try connection.execute("ALTER TABLE \"Trees\" DISABLE TRIGGER fieldwork_0_log")
        try connection.execute("UPDATE fieldwork_counts SET row_count = 17 WHERE layer_id = 0")
        try connection.execute("DELETE FROM fieldwork_history_0 WHERE fieldwork_object_id = 2")
        let findings = try await database.check()
        #expect(findings.count == 3)
        for word in ["disabled", "counted", "history"] {
            #expect(findings.contains { $0.contains(word) }, "\(findings)")
        }
        try await database.close()
    }
}
