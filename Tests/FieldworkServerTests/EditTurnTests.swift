import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Requests that come late", .fewAtATime)
struct EditTurnTests {
    private static let sender = "{B2D7B4E6-6A0F-4F6A-9A44-1F5B7D0A0C11}"
    private static let service = "Trees/FeatureServer"
    private static let tree = #"[{"attributes":{"Name":"New"},"geometry":{"x":5,"y":6}}]"#

    private static func send(_ server: TestServer, _ edits: String, _ turn: String) async throws -> JSONValue {
        try await server.client.post(
            "\(service)/applyEdits", ["edits": edits, "editSender": sender, "editTurn": turn, "f": "json"]
        ).json
    }

    private static func count(_ server: TestServer) async throws -> Int64? {
        try await server.client.get(
            "\(service)/0/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"]
        ).json["count"]?.integerValue
    }

    @Test("A request is refused as a whole when a later one of its sender has come, or the same one")
    func passed() async throws {
        try await TemporaryStore.serve { server, _ in
            let add = #"[{"id":0,"adds":\#(Self.tree)}]"#
            #expect(try await Self.send(server, add, "1").arrayValue?.count == 1)
            #expect(try await Self.send(server, add, "1")["error"]?["code"]?.integerValue == 409)
            #expect(try await Self.send(server, "[]", "7").arrayValue?.isEmpty == true)
            #expect(try await Self.send(server, add, "6")["error"]?["code"]?.integerValue == 409)
            #expect(try await Self.count(server) == 1)
            #expect(try await Self.send(server, add, "8").arrayValue?.count == 1)
            #expect(try await Self.count(server) == 2)
            let about = try await server.client.get(Self.service, ["f": "json"]).json
            #expect(about["supportsEditTurns"] == true)
        }
    }

    @Test("Operations of a layer come in the same turns")
    func layerOperations() async throws {
        try await TemporaryStore.serve { server, _ in
            #expect(try await Self.send(server, "[]", "3").arrayValue?.isEmpty == true)
            for operation in ["addFeatures", "applyEdits"] {
                let name = operation == "addFeatures" ? "features" : "adds"
                let answer = try await server.client.post(
                    "\(Self.service)/0/\(operation)",
                    [name: Self.tree, "editSender": Self.sender, "editTurn": "2", "f": "json"]
                ).json
                #expect(answer["error"]?["code"]?.integerValue == 409, "\(operation)")
            }
            #expect(try await Self.count(server) == 0)
        }
    }

    @Test(
        "A turn that is none is refused, and nothing is done",
        arguments: [(sender, ""), (sender, "0"), (sender, "-1"), (sender, "x"), ("", "1"), ("me", "1")])
    func invalid(sender: String, turn: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.post(
                "\(Self.service)/applyEdits",
                [
                    "edits": #"[{"id":0,"adds":\#(Self.tree)}]"#, "editSender": sender, "editTurn": turn, "f": "json",
                ]
            ).json
            #expect(answer["error"]?["code"]?.integerValue == 400)
            #expect(try await Self.count(server) == 0)
        }
    }
}
