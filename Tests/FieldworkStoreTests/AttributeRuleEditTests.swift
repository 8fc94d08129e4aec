import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Rules whose result edits other features.
@Suite("Attribute rules that edit other features", .fewAtATime, .everyStore)
struct AttributeRuleEditTests {
    private typealias Rule = AttributeRuleDefinition

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func rule(_ script: String, _ events: Set<Rule.Event> = [.insert, .update]) -> Rule {
        Rule(name: "Rule", kind: .calculation, script: script, events: events)
    }

    private func store(trees: [Rule], visits: [Rule] = []) async throws -> any FeatureStore {
        var service = Samples.service
        service.layers[0].attributeRules = trees
        service.layers[1].attributeRules = visits
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(service)
        return store
    }

    private func add(_ store: any FeatureStore, _ edits: [FeatureEdit], to layerID: Int = 0) async throws
        -> [EditResult]
    {
        let batch = Samples.batch(adds: edits, layerID: layerID, rollsBackOnFailure: false)
        return try await store.apply(batch, to: Samples.name).layers[0].adds
    }

    private func update(
        _ store: any FeatureStore, _ id: Int64?, _ attributes: [(name: String, value: AttributeValue)]
    ) async throws -> EditResult {
        let batch = Samples.batch(
            updates: [FeatureEdit(objectID: id, attributes: attributes)], rollsBackOnFailure: false)
        return try await store.apply(batch, to: Samples.name).layers[0].updates[0]
    }

    private func trees(_ store: any FeatureStore) async throws -> [FeatureRecord] {
        try await store.records(FeatureQuery(), in: Samples.trees)
    }

    private func remarks(_ store: any FeatureStore) async throws -> [AttributeValue] {
        try await store.records(FeatureQuery(), in: Samples.visits).map { $0.attributes["remark"] ?? .null }
    }

    private static func visit(_ remark: String) -> String {
        "{className: 'Visits', adds: [{attributes: {tree: $feature.GlobalID, remark: \(remark)}}]}"
    }

    @Test("A new feature adds a row elsewhere that names it, in the same generation, and both are in the log")
    func adds() async throws {
        let store = try await store(trees: [
            Self.rule("return {edit: [\(Self.visit("'planted ' + $feature.species"))]}", [.insert])
        ])
        let result = try #require(try await add(store, [Samples.tree("oak")]).first)
        #expect(result.isSuccess)
        let visit = try #require(try await store.records(FeatureQuery(), in: Samples.visits).first)
        #expect(visit.attributes["remark"] == .text("planted oak"))
        #expect(visit.attributes["tree"]?.textValue?.uppercased() == result.globalID.map { "{\($0.uuidString)}" })
        let changes = try await store.changes(after: 0, in: Samples.visits, limit: 10)
        let own = try await store.changes(after: 0, in: Samples.trees, limit: 10)
        #expect(changes.map(\.generation) == own.map(\.generation) && changes.count == 1)
    }

    @Test("A device gets what rules made of its upload, once: the upload again brings about nothing more")
    func uploads() async throws {
        let planted =
            "{className: 'Trees', adds: [{attributes: {species: 'acorn'}, geometry: Geometry($feature)}]}"
        let store = try await store(trees: [
            Self.rule("if ($feature.species == 'acorn') { return {edit: []} } return {edit: [\(planted)]}", [.insert])
        ])
        let replicas = try #require(store as? any ReplicaStore)
        var client = try await replicas.client("ada")
        client.trees[UUID()] = FieldClient.Tree(species: "oak", note: nil, x: 1)
        let upload = client.upload()
        for _ in 0..<2 {
            let result = try await replicas.apply(upload, to: Samples.name)
            #expect(!result.hasErrors, "\(result.layers[0].adds)")
        }
        client.take(try await replicas.delta(for: client, upload: upload.layers[0]))
        #expect(client.trees.values.compactMap(\.species).sorted() == ["acorn", "oak"])
        #expect(try await replicas.currentTrees() == client.trees)
    }

    @Test("Many adds at a time have their rows each")
    func manyAdds() async throws {
        let store = try await store(trees: [Self.rule("return {edit: [\(Self.visit("$feature.species"))]}", [.insert])])
        let results = try await add(store, (0..<30).map { Samples.tree("oak \($0)") })
        #expect(results.count == 30 && results.allSatisfy(\.isSuccess))
        #expect(Set(try await remarks(store)) == Set((0..<30).map { .text("oak \($0)") }))
    }

