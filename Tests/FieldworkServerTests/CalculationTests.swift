import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Top features, calculations and contingent values", .fewAtATime)
struct CalculationTests {
    private static let layer = "Trees/FeatureServer/0"

    private static func values(_ server: TestServer, _ field: String, _ more: String = "") async throws -> [JSONValue] {
        let answer = try await server.client.get(
            "\(layer)/query?f=json&where=1%3D1&orderByFields=OBJECTID&outFields=\(field)&returnGeometry=false\(more)")
        return (try answer.json["features"]?.arrayValue ?? []).compactMap { $0["attributes"]?[field] }
    }

    private static func calculate(
        _ server: TestServer, _ condition: String, _ expression: String, _ more: KeyValuePairs<String, String> = [:]
    ) async throws -> TestClient.Answer {
        try await server.client.post(
            "\(layer)/calculate?\(TestClient.form(more))",
            ["where": condition, "calcExpression": expression, "f": "json"])
    }

    // MARK: Calculations

    @Test("A value or an expression goes into the features of a condition, as an edit with its history")
    func calculation() async throws {
        try await TemporaryStore.serve(trees: 6) { server, store in
            let before = try await store.generation(of: TreesService.name)
            let answer = try await Self.calculate(
                server, "Stems > 2",
                #"[{"field":"species","value":"Elm"},{"field":"Stems","sqlExpression":"Stems * 10"}]"#,
                ["returnEditMoment": "true"])
            let json = try answer.json
            #expect(json["success"] == true && json["updatedFeatureCount"] == 4, "\(answer.text)")
            #expect(json["editMoment"]?.integerValue != nil)
            #expect(try await Self.values(server, "Stems") == [1, 2, 30, 40, 50, 60])
            #expect(try await Self.values(server, "Species") == ["Oak", "Lime", "Elm", "Elm", "Elm", "Elm"])
            let address = LayerAddress(service: TreesService.name, layerID: 0)
            let changes = try await store.changes(after: before, in: address, limit: 100)
            #expect(changes.map(\.objectID) == [3, 4, 5, 6])
            #expect(changes.allSatisfy { $0.operation == .update && $0.changedFields.contains("Stems") })
            let history = try await store.history(of: .objectID(3), in: address)
            #expect(history.first?.record.attributes["Stems"] == .integer(3))
        }
    }

