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

    /// A server over three trees, of which the second has no name that a rule allows.
    private static func serveValidation(_ body: (TestClient) async throws -> Void) async throws {
        try await TemporaryStore.serve(trees: 3) { server, store in
            var service = try await store.service(TreesService.name)
            var severity = JSONObject()
            severity.append("severity", 2)
            service.layers[0].attributeRules = [
                AttributeRuleDefinition(
                    name: "Second", kind: .validation, script: "$feature.Name != 'Tree 2'", events: [], errorNumber: 9,
                    errorMessage: "Not 2.", unknownMembers: severity)
            ]
            try await store.updateService(service)
            try await body(server.client)
        }
    }

    private static let evaluate = "Trees/ValidationServer/evaluate"

    @Test("evaluate tells which features do not keep a validation rule, of all, of a selection or of an area")
    func evaluation() async throws {
        try await Self.serveValidation { client in
            let resource = try await client.get("Trees/ValidationServer", ["f": "json"]).json
            #expect(resource["capabilities"]?["supportsTopologyValidation"] == false)
            let all = try await client.post(Self.evaluate, ["f": "json", "evaluationType": #"["validationRules"]"#])
                .json
            #expect(all["success"] == true && all["evaluatedFeatures"] == 3 && all["exceededTransferLimit"] == false)
            let error = try #require(all["validationErrors"]?.arrayValue?.first)
            #expect(error["layerId"] == 0 && error["objectId"] == 2 && error["ruleName"] == "Second", "\(error)")
            #expect(error["errorNumber"] == 9 && error["errorMessage"] == "Not 2." && error["severity"] == 2)
            let id = try #require(error["globalId"]?.stringValue)
            for (selection, features, errors) in [
                (#"[{"id":0,"objectIds":[1,3]}]"#, 2, 0), (#"[{"id":0,"globalIds":["\#(id)"]}]"#, 1, 1), ("[]", 0, 0),
            ] {
                let answer = try await client.post(Self.evaluate, ["f": "json", "selection": selection]).json
                #expect(answer["evaluatedFeatures"] == JSONValue(features), "\(selection): \(answer)")
                #expect(answer["validationErrors"]?.arrayValue?.count == errors)
            }
            let far = #"{"xmin":1e6,"ymin":1e6,"xmax":2e6,"ymax":2e6,"spatialReference":{"wkid":102100}}"#
            let none = try await client.post(Self.evaluate, ["f": "json", "evaluationArea": far]).json
            #expect(none["evaluatedFeatures"] == 0 && none["success"] == true)
        }
    }

    @Test(
        "What evaluate can't do is refused by name",
        arguments: [
            ("evaluationType", "topologyRules"), ("evaluationType", #"["validationRules","calculationRules"]"#),
            ("async", "true"), ("gdbVersion", "ada.draft"), ("changesInVersion", "true"), ("selection", "1"),
            ("selection", #"[{"objectIds":[1]}]"#), ("selection", #"[{"id":9,"objectIds":[1]}]"#),
            ("selection", #"[{"id":0}]"#), ("selection", #"[{"id":0,"objectIds":["a"]}]"#),
            ("selection", #"[{"id":0,"objectIds":[1]},{"id":0,"objectIds":[2]}]"#),
            ("selection", #"[{"id":0,"globalIds":["a"]}]"#), ("evaluationArea", #"{"x":1,"y":2}"#),
        ])
    func refused(name: String, value: String) async throws {
        try await Self.serveValidation { client in
            let answer = try await client.post(Self.evaluate, ["f": "json", name: value])
            #expect(answer.errorCode == 400 || answer.errorCode == 404, "\(answer.text)")
            #expect(answer.text.contains(name), "\(answer.text)")
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