    @Test("Updates and deletes reach the features that they name, by either id, and geometries go along")
    func updatesAndDeletes() async throws {
        let script = """
            if ($feature.species != 'boss') { return }
            var updates = [], deletes = [];
            for (var tree in $featureSet) {
                if (tree.species == 'old') Push(deletes, {globalID: tree.GlobalID});
                if (tree.species == 'small') {
                    Push(updates, {objectID: tree.OBJECTID, attributes: {height: 7}, geometry: Geometry($feature)});
                }
            }
            return {result: {attributes: {height: 9}}, edit: [{className: 'trees', updates: updates, deletes: deletes}]};
            """
        let store = try await store(trees: [Self.rule(script.replacing("{ return }", with: "return {edit: []}"))])
        _ = try await add(store, [Samples.tree("old"), Samples.tree("small"), Samples.tree("other")])
        let boss = try #require(try await add(store, [Samples.tree("boss", x: 40)]).first)
        #expect(boss.isSuccess, "\(boss.error?.description ?? "")")
        let trees = try await trees(store)
        #expect(trees.map { $0.attributes["species"]?.textValue } == ["small", "other", "boss"])
        #expect(trees.map { $0.attributes["height"] ?? .null } == [.real(7), .null, .real(9)])
        #expect((trees[0].geometry as? Point)?.x == 40)
    }

    @Test(
        "An edit that a rule asks for keeps the rules of its own layer; where one refuses it, nothing of the edit is kept"
    )
    func otherRules() async throws {
        let store = try await store(
            trees: [Self.rule("return {edit: [\(Self.visit("$feature.species"))]}")],
            visits: [
                Rule(name: "Loud", kind: .calculation, fieldName: "remark", script: "Upper($feature.remark)"),
                Rule(
                    name: "No weed", kind: .constraint, script: "$feature.remark != 'WEED'",
                    errorMessage: "No weed is visited."),
            ])
        let results = try await add(store, [Samples.tree("oak"), Samples.tree("weed"), Samples.tree("elm")])
        #expect(results.map(\.isSuccess) == [true, false, true])
        #expect(results[1].error?.description.contains("No weed is visited.") == true)
        #expect(try await remarks(store) == [.text("OAK"), .text("ELM")])
        #expect(try await trees(store).count == 2)
        // An update that is refused leaves the feature as it was.
        let refused = try await update(store, results[0].objectID, [("species", .text("weed"))])
        #expect(refused.error != nil)
        #expect(try await trees(store).first?.attributes["species"] == .text("oak"))
        #expect(try await remarks(store).count == 2)
    }