    @Test("Every expression reads the feature as it was before, dates too")
    func expressions() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let swapped = try await Self.calculate(
                server, "1=1",
                """
                [{"field":"Name","sqlExpression":"Species || ' ' || CAST(Stems AS VARCHAR(5))"},
                {"field":"Species","sqlExpression":"Name"},
                {"field":"Height","sqlExpression":"CASE WHEN Stems = 2 THEN NULL ELSE Height / 2 END"},
                {"field":"Planted","sqlExpression":"Planted + INTERVAL '1' DAY"}]
                """
            ).json
            #expect(swapped["updatedFeatureCount"] == 3)
            #expect(try await Self.values(server, "Name") == ["Oak 1", "Lime 2", "Lime 3"])
            #expect(try await Self.values(server, "Species") == ["Tree 1", "Tree 2", "Tree 3"])
            #expect(try await Self.values(server, "Height") == [0.25, .null, 1.25])
            #expect(try await Self.values(server, "Planted").first == .integer(1_600_000_000_000 + 86_400_000))
        }
    }

    @Test(
        "What breaks a rule of the layer changes nothing at all",
        arguments: [
            (
                #"[{"field":"Condition","sqlExpression":"CASE WHEN Stems = 3 THEN 'Fine' ELSE 'Fair' END"}]"#,
                "Feature 3"
            ),
            (#"[{"field":"Height","sqlExpression":"Stems * 50"}]"#, "Feature 3"),
            (#"[{"field":"Species","value":null}]"#, "Feature 1"),
            (#"[{"field":"Name","value":"a name that is much too long"}]"#, "Feature 1"),
        ])
    func rules(_ expression: String, _ reason: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, store in
            let before = try await store.generation(of: TreesService.name)
            let answer = try await Self.calculate(server, "1=1", expression)
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains(reason), "\(answer.text)")
            #expect(try await store.generation(of: TreesService.name) == before)
            #expect(try await Self.values(server, "Condition") == ["Good", "Good", "Good"])
        }
    }

    @Test(
        "What can't be calculated is refused by name",
        arguments: [
            (#"[{"field":"OBJECTID","value":1}]"#, "OBJECTID"), (#"[{"field":"GlobalID","value":"x"}]"#, "GlobalID"),
            (#"[{"field":"Colour","value":1}]"#, "calcExpression"), ("[]", "calcExpression"), ("", "calcExpression"),
            (#"[{"field":"Name"}]"#, "Name"), (#"[{"field":"Name","value":{"a":1}}]"#, "Name"),
            (#"[{"field":"Name","value":"a"},{"field":"name","value":"b"}]"#, "twice"),
            (#"[{"field":"Name","sqlExpression":"Colour"}]"#, "Colour"),
            (#"[{"field":"Name","sqlExpression":"(SELECT 1)"}]"#, "Name"),
            (#"[{"field":"Name","sqlExpression":"Name; DROP TABLE Trees"}]"#, "Name"),
        ])
    func refused(_ expression: String, _ name: String) async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            let answer = try await Self.calculate(server, "1=1", expression)
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains(name), "\(answer.text)")
        }
    }

    @Test("A calculation needs a condition, the right to update and a POST")
    func conditions() async throws {
        try await TemporaryStore.serve(trees: 2) { server, _ in
            let expression = #"[{"field":"Stems","value":9}]"#
            #expect(try await Self.calculate(server, "", expression).errorCode == 400)
            #expect(try await Self.calculate(server, "1=1", expression, ["async": "true"]).errorCode == 400)
            #expect(try await Self.calculate(server, "1=1", expression, ["sqlFormat": "native"]).errorCode == 400)
            let archive = try await server.client.post(
                "Old/Archive/FeatureServer/0/calculate", ["where": "1=1", "calcExpression": expression, "f": "json"])
            #expect(archive.errorCode != nil)
            let get = try await server.client.get(
                "\(Self.layer)/calculate", ["where": "1=1", "calcExpression": expression, "f": "json"])
            #expect(get.errorCode != nil)
            // What would choose fewer features is not passed over.
            for name in ["objectIds", "globalIds", "geometry", "time", "resultRecordCount", "definitionExpression"] {
                let answer = try await Self.calculate(server, "1=1", expression, [name: "1"])
                #expect(answer.text.contains("'\(name)' is not supported by 'calculate'"))
            }
            #expect(try await Self.values(server, "Stems") == [1, 2])
            let none = try await Self.calculate(server, "Stems > 100", expression).json
            #expect(none["success"] == true && none["updatedFeatureCount"] == 0)
            let layer = try await server.client.get("\(Self.layer)?f=json").json
            #expect(layer["supportsCalculate"] == true)
        }
    }

    // MARK: Top features

    @Test("The first features of each group, in every kind of answer")
    func topFeatures() async throws {
        try await TemporaryStore.serve(trees: 9) { server, _ in
            // Oaks are 1, 4 and 7 of the nine.
            let filter = #"{"groupByFields":"Species","topCount":2,"orderByFields":"Height DESC"}"#
            func answer(_ more: KeyValuePairs<String, String>) async throws -> JSONValue {
                let path = "\(Self.layer)/queryTopFeatures?f=json&topFilter=\(TestClient.escape(filter))"
                return try await server.client.get("\(path)&\(TestClient.form(more))").json
            }
            #expect(try await answer(["where": "1=1", "returnIdsOnly": "true"])["objectIds"] == [4, 7, 8, 9])
            #expect(try await answer(["where": "1=1", "returnCountOnly": "true"]) == ["count": 4])
            #expect(try await answer(["where": "Stems < 7", "returnIdsOnly": "true"])["objectIds"] == [1, 4, 5, 6])
            let extent = try await answer(["where": "1=1", "returnExtentOnly": "true"])
            #expect(extent["extent"]?["xmin"] == 30 && extent["extent"]?["xmax"] == 80)
            let page = try await answer([
                "where": "1=1", "outFields": "Stems", "orderByFields": "Stems DESC", "resultRecordCount": "3",
            ])
            let stems = (page["features"]?.arrayValue ?? []).compactMap { $0["attributes"]?["Stems"]?.integerValue }
            #expect(stems == [9, 8, 7] && page["exceededTransferLimit"] == true)
            #expect(page["features"]?.arrayValue?.first?["geometry"]?["x"] == 80)
            let near = try await answer(["geometry": "25,-5,65,5", "inSR": "3857", "returnIdsOnly": "true"])
            #expect(near["objectIds"] == [4, 5, 6, 7])
            let layer = try await server.client.get("\(Self.layer)?f=json").json
            #expect(layer["advancedQueryCapabilities"]?["supportsTopFeaturesQuery"] == true)
        }
    }

    @Test(
        "A filter that says too little is refused",
        arguments: [
            "", "x", "{}", #"{"groupByFields":"Species","topCount":0,"orderByFields":"Height"}"#,
            #"{"groupByFields":"Colour","topCount":1,"orderByFields":"Height"}"#,
            #"{"groupByFields":"Species","topCount":1}"#, #"{"topCount":1,"orderByFields":"Height"}"#,
        ])
    func topRefused(_ filter: String) async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            let answer = try await server.client.get(
                "\(Self.layer)/queryTopFeatures", ["where": "1=1", "topFilter": filter, "f": "json"])
            #expect(answer.errorCode == 400)
            let statistics = try await server.client.get(
                "\(Self.layer)/queryTopFeatures",
                [
                    "topFilter": #"{"groupByFields":"Species","topCount":1,"orderByFields":"Height"}"#,
                    "outStatistics": "[]",
                ])
            #expect(statistics.errorCode == 400)
        }
    }

    // MARK: Contingent values

    @Test("The contingent values of layers come in one answer")
    func contingentValues() async throws {
        try await TemporaryStore.serve { server, store in
            var layer = TreesService.trees
            layer.fieldGroups = [
                FieldGroupDefinition(
                    name: "State", fields: ["Condition", "Height"],
                    contingencies: [
                        ContingencyDefinition(
                            id: 1, values: [.code(.text("Good")), .range(minimum: .real(0), maximum: .real(9))])
                    ])
            ]
            try await store.createService(
                ServiceDefinition(name: ServiceName(name: "Grouped"), layers: [layer, TreesService.inspections]))
            let root = try await server.client.get("Grouped/FeatureServer?f=json").json
            #expect(root["supportsQueryContingentValues"] == true)
            #expect(
                try await server.client.get("Areas/FeatureServer?f=json").json["supportsQueryContingentValues"] == false
            )
            let own = try await server.client.get("Grouped/FeatureServer/0/contingentValues?f=json").json
            for layers in ["", "[0,1]", "0"] {
                let sets = try await server.client.get(
                    "Grouped/FeatureServer/queryContingentValues", ["layers": layers, "f": "json"]
                ).json["contingentValueSets"]?.arrayValue
                #expect(sets?.count == 1)
                #expect(sets?.first?["layerID"] == 0)
                #expect(sets?.first?["contingentValuesDefinition"] == own["contingentValuesDefinition"])
                #expect(own["contingentValuesDefinition"] != nil)
            }
            let wrong = try await server.client.get(
                "Grouped/FeatureServer/queryContingentValues", ["layers": "7", "f": "json"])
            #expect(wrong.errorCode == 400)
        }
    }
}
