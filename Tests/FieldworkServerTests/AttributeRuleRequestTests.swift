import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The rules of a layer as clients of the protocol meet them.
@Suite("Attribute rules over the protocol", .fewAtATime)
struct AttributeRuleRequestTests {
    private static let layer = "Trees/FeatureServer/0"

    private static let rules = [
        AttributeRuleDefinition(
            name: "Name", kind: .calculation, fieldName: "Name", script: "$feature.Species + ' ' + $feature.Stems"),
        AttributeRuleDefinition(
            name: "Stems", kind: .constraint, script: "$feature.Stems < 10", errorNumber: 42,
            errorMessage: "A tree has fewer than ten stems."),
    ]

    private static func serve(_ body: (TestServer, GeoPackageStore) async throws -> Void) async throws {
        try await TemporaryStore.serve(trees: 3) { server, store in
            var service = try await store.service(TreesService.name)
            service.layers[0].attributeRules = rules
            try await store.updateService(service)
            try await body(server, store)
        }
    }

    private static func names(_ server: TestServer) async throws -> [JSONValue] {
        let answer = try await server.client.get(
            "\(layer)/query?f=json&where=1%3D1&orderByFields=OBJECTID&outFields=Name&returnGeometry=false")
        return (try answer.json["features"]?.arrayValue ?? []).compactMap { $0["attributes"]?["Name"] }
    }

    @Test("An edit gets its calculated value, and one that breaks a constraint its message and number")
    func edits() async throws {
        try await Self.serve { server, _ in
            let updates = """
                [{"attributes":{"OBJECTID":1,"Stems":7}},{"attributes":{"OBJECTID":2,"Stems":10}}]
                """
            let answer = try await server.client.post(
                "\(Self.layer)/applyEdits", ["updates": updates, "rollbackOnFailure": "false", "f": "json"])
            let results = try answer.json["updateResults"]?.arrayValue ?? []
            #expect(results.map { $0["success"] } == [true, false], "\(answer.text)")
            #expect(results.last?["error"]?["code"] == 42)
            #expect(results.last?["error"]?["description"] == "A tree has fewer than ten stems.")
            #expect(try await Self.names(server) == ["Oak 7", "Tree 2", "Tree 3"])
        }
    }

    @Test("A calculation for many features keeps the rules of the layer, whole or not at all")
    func calculations() async throws {
        try await Self.serve { server, _ in
            func calculate(_ expression: String) async throws -> JSONValue {
                try await server.client.post(
                    "\(Self.layer)/calculate",
                    [
                        "where": "1=1", "calcExpression": #"[{"field":"Stems","sqlExpression":"\#(expression)"}]"#,
                        "f": "json",
                    ]
                ).json
            }
            let refused = try await calculate("Stems * 4")
            #expect(refused["success"] != true)
            #expect(try await Self.names(server) == ["Tree 1", "Tree 2", "Tree 3"])
            let done = try await calculate("Stems * 2")
            #expect(done["updatedFeatureCount"] == 3)
            #expect(try await Self.names(server) == ["Oak 2", "Lime 4", "Lime 6"])
        }
    }

    @Test("The layer's resource lists the rules, so that a device which takes the layer along keeps them")
    func resource() async throws {
        try await Self.serve { server, _ in
            let resource = try await server.client.get("\(Self.layer)?f=json").json
            let read = try LayerDefinition(json: resource)
            #expect(read.attributeRules == Self.rules)
        }
    }
}