    @Test("Rules that call each other without an end are stopped, and nothing of the edit is kept")
    func loops() async throws {
        let store = try await store(
            trees: [Self.rule("return {edit: [\(Self.visit("'again'"))]}", [.insert])],
            visits: [
                Self.rule("return {edit: [{className: 'Trees', adds: [{attributes: {species: 'x'}}]}]}", [.insert])
            ])
        let result = try #require(try await add(store, [Samples.tree("oak")]).first)
        #expect(
            result.error?.description.contains("more than \(FieldworkStore.Limits.ruleCascade) one after the other")
                == true)
        #expect(try await trees(store).isEmpty)
        #expect(try await remarks(store).isEmpty)
    }

    @Test("Rules that agree with each other come to an end: an edit that changes nothing runs none")
    func agreement() async throws {
        let store = try await store(
            trees: [
                Self.rule(
                    """
                    var others = [];
                    for (var tree in $featureSet) {
                        if (tree.GlobalID != $feature.GlobalID) Push(others, {globalID: tree.GlobalID, attributes: {stems: $feature.stems}});
                    }
                    return {edit: [{className: 'Trees', updates: others}]}
                    """, [.update])
            ])
        let ids = try await add(store, [Samples.tree("oak"), Samples.tree("elm")]).map(\.objectID)
        let result = try await update(store, ids[0], [("stems", .integer(4))])
        #expect(result.isSuccess, "\(result.error?.description ?? "")")
        #expect(try await trees(store).map { $0.attributes["stems"] ?? .null } == [.integer(4), .integer(4)])
    }

    @Test("A delete runs rules as well: what they ask for is done, and values for the deleted feature are refused")
    func deletes() async throws {
        let store = try await store(trees: [
            Self.rule("return {edit: [\(Self.visit("'felled ' + $feature.species"))]}", [.delete])
        ])
        let id = try #require(try await add(store, [Samples.tree("oak")]).first?.objectID)
        let result = try await store.apply(Samples.batch(deletes: [.objectID(id)]), to: Samples.name).layers[0].deletes[
            0]
        #expect(result.isSuccess)
        #expect(try await remarks(store) == [.text("felled oak")])
        #expect(try await trees(store).isEmpty)
    }

    @Test(
        "What can't be carried out is refused with a word, and nothing is kept",
        arguments: [
            ("{className: 'Nowhere', adds: []}", "no layer Nowhere"),
            ("{adds: []}", "className"),
            (
                "{className: 'Visits', adds: [{attributes: {remark: 'a'}, associationType: 'content'}]}",
                "associationType"
            ),
            ("{className: 'Visits', adds: [{attributes: {nothing: 1}}]}", "nothing"),
            ("{className: 'Visits', updates: [{attributes: {remark: 'a'}}]}", "objectID or a globalID"),
            ("{className: 'Visits', updates: [{objectID: 77, attributes: {remark: 'a'}}]}", "no feature"),
            ("{className: 'Visits', deletes: [{objectID: 77}]}", "no feature"),
            ("{className: 'Visits', adds: [{geometry: Geometry($feature)}]}", "geometry"),
            ("{className: 'Visits', adds: [{attributes: {remark: [1]}}]}", "no value of a field"),
        ])
    func refusals(edit: String, word: String) async throws {
        let store = try await store(trees: [Self.rule("return {edit: [\(edit)]}", [.insert])])
        let result = try #require(try await add(store, [Samples.tree("oak")]).first)
        #expect(result.error?.description.contains(word) == true, "\(result.error?.description ?? "no error")")
        #expect(result.error?.description.contains("Rule") == true)
        #expect(try await trees(store).isEmpty)
    }

    @Test("One edit brings about so many others, and not one more")
    func most() async throws {
        let script = """
            var adds = [];
            for (var i = 0; i < $feature.stems; i++) Push(adds, {attributes: {remark: 'visit ' + i}});
            return {edit: [{className: 'Visits', adds: adds}]}
            """
        let store = try await store(trees: [Self.rule(script, [.insert])])
        let most = FieldworkStore.Limits.ruleEdits
        let results = try await add(
            store, [most, most + 1].map { Samples.tree("oak", [("stems", .integer(Int64($0)))]) })
        #expect(results.map(\.isSuccess) == [true, false])
        #expect(results[1].error?.description.contains("\(most)") == true)
        #expect(try await remarks(store).count == most)
    }

    @Test("A rule gives a feature its geometry")
    func geometry() async throws {
        let script =
            "return {result: {geometry: Point({x: Round(Geometry($feature).x), y: 5, spatialReference: {wkid: 3857}})}}"
        let store = try await store(trees: [Self.rule(script)])
        let id = try #require(try await add(store, [Samples.tree("oak", x: 3.4)]).first?.objectID)
        #expect((try await trees(store).first?.geometry as? Point)?.x == 3)
        let moved = FeatureEdit(objectID: id, geometry: .geometry(Point(x: 8.8, y: 1, spatialReference: .webMercator)))
        _ = try await store.apply(Samples.batch(updates: [moved]), to: Samples.name)
        let point = try await trees(store).first?.geometry as? Point
        #expect(point?.x == 9 && point?.y == 5)
    }

    @Test("What a client may not set, a rule may; who and when are kept by the store")
    func fields() async throws {
        var service = Samples.service
        service.layers[1].fields[2].isEditable = false
        service.layers[0].attributeRules = [Self.rule("return {edit: [\(Self.visit("'by rule'"))]}", [.insert])]
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(service)
        _ = try await add(store, [Samples.tree("oak")])
        #expect(try await remarks(store) == [.text("by rule")])
    }

    @Test("A copy on a device leaves edits of other features to its service; a file without a service carries them out")
    func devices() async throws {
        var service = Samples.service
        service.layers[0].attributeRules = [
            Self.rule("return {result: {attributes: {height: 3}}, edit: [\(Self.visit("'here'"))]}", [.insert])
        ]
        let url = folder.url.appending(path: "device.gpkg")
        let file = try await GeoPackageFile.create(at: url, definition: service, options: .init(recordsUndo: true))
        _ = try await file.apply(Samples.batch(adds: [Samples.tree("oak")]))
        #expect(try await file.records(FeatureQuery(), in: 1).count == 1)
        try await file.keepNote("{}", as: GeoPackageFile.replicaNote)
        let added = try await file.apply(Samples.batch(adds: [Samples.tree("elm")])).layers[0].adds[0]
        #expect(added.isSuccess)
        #expect(try await file.records(FeatureQuery(), in: 1).count == 1)
        // What the rule gives the feature itself holds on the device as well.
        #expect(try await file.records(FeatureQuery(), in: 0).map { $0.attributes["height"] } == [.real(3), .real(3)])
        await file.close()
    }
}
