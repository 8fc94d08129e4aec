import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Attribute rules of a layer", .fewAtATime, .everyStore)
struct AttributeRuleTests {
    private typealias Rule = AttributeRuleDefinition

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with trees that keep rules.
    private func store(_ rules: Rule...) async throws -> any FeatureStore {
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(Self.service(rules))
        return store
    }

    private static func service(_ rules: [Rule]) -> ServiceDefinition {
        var trees = Samples.treeLayer
        trees.fields.append(FieldDefinition(name: "label", type: .string, length: 12))
        trees.fields.append(FieldDefinition(name: "size", type: .integer, isNullable: false))
        trees.attributeRules = [Rule(name: "Size", kind: .calculation, fieldName: "size", script: "7")] + rules
        return ServiceDefinition(name: Samples.name, layers: [trees, Samples.visitTable])
    }

    private static func calculation(_ script: String, order: Int = 1, triggers: [String] = []) -> Rule {
        Rule(
            name: "Label \(order)", kind: .calculation, fieldName: "label", script: script, triggeringFields: triggers,
            order: order)
    }

    private static func constraint(
        _ script: String, _ events: Set<Rule.Event> = [.insert, .update], message: String = ""
    ) -> Rule {
        Rule(name: "Rule", kind: .constraint, script: script, events: events, errorNumber: 7_001, errorMessage: message)
    }

    private static let tree = Samples.tree("oak", x: 3, [("height", .real(2)), ("label", .text("by hand"))])

    private func add(_ store: any FeatureStore, _ edit: FeatureEdit = tree) async throws -> EditResult {
        try await store.apply(Samples.batch(adds: [edit]), to: Samples.name).layers[0].adds[0]
    }

    private func update(
        _ store: any FeatureStore, _ id: Int64?, _ attributes: KeyValuePairs<String, AttributeValue>
    ) async throws -> EditResult {
        let edit = FeatureEdit(objectID: id, attributes: attributes.map { (name: $0.key, value: $0.value) })
        return try await store.apply(Samples.batch(updates: [edit]), to: Samples.name).layers[0].updates[0]
    }

    private func value(_ field: String, _ store: any FeatureStore) async throws -> AttributeValue? {
        try await store.records(FeatureQuery(), in: Samples.trees).first?.attributes[field]
    }

    // MARK: Values

    @Test("A calculation sets its field, whatever was sent, also one that must not be null")
    func calculations() async throws {
        let store = try await store(
            Self.calculation("Upper($feature.species) + ' ' + $feature.height + ' ' + $feature.size"))
        let added = try await add(store)
        #expect(added.isSuccess)
        #expect(try await value("label", store) == .text("OAK 2 7"))
        #expect(try await update(store, added.objectID, ["height": .real(3.5)]).isSuccess)
        #expect(try await value("label", store) == .text("OAK 3.5 7"))
    }

    @Test(
        "A field of text takes a number or a truth as the language writes it",
        arguments: [
            ("1 / 4", "0.25"), ("12", "12"), ("1 == 1", "true"), ("return {attributes: {label: 3}}", "3"),
        ])
    func texts(script: String, text: String) async throws {
        let store = try await store(Self.calculation(script))
        _ = try await add(store)
        #expect(try await value("label", store) == .text(text), "\(script)")
    }

    @Test("Rules run in their order, and each sees what those before it have set")
    func order() async throws {
        let store = try await store(
            Self.calculation("$feature.label + '!'", order: 3),
            Self.calculation("$feature.label + $feature.size", order: 2),
            Self.calculation("'a'", order: 1))
        _ = try await add(store)
        #expect(try await value("label", store) == .text("a7!"))
    }

    @Test("A rule with triggering fields runs when one of them gets another value, and not else")
    func triggers() async throws {
        let store = try await store(Self.calculation("$editContext.editType", triggers: ["height"]))
        let id = try await add(store).objectID
        #expect(try await value("label", store) == .text("INSERT"))
        _ = try await update(store, id, ["label": .text("kept"), "height": .real(2), "species": .text("elm")])
        #expect(try await value("label", store) == .text("kept"))
        _ = try await update(store, id, ["height": .real(4)])
        #expect(try await value("label", store) == .text("UPDATE"))
    }

