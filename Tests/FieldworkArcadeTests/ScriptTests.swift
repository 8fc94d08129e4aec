import FieldworkGeometry
import Foundation
import Testing

@testable import FieldworkArcade

@Suite("Arcade scripts")
struct ScriptTests {
    @Test("All errors of a script are found at once, each with its line and column")
    func problems() {
        let script = ArcadeScript("var a = 1 +;\nvar b = 2\nif (a { b }\nvar = 3\nreturn b", profile: .any)
        #expect(!script.isRunnable)
        #expect(script.problems.map { $0.position?.line } == [1, 3, 4])
        #expect(script.problems.first?.position == ArcadePosition(line: 1, column: 12))
        #expect(script.line(3) == "if (a { b }")
    }

    @Test("Names that mean nothing are found without running the script")
    func names() {
        let script = ArcadeScript("var a = 1\nNoSuch(a)\nb = 2; Round()", profile: .any)
        #expect(script.isRunnable)
        #expect(script.problems.map { $0.position?.line } == [2, 3, 3])
        #expect(script.problems[0].message.contains("NoSuch"))
    }

    @Test("What a script reads is known without running it")
    func reads() {
        let reads = ArcadeScript(
            """
            var near = Intersects(FeatureSetByName($map, 'Parcels', ['owner']), $feature);
            var visits = FeatureSetByRelationshipName($feature, 'visits');
            $feature.species + $feature['dbh'] + DomainName($feature, 'kind') + $originalFeature.dbh + Count(near)
            """, profile: .any
        ).reads
        #expect(reads.fields == ["$feature": ["species", "dbh", "kind"], "$originalfeature": ["dbh"]])
        #expect(reads.layers.map(\.name) == ["Parcels"] && reads.relationships == ["visits"])
        #expect(reads.needsData && reads.needsGeometry)
        let label = ArcadeScript("$feature.species + '\\n' + Text($feature.dbh, '#')", profile: .labeling).reads
        #expect(!label.needsData && !label.readsOtherFields && !label.needsGeometry)
    }

    @Test("A profile without data refuses what needs it, before the script runs")
    func profiles() {
        let script = ArcadeScript("Count(FeatureSetByName($map, 'Trees'))", profile: .labeling)
        #expect(script.problems.map(\.kind) == [.notSupported])
        #expect(throws: ArcadeError.self) { try script.value(ArcadeContext(profile: .labeling, now: 0)) }
    }

    @Test("Equal contexts give equal results, random numbers and new GUIDs included")
    func determinism() throws {
        let script = ArcadeScript("[Random(), Guid(), Now(), Random()]", profile: .any)
        let one = try script.value(ArcadeContext(profile: .any, now: 5, seed: 3))
        #expect(try script.value(ArcadeContext(profile: .any, now: 5, seed: 3)) == one)
        #expect(try script.value(ArcadeContext(profile: .any, now: 5, seed: 4)) != one)
    }

    @Test("One runner gives each feature its value, also after one that failed and with another schema")
    func runner() throws {
        let script = ArcadeScript("var t = Upper($feature.name); t + $feature.n", profile: .labeling)
        let runner = try ArcadeRunner(script, ArcadeContext(profile: .labeling, now: 0))
        func feature(_ fields: [String], _ values: [ArcadeValue]) -> ArcadeFeature {
            ArcadeFeature(
                schema: ArcadeSchema(fields: fields.map { ArcadeField(name: $0, type: "esriFieldTypeString") }),
                values: values)
        }
        #expect(try runner.value(feature(["name", "n"], [.text("oak"), .number(1)])) == .text("OAK1"))
        #expect(throws: ArcadeError.self) { try runner.value(feature(["name"], [.text("elm")])) }
        #expect(try runner.value(feature(["N", "x", "NAME"], [.number(2), .null, .text("ash")])) == .text("ASH2"))
        // A variable that is read before it is declared has nothing of the feature before.
        let reads = ArcadeScript(
            "function t() { return seen } var before = t(); var seen = $feature.name; before", profile: .labeling)
        let second = try ArcadeRunner(reads, ArcadeContext(profile: .labeling, now: 0))
        for name in ["oak", "elm"] { #expect(try second.value(feature(["name"], [.text(name)])) == .null) }
    }

    @Test("A value in SQL is never part of the grammar, neither in memory nor in the text for a service")
    func boundValues() throws {
        let evil = "x' OR 'x' = 'x"
        let condition = try SQLParser.parse("name = @v") { _ in .text(evil) }
        #expect(condition.text == "(name = 'x'' OR ''x'' = ''x')")
        #expect(try SQLParser.parse(condition.text) { _ in .null } == condition)
    }

    @Test("The text of a condition reads back as the condition")
    func conditionText() throws {
        for sql in [
            "a = 1 AND (b < 2.5 OR NOT c IS NULL)", "a IN (1, 'x') AND b NOT LIKE 'q%'", "\"odd name\" BETWEEN 1 AND 2",
            "UPPER(a) || 'x' = 'AX'", "d > TIMESTAMP '2024-02-29 10:00:00' AND e <= DATE '2024-02-29'",
            "-a * 2 + b / 3 <> 0",
        ] {
            let read = try SQLParser.parse(sql) { _ in .null }
            #expect(try SQLParser.parse(read.text) { _ in .null } == read, "\(sql): \(read.text)")
        }
    }

    @Test("Questions of a script reach the source as one description")
    func questions() throws {
        let script = ArcadeScript(
            "Top(OrderBy(Filter(Filter($layer, 'a > 1'), 'b = 2'), 'a DESC'), 3)", profile: .any)
        let layer = ArcadeLayer(
            id: "0", name: "Trees", schema: ArcadeSchema(fields: [ArcadeField(name: "a", type: "esriFieldTypeInteger")])
        )
        var context = ArcadeContext(profile: .any, now: 0)
        context.data = ArcadeMemorySource(layers: [.init(layer, features: [])])
        guard case .featureSet(let query) = try script.value(context) else {
            Issue.record("no feature set")
            return
        }
        #expect(query.base == .layer(layer) && query.limit == 3 && query.order.count == 1)
        #expect(query.condition?.text == "((a > 1) AND (b = 2))")
    }
}
