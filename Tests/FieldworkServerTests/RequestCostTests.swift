import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Requests that ask for more work or memory than they look like, to a real server: refused with the limit's name, in bounded memory.
@Suite("Requests that cost more than they look like", .fewAtATime, .serialized)
struct RequestCostTests {
    private static let layer = "Trees/FeatureServer/0"

    /// The most memory that this process has taken, in bytes.
    private static func mostMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let words = line.split(separator: " ")
        return (Int(words[words.count - 2]) ?? 0) * 1_024
    }

    /// Starts the measure of `mostMemory` anew.
    private static func forgetMemory() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    private static func tangle(_ count: Int) -> String {
        var state: UInt64 = 5
        let places = (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return "[\(state >> 44),\((state >> 20) & 0xF_FFFF)]"
        }
        return places.joined(separator: ",")
    }

    @Test("Bodies that would become large in memory are refused by the first limit, in little memory")
    func smallBodies() async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            // As values they would take more than a gigabyte.
            let bytes = 32 * 1_024 * 1_024
            let bodies = [
                ("applyEdits", "f=json&adds=[" + String(repeating: "{\"\":0},", count: bytes / 7) + "0]", "100000"),
                ("query", "f=json&objectIds=" + String(repeating: "1,", count: bytes / 2), "100000"),
                ("query", String(repeating: "a&", count: bytes / 2), "1000"),
                ("query", "f=json&time=" + String(repeating: "1,", count: bytes / 2), "1048576"),
                (
                    "addFeatures",
                    "f=json&features=[{\"attributes\":{" + String(repeating: "\"a\":1,", count: bytes / 6)
                        + "\"a\":1}}]", "20000"
                ),
            ]
            for (operation, body, limit) in bodies {
                Self.forgetMemory()
                let before = try Self.mostMemory()
                let answer = try await server.client.post("\(Self.layer)/\(operation)", body: body)
                let error = try answer.json["error"]
                #expect(error?["code"]?.integerValue == 400 || error?["code"]?.integerValue == 413, "\(operation)")
                #expect(error?["details"]?.text.contains(limit) == true, "\(operation): \(error?.text ?? "")")
                #expect(try Self.mostMemory() - before < 512 * 1_024 * 1_024, "\(operation) \(limit)")
            }
        }
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

extension TestClient {
    /// Posts a form as it stands.
    fileprivate func post(_ path: String, body: String) async throws -> Answer {
        try await send(
            "POST", path, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8))
    }
}
