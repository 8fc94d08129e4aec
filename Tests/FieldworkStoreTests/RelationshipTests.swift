import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Relationships: keys of what is added and changed", .fewAtATime, .everyStore)
struct RelationshipTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
        try await store.createService(Orchard.definition())
    }

    @Test("A part and its whole come in one batch, in whichever order, by global id")
    func byGlobalID() async throws {
        let tree = UUID()
        let result = try await store.edit([
            LayerEdits(layerID: 1, adds: [Orchard.edit(["Tree": Orchard.guid(tree), "Note": .text("first")])]),
            LayerEdits(layerID: 0, adds: [Orchard.edit(["Code": .text("A")], globalID: tree)]),
        ])
        #expect(!result.hasErrors)
        #expect(result.layers.map(\.layerID) == [1, 0])
        #expect(try await store.values("Tree", of: Orchard.visits) == [Orchard.guid(tree)])
    }

    @Test(
        "Negative object ids stand for new features within the batch, also in the table of a many-to-many relationship")
    func byProvisionalObjectID() async throws {
        // The ids that the store gives are others than the positions in the request.
        try await store.edit([
            LayerEdits(layerID: 0, adds: [Orchard.edit([:]), Orchard.edit([:])]),
            LayerEdits(layerID: 4, adds: [Orchard.edit([:])]),
        ])
        var tree = Orchard.edit(["Code": .text("new")])
        tree.provisionalObjectID = -1
        var person = Orchard.edit(["Name": .text("Ada")])
        person.provisionalObjectID = -1
        let result = try await store.edit([
            LayerEdits(layerID: 5, adds: [Orchard.edit(["TreeID": .integer(-1), "PersonID": .integer(-1)])]),
            LayerEdits(layerID: 4, adds: [person]), LayerEdits(layerID: 0, adds: [tree]),
        ])
        #expect(!result.hasErrors)
        #expect(result.layers[2].adds[0].objectID == 3)
        #expect(try await store.values("TreeID", of: Orchard.care) == [.integer(3)])
        #expect(try await store.values("PersonID", of: Orchard.care) == [.integer(2)])
    }

    @Test("Without useGlobalIds the server's new global ids replace the client's in the keys of the same batch")
    func byProvisionalGlobalID() async throws {
        let sent = UUID()
        var tree = Orchard.edit([:])
        tree.provisionalGlobalID = sent
        let result = try await store.edit(
            [
                LayerEdits(layerID: 1, adds: [Orchard.edit(["Tree": Orchard.guid(sent)])]),
                LayerEdits(layerID: 0, adds: [tree]),
            ], usesGlobalIDs: false)
        #expect(!result.hasErrors)
        let given = try #require(result.layers[1].adds[0].globalID)
        #expect(given != sent)
        #expect(try await store.values("Tree", of: Orchard.visits) == [Orchard.guid(given)])
    }

    @Test("A key that names a feature which could not be added fails its item")
    func failedOrigin() async throws {
        var tree = Orchard.edit(["Code": .text("too long for its field")])
        tree.provisionalObjectID = -1
        let result = try await store.edit(
            [
                LayerEdits(layerID: 0, adds: [tree]),
                LayerEdits(layerID: 5, adds: [Orchard.edit(["TreeID": .integer(-1)])]),
            ], rollsBack: false)
        #expect(
            result.layers[1].adds[0].error
                == EditError(code: 1000, description: "Field TreeID: the feature that it names could not be added."))
        #expect(try await store.count(FeatureQuery(), in: Orchard.care) == 0)
    }

    @Test("A layer that refers to itself takes wholes and parts in whichever order")
    func selfReference() async throws {
        let ids = (0..<3).map { _ in UUID() }
        let result = try await store.edit(
            [
                LayerEdits(
                    layerID: 6,
                    adds: [2, 1, 0].map { index in
                        var area = Orchard.edit(index == 0 ? [:] : ["Parent": Orchard.guid(ids[index - 1])])
                        area.provisionalGlobalID = ids[index]
                        return area
                    })
            ], usesGlobalIDs: false)
        #expect(!result.hasErrors)
        let given = result.layers[0].adds.map(\.globalID)
        let parents = try await store.records(FeatureQuery(), in: Orchard.areas).map { $0.attributes["Parent"] }
        // The whole was written first, so that its parts could name it.
        #expect(parents == [.null, given[2].map(Orchard.guid), given[1].map(Orchard.guid)])
    }

    @Test("A part without a whole is refused, at adds and at updates")
    func compositeNeedsItsWhole() async throws {
        let tree = UUID()
        let nobody = UUID()
        try await store.edit([
            LayerEdits(layerID: 0, adds: [Orchard.edit([:], globalID: tree)]),
            LayerEdits(layerID: 1, adds: [Orchard.edit(["Tree": Orchard.guid(tree)])]),
        ])
        let result = try await store.edit(
            [
                LayerEdits(
                    layerID: 1,
                    adds: [Orchard.edit(["Tree": Orchard.guid(nobody)]), Orchard.edit(["Note": .text("x")])],
                    updates: [
                        FeatureEdit(objectID: 1, attributes: [("Tree", Orchard.guid(nobody))]),
                        FeatureEdit(objectID: 1, attributes: [("Note", .text("fine"))]),
                    ])
            ], usesGlobalIDs: false, rollsBack: false)
        let missing = EditError(code: 1000, description: "Field Tree names no feature of Trees.")
        let none = EditError(code: 1000, description: "Field Tree must name a feature of Trees: R0 is composite.")
        #expect(result.layers[0].adds.map(\.error) == [missing, none])
        #expect(result.layers[0].updates.map(\.error) == [missing, nil])
        #expect(try await store.values("Tree", of: Orchard.visits) == [Orchard.guid(tree)])
    }

    @Test("A second related row of a one-to-one relationship is refused, the first may be written again")
    func oneToOne() async throws {
        try await store.edit([LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")])])])
        let result = try await store.edit(
            [
                LayerEdits(
                    layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")]), Orchard.edit(["TreeCode": .text("B")])],
                    updates: [
                        FeatureEdit(objectID: 1, attributes: [("TreeCode", .text("A"))]),
                        FeatureEdit(objectID: 2, attributes: [("TreeCode", .text("A"))]),
                    ])
            ], usesGlobalIDs: false, rollsBack: false)
        let error = EditError(
            code: 1000, description: "Field TreeCode: the feature of Trees is related already, and to one at most.")
        #expect(result.layers[0].adds.map(\.error) == [error, nil])
        #expect(result.layers[0].updates.map(\.error) == [nil, error])
    }

    @Test("The one related row takes its own key again, alone and with another row that leaves")
    func oneToOneAgain() async throws {
        try await store.edit([
            LayerEdits(
                layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")]), Orchard.edit(["TreeCode": .text("B")])])
        ])
        for _ in 0..<2 {
            let result = try await store.edit(
                [
                    LayerEdits(
                        layerID: 3,
                        updates: [1, 2].map {
                            FeatureEdit(objectID: $0, attributes: [("TreeCode", .text($0 == 1 ? "A" : "B"))])
                        })
                ], usesGlobalIDs: false)
            #expect(result.layers[0].updates.map(\.error) == [nil, nil])
        }
    }

    @Test("Rows follow when the key changes that they hold; a key that is held can't be emptied")
    func keyChanges() async throws {
        try await store.edit([
            LayerEdits(layerID: 0, adds: [Orchard.edit(["Code": .text("A")]), Orchard.edit(["Code": .text("B")])]),
            LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")])]),
        ])
        func setCode(_ value: AttributeValue) async throws -> EditError? {
            try await store.edit(
                [LayerEdits(layerID: 0, updates: [FeatureEdit(objectID: 1, attributes: [("Code", value)])])],
                usesGlobalIDs: false
            ).layers[0].updates[0].error
        }
        #expect(try await setCode(.text("Z")) == nil)
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.text("Z")])
        #expect(
            try await store.changes(after: 1, in: Orchard.plaques, limit: 10).map(\.changedFields) == [["TreeCode"]])
        let error = EditError(code: 1019, description: "Field Code is the key of rows of Plaques: it can't be null.")
        #expect(try await setCode(.null) == error)
        #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.text("Z")])
    }

    @Test("Rows keep a key that another origin still has; they follow the last origin that has it")
    func sharedKey() async throws {
        try await store.edit([
            LayerEdits(layerID: 0, adds: [Orchard.edit(["Code": .text("A")]), Orchard.edit(["Code": .text("A")])]),
            LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("A")])]),
        ])
        for (tree, code, followed) in [(1, "Y", "A"), (2, "Z", "Z")] {
            let update = FeatureEdit(objectID: Int64(tree), attributes: [("Code", .text(code))])
            let result = try await store.edit([LayerEdits(layerID: 0, updates: [update])], usesGlobalIDs: false)
            #expect(!result.hasErrors)
            #expect(try await store.values("TreeCode", of: Orchard.plaques) == [.text(followed)])
        }
    }

    enum Spoiling: String, CaseIterable {
        case twice = "is there twice"
        case noField = "does not have"
        case composite = "can't be composite"
        case role = "same role"
        case contradiction = "told otherwise"
        case noKeyInTable = "holds its key"

        func spoil(_ layers: inout [LayerDefinition]) {
            switch self {
            case .twice: layers[0].relationships.append(layers[0].relationships[0])
            case .noField: layers[1].relationships[0].keyField = "Nothing"
            case .composite: layers[0].relationships[2].isComposite = true
            case .role: layers[1].relationships[0].role = .origin
            case .contradiction: layers[1].relationships[0].isComposite = false
            case .noKeyInTable: layers[0].relationships[2].keyFieldInRelationshipTable = nil
            }
        }
    }

    @Test("A definition whose relationships can't be kept is refused", arguments: Spoiling.allCases)
    func invalidDefinitions(_ spoiling: Spoiling) async throws {
        var definition = Orchard.definition()
        definition.name = ServiceName(name: "Spoiled")
        spoiling.spoil(&definition.layers)
        let error = await #expect(throws: StoreError.self) { try await store.createService(definition) }
        #expect(error?.code == .invalidDefinition)
        #expect(error?.message.contains(spoiling.rawValue) == true)
        // A side that is in no layer of the service does no harm.
        definition = Orchard.definition()
        definition.name = ServiceName(name: "Part")
        definition.layers.removeAll { $0.id == 0 }
        try await store.createService(definition)
    }

    @Test("A batch from a service into a cache, and a bulk load, are taken in pieces", arguments: [true, false])
    func pieces(isCache: Bool) async throws {
        let batch = EditBatch(
            layers: [LayerEdits(layerID: 1, adds: [Orchard.edit(["Tree": Orchard.guid(UUID())])])],
            moment: Samples.moment, origin: isCache ? .cache : .load)
        let result = try await store.apply(batch, to: Orchard.name)
        #expect(!result.hasErrors)
    }
}
