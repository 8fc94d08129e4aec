import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Queries on a whole service", .fewAtATime)
struct ServiceQueryTests {
    private static let path = "Trees/FeatureServer/query"

    @Test(
        "Each layer is asked by its own condition, in every form of layerDefs",
        arguments: [
            #"{"0":"Name = 'Tree 2' OR Name = 'a;b:c'","1":"1=1"}"#, "0:Name = 'Tree 2' OR Name = 'a;b:c'; 1:",
            #"[{"layerId":0,"where":"Stems = 2","outFields":"Name,Stems"},{"layerId":1}]"#,
        ])
    func forms(definitions: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let json = try await server.client.get(Self.path, ["layerDefs": definitions, "f": "json"]).json
            let layers = try #require(json["layers"]?.arrayValue)
            #expect(layers.map { $0["id"] } == [0, 1])
            #expect(layers[0]["features"]?.arrayValue?.map { $0["attributes"]?["Name"] } == ["Tree 2"])
            #expect(layers[0]["geometryType"] == "esriGeometryPoint")
            #expect(layers[1]["features"] == [])
        }
    }

    @Test("Numbers and ids of all layers; a place chooses from layers, not from tables")
    func numbers() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let counts = try await server.client.get(Self.path, ["returnCountOnly": "true"]).json
            #expect(counts == ["layers": [["id": 0, "count": 3], ["id": 1, "count": 0]]])
            let ids = try await server.client.get(
                Self.path,
                ["geometry": "-1,-1,1,1", "inSR": "3857", "returnIdsOnly": "true", "layerDefs": #"{"1":"","0":""}"#]
            ).json
            #expect(ids["layers"]?.arrayValue?.map { $0["objectIds"]?.arrayValue?.count } == [0, 1])
            // Ids go out as they are read, not as a whole that is laid out for people.
            let pretty = try await server.client.get(Self.path, ["returnIdsOnly": "true", "f": "pjson"])
            #expect(!pretty.text.contains("\n"))
            #expect(try pretty.json["layers"]?.arrayValue?.map { $0["objectIds"]?.arrayValue?.count } == [3, 0])
            #expect(
                try await server.client.get(Self.path, ["returnCountOnly": "true", "f": "pjson"]).text.contains("\n"))
        }
    }

    @Test("An answer of many pieces is one object")
    func long() async throws {
        try await TemporaryStore.serve(trees: 1_000) { server, _ in
            let json = try await server.client.get(Self.path, ["layerDefs": "0:1=1;1:1=1"]).json
            #expect(json["layers"]?.arrayValue?.first?["features"]?.arrayValue?.count == 1_000)
            #expect(json["layers"]?.arrayValue?.count == 2)
        }
    }

    @Test(
        "What can't be answered is refused before the first byte",
        arguments: ["7:1=1", "0:Colour = 1", "x", "0:1=1;0:1=1", #"{"0":5}"#, #"{"0":"#, "[5]"])
    func refused(definitions: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get(Self.path, ["layerDefs": definitions])
            #expect(answer.errorCode == 400)
            let condition = try await server.client.get(Self.path, ["where": "Stems = 2", "f": "json"])
            #expect(condition.text.contains("'where' is not supported"))
            let wrongFormat = try await server.client.get(Self.path, ["f": "pbf"])
            #expect(wrongFormat.errorCode == 400)
        }
    }

    @Test("The domains of layers, each once")
    func domains() async throws {
        try await TemporaryStore.serve { server, _ in
            let all = try await server.client.get("Trees/FeatureServer/queryDomains", ["f": "json"]).json
            #expect(all["domains"]?.arrayValue?.map { $0["name"] } == ["Condition", "Height"])
            #expect(all["domains"]?.arrayValue?.first?["fieldType"] == "esriFieldTypeString")
            let some = try await server.client.get("Trees/FeatureServer/queryDomains", ["layers": "[1]"]).json
            #expect(some == ["domains": []])
            let none = try await server.client.get("Trees/FeatureServer/queryDomains", ["layers": "[9]"])
            #expect(none.errorCode == 400)
        }
    }

    @Test(
        "SQL is judged without being run",
        arguments: [
            ("Stems > 1", "where", true), ("Stems + 1", "expression", true), ("Stems >", "where", false),
            ("Colour = 1", "where", false), ("Height = 'tall'", "where", false),
        ] as [(String, String, Bool)])
    func validation(sql: String, type: String, isValid: Bool) async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.post(
                "Trees/FeatureServer/0/validateSQL", ["sql": sql, "sqlType": type, "f": "json"]
            ).json
            #expect(json["isValidSQL"]?.boolValue == isValid)
            #expect(json["validationErrors"]?.arrayValue?.isEmpty == isValid)
            let statement = try await server.client.get(
                "Trees/FeatureServer/0/validateSQL", ["sql": sql, "sqlType": "statement"])
            #expect(statement.errorCode == 400)
        }
    }
}
