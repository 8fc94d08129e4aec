import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Merging what clients hand in", .fewAtATime, .everyStore)
struct MergeTests {
    private let folder: TemporaryFolder
    private let store: any ReplicaStore
    private static let tree = UUID()

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.replicaStore(in: folder)
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("oak", x: 1, globalID: Self.tree)], usesGlobalIDs: true),
            to: Samples.name)
    }

    private func conflicts() async throws -> [MergeConflict] {
        try await store.conflicts(in: Set(MergeConflict.State.allCases), of: Samples.name, limit: 100)
    }

    private func theTree() async throws -> FieldClient.Tree? { try await store.currentTrees()[Self.tree] }

    /// Two clients with the same rows.
    private func twoClients() async throws -> (FieldClient, FieldClient) {
        (try await store.client("ada"), try await store.client("grace"))
    }

    // MARK: Fields

    @Test("Different fields of one feature merge, the geometry being one", arguments: ConflictRule.allCases)
    func differentFields(rule: ConflictRule) async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.note = "hollow"
        grace.trees[Self.tree]?.x = 9
        try await store.synchronize(&ada, rule: rule)
        try await store.synchronize(&grace, rule: rule)
        try await store.synchronize(&ada, rule: rule)
        let expected = FieldClient.Tree(species: "elm", note: "hollow", x: 9)
        #expect(try await theTree() == expected)
        #expect(ada.trees[Self.tree] == expected)
        #expect(grace.trees[Self.tree] == expected)
        #expect(try await conflicts().isEmpty)
    }

    @Test("The same change on both sides is no conflict")
    func sameChange() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.species = "elm"
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(try await conflicts().isEmpty)
        #expect(grace.trees[Self.tree]?.species == "elm")
    }

    @Test("Of two changes of one field the last in wins, the other is kept with who, when and from where")
    func lastInWins() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.species = "ash"
        try await store.synchronize(&ada)
        let result = try await store.synchronize(&grace)
        #expect(try await theTree()?.species == "ash")
        let conflict = try #require(try await conflicts().first)
        #expect(result.conflicts == [conflict.id])
        #expect(conflict.kind == .fields)
        #expect(conflict.winner == .upload)
        #expect(conflict.state == .decided)
        #expect(conflict.lost.attributes == ["species": .text("elm")])
        #expect(conflict.lost.editor == "ada")
        #expect(conflict.lost.replicaID == ada.replicaID)
        #expect(conflict.lost.geometry == nil)
        #expect(conflict.won.attributes == ["species": .text("ash")])
        #expect(conflict.won.replicaID == grace.replicaID)
        let history = try await store.history(of: .globalID(Self.tree), in: Samples.trees)
        #expect(history.map { $0.record.attributes["species"] } == [.text("elm"), .text("oak")])
        #expect(history.map(\.replicaID) == [grace.replicaID, ada.replicaID])
        try await store.synchronize(&ada)
        #expect(ada.trees == grace.trees)
    }

    @Test(
        "With first-in the service keeps its value and the client gets it",
        arguments: [
            ConflictRule.firstInWins, .holdForReview,
        ])
    func firstInWins(rule: ConflictRule) async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.species = "ash"
        grace.trees[Self.tree]?.note = "hollow"
        try await store.synchronize(&ada, rule: rule)
        let result = try await store.synchronize(&grace, rule: rule)
        #expect(result.hasErrors == false)
        #expect(try await theTree() == FieldClient.Tree(species: "elm", note: "hollow", x: 1))
        #expect(grace.trees[Self.tree]?.species == "elm")
        let conflict = try #require(try await conflicts().first)
        #expect(conflict.state == (rule == .holdForReview ? .open : .decided))
        #expect(conflict.winner == .service)
        #expect(conflict.lost.attributes == ["species": .text("ash")])
        #expect(conflict.lost.editor == "grace")
    }

    @Test(
        "A conflict tells what was before both, and what each changed alone", arguments: ConflictRule.allCases)
    func base(rule: ConflictRule) async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        ada.trees[Self.tree]?.x = 9
        grace.trees[Self.tree]?.species = "ash"
        grace.trees[Self.tree]?.note = "hollow"
        try await store.synchronize(&ada, rule: rule)
        try await store.synchronize(&grace, rule: rule)
        let conflict = try #require(try await conflicts().first)
        let base = try #require(conflict.base)
        #expect(base.attributes == ["species": .text("oak")])
        #expect(base.geometry == nil)
        #expect(base.uploadOnly.map { $0.prefix(4) } == ["note"])
        #expect(base.serviceOnly == [MergeConflict.Base.geometryName])
        let shown = try MergeConflict.Base(json: try #require(conflict.json["base"]))
        #expect(shown == base)
        // The next conflict is about the place: ada's base is what she got from the first.
        ada.trees[Self.tree]?.x = 20
        try await store.synchronize(&ada, rule: rule)
        grace.trees[Self.tree]?.x = 30
        try await store.synchronize(&grace, rule: rule)
        let moved = try #require(try await conflicts().first { $0.id != conflict.id }?.base)
        #expect((moved.geometry?.geometry as? Point)?.x == 9)
        #expect(moved.attributes.isEmpty)
    }

    @Test("Two moves of one feature conflict; the losing place is kept and comes back")
    func moves() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.x = 20
        grace.trees[Self.tree]?.x = 30
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(try await theTree()?.x == 30)
        let conflict = try #require(try await conflicts().first)
        #expect((conflict.lost.geometry?.geometry as? Point)?.x == 20)
        #expect(conflict.lost.attributes == [:])
        let result = try await store.restoreConflict(
            conflict.id, of: Samples.name, editor: "boss", moment: Samples.moment)
        #expect(result.isSuccess)
        #expect(try await theTree()?.x == 20)
        #expect(try await store.conflict(conflict.id, of: Samples.name)?.state == .restored)
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(ada.trees[Self.tree]?.x == 20)
        #expect(grace.trees == ada.trees)
    }

    @Test("A client that sends every field overwrites none that it did not change")
    func wholeFeatures() async throws {
        var (ada, grace) = try await twoClients()
        grace.sendsAll = true
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.note = "hollow"
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(try await theTree() == FieldClient.Tree(species: "elm", note: "hollow", x: 1))
        #expect(try await conflicts().isEmpty)
    }

    @Test("A client that sends its old geometry again does not undo another's move", arguments: ConflictRule.allCases)
    func oldGeometry(rule: ConflictRule) async throws {
        var (ada, grace) = try await twoClients()
        grace.sendsAll = true
        ada.trees[Self.tree]?.x = 20
        grace.trees[Self.tree]?.note = "hollow"
        try await store.synchronize(&ada, rule: rule)
        let result = try await store.synchronize(&grace, rule: rule)
        #expect(result.hasErrors == false)
        #expect(try await theTree() == FieldClient.Tree(species: "oak", note: "hollow", x: 20))
        #expect(grace.trees[Self.tree]?.x == 20)
        #expect(try await conflicts().isEmpty)
    }

    @Test("A client that hands in twice without a download in between does not conflict with itself")
    func ownChanges() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        _ = try await store.apply(ada.upload(rule: .firstInWins), to: Samples.name)
        ada.trees[Self.tree]?.species = "ash"
        _ = try await store.apply(ada.upload(rule: .firstInWins), to: Samples.name)
        #expect(try await theTree()?.species == "ash")
        #expect(try await conflicts().isEmpty)
        grace.trees[Self.tree]?.note = "g"
        try await store.synchronize(&grace)
        ada.trees[Self.tree]?.note = "a"
        _ = try await store.apply(ada.upload(rule: .firstInWins), to: Samples.name)
        #expect(try await theTree()?.note == "g")
        #expect(try await conflicts().count == 1)
    }

    @Test("A client that won a conflict and uploads again without a download does not conflict again")
    func ownChangesAfterAConflict() async throws {
        var (ada, grace) = try await twoClients()
        grace.trees[Self.tree]?.species = "ash"
        try await store.synchronize(&grace)
        for species in ["elm", "yew"] {
            ada.trees[Self.tree]?.species = species
            _ = try await store.apply(ada.upload(), to: Samples.name)
        }
        #expect(try await theTree()?.species == "yew")
        #expect(try await conflicts().map(\.lost.attributes) == [["species": .text("ash")]])
    }

    @Test("A client that moves a feature again after it won a conflict does not conflict with itself")
    func ownMovesAfterAConflict() async throws {
        var (ada, grace) = try await twoClients()
        grace.trees[Self.tree]?.x = 50
        try await store.synchronize(&grace)
        for x in [5.0, 7, 9] {
            ada.trees[Self.tree]?.x = x
            _ = try await store.apply(ada.upload(), to: Samples.name)
        }
        #expect(try await theTree()?.x == 9)
        #expect(try await conflicts().count == 1)
    }

    @Test("With such a base the move of another client stays, when the client sends the place that it had")
    func placeAtTheEndOfTheLog() async throws {
        var (ada, grace) = try await twoClients()
        let (never, later) = (Date(timeIntervalSince1970: 0), Samples.moment.addingTimeInterval(1_000))
        _ = try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later)
        ada.trees[Self.tree]?.x = 9
        try await store.synchronize(&ada)
        grace.sendsAll = true
        grace.trees[Self.tree]?.species = "yew"
        try await store.synchronize(&grace)
        #expect(try await theTree() == FieldClient.Tree(species: "yew", note: nil, x: 9))
        #expect(try await conflicts().isEmpty)
    }

    @Test("A client whose base is where the shortened log begins is merged with that base")
    func baseAtTheEndOfTheLog() async throws {
        var (ada, grace) = try await twoClients()
        let (never, later) = (Date(timeIntervalSince1970: 0), Samples.moment.addingTimeInterval(1_000))
        _ = try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later)
        #expect(try await store.logFloors(of: Samples.name)[0] == grace.generation)
        ada.trees[Self.tree]?.species = "elm"
        try await store.synchronize(&ada)
        grace.sendsAll = true
        grace.trees[Self.tree]?.note = "hollow"
        try await store.synchronize(&grace)
        #expect(try await theTree() == FieldClient.Tree(species: "elm", note: "hollow", x: 1))
        #expect(try await conflicts().isEmpty)
    }

    @Test("Three clients on one field: every value but the last is kept")
    func threeClients() async throws {
        var (ada, grace) = try await twoClients()
        var mary = try await store.client("mary")
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree]?.species = "ash"
        mary.trees[Self.tree]?.species = "yew"
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        try await store.synchronize(&mary)
        try await store.synchronize(&grace)
        try await store.synchronize(&ada)
        #expect(try await theTree()?.species == "yew")
        #expect(ada.trees == mary.trees && grace.trees == mary.trees)
        #expect(try await conflicts().map(\.lost.attributes) == [["species": .text("ash")], ["species": .text("elm")]])
    }

    @Test("Without a base the client wins and what stood is kept as a conflict")
    func unknownBase() async throws {
        var upload = ReplicaLayerUpload(layerID: 0, baseGeneration: nil)
        upload.updates = [
            FeatureEdit(globalID: Self.tree, attributes: [("species", .text("elm")), (FieldClient.noteField, .null)])
        ]
        let result = try await store.apply(
            ReplicaUpload(replicaID: UUID(), layers: [upload], moment: Samples.moment), to: Samples.name)
        #expect(result.hasErrors == false)
        #expect(try await theTree()?.species == "elm")
        #expect(try await conflicts().first?.lost.attributes == ["species": .text("oak")])
        #expect(try await conflicts().first?.lost.editor == "ada")
    }

    // MARK: Update and delete

    @Test("An update of a deleted feature brings it back, ids and all")
    func updateOfDeleted() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree] = nil
        grace.trees[Self.tree]?.species = "ash"
        try await store.synchronize(&ada)
        #expect(try await theTree() == nil)
        try await store.synchronize(&grace)
        #expect(try await theTree() == FieldClient.Tree(species: "ash", note: nil, x: 1))
        #expect(try await store.objectIDs(FeatureQuery(), in: Samples.trees) == [1])
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["Creator"] == .text("ada"))
        try await store.synchronize(&ada)
        #expect(ada.trees == grace.trees)
        #expect(ada.trees.count == 1)
        let conflict = try #require(try await conflicts().first)
        #expect(conflict.kind == .updateOfDeleted)
        #expect(conflict.lost.attributes == nil)
        #expect(conflict.lost.replicaID == ada.replicaID)
        #expect(try await store.check() == [])
        // The deletion lost; it can be had all the same.
        _ = try await store.restoreConflict(conflict.id, of: Samples.name, editor: nil, moment: Samples.moment)
        #expect(try await theTree() == nil)
    }

    @Test("With first-in a deleted feature stays deleted; the update is kept and brings it back when asked")
    func updateOfDeletedFirstIn() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree] = nil
        grace.trees[Self.tree]?.species = "ash"
        try await store.synchronize(&ada, rule: .firstInWins)
        let result = try await store.synchronize(&grace, rule: .firstInWins)
        #expect(result.hasErrors == false)
        #expect(grace.trees.isEmpty)
        let conflict = try #require(try await conflicts().first)
        #expect(conflict.lost.attributes == ["species": .text("ash")])
        _ = try await store.restoreConflict(conflict.id, of: Samples.name, editor: nil, moment: Samples.moment)
        #expect(try await theTree() == FieldClient.Tree(species: "ash", note: nil, x: 1))
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(ada.trees.count == 1)
        #expect(ada.trees == grace.trees)
    }

    @Test("A delete of a feature that was changed meanwhile wins as the last in; the change comes back when asked")
    func deleteOfUpdated() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree] = nil
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        try await store.synchronize(&ada)
        #expect(try await theTree() == nil)
        #expect(ada.trees.isEmpty && grace.trees.isEmpty)
        let conflict = try #require(try await conflicts().first)
        #expect(conflict.kind == .deleteOfUpdated)
        #expect(conflict.lost.attributes == ["species": .text("elm")])
        _ = try await store.restoreConflict(conflict.id, of: Samples.name, editor: nil, moment: Samples.moment)
        #expect(try await theTree()?.species == "elm")
    }

    @Test("With first-in a changed feature is not deleted, and the client has it again")
    func deleteOfUpdatedFirstIn() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        grace.trees[Self.tree] = nil
        try await store.synchronize(&ada, rule: .firstInWins)
        try await store.synchronize(&grace, rule: .firstInWins)
        #expect(grace.trees[Self.tree]?.species == "elm")
        #expect(try await conflicts().first?.lost.attributes == nil)
        #expect(try await conflicts().first?.winner == .service)
    }

    @Test("A feature that a client deleted and the service kept comes to it as a new one")
    func keptComesAsNew() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        try await store.synchronize(&ada)
        grace.trees[Self.tree] = nil
        let upload = grace.upload(rule: .firstInWins)
        _ = try await store.apply(upload, to: Samples.name)
        let layer = try #require(try await store.delta(for: grace, upload: upload.layers[0]).layers[0])
        #expect(layer.adds.map(\.species) == ["elm"])
        #expect(layer.updates.isEmpty && layer.deletes.isEmpty)
    }

    @Test("Two deletes are one")
    func twoDeletes() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees = [:]
        grace.trees = [:]
        try await store.synchronize(&ada)
        let result = try await store.synchronize(&grace)
        #expect(result.hasErrors == false)
        #expect(try await conflicts().isEmpty)
    }

    @Test("A delete without anybody's change is no conflict")
    func plainDelete() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees = [:]
        try await store.synchronize(&ada)
        try await store.synchronize(&grace)
        #expect(grace.trees.isEmpty)
        #expect(try await conflicts().isEmpty)
    }

    @Test(
        "A client that updates and deletes a feature in one upload has deleted it, also where others did so before",
        arguments: ConflictRule.allCases)
    func updateAndDelete(rule: ConflictRule) async throws {
        var (ada, grace) = try await twoClients()
        ada.trees = [:]
        try await store.synchronize(&ada, rule: rule)
        var edits = grace.edits
        edits.updates = [FeatureEdit(globalID: Self.tree, attributes: [("species", .text("ash"))])]
        edits.deletes = [Self.tree]
        let upload = ReplicaUpload(
            id: UUID(), replicaID: grace.replicaID, layers: [edits], editor: "grace", moment: Samples.moment, rule: rule
        )
        let result = try await store.apply(upload, to: Samples.name)
        #expect(result.hasErrors == false)
        #expect(try await theTree() == nil)
        #expect(try await conflicts().isEmpty)
    }

    // MARK: Adds

    @Test("What a client adds keeps its global id and reaches the others")
    func add() async throws {
        var (ada, grace) = try await twoClients()
        let id = UUID()
        ada.trees[id] = FieldClient.Tree(species: "new", note: nil, x: 3)
        let result = try await store.synchronize(&ada)
        #expect(result.layers[0].adds.map(\.globalID) == [id])
        #expect(result.layers[0].adds.first?.objectID == 2)
        try await store.synchronize(&grace)
        #expect(grace.trees[id]?.species == "new")
        #expect(grace.trees == ada.trees)
    }

    @Test("An add that comes again changes nothing of what others made of it since")
    func repeatedAdd() async throws {
        var (ada, grace) = try await twoClients()
        let id = UUID()
        ada.trees[id] = FieldClient.Tree(species: "new", note: nil, x: 3)
        // The answer is lost: the client knows nothing of it and sends the same again, without an upload id.
        _ = try await store.apply(ada.upload(id: nil), to: Samples.name)
        try await store.synchronize(&grace)
        grace.trees[id]?.species = "better"
        try await store.synchronize(&grace)
        let again = try await store.apply(ada.upload(id: nil), to: Samples.name)
        #expect(again.hasErrors == false)
        #expect(again.layers[0].adds.first?.objectID == 2)
        #expect(try await store.currentTrees()[id]?.species == "better")
        #expect(try await conflicts().isEmpty)
        grace.trees[id] = nil
        try await store.synchronize(&grace)
        #expect(try await store.apply(ada.upload(id: nil), to: Samples.name).hasErrors == false)
        #expect(try await store.currentTrees()[id] == nil)
        try await store.synchronize(&ada)
        #expect(ada.trees == grace.trees)
    }

    @Test("Add and update of one feature in one upload, and add and delete")
    func sameUpload() async throws {
        let (kept, gone) = (UUID(), UUID())
        var upload = ReplicaLayerUpload(layerID: 0, baseGeneration: 1)
        upload.adds = [Samples.tree("a", globalID: kept), Samples.tree("b", globalID: gone)]
        upload.updates = [FeatureEdit(globalID: kept, attributes: [("species", .text("aa"))])]
        upload.deletes = [gone]
        let result = try await store.apply(
            ReplicaUpload(replicaID: UUID(), layers: [upload], moment: Samples.moment), to: Samples.name)
        #expect(result.hasErrors == false)
        #expect(try await store.currentTrees()[kept]?.species == "aa")
        #expect(try await store.currentTrees()[gone] == nil)
    }

    // MARK: Failures

    @Test("What fails is told and not recorded as a conflict; the rest is applied, or nothing when that is asked")
    func failures() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        try await store.synchronize(&ada)
        var edits = grace.edits
        edits.updates = [
            FeatureEdit(globalID: Self.tree, attributes: [("species", .text(String(repeating: "x", count: 21)))]),
            FeatureEdit(globalID: UUID(), attributes: [("species", .text("nowhere"))]),
        ]
        edits.adds = [Samples.tree("good", globalID: UUID())]
        var upload = ReplicaUpload(
            id: UUID(), replicaID: grace.replicaID, layers: [edits], rollsBackOnFailure: true, moment: Samples.moment)
        let undone = try await store.apply(upload, to: Samples.name)
        #expect(undone.generation == nil)
        #expect(undone.layers[0].adds.map(\.error) == [.rolledBack])
        #expect(undone.layers[0].updates.map { $0.error?.code } == [1000, 1019])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 1)
        upload.rollsBackOnFailure = false
        let result = try await store.apply(upload, to: Samples.name)
        #expect(result.isRecorded == false)
        #expect(result.layers[0].adds.first?.isSuccess == true)
        #expect(result.layers[0].updates.allSatisfy { !$0.isSuccess })
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 2)
        #expect(try await conflicts().isEmpty)
    }

    // MARK: Exactly once

    @Test("The same upload again gets the recorded results and changes nothing, also after a restart")
    func exactlyOnce() async throws {
        var (ada, grace) = try await twoClients()
        ada.trees[Self.tree]?.species = "elm"
        ada.trees[UUID()] = FieldClient.Tree(species: "new", note: nil, x: 3)
        let upload = ada.upload()
        let first = try await store.apply(upload, to: Samples.name)
        grace.trees[Self.tree]?.species = "ash"
        try await store.synchronize(&grace)
        let generation = try await store.generation(of: Samples.name)
        try await store.close()
        let reopened = try await StoreKind.current.replicaStoreAgain(in: folder)
        let second = try await reopened.apply(upload, to: Samples.name)
        #expect(second.isRecorded)
        #expect(second.layers == first.layers)
        #expect(second.generation == first.generation)
        #expect(try await reopened.generation(of: Samples.name) == generation)
        #expect(try await reopened.currentTrees()[Self.tree]?.species == "ash")
    }

    @Test("An upload with a refused item is done once as well: sent again, it gets the recorded results")
    func refusedItemOnce() async throws {
        let ada = try await store.client("ada")
        var edits = ada.edits
        edits.adds = [Samples.tree("new", globalID: UUID())]
        edits.updates = [
            FeatureEdit(globalID: Self.tree, attributes: [("species", .text("elm"))]),
            FeatureEdit(globalID: UUID(), attributes: [("species", .text("nowhere"))]),
        ]
        let upload = ReplicaUpload(
            id: UUID(), replicaID: ada.replicaID, layers: [edits], editor: "ada", moment: Samples.moment)
        let first = try await store.apply(upload, to: Samples.name)
        #expect(first.layers[0].updates.map { $0.error?.code } == [nil, 1019])
        let change = FeatureEdit(globalID: Self.tree, attributes: [("species", .text("ash"))])
        _ = try await store.apply(Samples.batch(updates: [change], usesGlobalIDs: true), to: Samples.name)
        let generation = try await store.generation(of: Samples.name)
        let second = try await store.apply(upload, to: Samples.name)
        #expect(second.isRecorded)
        #expect(second.layers == first.layers && second.generation == first.generation)
        #expect(try await store.generation(of: Samples.name) == generation)
        #expect(try await theTree()?.species == "ash")
        #expect(try await conflicts().isEmpty)
    }

    @Test("An upload of which nothing was taken is done once, too")
    func nothingTakenOnce() async throws {
        let ada = try await store.client("ada")
        var edits = ada.edits
        let missing = UUID()
        edits.updates = [FeatureEdit(globalID: missing, attributes: [("species", .text("nowhere"))])]
        let upload = ReplicaUpload(
            id: UUID(), replicaID: ada.replicaID, layers: [edits], editor: "ada", moment: Samples.moment)
        let first = try await store.apply(upload, to: Samples.name)
        #expect(first.layers[0].updates.map { $0.error?.code } == [1019])
        // What it wanted to change is there by now: the upload that comes again is not taken for another one.
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("oak", globalID: missing)], usesGlobalIDs: true), to: Samples.name)
        let second = try await store.apply(upload, to: Samples.name)
        #expect(second.isRecorded && second.layers == first.layers)
        #expect(try await store.currentTrees()[missing]?.species == "oak")
    }
}
