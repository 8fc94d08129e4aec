import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Edits", .fewAtATime)
struct EditTests {
    private static let layer = "Trees/FeatureServer/0"
    private static let newTree =
        #"[{"attributes":{"Name":"New","Species":"Ash","Stems":2},"geometry":{"x":5,"y":6}}]"#

    private static func count(_ server: TestServer, where condition: String = "1=1") async throws -> Int64? {
        try await server.client.get("\(layer)/query", ["where": condition, "returnCountOnly": "true", "f": "json"])
            .json["count"]?.integerValue
    }

    private static func feature(_ server: TestServer, _ id: Int64) async throws -> JSONValue? {
        try await server.client.get("\(layer)/\(id)", ["f": "json"]).json["feature"]
    }

    @Test("A feature is added, updated and deleted, one operation each")
    func operations() async throws {
        try await TemporaryStore.serve { server, _ in
            let added = try await server.client.post(
                "\(Self.layer)/addFeatures", ["features": Self.newTree, "f": "json"]
            ).json
            let result = try #require(added["addResults"]?.arrayValue?.first)
            #expect(result["success"] == true)
            let id = try #require(result["objectId"]?.integerValue)
            #expect(result["globalId"]?.stringValue?.count == 38)

            let change = #"[{"attributes":{"objectid":\#(id),"name":"Renamed"}}]"#
            let updated = try await server.client.post(
                "\(Self.layer)/updateFeatures", ["features": change, "f": "json"]
            ).json
            #expect(updated["updateResults"]?.arrayValue?.first?["success"] == true)
            let feature = try await Self.feature(server, id)
            #expect(feature?["attributes"]?["Name"] == "Renamed")
            #expect(feature?["attributes"]?["Species"] == "Ash")
            #expect(feature?["geometry"]?["y"]?.doubleValue == 6)

            let deleted = try await server.client.post(
                "\(Self.layer)/deleteFeatures", ["objectIds": "\(id)", "f": "json"]
            ).json
            #expect(deleted["deleteResults"]?.arrayValue?.first?["success"] == true)
            #expect(try await Self.count(server) == 0)
        }
    }

