import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// The cells of `Documentation/conflicts.md` that are about several features: wholes and parts, one to one, unique values.
@Suite("Conflicts between related features", .fewAtATime, .everyStore)
struct RelatedConflictTests {
    private static let tree = UUID()
    private static let visit = UUID()

    private let folder: TemporaryFolder
    private let store: any ReplicaStore
    private let base: Int64

    /// An orchard with a tree and a visit that belongs to it.
    init() async throws {
        folder = try TemporaryFolder()
        store = try #require(try await StoreKind.current.make(in: folder) as? any ReplicaStore)
        try await store.createService(Orchard.definition())
        try await store.edit([
            LayerEdits(layerID: 0, adds: [Orchard.edit(["Code": .text("A")], globalID: Self.tree)]),
            LayerEdits(
                layerID: 1,
                adds: [Orchard.edit(["Tree": Orchard.guid(Self.tree), "Note": .text("first")], globalID: Self.visit)]),
        ])
        base = try await store.generation(of: Orchard.name)
    }

    /// What a crew that took the orchard along at the start hands in.
    private func upload(
        _ layers: [ReplicaLayerUpload], rule: ConflictRule = .lastInWins
    ) async throws -> ReplicaUploadResult {
        let layers = layers.map { layer in
            var layer = layer
            layer.baseGeneration = base
            return layer
        }
        return try await store.apply(
            ReplicaUpload(
                id: UUID(), replicaID: UUID(), layers: layers, editor: "crew", moment: Samples.moment, rule: rule),
            to: Orchard.name)
    }

    private func deleteTree(rule: ConflictRule = .lastInWins) async throws -> ReplicaUploadResult {
        try await upload([ReplicaLayerUpload(layerID: 0, deletes: [Self.tree])], rule: rule)
    }

    private func notes() async throws -> [AttributeValue?] { try await store.values("Note", of: Orchard.visits) }
    private func trees() async throws -> Int { try await store.count(FeatureQuery(), in: Orchard.trees) }

    @Test("A part that is changed after its whole was deleted comes back, and its whole with it")
    func changedPart() async throws {
        #expect(try await !deleteTree().hasErrors)
        #expect(try await notes().isEmpty)
        let change = ReplicaLayerUpload(
            layerID: 1, updates: [Orchard.edit(["Note": .text("second")], globalID: Self.visit)])
        #expect(try await !upload([change]).hasErrors)
        #expect(try await notes() == [.text("second")])
        #expect(try await store.records(FeatureQuery(), in: Orchard.trees).map(\.globalID) == [Self.tree])
        let conflicts = try await store.conflicts(in: [.decided], of: Orchard.name, limit: 10)
        #expect(conflicts.map(\.kind) == [.updateOfDeleted])
    }

