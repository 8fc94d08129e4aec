import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Validation rules of a layer", .fewAtATime, .everyStore)
struct ValidationRuleTests {
    private typealias Rule = AttributeRuleDefinition

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with as many trees as there are heights, which edits have put in unasked.
    private func store(_ heights: [AttributeValue], _ rules: Rule...) async throws -> any FeatureStore {
        let store = try await StoreKind.current.make(in: folder)
        var trees = Samples.treeLayer
        trees.attributeRules = rules
        try await store.createService(
            ServiceDefinition(name: Samples.name, layers: [trees, Samples.visitTable]))
        let adds = heights.enumerated().map { Samples.tree("tree \($0)", x: Double($0), [("height", $1)]) }
        let results = try await store.apply(Samples.batch(adds: adds), to: Samples.name).layers[0].adds
        #expect(results.map(\.isSuccess) == heights.map { _ in true }, "no edit runs such a rule: \(results)")
        return store
    }

    private static func rule(_ script: String, _ name: String = "Height", message: String = "") -> Rule {
        Rule(name: name, kind: .validation, script: script, events: [], errorNumber: 7, errorMessage: message)
    }

    private func findings(
        _ store: any FeatureStore, _ query: FeatureQuery = FeatureQuery(), most: Int = 1_000
    ) async throws -> RuleFindings {
        try await store.validate(query, in: Samples.trees, most: most)
    }

    @Test("Features that do not keep a rule are found with its name, number and message; edits made them unasked")
    func found() async throws {
        let store = try await store(
            [.real(3), .null, .real(110)], Self.rule("$feature.height < 100", message: "Too high."))
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        let found = try await findings(store)
        #expect(found.features == 3 && !found.hasMore)
        #expect(found.violations.map(\.objectID) == [3], "\(found)")
        #expect(found.violations.first?.globalID == records[2].globalID)
        #expect(found.violations.map(\.rule) == ["Height"])
        #expect(found.violations.map(\.errorNumber) == [7])
        #expect(found.violations.map(\.message) == ["Too high."])
    }

    @Test("A script says itself what is wrong, and one that can't be evaluated says why")
    func messages() async throws {
        let store = try await store(
            [.real(1)], Self.rule("{ errorMessage: 'only ' + $feature.height }", "A"), Self.rule("$feature.none", "B"),
            Self.rule("false", "C"), Self.rule("true", "D"))
        let messages = try await findings(store).violations.map(\.message)
        #expect(messages.count == 3, "\(messages)")
        #expect(messages.first == "only 1")
        #expect(messages.dropFirst().first?.hasPrefix("The rule B can't be evaluated: ") == true, "\(messages)")
        #expect(messages.last == "The rule C is not kept.")
    }

    @Test("A message of any length is cut to what somebody reads, and counts as memory of its request")
    func longMessages() async throws {
        let script = "var t = 'much '; for (var i = 0; i < 12; i++) { t += t } return { errorMessage: t }"
        let store = try await store([.real(1), .real(2)], Self.rule(script))
        let found = try await findings(store)
        #expect(found.violations.map(\.message.count) == [1_000, 1_000])
        await #expect(throws: AllowanceError.self) {
            let allowance = WorkAllowance(time: .seconds(600), memory: 1_500)
            try await WorkAllowance.$current.withValue(allowance) { _ = try await findings(store) }
        }
    }

    @Test("A rule reads the geometry and the other rows of the service")
    func surroundings() async throws {
        let store = try await store(
            [.real(1), .real(2)],
            Self.rule(
                """
                Count(FeatureSetByName($datastore, 'Trees')) == 2 && Geometry($feature).x == $feature.height - 1
                """))
        #expect(try await findings(store).violations.isEmpty)
        let far = Samples.tree("far", x: 900, [("height", .real(1))])
        _ = try await store.apply(Samples.batch(adds: [far]), to: Samples.name)
        #expect(try await findings(store).violations.count == 3)
    }

    @Test("Only features of the query are looked at, and more of them than are read at a time")
    func many() async throws {
        let heights = [AttributeValue](repeating: .real(1), count: 1_203)
        let store = try await store(heights, Self.rule("$feature.OBJECTID % 3 != 1"))
        let all = try await findings(store)
        #expect(all.features == 1_203)
        #expect(all.violations.map(\.objectID) == stride(from: Int64(1), through: 1_203, by: 3).map { $0 })
        #expect(try await findings(store, FeatureQuery(objectIDs: [1, 2, 4])).violations.map(\.objectID) == [1, 4])
        let cut = try await findings(store, most: 5)
        #expect(cut.violations.map(\.objectID) == [1, 4, 7, 10, 13])
        #expect(cut.hasMore && cut.features == 13)
    }

    @Test("Rules that are off, for another subtype or of another kind are not asked")
    func others() async throws {
        var off = Self.rule("false", "Off")
        off.isEnabled = false
        let constraint = Rule(name: "Edit", kind: .constraint, script: "true")
        let store = try await store([.real(1)], off, constraint)
        let found = try await findings(store)
        #expect(found.violations.isEmpty && found.features == 0)
    }

    @Test("The work of a validation ends with the time of its request")
    func time() async throws {
        let store = try await store([.real(1)], Self.rule("true"))
        let allowance = WorkAllowance(time: .zero)
        await #expect(throws: AllowanceError.self) {
            try await WorkAllowance.$current.withValue(allowance) { _ = try await findings(store) }
        }
    }
}
