import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Requests that ask for more work or memory than they look like, to a real server: refused with the limit's name.
@Suite("Requests that cost more than they look like", .fewAtATime, .serialized)
struct RequestCostTests {
    private static let layer = "Trees/FeatureServer/0"

    private static func tangle(_ count: Int) -> String {
        var state: UInt64 = 5
        let places = (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return "[\(state >> 44),\((state >> 20) & 0xF_FFFF)]"
        }
        return places.joined(separator: ",")
    }

    @Test(
        "Geometries that would take too long are refused before they are computed with, and the answer says what to ask for"
    )
    func geometries() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let points = "{\"points\":[\(Self.tangle(20_000))],\"spatialReference\":{\"wkid\":3857}}"
            let path = "{\"paths\":[[\(Self.tangle(1_000))]],\"spatialReference\":{\"wkid\":3857}}"
            let questions: [(String, KeyValuePairs<String, String>)] = [
                (points, ["distance": "100", "units": "esriSRUnit_Meter"]),
                (path, ["spatialRel": "esriSpatialRelRelation", "relationParam": "T********"]),
                (path, ["distance": "10"]), (path, ["spatialRel": "esriSpatialRelTouches"]),
            ]
            for (geometry, more) in questions {
                let common: KeyValuePairs = [
                    "geometry": geometry, "where": "1=1", "returnCountOnly": "true", "f": "json",
                ]
                let body = TestClient.form(common) + "&" + TestClient.form(more)
                let error = try await server.client.post("\(Self.layer)/query", body: body).json["error"]
                #expect(error?["code"]?.integerValue == 413, "\(more)")
                #expect(error?.text.contains("Ask with") == true, "\(error?.text ?? "no error")")
            }
            let plain = try await server.client.post(
                "\(Self.layer)/query", ["geometry": path, "where": "1=1", "returnCountOnly": "true"])
            #expect(try plain.json["count"]?.integerValue != nil)
        }
    }

    @Test("Long conditions are answered, or refused with the limit's name")
    func conditions() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            func ask(_ text: String) async throws -> JSONValue {
                try await server.client.post("\(Self.layer)/query", ["where": text, "returnCountOnly": "true"]).json
            }
            let answer1 = try await ask(String(repeating: "UPPER(Name)='i' OR ", count: 1_000) + "1=1")
            #expect(answer1["count"] == 10)
            let answer2 = try await ask(String(repeating: "1=1 AND ", count: 6_000) + "1=1")
            #expect(answer2["count"] == 10)
            let answer3 = try await ask("Name" + String(repeating: "||'a'", count: 150) + " <> 'x'")
            #expect(answer3["count"] == 10)
            let deep = String(repeating: "UPPER(", count: 30) + "Name" + String(repeating: ")", count: 30) + " <> 'x'"
            let refusal = try await ask(deep)
            #expect(refusal["error"]?["code"] == 400)
        }
    }
}