    @Test("With first-in a changed part stays gone with its whole, and both come back when asked")
    func changedPartFirstIn() async throws {
        #expect(try await !deleteTree(rule: .firstInWins).hasErrors)
        let change = ReplicaLayerUpload(
            layerID: 1, updates: [Orchard.edit(["Note": .text("second")], globalID: Self.visit)])
        #expect(try await !upload([change], rule: .firstInWins).hasErrors)
        #expect(try await notes().isEmpty)
        let conflict = try #require(
            try await store.conflicts(in: [.decided], of: Orchard.name, limit: 10).first)
        let restored = try await store.restoreConflict(
            conflict.id, of: Orchard.name, editor: "judge", moment: Samples.moment)
        #expect(restored.isSuccess)
        #expect(try await notes() == [.text("second")])
        #expect(try await trees() == 1)
    }

    @Test("A whole that is changed after it was deleted comes back with its parts", arguments: ConflictRule.allCases)
    func changedWhole(rule: ConflictRule) async throws {
        #expect(try await !deleteTree(rule: rule).hasErrors)
        let change = ReplicaLayerUpload(layerID: 0, updates: [Orchard.edit(["Code": .text("B")], globalID: Self.tree)])
        #expect(try await !upload([change], rule: rule).hasErrors)
        if rule != .lastInWins {
            #expect(try await trees() == 0)
            let conflict = try #require(
                try await store.conflicts(
                    in: Set(MergeConflict.State.allCases), of: Orchard.name, limit: 10
                ).first)
            _ = try await store.restoreConflict(
                conflict.id, of: Orchard.name, editor: "judge", moment: Samples.moment)
        }
        #expect(try await store.values("Code", of: Orchard.trees) == [.text("B")])
        #expect(try await notes() == [.text("first")])
    }

    @Test("A part that is added to a deleted whole is refused and stays its crew's; others are taken")
    func addedPart() async throws {
        #expect(try await !deleteTree().hasErrors)
        let added = UUID()
        let adds = ReplicaLayerUpload(
            layerID: 1, adds: [Orchard.edit(["Tree": Orchard.guid(Self.tree), "Note": .text("new")], globalID: added)])
        let other = ReplicaLayerUpload(layerID: 0, adds: [Orchard.edit(["Code": .text("C")], globalID: UUID())])
        let result = try await upload([other, adds])
        #expect(result.layers.map { $0.adds.map(\.isSuccess) } == [[true], [false]])
        // The whole is brought back, and with the next synchronisation the part goes to it.
        let versions = try await store.history(of: .globalID(Self.tree), in: Orchard.trees)
        #expect(versions.map(\.endedBy) == [.delete])
        var edits = LayerEdits(layerID: 0)
        edits.restores = [Self.tree]
        edits.updates = [FeatureEdit(globalID: Self.tree)]
        try await store.edit([edits])
        #expect(try await !upload([adds]).hasErrors)
        #expect(Set(try await notes()) == [.text("first"), .text("new")])
    }

    @Test("A part that was added goes with its whole that is deleted, and is in the history")
    func deletedWhole() async throws {
        let added = UUID()
        _ = try await upload([
            ReplicaLayerUpload(
                layerID: 1,
                adds: [Orchard.edit(["Tree": Orchard.guid(Self.tree), "Note": .text("new")], globalID: added)])
        ])
        #expect(try await !deleteTree().hasErrors)
        #expect(try await notes().isEmpty)
        let version = try #require(try await store.history(of: .globalID(added), in: Orchard.visits).first)
        #expect(version.endedBy == .delete && version.record.attributes["Note"] == .text("new"))
        // One action brings it back, and its whole with it.
        var edits = LayerEdits(layerID: 1)
        edits.restores = [added]
        edits.updates = [FeatureEdit(globalID: added)]
        try await store.edit([edits])
        #expect(Set(try await notes()) == [.text("first"), .text("new")])
        #expect(try await trees() == 1)
    }

    @Test("Of two that are related to the same feature, one to one, the second is refused and stays its crew's")
    func oneToOne() async throws {
        func plaque() -> ReplicaLayerUpload {
            ReplicaLayerUpload(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")], globalID: UUID())])
        }
        #expect(try await !upload([plaque()]).hasErrors)
        let second = try await upload([plaque()])
        #expect(second.layers.first?.adds.first?.error?.code == 1000)
        #expect(try await store.count(FeatureQuery(), in: Orchard.plaques) == 1)
    }

    @Test("Of two features with the same unique value the second is refused and stays its crew's")
    func uniqueValues() async throws {
        // Fields of a service in a database stay as they were made.
        guard StoreKind.current == .geoPackage else { return }
        var definition = try await store.service(Orchard.name)
        var areas = definition.layers[6]
        areas.fields.append(FieldDefinition(name: "Number", type: .integer))
        areas.unknownMembers["indexes"] = [["name": "numbers", "fields": "Number", "isUnique": true]]
        definition.layers[6] = areas
        try await store.updateService(definition, allowing: .addsFields)
        func area(_ number: Int64) -> ReplicaLayerUpload {
            ReplicaLayerUpload(
                layerID: 6, adds: [Orchard.edit(["Number": .integer(number)], globalID: UUID())])
        }
        #expect(try await !upload([area(7)]).hasErrors)
        #expect(try await upload([area(7)]).hasErrors)
        #expect(try await !upload([area(8)]).hasErrors)
        #expect(Set(try await store.values("Number", of: Orchard.areas)) == [.integer(7), .integer(8)])
    }
}