    @Test("applyEdits on the layer does all three, as a form and as multipart", arguments: ["form", "multipart"])
    func layerApplyEdits(way: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let parameters: KeyValuePairs = [
                "f": "json", "useGlobalIds": "False", "rollbackOnFailure": "True", "adds": Self.newTree,
                "updates": #"[{"attributes":{"OBJECTID":2,"Height":99.5},"geometry":{"x":7,"y":8}}]"#, "deletes": "3",
                "returnEditMoment": "False", "trueCurveClient": "False",
            ]
            let path = "\(Self.layer)/applyEdits"
            let answer =
                way == "form"
                ? try await server.client.post(path, parameters)
                : try await server.client.postMultipart(path, parameters)
            let json = try answer.json
            for member in ["addResults", "updateResults", "deleteResults"] {
                #expect(json[member]?.arrayValue?.map { $0["success"] } == [true])
            }
            #expect(try await Self.count(server) == 3)
            let moved = try await Self.feature(server, 2)
            #expect(moved?["geometry"]?["x"]?.doubleValue == 7)
            #expect(moved?["attributes"]?["Height"]?.doubleValue == 99.5)
        }
    }

    @Test("applyEdits on the service edits several layers in one transaction")
    func serviceApplyEdits() async throws {
        try await TemporaryStore.serve { server, _ in
            let edits = #"[{"id":0,"adds":\#(Self.newTree)},{"id":1,"adds":[{"attributes":{"Note":"Seen"}}]}]"#
            let json = try await server.client.post("Trees/FeatureServer/applyEdits", ["edits": edits, "f": "json"])
                .json
            #expect(json.arrayValue?.map { $0["id"] } == [0, 1])
            #expect(json.arrayValue?.allSatisfy { $0["addResults"]?.arrayValue?.first?["success"] == true } == true)
            // An edit of an unknown layer, and a failing item in one of two layers: nothing changes.
            let unknown = #"[{"id":0,"adds":\#(Self.newTree)},{"id":9,"adds":[{"attributes":{}}]}]"#
            #expect(
                try await server.client.post("Trees/FeatureServer/applyEdits", ["edits": unknown, "f": "json"])
                    .errorCode != nil)
            let failing = #"[{"id":0,"adds":\#(Self.newTree)},{"id":1,"adds":[{"attributes":{"Nothing":1}}]}]"#
            let rolledBack = try await server.client.post(
                "Trees/FeatureServer/applyEdits", ["edits": failing, "f": "json"]
            ).json
            #expect(
                rolledBack.arrayValue?.first?["addResults"]?.arrayValue?.first?["error"]?["code"]?.integerValue == 1_003
            )
            #expect(try await Self.count(server) == 1)
        }
    }

    @Test("With rollbackOnFailure=false the good items stand")
    func partialSuccess() async throws {
        try await TemporaryStore.serve { server, _ in
            let adds = #"[{"attributes":{"Name":"Good"}},{"attributes":{"Stems":"many"}}]"#
            let json = try await server.client.post(
                "\(Self.layer)/applyEdits", ["adds": adds, "rollbackOnFailure": "false", "f": "json"]
            ).json
            #expect(json["addResults"]?.arrayValue?.map { $0["success"] } == [true, false])
            #expect(try await Self.count(server) == 1)
        }
    }

    @Test("With useGlobalIds a retry is not a second feature")
    func globalIDs() async throws {
        try await TemporaryStore.serve { server, _ in
            let id = "{\(UUID().uuidString)}"
            let adds = #"[{"attributes":{"GlobalID":"\#(id)","Name":"Once"},"geometry":{"x":1,"y":1}}]"#
            let first = try await server.client.post(
                "\(Self.layer)/applyEdits", ["adds": adds, "useGlobalIds": "true", "f": "json"]
            ).json
            #expect(first["addResults"]?.arrayValue?.first?["globalId"]?.stringValue == id)
            let again = try await server.client.post(
                "\(Self.layer)/applyEdits", ["adds": adds, "useGlobalIds": "true", "f": "json"]
            ).json
            #expect(again["addResults"]?.arrayValue?.first?["success"] == false)
            #expect(try await Self.count(server) == 1)
            let removed = try await server.client.post(
                "\(Self.layer)/applyEdits", ["deletes": id, "useGlobalIds": "true", "f": "json"]
            ).json
            #expect(removed["deleteResults"]?.arrayValue?.first?["success"] == true)
            #expect(try await Self.count(server) == 0)
        }
    }

    @Test("Features are deleted by a condition")
    func deleteWhere() async throws {
        try await TemporaryStore.serve(trees: 10) { server, _ in
            let json = try await server.client.post(
                "\(Self.layer)/deleteFeatures", ["where": "Stems > 4", "f": "json"]
            ).json
            #expect(json["deleteResults"]?.arrayValue?.count == 6)
            #expect(try await Self.count(server) == 4)
            let unlisted = try await server.client.post(
                "\(Self.layer)/deleteFeatures",
                ["where": "Stems > 3", "returnDeleteResults": "false", "f": "json"]
            ).json
            #expect(unlisted == ["success": true])
            #expect(try await Self.count(server) == 3)
            // What would choose fewer features is not passed over.
            for name in ["time", "resultRecordCount", "resultOffset", "historicMoment"] {
                let answer = try await server.client.post(
                    "\(Self.layer)/deleteFeatures?\(name)=1", ["where": "1=1", "f": "json"])
                #expect(answer.text.contains("'\(name)' is not supported by 'deleteFeatures'"))
                #expect(try await Self.count(server) == 3)
            }
            // What chooses nothing deletes nothing, and neither does what says nothing.
            for geometry in [#"{"rings":[]}"#, #"{"rings":[[[0,0],[1,1]]]}"#, #"{"x":"NaN"}"#, "{}", "null"] {
                let parameters: KeyValuePairs = ["geometry": geometry, "f": "json"]
                let answer = try await server.client.post("\(Self.layer)/deleteFeatures", parameters)
                #expect(answer.errorCode == 400, "\(geometry)")
                #expect(try await Self.count(server) == 3)
            }
            // Without any condition nothing is deleted.
            #expect(try await server.client.post("\(Self.layer)/deleteFeatures", ["f": "json"]).errorCode == 400)
            #expect(try await Self.count(server) == 3)
        }
    }

    @Test("Features that a client posts without encoding, as QGIS does, are read")
    func rawForm() async throws {
        try await TemporaryStore.serve { server, _ in
            let body =
                "f=json&features=[\n  {\"attributes\": {\"Name\": \"50 % & 1+1\"}, \"geometry\": {\"x\": 1, \"y\": 2}}\n]"
            let answer = try await server.client.send(
                "POST", "\(Self.layer)/addFeatures", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(body.utf8))
            #expect(try answer.json["addResults"]?.arrayValue?.first?["success"] == true)
            #expect(try await Self.count(server, where: "Name = '50 % & 1+1'") == 1)
        }
    }

    @Test(
        "A write by GET is refused and changes nothing",
        arguments: ["addFeatures", "updateFeatures", "deleteFeatures", "applyEdits"])
    func writeByGet(operation: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let answer = try await server.client.get(
                "\(Self.layer)/\(operation)",
                ["features": Self.newTree, "adds": Self.newTree, "objectIds": "1", "deletes": "1", "f": "json"])
            #expect(answer.errorCode == 405)
            let service = try await server.client.get("Trees/FeatureServer/applyEdits", ["edits": "[]", "f": "json"])
            #expect(service.errorCode == 405)
            #expect(try await Self.count(server) == 3)
        }
    }

    @Test(
        "A read-only service refuses every write",
        arguments: ["addFeatures", "updateFeatures", "deleteFeatures", "applyEdits"])
    func capabilities(operation: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.post(
                "Old/Archive/FeatureServer/0/\(operation)",
                ["features": Self.newTree, "adds": Self.newTree, "objectIds": "1", "f": "json"])
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains("not supported"))
            let service = try await server.client.post(
                "Old/Archive/FeatureServer/applyEdits", ["edits": #"[{"id":0,"adds":\#(Self.newTree)}]"#, "f": "json"])
            #expect(service.errorCode == 400)
        }
    }

    @Test("A full disk is told and nothing is acknowledged")
    func fullDisk() async throws {
        try await TestServer.with(store: ScriptedStore()) { server in
            let answer = try await server.client.post("\(Self.layer)/applyEdits", ["adds": Self.newTree, "f": "json"])
            #expect(answer.errorCode == 507)
            #expect(answer.text.contains("disk"))
        }
    }
}
