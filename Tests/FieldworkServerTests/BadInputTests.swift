import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Everything that issue 2 lists under "Bad input": a clear error, and the layer is as it was.
@Suite("Bad input", .fewAtATime)
struct BadInputTests {
    private static let layer = "Trees/FeatureServer/0"

    /// Runs a request and checks that no feature and no generation changed.
    private static func unchanged(_ request: (TestServer) async throws -> Void) async throws {
        try await TemporaryStore.serve(trees: 3) { server, store in
            let address = "\(layer)/query"
            let before = try await server.client.get(address, ["where": "1=1", "outFields": "*", "f": "json"])
            let generation = try await store.generation(of: TreesService.name)
            try await request(server)
            let after = try await server.client.get(address, ["where": "1=1", "outFields": "*", "f": "json"])
            #expect(after.body == before.body)
            let now = try await store.generation(of: TreesService.name)
            #expect(now == generation)
        }
    }

    @Test(
        "An item that breaks a rule fails with a reason",
        arguments: [
            ("an unknown field", #"{"attributes":{"Nothing":1}}"#),
            ("text in a number", #"{"attributes":{"Stems":"many"}}"#),
            ("a fraction in an integer", #"{"attributes":{"Stems":1.5}}"#),
            ("an integer that is too large", #"{"attributes":{"Stems":3000000000}}"#),
            ("an object as a value", #"{"attributes":{"Name":{"a":1}}}"#),
            ("text that is too long", #"{"attributes":{"Name":"123456789012345678901"}}"#),
            ("a code outside the domain", #"{"attributes":{"Condition":"Splendid"}}"#),
            ("a value outside the range", #"{"attributes":{"Height":121}}"#),
            ("null in a required field", #"{"attributes":{"Species":null}}"#),
            ("an unknown wkid", #"{"attributes":{},"geometry":{"x":1,"y":1,"spatialReference":{"wkid":99999}}}"#),
            ("NaN as text", #"{"attributes":{},"geometry":{"x":"NaN","y":1}}"#),
            ("an infinite coordinate", #"{"attributes":{},"geometry":{"x":1e999,"y":1}}"#),
            ("a geometry of another type", #"{"attributes":{},"geometry":{"paths":[[[0,0],[1,1]]]}}"#),
            ("no object", #"17"#),
        ])
    func item(name: String, item: String) async throws {
        for (operation, adds) in [("addFeatures", "features"), ("applyEdits", "adds")] {
            try await Self.unchanged { server in
                let answer = try await server.client.post(
                    "\(Self.layer)/\(operation)", [adds: "[\(item)]", "f": "json"])
                #expect(answer.status == 200)
                let results = try answer.json["addResults"]?.arrayValue
                if let result = results?.first {
                    #expect(result["success"] == false, "\(name)")
                    #expect(result["error"]?["code"]?.integerValue != nil)
                    #expect(result["error"]?["description"]?.stringValue?.isEmpty == false)
                } else {
                    #expect(answer.errorCode == 400, "\(name)")
                }
            }
        }
    }

    @Test(
        "Edits that can't be read are refused as a whole",
        arguments: [
            ("applyEdits", "adds", "[{"), ("applyEdits", "adds", "{}"),
            ("applyEdits", "adds", "[{\"attributes\":{\"Name\":NaN}}]"),
            ("addFeatures", "features", "nonsense"), ("addFeatures", "nothing", ""),
            ("updateFeatures", "features", "[1,"),
            ("deleteFeatures", "objectIds", "1,x"), ("deleteFeatures", "where", "Stems = 'x' OR"),
            ("applyEdits", "deletes", "1;DROP TABLE Trees"),
        ])
    func malformed(operation: String, parameter: String, value: String) async throws {
        try await Self.unchanged { server in
            let answer = try await server.client.post("\(Self.layer)/\(operation)", [parameter: value, "f": "json"])
            #expect(answer.status == 200)
            #expect(answer.errorCode == 400)
            #expect(try answer.json["error"]?["message"]?.stringValue?.isEmpty == false)
        }
    }

    @Test(
        "A ring that is not closed, or is no ring, fails",
        arguments: [
            "[[0,0],[0,9],[9,9],[9,0]]", "[[0,0],[0,9],[0,0]]", "[[0,0]]", "[]", #"[[0,0],[0,"x"],[9,9],[0,0]]"#,
        ])
    func rings(ring: String) async throws {
        try await TemporaryStore.serve { server, store in
            let adds = #"[{"attributes":{"Name":"x"},"geometry":{"rings":[\#(ring)]}}]"#
            let json = try await server.client.post("Areas/FeatureServer/0/applyEdits", ["adds": adds, "f": "json"])
                .json
            #expect(json["addResults"]?.arrayValue?.first?["success"] == false, "\(json.text)")
            let generation = try await store.generation(of: TreesService.areas.name)
            #expect(generation == 0)
        }
    }

    @Test("An update of what does not exist fails, and says so")
    func unknownFeature() async throws {
        try await Self.unchanged { server in
            let updated = try await server.client.post(
                "\(Self.layer)/updateFeatures",
                ["features": #"[{"attributes":{"OBJECTID":999,"Name":"x"}}]"#, "f": "json"]
            ).json
            #expect(updated["updateResults"]?.arrayValue?.first?["success"] == false)
            let deleted = try await server.client.post(
                "\(Self.layer)/deleteFeatures", ["objectIds": "999", "f": "json"]
            ).json
            #expect(deleted["deleteResults"]?.arrayValue?.first?["success"] == false)
        }
    }

    @Test(
        "A condition that can't be understood is refused",
        arguments: [
            "Stems >", "Stems = ", "Nothing = 1", "Name = 'it's'", "Name = 'x", "1=1; DELETE FROM Trees", "1=1 -- all",
            "1=1 /* all */", "Stems IN (SELECT 1)", "Name LIKE", "load_extension('x') = 1", "((1=1)",
        ])
    func condition(text: String) async throws {
        try await Self.unchanged { server in
            let answer = try await server.client.get("\(Self.layer)/query", ["where": text, "f": "json"])
            #expect(answer.status == 200)
            #expect(answer.errorCode == 400, "\(answer.text.prefix(200))")
            #expect(!answer.text.contains("sqlite"))
        }
    }

    @Test("10,000 nested parentheses are refused")
    func nesting() async throws {
        try await Self.unchanged { server in
            let text = String(repeating: "(", count: 10_000) + "1=1" + String(repeating: ")", count: 10_000)
            let answer = try await server.client.post("\(Self.layer)/query", ["where": text, "f": "json"])
            #expect(answer.errorCode == 400)
            let deep = String(repeating: "[", count: 10_000)
            #expect(
                try await server.client.post("\(Self.layer)/applyEdits", ["adds": deep, "f": "json"]).errorCode == 400)
        }
    }

    @Test(
        "A query parameter that makes no sense is refused",
        arguments: [
            ("outFields", "Nothing"), ("orderByFields", "Nothing"), ("outSR", "99999"), ("inSR", "x"),
            ("geometry", "{\"x\":1"),
            ("geometry", "1,2,nan,4"), ("spatialRel", "esriSpatialRelNear"), ("objectIds", "1,two"),
            ("resultOffset", "-1"),
            ("resultRecordCount", "many"), ("f", "kmz"), ("returnGeometry", "perhaps"), ("geometryPrecision", "x"),
            ("geometry", #"{"rings":[[[0,0],[1,"a"],[1,1]]]}"#),
        ])
    func parameter(name: String, value: String) async throws {
        try await Self.unchanged { server in
            var parameters: [(String, String)] = [("where", "1=1"), ("geometry", "0,0,1,1"), ("f", "json")]
            parameters.removeAll { $0.0 == name }
            parameters.append((name, value))
            let form = parameters.map { "\($0.0)=\(TestClient.escape($0.1))" }.joined(separator: "&")
            let answer = try await server.client.send("GET", "\(Self.layer)/query?\(form)")
            #expect(answer.status == 200)
            #expect(answer.errorCode == 400, "\(answer.text.prefix(200))")
        }
    }

    @Test(
        "Bodies that are not what they say are refused",
        arguments: [
            ("application/json", "{\"where\":"), ("application/json", "[1]"), ("multipart/form-data", "--x"),
            ("multipart/form-data; boundary=x", "no boundary here"), ("application/x-www-form-urlencoded", "where=%FF"),
        ])
    func body(type: String, text: String) async throws {
        try await Self.unchanged { server in
            let answer = try await server.client.send(
                "POST", "\(Self.layer)/applyEdits", headers: [("Content-Type", type)], body: Array(text.utf8))
            #expect(answer.errorCode == 400, "\(answer.text.prefix(200))")
        }
    }
}