    @Test("A rule reads the geometry, who edits, and when")
    func surroundings() async throws {
        let store = try await store(
            Self.calculation("Geometry($feature).x + GetUser().username + Year(Now())"))
        let id = try await add(store).objectID
        #expect(try await value("label", store) == .text("3ada2026"))
        let moved = FeatureEdit(
            objectID: id, geometry: .geometry(Point(x: 5, y: 0, spatialReference: .webMercator)))
        _ = try await store.apply(Samples.batch(updates: [moved]), to: Samples.name)
        #expect(try await value("label", store) == .text("5ada2026"))
    }

    @Test("A dictionary sets several fields; what a rule gives is checked as every value is")
    func dictionaries() async throws {
        let store = try await store(
            Rule(
                name: "Both", kind: .calculation,
                script: "return {attributes: {label: 'two', stems: $feature.height}}"))
        let id = try await add(store).objectID
        #expect(try await value("label", store) == .text("two"))
        #expect(try await value("stems", store) == .integer(2))
        let refused = try await update(store, id, ["height": .real(2.5)])
        #expect(refused.error?.description.contains("stems") == true)
        #expect(try await value("height", store) == .real(2))
    }

    @Test(
        "A rule that can't be kept refuses the edit and says which one it is",
        arguments: [
            "'a text that is much too long'", "$feature.height.parts", "return {edit: 5}", "[1, 2]",
            "return {errorMessage: 'Not on Sundays'}",
        ])
    func broken(script: String) async throws {
        let store = try await store(Self.calculation(script))
        let refused = try await add(store)
        let text = try #require(refused.error?.description)
        #expect(["Label 1", "label", "Not on Sundays"].contains(where: text.contains))
        #expect(try await store.records(FeatureQuery(), in: Samples.trees).isEmpty)
    }

    // MARK: Constraints

    @Test("A constraint refuses the edits that break it, with its message and number")
    func constraints() async throws {
        let store = try await store(
            Self.constraint("$feature.height <= 10", message: "Trees have at most 10 metres."))
        let id = try await add(store).objectID
        let refused = try await update(store, id, ["height": .real(11)])
        #expect(refused.error?.description == "Trees have at most 10 metres.")
        #expect(refused.error?.code == 7_001)
        #expect(try await value("height", store) == .real(2))
        #expect(try await update(store, id, ["height": .real(10)]).isSuccess)
    }

    @Test("A constraint sees what the feature was, and what the calculations have set")
    func originals() async throws {
        let store = try await store(
            Self.calculation("'h' + $feature.height"),
            Self.constraint(
                """
                if ($feature.label != 'h' + $feature.height) return false;
                if ($editContext.editType == 'INSERT') return IsEmpty($originalFeature.height);
                if ($feature.height < $originalFeature.height) return {errorMessage: 'It was ' + $originalFeature.height};
                return true;
                """))
        let id = try await add(store).objectID
        #expect(id != nil)
        #expect(try await update(store, id, ["height": .real(1)]).error?.description == "It was 2")
        #expect(try await update(store, id, ["height": .real(3)]).isSuccess)
    }

