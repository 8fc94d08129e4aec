import FieldworkArcade
import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// What expressions ask of the layers of a connected service: the service answers, and its features are not loaded for it.
@Suite("Expressions over a service's layers", .fewAtATime)
struct ArcadeServiceTests {
    /// The value of an expression with the table as `$layer`, and what the service was asked for it.
    private func asked(
        _ expression: String, _ table: FeatureTable, _ service: TestService
    ) async throws -> (value: String?, questions: [[String: String]]) {
        let before = service.interceptor.parameters(of: "query").count
        let result = try await ArcadeEvaluator(
            expression: ArcadeExpression(expression: expression), profile: .popup
        ).evaluate(withProfileVariables: ["$layer": table])
        let questions = service.interceptor.parameters(of: "query").dropFirst(before)
        return (result.result(as: .string) as? String, Array(questions))
    }

    /// The questions that are answered by features.
    private static func loading(_ questions: [[String: String]]) -> [[String: String]] {
        questions.filter {
            $0["returnCountOnly"] == nil && $0["outStatistics"] == nil && $0["returnDistinctValues"] == nil
        }
    }

    @Test(
        "The service counts, adds, tells apart and groups, and no feature is loaded",
        arguments: [
            ("Count($layer)", "30"), ("Count(Filter($layer, 'numoccup >= 10'))", "20"),
            ("Sum($layer, 'numoccup')", "435"),
            ("Min($layer, 'numoccup') + Max(Filter($layer, 'numoccup < 20'), 'numoccup')", "19"),
            ("Mean($layer, 'numoccup')", "14.5"), ("Round(Variance($layer, 'numoccup'), 4)", "74.9167"),
            ("Round(Stdev($layer, 'numoccup'), 4)", "8.6554"),
            ("Sum(Filter($layer, 'numoccup > 99'), 'numoccup')", "0"),
            ("IsEmpty(Max(Filter($layer, 'numoccup > 99'), 'numoccup'))", "true"),
            ("Max($layer, 'primcause')", "Cause 9"), ("Count(Distinct($layer, 'typdamage'))", "2"),
            (
                "var g = GroupBy($layer, 'typdamage', [{name: 'n', expression: '1', statistic: 'COUNT'}, {name: 's', expression: 'numoccup', statistic: 'SUM'}]); var t = ''; for (var f in g) { t += f.typdamage + ' ' + f.n + ' ' + f.s + ';' } t",
                "Major 15 225;Minor 15 210;"
            ),
        ])
    func statistics(expression: String, expected: String) async throws {
        try await TestService.with(damages: 30) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            try await table.load()
            let (value, questions) = try await asked(expression, table, service)
            #expect(value == expected)
            #expect(!questions.isEmpty && Self.loading(questions).isEmpty, "\(questions)")
        }
    }

    @Test("The first feature of an order is one feature of the service's, and places are part of the question")
    func first() async throws {
        try await TestService.with(damages: 30) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            try await table.load()
            let (value, questions) = try await asked(
                "First(OrderBy(Filter($layer, 'numoccup < 20'), 'numoccup DESC')).primcause", table, service)
            #expect(value == "Cause 19")
            #expect(questions.count == 1 && questions[0]["resultRecordCount"] == "1", "\(questions)")
            let place = DamageService.place
            let box =
                "Extent({xMin: \(place.x - 50), yMin: \(place.y - 50), xMax: \(place.x + 250), "
                + "yMax: \(place.y + 50), spatialReference: {wkid: 3857}})"
            for (function, relation) in [
                ("Intersects", "esriSpatialRelIntersects"), ("Within", "esriSpatialRelContains"),
                ("EnvelopeIntersects", "esriSpatialRelEnvelopeIntersects"),
            ] {
                let (count, questions) = try await asked("Count(\(function)($layer, \(box)))", table, service)
                #expect(count == "3", "\(function)")
                #expect(questions.map { $0["spatialRel"] } == [relation], "\(questions)")
                #expect(Self.loading(questions).isEmpty, "\(questions)")
            }
        }
    }

    @Test("Edits that are only on this device count as well")
    func localEdits() async throws {
        try await TestService.with(damages: 5) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            try await table.load()
            let feature = table.makeFeature(attributes: ["numoccup": Int16(100)], geometry: DamageService.place)
            try await table.add(feature)
            #expect(try await asked("Sum($layer, 'numoccup') + ' ' + Count($layer)", table, service).value == "110 6")
            #expect(try await asked("Count(Distinct($layer, 'typdamage'))", table, service).value == "3")
        }
    }

    @Test("An expression tells the attachments of its feature and of others, by type and size")
    func attachments() async throws {
        try await TestService.withTrees(2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            try await table.load()
            let trees = try await table.queryFeatures(using: QueryParameters()).features().compactMap {
                $0 as? ArcGISFeature
            }
            let tree = try #require(trees.first)
            try await tree.addAttachment(
                named: "bark.jpg", contentType: "image/jpeg", data: Data(repeating: 1, count: 300))
            try await tree.addAttachment(named: "note.txt", contentType: "text/plain", data: Data("old".utf8))
            for (expression, expected) in [
                ("Count(Attachments($feature))", "2"),
                ("Attachments($feature, {types: ['jpeg', 'png']})[0].name", "bark.jpg"),
                ("Attachments($feature, {maxsize: 100})[0].contentType", "text/plain"),
                ("Attachments($feature, {minsize: 301})", "[]"),
                ("var n = 0; for (var t in $layer) { n += Count(Attachments(t)) } n", "2"),
            ] {
                let result = try await ArcadeEvaluator(
                    expression: ArcadeExpression(expression: expression), profile: .popup
                ).evaluate(withProfileVariables: ["$feature": tree])
                #expect(result.result(as: .string) as? String == expected, "\(expression)")
            }
        }
    }
}
