import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Fields and layers that come and go in a service that has features and a past.
@Suite("Updates of a definition", .fewAtATime, .everyStore)
struct DefinitionUpdateTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func storeWithTree() async throws -> (any FeatureStore, objectID: Int64) {
        let store = try await Samples.anyStore(in: folder)
        let result = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer", [("height", .real(7)), ("condition", .text("good"))])]),
            to: Samples.name)
        return (store, try #require(result.layers.first?.adds.first?.objectID))
    }

    private func withoutHeight() -> ServiceDefinition {
        var definition = Samples.service
        definition.layers[0].fields.removeAll { $0.name == "height" }
        return definition
    }

    @Test("A removed field's values stay in the history, and the change log goes on telling fields apart")
    func removeField() async throws {
        let (store, id) = try await storeWithTree()
        let before = try await store.generation(of: Samples.name)
        try await store.updateService(withoutHeight(), allowing: .removesFields)
        let generation = try await store.generation(of: Samples.name)
        #expect(generation == before + 1)

        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["height"] == nil)
        #expect(record.attributes["species"] == .text("Acer"))
        let change = try #require(
            try await store.changes(after: before, in: Samples.trees, limit: 10).first)
        #expect(change.operation == .update)
        #expect(change.objectID == id)

        // "stems" stood behind "height": its bit must not have moved.
        _ = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: id, attributes: [("stems", .integer(3))])]), to: Samples.name)
        let later = try await store.changes(after: generation, in: Samples.trees, limit: 10)
        #expect(later.first?.changedFields.contains("stems") == true)
        #expect(later.first?.changedFields.contains("planted") == false)
        try await store.close()

        let again = try await StoreKind.current.again(in: folder)
        #expect(try await again.changes(after: generation, in: Samples.trees, limit: 10) == later)
        #expect(try await again.check() == [])
        try await again.close()
        let kept = try StoreKind.current.look(
            """
            SELECT CAST("fieldwork_removed_\(generation)_height" AS integer) FROM fieldwork_history_0
            WHERE fieldwork_generation = \(generation)
            """, in: Samples.name, folder)
        #expect(kept == "7")
    }

    @Test("A field of an earlier name begins anew")
    func addAgain() async throws {
        let (store, id) = try await storeWithTree()
        try await store.updateService(withoutHeight(), allowing: .removesFields)
        var definition = withoutHeight()
        definition.layers[0].fields.append(FieldDefinition(name: "height", type: .string, length: 5))
        try await store.updateService(definition, allowing: .addsFields)
        #expect(try await store.service(Samples.name) == definition)
        #expect(try await store.records(FeatureQuery(), in: Samples.trees).first?.attributes["height"] == .null)
        let generation = try await store.generation(of: Samples.name)
        let result = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: id, attributes: [("height", .text("tall"))])]),
            to: Samples.name)
        #expect(!result.hasErrors)
        let changes = try await store.changes(after: generation, in: Samples.trees, limit: 10)
        #expect(changes.first?.changedFields.contains("height") == true)
        #expect(
            try await store.history(of: .objectID(id), in: Samples.trees).first?.record.attributes["height"] == .null)
        #expect(try await store.check() == [])
    }

    @Test("Layers come and go; the id of one that is gone is not given again")
    func layers() async throws {
        let (store, _) = try await storeWithTree()
        var definition = Samples.service
        var benches = Samples.treeLayer
        benches.id = 5
        benches.name = "Benches"
        definition.layers.append(benches)
        try await store.updateService(definition, allowing: .addsLayers)
        let added = try await store.apply(Samples.batch(adds: [Samples.tree("oak")], layerID: 5), to: Samples.name)
        #expect(!added.hasErrors)
        let generation = try await store.generation(of: Samples.name)

        definition.layers.removeLast()
        try await store.updateService(definition, allowing: .removesLayers)
        let bench = LayerAddress(service: Samples.name, layerID: 5)
        await #expect(throws: StoreError.self) { try await store.count(FeatureQuery(), in: bench) }
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 1)
        #expect(try await store.generation(of: Samples.name) == generation + 1)
        #expect(try await store.check() == [])
        definition.layers.append(benches)
        await #expect(throws: StoreError.self) { try await store.updateService(definition, allowing: .addsLayers) }
        #expect(try await store.service(Samples.name).layers.count == 2)
    }

    @Test(
        "What was not asked for or would lose values is refused, and nothing has changed",
        arguments: [
            ("a field removed by mistake", DefinitionChanges.addsFields),
            ("a new name", [.addsFields, .removesFields]),
            ("another type", []), ("a shorter text", []), ("a required field without values", []),
            ("a required new field without a default", .addsFields), ("a layer removed by mistake", .additions),
            ("the object id", .removals),
        ] as [(String, DefinitionChanges)])
    func refused(_ what: String, _ changes: DefinitionChanges) async throws {
        let (store, _) = try await storeWithTree()
        let generation = try await store.generation(of: Samples.name)
        var definition = Samples.service
        switch what {
        case "a field removed by mistake": definition = withoutHeight()
        case "a new name": definition.layers[0].fields[3].name = "Tallness"
        case "another type": definition.layers[0].fields[3].type = .integer
        case "a shorter text": definition.layers[0].fields[1].length = 3
        case "a required field without values": definition.layers[0].fields[5].isNullable = false
        case "a required new field without a default":
            definition.layers[0].fields.append(FieldDefinition(name: "owner", type: .string, isNullable: false))
        case "a layer removed by mistake": definition.layers.removeLast()
        default: definition.layers[0].fields.removeFirst()
        }
        await #expect {
            try await store.updateService(definition, allowing: changes)
        } throws: { ($0 as? StoreError)?.code == .invalidDefinition }
        #expect(try await store.service(Samples.name) == Samples.service)
        #expect(try await store.generation(of: Samples.name) == generation)
        #expect(try await store.check() == [])
    }

    @Test("A store that has the file open edits by the definition that another one wrote")
    func elsewhere() async throws {
        let (store, id) = try await storeWithTree()
        let other = try await StoreKind.current.again(in: folder)
        try await other.updateService(withoutHeight(), allowing: .removesFields)
        let result = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: id, attributes: [("species", .text("Quercus"))])]),
            to: Samples.name)
        #expect(!result.hasErrors)
        #expect(try await store.service(Samples.name) == withoutHeight())
        #expect(
            try await store.records(FeatureQuery(), in: Samples.trees).first?.attributes["species"] == .text("Quercus"))
        try await other.close()
    }

    @Test("What another program writes after fields came and went is logged by the fields that there are now")
    func otherProgram() async throws {
        let (store, id) = try await storeWithTree()
        var definition = withoutHeight()
        try await store.updateService(definition, allowing: .removesFields)
        definition.layers[0].fields.append(FieldDefinition(name: "crown", type: .double))
        try await store.updateService(definition, allowing: .addsFields)
        let generation = try await store.generation(of: Samples.name)
        try StoreKind.current.change("UPDATE \"Trees\" SET crown = 4.5", in: Samples.name, folder)
        let change = try #require(try await store.changes(after: generation, in: Samples.trees, limit: 10).first)
        #expect(change.changedFields == ["crown"])
        let version = try #require(try await store.history(of: .objectID(id), in: Samples.trees).first)
        #expect(version.record.attributes["crown"] == .null)
        #expect(try await store.check() == [])
    }

    @Test("A layer with attachments goes with its photos, which the history keeps")
    func layerWithAttachments() async throws {
        let (store, id) = try await storeWithTree()
        var definition = Samples.service
        definition.layers[0].hasAttachments = true
        try await store.updateService(definition)
        let photo = folder.url.appending(path: "photo")
        try Data("leaf".utf8).write(to: photo)
        var edits = LayerEdits(layerID: 0)
        edits.attachments.adds = [
            AttachmentEdit(
                parent: .objectID(id), name: "leaf.txt", contentType: "text/plain",
                content: AttachmentContent(path: photo.path, size: 4))
        ]
        let result = try await store.apply(EditBatch(layers: [edits], moment: Samples.moment), to: Samples.name)
        #expect(!result.hasErrors)
        definition.layers.removeFirst()
        try await store.updateService(definition, allowing: .removesLayers)
        #expect(try await store.service(Samples.name).layers.map(\.id) == [1])
        let kept =
            "SELECT count(*) FROM fieldwork_attachment_history_0 AS h JOIN fieldwork_media AS m ON m.id = h.related_id"
        #expect(try StoreKind.current.look(kept, in: Samples.name, folder) == "1")
        #expect(try await store.check() == [])
    }

    @Test("Declared indexes are made and taken away")
    func indexes() async throws {
        let (store, _) = try await storeWithTree()
        var definition = Samples.service
        definition.layers[0].unknownMembers["indexes"] = [
            ["name": "by_species", "fields": "species", "isUnique": true, "isAscending": true]
        ]
        try await store.updateService(definition)
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Tilia")]), to: Samples.name)
        let twice = try await store.apply(Samples.batch(adds: [Samples.tree("Tilia")]), to: Samples.name)
        #expect(twice.hasErrors, "the index keeps species apart")
        try await store.updateService(Samples.service)
        let free = try await store.apply(Samples.batch(adds: [Samples.tree("Tilia")]), to: Samples.name)
        #expect(!free.hasErrors)
    }
}