    @Test("A constraint of deletes keeps a feature, and lets others go")
    func deletes() async throws {
        let store = try await store(Self.constraint("$feature.height < 5", [.delete], message: "Tall trees stay."))
        let (tall, low) = (try await add(store).objectID, try await add(store).objectID)
        _ = try await update(store, tall, ["height": .real(20)])
        for (id, isKept) in [(tall, true), (low, false)] {
            let result = try await store.apply(
                Samples.batch(deletes: [.objectID(try #require(id))]), to: Samples.name
            ).layers[0].deletes[0]
            #expect(result.error?.description == (isKept ? "Tall trees stay." : nil))
        }
        #expect(try await store.records(FeatureQuery(), in: Samples.trees).map(\.objectID) == [try #require(tall)])
    }

    @Test("A rule reads the layers of the service as the edits before it have left them")
    func otherRows() async throws {
        let store = try await store(
            Self.constraint(
                """
                var name = $feature.species;
                var trees = FeatureSetByName($datastore, 'Trees', ['species'], false);
                return Count(Filter(trees, 'species = @name')) < 2;
                """, [.insert], message: "There are two already."))
        let batch = Samples.batch(adds: Array(repeating: Self.tree, count: 30), rollsBackOnFailure: false)
        let results = try await store.apply(batch, to: Samples.name).layers[0].adds
        #expect(results.map(\.isSuccess) == [true, true] + Array(repeating: false, count: 28))
        #expect(results[2].error?.description == "There are two already.")
    }

    @Test("A rule reads so many rows of a layer at once, where the database can't answer for it, and not one more")
    func mostRows() async throws {
        let store = try await store(
            Self.constraint(
                """
                var trees = FeatureSetByName($datastore, 'Trees', ['species'], true);
                var place = Extent({xMin: -1, yMin: -1, xMax: 1, yMax: 1, spatialReference: {wkid: 3857}});
                return Count(Intersects(Intersects(trees, place), place)) > 0
                """, [.insert]))
        let rows = (0..<FieldworkStore.Limits.ruleRows).map { Samples.tree("oak \($0)", [("size", .integer(1))]) }
        _ = try await store.apply(Samples.batch(adds: rows, origin: .load), to: Samples.name)
        #expect(try await add(store, Samples.tree("oak")).isSuccess)
        let tooMany = try await add(store, Samples.tree("oak"))
        #expect(tooMany.error?.description.contains("at most \(FieldworkStore.Limits.ruleRows) rows") == true)
    }

    @Test(
        "The database counts, adds and groups for a rule as the interpreter would",
        arguments: [
            ("Count(trees)", "4"), ("Count(Filter(trees, 'height > 2'))", "2"), ("Sum(trees, 'height')", "10"),
            ("Sum(Filter(trees, 'height > 99'), 'height')", "0"), ("Max(trees, 'species')", "oak"),
            ("Min(trees, 'height')", "2"), ("Average(trees, 'height * 3')", "10"),
            ("Round(Stdev(trees, 'height'), 6)", "1.247219"),
            ("Variance(Filter(trees, 'height = 5'), 'height')", "0"),
            ("IsEmpty(Variance(Filter(trees, 'height > 99'), 'height'))", "true"),
            ("Year(Max(trees, 'planted'))", "2004"), ("Count(Distinct(trees, 'species'))", "2"),
            (
                "First(Filter(GroupBy(trees, 'species', [{name: 'n', expression: 'height', statistic: 'COUNT'}, {name: 't', expression: 'height', statistic: 'SUM'}]), \"species = 'oak'\")).t",
                "5"
            ),
            ("First(OrderBy(trees, 'height DESC')).species", "elm"),
            (
                "Count(Intersects(trees, Extent({xMin: -1, yMin: -1, xMax: 1.5, yMax: 1, spatialReference: {wkid: 3857}})))",
                "2"
            ),
            (
                "Count(Within(trees, Extent({xMin: -1, yMin: -1, xMax: 2.5, yMax: 1, spatialReference: {wkid: 3857}})))",
                "3"
            ),
            ("Sum(trees, 'height / 2')", "5"),
        ])
    func pushedDown(expression: String, expected: String) async throws {
        let store = try await store(
            Self.calculation("var trees = FeatureSetByName($datastore, 'Trees'); Text(\(expression))"))
        let rows: [(String, Double?, Int64)] = [
            ("oak", 2, 2001), ("elm", 5, 2002), ("oak", 3, 2003), ("elm", nil, 2004),
        ]
        let trees = rows.enumerated().map { index, row in
            Samples.tree(
                row.0, x: Double(index),
                [
                    ("size", .integer(1)), ("height", row.1.map(AttributeValue.real) ?? .null),
                    ("planted", .integer((row.2 - 1970) * 31_556_952_000)),
                ])
        }
        _ = try await store.apply(Samples.batch(adds: trees, origin: .load), to: Samples.name)
        let added = try await add(store, Samples.tree("new", x: 99))
        #expect(added.isSuccess, "\(added.error?.description ?? "")")
        let label = try await store.records(FeatureQuery(), in: Samples.trees).last?.attributes["label"]?.textValue
        #expect(label.map { String($0.prefix(8)) } == expected)
    }

    @Test("A rule that chooses the subtype chooses the domains that hold for what is given, in adds and updates")
    func subtypes() async throws {
        func codes(_ names: String...) -> DomainDefinition {
            DomainDefinition(name: "Kinds", kind: .codedValues(names.map { .init(code: .text($0), name: $0) }))
        }
        var service = Self.service([
            Rule(
                name: "Kind", kind: .calculation, fieldName: "kind", script: "IIf($feature.height > 10, 2, 1)", order: 1
            )
        ])
        service.layers[0].fields.append(FieldDefinition(name: "kind", type: .integer))
        service.layers[0].subtypeField = "kind"
        service.layers[0].subtypes = [
            SubtypeDefinition(code: .integer(1), name: "Low", domains: ["condition": codes("good")]),
            SubtypeDefinition(code: .integer(2), name: "High", domains: ["condition": codes("poor")]),
        ]
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(service)
        func tree(_ height: Double, _ condition: String) -> FeatureEdit {
            Samples.tree("oak", [("height", .real(height)), ("condition", .text(condition)), ("kind", .integer(1))])
        }
        // The kind that was sent would allow the other one.
        #expect(try await add(store, tree(20, "good")).error?.description.contains("condition") == true)
        let high = try await add(store, tree(20, "poor"))
        #expect(high.isSuccess, "\(high.error?.description ?? "")")
        let refused = try await update(store, high.objectID, ["height": .real(5)])
        #expect(refused.error?.description.contains("condition") == true)
        let changed = try await update(store, high.objectID, ["height": .real(5), "condition": .text("good")])
        #expect(changed.isSuccess, "\(changed.error?.description ?? "")")
        #expect(try await value("kind", store) == .integer(1))
    }

    // MARK: Which edits

    @Test("What is loaded or taken over is left as it is, and a rule that is switched off is not run")
    func others() async throws {
        var off = Self.constraint("false")
        off.isEnabled = false
        let store = try await store(Self.calculation("'x'"), off)
        let row = Samples.tree("oak", [("label", .text("kept")), ("size", .integer(1))])
        _ = try await store.apply(Samples.batch(adds: [row], origin: .load), to: Samples.name)
        #expect(try await value("label", store) == .text("kept"))
        #expect(try await add(store).isSuccess)
    }

    @Test("A definition with a script that can't be read is refused, with the place")
    func definitions() async throws {
        let store = try await StoreKind.current.make(in: folder)
        let error = await #expect(throws: StoreError.self) {
            try await store.createService(Self.service([Self.calculation("1 +\n + )")]))
        }
        #expect(error?.code == .invalidDefinition)
        #expect(error?.message.contains("Label 1") == true && error?.message.contains("2") == true)
    }

    @Test("A client gets what the rules of the service make of its upload")
    func uploads() async throws {
        let made = try await StoreKind.current.make(in: folder)
        var service = Samples.service
        service.layers[0].attributeRules = [
            Rule(
                name: "Note", kind: .calculation, fieldName: FieldClient.noteField, script: "'by rule'",
                excludesClients: true),
            Rule(name: "Limit", kind: .constraint, script: "$feature.species != 'weed'"),
        ]
        try await made.createService(service)
        let store = try #require(made as? any ReplicaStore)
        var client = try await store.client("ada")
        let (oak, weed) = (UUID(), UUID())
        client.trees[oak] = FieldClient.Tree(species: "oak", note: "mine", x: 1)
        client.trees[weed] = FieldClient.Tree(species: "weed", note: "mine", x: 2)
        let result = try await store.synchronize(&client)
        #expect(result.layers[0].adds.count { $0.isSuccess } == 1 && result.hasErrors)
        #expect(try await store.currentTrees() == [oak: FieldClient.Tree(species: "oak", note: "by rule", x: 1)])
        // The device has what the service calculated; what was refused is the device's to keep.
        #expect(client.trees[oak]?.note == "by rule")
        #expect(client.trees[weed]?.note == "mine")
    }
}
