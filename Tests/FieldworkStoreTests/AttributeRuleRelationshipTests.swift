import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Rules read the features that a feature is related to, over every kind of relationship.
@Suite("Attribute rules that read relationships", .fewAtATime, .everyStore)
struct AttributeRuleRelationshipTests {
    private static let maple = UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
    private static let oak = UUID(uuid: (2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2))
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An orchard with two trees, three visits to the first, a plaque, and two people who care for it.
    private func store(_ layer: Int, _ rules: AttributeRuleDefinition...) async throws -> any FeatureStore {
        var definition = Orchard.definition()
        definition.layers[0].fields.append(FieldDefinition(name: "Label", type: .string, length: 40))
        definition.layers[layer].attributeRules = rules
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(definition)
        let place = FeatureEdit.GeometryEdit.geometry(Point(x: 1, y: 2, spatialReference: .webMercator))
        func tree(_ code: String, _ id: UUID) -> FeatureEdit {
            FeatureEdit(globalID: id, attributes: [("Code", .text(code))], geometry: place)
        }
        func visit(_ note: String) -> FeatureEdit {
            Orchard.edit(["Tree": Orchard.guid(Self.maple), "Note": .text(note)], globalID: UUID())
        }
        let results = try await store.edit([
            LayerEdits(layerID: 0, adds: [tree("M", Self.maple), tree("O", Self.oak)]),
            LayerEdits(layerID: 1, adds: [visit("b"), visit("c"), visit("a")]),
            LayerEdits(layerID: 3, adds: [Orchard.edit(["TreeCode": .text("M")], globalID: UUID())]),
            LayerEdits(
                layerID: 4,
                adds: ["Ada", "Bob", "Cy"].map { Orchard.edit(["Name": .text($0)], globalID: UUID()) }),
        ])
        let refused = results.layers.flatMap(\.adds).filter { !$0.isSuccess }
        #expect(refused.isEmpty, "\(refused)")
        let links = [(1, 1), (1, 3), (2, 2)].map { tree, person in
            Orchard.edit(["TreeID": .integer(Int64(tree)), "PersonID": .integer(Int64(person))], globalID: UUID())
        }
        try await store.edit([LayerEdits(layerID: 5, adds: links)])
        return store
    }

    private func update(_ store: any FeatureStore, _ layer: Int, _ id: Int64, _ field: String, _ value: AttributeValue)
        async throws -> EditResult
    {
        let edit = FeatureEdit(objectID: id, attributes: [(field, value)])
        return try await store.edit(
            [LayerEdits(layerID: layer, updates: [edit])], usesGlobalIDs: false, rollsBack: false
        )
        .layers[0].updates[0]
    }

    @Test(
        "A rule counts, filters, orders and adds over what a feature is related to",
        arguments: [
            ("Text(Count(FeatureSetByRelationshipName($feature, 'R0')))", "3", ""),
            ("First(OrderBy(FeatureSetByRelationshipName($feature, 'r0'), 'Note')).Note", "a", ""),
            (
                "Text(Count(Filter(FeatureSetByRelationshipName($feature, 'R0', ['Note'], false), \"Note <> 'a'\")))",
                "2", "0"
            ),
            ("Max(FeatureSetByRelationshipName($feature, 'R0'), 'Note')", "c", ""),
            ("Text(Count(FeatureSetByRelationshipName($feature, 'R2')))", "1", "0"),
            (
                "var n = ''; for (var p in OrderBy(FeatureSetByRelationshipName($feature, 'R3'), 'Name')) { n += p.Name } n",
                "AdaCy", "Bob"
            ),
            (
                "Text(Count(FeatureSetByRelationshipName(First(FeatureSetByRelationshipName($feature, 'R3')), 'R3')))",
                "1",
                "1"
            ),
            ("Text(Count(FeatureSetByRelationshipName($feature, 'R4')))", "0", "0"),
        ])
    func reading(script: String, maple: String, oak: String) async throws {
        let rule = AttributeRuleDefinition(
            name: "Label", kind: .calculation, fieldName: "Label", script: script, events: [.update])
        let store = try await store(0, rule)
        let updated = try await update(store, 0, 1, "Area", .integer(7))
        #expect(updated.isSuccess, "\(updated.error?.description ?? "")")
        #expect(try await store.values("Label", of: Orchard.trees).first == .text(maple))
        if !oak.isEmpty {
            #expect(try await update(store, 0, 2, "Area", .integer(7)).isSuccess)
            #expect(try await store.values("Label", of: Orchard.trees).last == .text(oak))
        }
    }

    @Test("A rule of a new row reads the feature that it belongs to, as the edits before it have left it")
    func parents() async throws {
        let rule = AttributeRuleDefinition(
            name: "Young", kind: .constraint, script: "First(FeatureSetByRelationshipName($feature, 'R0')).Code != 'X'",
            events: [.insert], errorMessage: "Tree X is not visited.")
        let store = try await store(1, rule)
        let visit = Orchard.edit(["Tree": Orchard.guid(Self.oak), "Note": .text("d")], globalID: UUID())
        #expect(try await store.edit([LayerEdits(layerID: 1, adds: [visit])]).layers[0].adds[0].isSuccess)
        _ = try await update(store, 0, 2, "Code", .text("X"))
        let refused = Orchard.edit(["Tree": Orchard.guid(Self.oak), "Note": .text("e")], globalID: UUID())
        let result = try await store.edit([LayerEdits(layerID: 1, adds: [refused])], rollsBack: false)
        #expect(result.layers[0].adds[0].error?.description == "Tree X is not visited.")
    }

    @Test("A relationship that is not there refuses the edit by its name")
    func missing() async throws {
        let rule = AttributeRuleDefinition(
            name: "Label", kind: .calculation, fieldName: "Label",
            script: "Count(FeatureSetByRelationshipName($feature, 'Nobody'))", events: [.update])
        let store = try await store(0, rule)
        let refused = try await update(store, 0, 1, "Area", .integer(7))
        #expect(refused.error?.description.contains("Nobody") == true)
    }
}
