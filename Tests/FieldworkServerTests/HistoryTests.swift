import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("The history of features", .fewAtATime)
struct HistoryTests {
    private func versions(_ client: TestClient, _ feature: String) async throws -> [JSONValue] {
        try await client.get("0/\(feature)/history").json["versions"]?.arrayValue ?? []
    }

    private func update(_ client: TestClient, _ attributes: String, _ more: String = "") async throws {
        let answer = try await client.post(
            "0/updateFeatures", ["f": "json", "features": "[{\"attributes\":{\(attributes)}\(more)}]"])
        #expect(try answer.json["updateResults"]?.arrayValue?.first?["success"] == true)
    }

    @Test("Each version is told with what ended it, the newest first, and any of them comes back as an edit")
    func restoresVersions() async throws {
        try await SyncService.serve { client, _ in
            #expect(try await versions(client, "1").isEmpty)
            try await update(client, #""OBJECTID":1,"Name":"Second""#)
            try await update(client, #""OBJECTID":1,"Name":"Third""#, #","geometry":{"x":5,"y":6}"#)
            let list = try await versions(
                client, GUID.normalForm(SyncService.trees[0]).filter { $0 != "{" && $0 != "}" })
            #expect(list.map { $0["feature"]?["attributes"]?["Name"] } == ["Second", "Tree 0"])
            #expect(list.map { $0["endedBy"] } == ["update", "update"])
            #expect(list.first?["feature"]?["geometry"]?["x"] == 0)
            let first = try #require(list.last?["toGeneration"]?.integerValue)
            let answer = try await client.post("0/1/history/\(first)/restore", ["f": "json"])
            #expect(try answer.json["success"] == true)
            let now = try await client.get("0/1", ["f": "json"]).json["feature"]
            #expect(now?["attributes"]?["Name"] == "Tree 0" && now?["geometry"]?["x"] == 0)
            #expect(try await versions(client, "1").count == 3)
        }
    }

    @Test("A deleted feature comes back under its ids")
    func restoresDeleted() async throws {
        try await SyncService.serve { client, _ in
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "2"])
            #expect(try await client.get("0/2", ["f": "json"]).errorCode == 404)
            let version = try #require(try await versions(client, "2").first)
            #expect(version["endedBy"] == "delete")
            let generation = try #require(version["toGeneration"]?.integerValue)
            _ = try await client.post("0/2/history/\(generation)/restore", ["f": "json"])
            let feature = try await client.get("0/2", ["f": "json"]).json["feature"]
            #expect(feature?["attributes"]?["GlobalID"] == .string(GUID.normalForm(SyncService.trees[1])))
            #expect(feature?["attributes"]?["Name"] == "Tree 1")
        }
    }

    @Test("What is not there, and what a reader asks for by GET, is refused and changes nothing")
    func refusals() async throws {
        try await SyncService.serve { client, _ in
            try await update(client, #""OBJECTID":1,"Name":"Second""#)
            let generation = try #require(try await versions(client, "1").first?["toGeneration"]?.integerValue)
            #expect(try await client.get("0/1/history/\(generation)/restore").errorCode == 405)
            #expect(try await client.post("0/1/history/9999/restore", ["f": "json"]).errorCode == 404)
            #expect(try await client.get("0/99/history").errorCode == 404)
            #expect(try await client.get("9/1/history").errorCode == 404)
            for path in ["0/x/history", "0/1/history/1", "0/1/history/x/restore", "0/1/future"] {
                #expect(try await client.get(path, ["f": "json"]).errorCode == 400)
            }
            #expect(try await versions(client, "1").count == 1)
        }
    }
}
