import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Relationships: what goes with a deleted feature", .fewAtATime, .everyStore)
struct RelatedDeletesTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private let treeID = UUID()

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
    }

    /// One tree with two visits, of which the first has two photos; its plaque, two people, an area; and a tree beside it
    /// with a visit and a person.
    private func plant(_ definition: ServiceDefinition = Orchard.definition()) async throws {
        try await store.createService(definition)
        let other = UUID()
        let result = try await store.edit([
            LayerEdits(layerID: 6, adds: [Orchard.edit([:])]),
            LayerEdits(
                layerID: 0,
                adds: [
                    Orchard.edit(["Code": .text("A"), "Area": .integer(1)], globalID: treeID),
                    Orchard.edit(["Code": .text("B"), "Area": .integer(1)], globalID: other),
                ]),
            LayerEdits(layerID: 1, adds: [treeID, treeID, other].map { Orchard.edit(["Tree": Orchard.guid($0)]) }),
            LayerEdits(layerID: 2, adds: [1, 1, 3].map { Orchard.edit(["Visit": .integer($0)]) }),
            LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")])]),
            LayerEdits(layerID: 4, adds: [Orchard.edit(["Name": .text("Ada")]), Orchard.edit(["Name": .text("Bo")])]),
            LayerEdits(
                layerID: 5,
                adds: [(1, 1), (1, 2), (2, 2)].map {
                    Orchard.edit(["TreeID": .integer($0), "PersonID": .integer($1)])
                }),
        ])
        #expect(!result.hasErrors)
    }

    private func delete(
        _ ids: [Int64], from layer: LayerAddress, rollsBack: Bool = true
    ) async throws -> [EditError?] {
        try await store.edit(
            [LayerEdits(layerID: layer.layerID, deletes: .features(ids.map(FeatureIdentifier.objectID)))],
            usesGlobalIDs: false, rollsBack: rollsBack
        ).layers[0].deletes.map(\.error)
    }

    @Test("Parts and their parts go with the whole, keys are emptied, pairs end: one generation, all in the history")
    func cascade() async throws {
        try await plant()
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.trees) == [2])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [3])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.photos) == [3])
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.null])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [3])
        #expect(try await store.count(FeatureQuery(), in: Orchard.people) == 2)
        #expect(try await store.generation(of: Orchard.name) == 2)
        for (layer, ids) in [(Orchard.visits, [1, 2]), (Orchard.photos, [1, 2]), (Orchard.care, [1, 2])] {
            let changes = try await store.changes(after: 1, in: layer, limit: 10)
            #expect(changes.map(\.operation) == [.delete, .delete])
            #expect(changes.map(\.objectID).sorted() == ids.map(Int64.init))
            let versions = try await store.history(of: .objectID(1), in: layer)
            #expect(versions.first?.endedBy == .delete)
            #expect(versions.first?.editor == "ada")
        }
        #expect(try await store.check().isEmpty)
    }

    private func restore(_ id: UUID, _ layerID: Int) async throws {
        var edits = LayerEdits(layerID: layerID)
        edits.restores = [id]
        edits.updates = [FeatureEdit(globalID: id)]
        #expect(try await !store.edit([edits]).hasErrors)
    }

    private func addAgain(_ others: [LayerEdits] = []) async throws -> Bool {
        let tree = Orchard.edit(["Code": .text("A"), "Area": .integer(1)], globalID: treeID)
        return try await !store.edit([LayerEdits(layerID: 0, adds: [tree])] + others).hasErrors
    }

    @Test(
        "A feature that is restored, or added again under its ids, has its parts, the rows that named it, and its pairs",
        arguments: [false, true], [false, true])
    func comesBack(isAdded: Bool, isLogCut: Bool) async throws {
        try await plant()
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        if isLogCut {
            let later = Samples.moment.addingTimeInterval(86_400)
            let replicas = try #require(store as? any ReplicaStore)
            let dropped = try await replicas.compactLog(of: Orchard.name, silentSince: later, olderThan: later)
            try #require(dropped > 0)
        }
        if isAdded { #expect(try await addAgain()) } else { try await restore(treeID, 0) }
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.trees) == [1, 2])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [1, 2, 3])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.photos) == [1, 2, 3])
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.text("A")])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [1, 2, 3])
        #expect(try await store.check().isEmpty)
    }

    @Test("Who adds a feature again may bring its parts as well: they are as he says, and the others come back")
    func partsAreAddedAgain() async throws {
        try await plant()
        let visit = try #require(
            try await store.records(FeatureQuery(objectIDs: [1]), in: Orchard.visits).first?.globalID)
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        let part = Orchard.edit(["Tree": Orchard.guid(treeID), "Note": .text("mine")], globalID: visit)
        #expect(try await addAgain([LayerEdits(layerID: 1, adds: [part])]))
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [1, 2, 3])
        #expect(try await store.values("Note", of: Orchard.visits) == [.text("mine"), .null, .null])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.photos) == [1, 2, 3])
    }

    @Test(
        "Where one may be related, the one that came meanwhile stays, and there is no second", arguments: [false, true])
    func anotherCameMeanwhile(isAdded: Bool) async throws {
        try await plant()
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        let plaque = Orchard.edit(["TreeCode": .text("A")])
        #expect(try await !store.edit([LayerEdits(layerID: 3, adds: [plaque])]).hasErrors)
        if isAdded { #expect(try await addAgain()) } else { try await restore(treeID, 0) }
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.null, .text("A")])
        #expect(try await store.check().isEmpty)
    }

    @Test("A part that was deleted before its whole stays deleted when the whole is added again")
    func partWasDeletedBefore() async throws {
        try await plant()
        #expect(try await delete([2], from: Orchard.visits) == [nil])
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        #expect(try await addAgain())
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [1, 3])
    }

    @Test("A pair comes back with the end that is restored last")
    func pairOfTwoDeleted() async throws {
        try await plant()
        let person = try #require(
            try await store.records(FeatureQuery(objectIDs: [1]), in: Orchard.people).first?.globalID)
        let edits = [
            LayerEdits(layerID: 0, deletes: .features([.globalID(treeID)])),
            LayerEdits(layerID: 4, deletes: .features([.globalID(person)])),
        ]
        #expect(try await !store.edit(edits).hasErrors)
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [3])
        try await restore(treeID, 0)
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [2, 3])
        try await restore(person, 4)
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [1, 2, 3])
    }

    @Test("A row that was given another key since, or was emptied again, keeps what it has", arguments: [false, true])
    func changedSince(isEmptiedAgain: Bool) async throws {
        try await plant()
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        let values: [AttributeValue] = [.text("B"), .null]
        for value in values.prefix(isEmptiedAgain ? 2 : 1) {
            let update = FeatureEdit(objectID: 1, attributes: [("TreeCode", value)])
            #expect(
                try await !store.edit([LayerEdits(layerID: 3, updates: [update])], usesGlobalIDs: false).hasErrors)
        }
        try await restore(treeID, 0)
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [isEmptiedAgain ? .null : .text("B")])
    }

    @Test("A whole and its parts deleted in one batch, in either order of the layers, all succeed")
    func togetherWithParts() async throws {
        try await plant()
        let result = try await store.edit(
            [
                LayerEdits(layerID: 0, deletes: .features([.objectID(1)])),
                LayerEdits(layerID: 1, deletes: .features([.objectID(1)])),
                LayerEdits(layerID: 2, deletes: .features([.objectID(2), .objectID(1)])),
            ], usesGlobalIDs: false)
        #expect(!result.hasErrors)
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.photos) == [3])
    }

    @Test("The row of a layer that belongs to itself may be named after it went with its whole")
    func selfReference() async throws {
        var definition = Orchard.definition()
        for index in definition.layers[6].relationships.indices where definition.layers[6].relationships[index].id == 5
        {
            definition.layers[6].relationships[index].isComposite = true
            definition.layers[6].relationships[index].originDeletion = .cascade
        }
        // The whole of all wholes names itself.
        try await store.createService(definition)
        let ids = (0..<3).map { _ in UUID() }
        let batch = EditBatch(
            layers: [
                LayerEdits(
                    layerID: 6,
                    adds: ids.indices.map {
                        Orchard.edit(["Parent": Orchard.guid(ids[max(0, $0 - 1)])], globalID: ids[$0])
                    })
            ], usesGlobalIDs: true, moment: Samples.moment, origin: .load)
        _ = try await store.apply(batch, to: Orchard.name)
        let result = try await store.edit([
            LayerEdits(layerID: 6, deletes: .features(ids.map(FeatureIdentifier.globalID)))
        ])
        #expect(!result.hasErrors)
        #expect(result.layers[0].deletes.map(\.objectID) == [1, 2, 3])
        #expect(try await store.count(FeatureQuery(), in: Orchard.areas) == 0)
    }

    @Test("The key of a simple relationship is emptied, with who and when")
    func clear() async throws {
        try await plant()
        let edits = [LayerEdits(layerID: 6, deletes: .features([.objectID(1)]))]
        #expect(try await !store.edit(edits, usesGlobalIDs: false, editor: "bo").hasErrors)
        #expect(try await store.values("Area", of: Orchard.trees) == [.null, .null])
        #expect(try await store.values("Who", of: Orchard.trees) == [.text("bo"), .text("bo")])
        let changes = try await store.changes(after: 1, in: Orchard.trees, limit: 10)
        #expect(changes.map(\.operation) == [.update, .update])
    }

    @Test("Where the key must not be null, the deletion is refused and says why")
    func clearIsImpossible() async throws {
        try await plant(Orchard.definition(plaqueIsRequired: true))
        let error = EditError(
            code: 1018,
            description: "The feature has related rows in Plaques, whose field TreeCode must not be null.")
        #expect(try await delete([1, 2], from: Orchard.trees, rollsBack: false) == [error, nil])
        // Nothing of the refused deletion was done, all of the other one.
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.trees) == [1])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [1, 2])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.photos) == [1, 2])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.care) == [1, 2])
        #expect(try await store.check().isEmpty)
    }

    @Test("A definition may refuse the deletion of an origin with related rows")
    func refuse() async throws {
        try await plant(Orchard.definition(areaDeletion: .refuse))
        let error = EditError(code: 1018, description: "The feature has related rows in Trees (R4).")
        #expect(try await delete([1], from: Orchard.areas) == [error])
        #expect(try await store.count(FeatureQuery(), in: Orchard.areas) == 1)
        #expect(try await delete([1, 2], from: Orchard.trees) == [nil, nil])
        #expect(try await delete([1], from: Orchard.areas) == [nil])
    }

    @Test("A definition may delete the destinations of a simple relationship as well")
    func cascadeOfSimple() async throws {
        try await plant(Orchard.definition(areaDeletion: .cascade))
        #expect(try await delete([1], from: Orchard.areas) == [nil])
        for layer in [Orchard.trees, Orchard.visits, Orchard.photos, Orchard.care] {
            #expect(try await store.count(FeatureQuery(), in: layer) == 0)
        }
    }

    @Test("While another origin has the same key, those that hold it stay")
    func sharedKey() async throws {
        try await plant()
        try await store.edit([LayerEdits(layerID: 0, adds: [Orchard.edit(["Code": .text("A")])])])
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.text("A")])
    }

    @Test("A whole batch that is rolled back deletes no parts")
    func rollback() async throws {
        try await plant()
        #expect(try await delete([1, 99], from: Orchard.trees).map { $0?.code } == [1003, 1018])
        #expect(try await store.objectIDs(FeatureQuery(), in: Orchard.visits) == [1, 2, 3])
        #expect(try await store.generation(of: Orchard.name) == 1)
    }

    @Test(
        "Both directions of every relationship stand in the file as GeoPackage's related tables",
        .enabled(if: ShellTool.exists("ogrinfo") && ShellTool.exists("sqlite3"), "ogrinfo or sqlite3 is missing."))
    func relatedTables() async throws {
        // What other programs read of a file; a database has foreign keys and views of its own.
        guard StoreKind.current == .geoPackage else { return }
        try await plant()
        try await store.close()
        let path = folder.url.appending(path: "Orchard.gpkg").path
        let report = try ShellTool.run("ogrinfo", ["-al", "-so", path])
        #expect(report.contains("Layer name: Trees"))
        #expect(!report.localizedCaseInsensitiveContains("error"))
        #expect(!report.localizedCaseInsensitiveContains("warning"))
        #expect(!report.contains("fieldwork_relationship"))
        let relations = try ShellTool.run(
            "sqlite3",
            [
                path,
                """
                SELECT base_table_name, related_table_name, relation_name, mapping_table_name FROM gpkgext_relations
                ORDER BY mapping_table_name
                """,
            ])
        #expect(relations.contains("Trees|Visits|attributes|fieldwork_relationship_0"))
        #expect(relations.contains("Areas|Trees|features|fieldwork_relationship_4"))
        #expect(relations.split(separator: "\n").count == 6)
        let pairs = try ShellTool.run(
            "sqlite3", [path, "SELECT base_id, related_id FROM fieldwork_relationship_3 ORDER BY 1, 2"])
        #expect(pairs == "1|1\n1|2\n2|2\n")
        let orphans = try ShellTool.run(
            "sqlite3",
            [
                path,
                """
                SELECT count(*) FROM gpkgext_relations WHERE mapping_table_name NOT IN
                (SELECT table_name FROM gpkg_extensions WHERE extension_name = 'gpkg_related_tables')
                """,
            ])
        #expect(orphans == "0\n")
    }

    @Test("A feature takes as many rows along as the limit says, and not one more", arguments: [0, 1])
    func limit(excess: Int) async throws {
        // A hundred thousand rows, each deleted by itself: the rule is the same code on both, the time is not.
        guard StoreKind.current == .geoPackage else { return }
        try await store.createService(Orchard.definition())
        let edits = [
            LayerEdits(layerID: 0, adds: [Orchard.edit([:], globalID: treeID)]),
            LayerEdits(
                layerID: 1,
                adds: Array(
                    repeating: Orchard.edit(["Tree": Orchard.guid(treeID)]), count: Limits.rowsPerDelete - 1 + excess)),
        ]
        _ = try await store.apply(
            EditBatch(layers: edits, usesGlobalIDs: true, moment: Samples.moment, origin: .load), to: Orchard.name)
        let errors = try await delete([1], from: Orchard.trees)
        if excess == 0 {
            #expect(errors == [nil])
            #expect(try await store.count(FeatureQuery(), in: Orchard.visits) == 0)
        } else {
            #expect(errors.map { $0?.code } == [1018])
            #expect(try await store.count(FeatureQuery(), in: Orchard.visits) == Limits.rowsPerDelete)
        }
    }

    @Test("A result tells as many changed features as the limit says; beyond it nothing is changed", arguments: [0, 1])
    func editedFeaturesLimit(excess: Int) async throws {
        try await store.createService(Orchard.definition())
        let adds = Array(repeating: Orchard.edit(["Name": .text("x")]), count: Limits.editedFeatures + excess)
        var batch = EditBatch(layers: [LayerEdits(layerID: 4, adds: adds)], moment: Samples.moment)
        batch.returnsEditedFeatures = true
        if excess == 0 {
            let result = try await store.apply(batch, to: Orchard.name)
            #expect(result.editedFeatures.map(\.adds.count) == [Limits.editedFeatures])
        } else {
            await #expect(throws: StoreError.self) { try await store.apply(batch, to: Orchard.name) }
            #expect(try await store.count(FeatureQuery(), in: Orchard.people) == 0)
        }
    }

    @Test("A feature that one batch changes twice and deletes is told as it was before")
    func editedFeatures() async throws {
        try await plant()
        let renamed = FeatureEdit(objectID: 1, attributes: [("Name", .text("Eve"))])
        let again = FeatureEdit(objectID: 1, attributes: [("Name", .text("Fay"))])
        var batch = EditBatch(
            layers: [
                LayerEdits(layerID: 4, adds: [Orchard.edit(["Name": .text("Cy")])], updates: [renamed, again]),
                LayerEdits(
                    layerID: 0, updates: [FeatureEdit(objectID: 1, attributes: [("Code", .text("Z"))])],
                    deletes: .features([.objectID(1)])),
            ], moment: Samples.moment)
        batch.returnsEditedFeatures = true
        let result = try await store.apply(batch, to: Orchard.name)
        let people = try #require(result.editedFeatures.first { $0.layerID == 4 })
        #expect(people.adds.map { $0.attributes["Name"] } == [.text("Cy")])
        #expect(people.updates.map { $0.original.attributes["Name"] } == [.text("Ada")])
        #expect(people.updates.map { $0.current.attributes["Name"] } == [.text("Fay")])
        let trees = try #require(result.editedFeatures.first { $0.layerID == 0 })
        #expect(trees.deletes.map { $0.attributes["Code"] } == [.text("A")])
        #expect(trees.updates.isEmpty)
    }

    @Test("The check of a file finds parts without a whole and a second one of one to one")
    func integrity() async throws {
        guard StoreKind.current == .geoPackage else { return }
        try await plant()
        #expect(try await store.check().isEmpty)
        let edits = [
            LayerEdits(layerID: 2, adds: [Orchard.edit(["Visit": .integer(77)])]),
            LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")])]),
        ]
        _ = try await store.apply(
            EditBatch(layers: edits, moment: Samples.moment, origin: .load), to: Orchard.name)
        #expect(
            try await store.check() == [
                "Orchard: Photos: feature 4 is part of no feature of Visits.",
                "Orchard: Plaques: feature 1 and 1 more are related to one feature, where one may be.",
            ])
    }

    @Test("A new definition replaces the mappings and keeps the indexes that it still needs")
    func updatedDefinition() async throws {
        try await plant()
        var definition = try await store.service(Orchard.name)
        for index in definition.layers.indices { definition.layers[index].relationships.removeAll { $0.id != 2 } }
        try await store.updateService(definition)
        #expect(try await delete([1], from: Orchard.trees) == [nil])
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.null])
        #expect(try await store.count(FeatureQuery(), in: Orchard.visits) == 3)
    }
}
