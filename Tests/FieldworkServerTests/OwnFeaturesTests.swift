import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import FieldworkServer

/// A layer where each sees only his own features: no way around the query leads to those of others.
@Suite("Features that only their author sees", .fewAtATime)
struct OwnFeaturesTests {
    private static let layer = "Reports/FeatureServer/0"

    private static var definition: ServiceDefinition {
        var layer = LayerDefinition(
            id: 0, name: "Reports",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                FieldDefinition(name: "text", type: .string, length: 40), FieldDefinition(name: "kind", type: .integer),
                FieldDefinition(name: "who", type: .string, length: 40, isEditable: false),
            ],
            globalIDField: "GlobalID",
            editFields: EditFieldsDefinition(
                creationDateField: nil, creatorField: "who", editDateField: nil, editorField: nil),
            ownershipAccess: OwnershipAccess(
                allowsOthersToQuery: false, allowsOthersToUpdate: false, allowsOthersToDelete: false),
            hasAttachments: true,
            // The view has reports of a kind below five.
            unknownMembers: JSONObject(["definitionExpression": "kind < 5"]))
        layer.attributeRules = [AttributeRuleDefinition(name: "None", kind: .validation, script: "false", events: [])]
        return ServiceDefinition(
            name: ServiceName(name: "Reports"), capabilities: [.query, .create, .update, .delete, .editing, .uploads],
            layers: [layer])
    }

    private static func serve(_ test: (TestServer) async throws -> Void) async throws {
        let user = HTTPField.Name("X-Test-User")
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, identify: { request in user.flatMap { request.headerFields[$0] } })
        try await TemporaryStore.serve(configuration: configuration) { server, store in
            try await store.createService(definition)
            for (editor, kind) in [("ada", 1), ("ada", 9), ("bo", 1)] {
                let add = FeatureEdit(
                    globalID: UUID(), attributes: [("text", .text("by \(editor)")), ("kind", .integer(Int64(kind)))])
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: [add])], usesGlobalIDs: true, editor: editor,
                    moment: TemporaryStore.moment)
                #expect(try await !store.apply(batch, to: definition.name).hasErrors)
            }
            try await test(server)
        }
    }

    private static func by(_ user: String) -> [(String, String)] { [("X-Test-User", user)] }

    @Test("A user sees only the own features that also meet the layer's definition expression")
    func ownOfTheView() async throws {
        try await Self.serve { server in
            for (user, ids) in [("ada", [1]), ("bo", [3]), ("cy", [])] as [(String, [Int64])] {
                let answer = try await server.client.get(
                    "\(Self.layer)/query", ["where": "1=1", "returnIdsOnly": "true", "f": "json"],
                    headers: Self.by(user))
                #expect(try answer.json["objectIds"]?.arrayValue?.compactMap(\.integerValue) == ids)
                let outside = try await server.client.get("\(Self.layer)/2", ["f": "json"], headers: Self.by(user))
                #expect(outside.errorCode == 404)
            }
        }
    }

    @Test("A validation tells of features that its reader may see alone, whichever are asked for")
    func validation() async throws {
        try await Self.serve { server in
            for (user, ids) in [("ada", [1]), ("bo", [3]), ("cy", [])] as [(String, [Int64])] {
                for selection in ["", #"[{"id":0,"objectIds":[1,2,3]}]"#] {
                    let answer = try await server.client.get(
                        "Reports/ValidationServer/evaluate", ["selection": selection, "f": "json"],
                        headers: Self.by(user))
                    let told = try answer.json["validationErrors"]?.arrayValue?.compactMap {
                        $0["objectId"]?.integerValue
                    }
                    #expect(told == ids, "\(user): \(answer.text)")
                    #expect(try answer.json["evaluatedFeatures"]?.integerValue == Int64(ids.count))
                }
            }
        }
    }

    @Test("A layer whose condition can't be read shows nothing, rather than what it should not")
    func unreadableCondition() async throws {
        try await TemporaryStore.serve { server, store in
            var definition = SyncService.definition
            definition.layers[0].unknownMembers = JSONObject(["definitionExpression": "nowhere > 3"])
            try await store.createService(definition)
            let add = FeatureEdit(attributes: [("Name", .text("hidden"))])
            let batch = EditBatch(layers: [LayerEdits(layerID: 0, adds: [add])], moment: TemporaryStore.moment)
            #expect(try await !store.apply(batch, to: definition.name).hasErrors)
            let answer = try await server.client.get(
                "Field/FeatureServer/0/query", ["where": "1=1", "outFields": "*", "f": "json"])
            #expect(!answer.text.contains("hidden"))
        }
    }

    @Test("A feature of such a layer is had neither by its id nor by a count, and is not in an image")
    func unreadableConditionByID() async throws {
        try await TemporaryStore.serve { server, store in
            var definition = SyncService.definition
            definition.layers[0].unknownMembers = JSONObject(["definitionExpression": "Name = "])
            try await store.createService(definition)
            let add = FeatureEdit(attributes: [("Name", .text("hidden"))])
            let batch = EditBatch(layers: [LayerEdits(layerID: 0, adds: [add])], moment: TemporaryStore.moment)
            #expect(try await !store.apply(batch, to: definition.name).hasErrors)
            let one = try await server.client.get("Field/FeatureServer/0/1", ["f": "json"])
            #expect(one.errorCode == 404 && !one.text.contains("hidden"))
            let count = try await server.client.get(
                "Field/FeatureServer/0/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try count.json["count"] == 0)
        }
    }

    @Test("Nothing of others is counted, listed by id or attached to an answer", arguments: ["ada", "bo", "cy"])
    func nothingOfOthers(user: String) async throws {
        try await Self.serve { server in
            let own = ["ada": 1, "bo": 1, "cy": 0][user] ?? 0
            func ask(_ path: String, _ more: [String: String]) async throws -> TestClient.Answer {
                let pairs = more.merging(["f": "json"]) { $1 }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                return try await server.client.get("\(Self.layer)\(path)?\(pairs)", headers: Self.by(user))
            }
            #expect(
                try await ask("/query", ["where": "1%3D1", "returnCountOnly": "true"]).json["count"]
                    == .integer(Int64(own)))
            let all = try await ask("/query", ["objectIds": "1,2,3", "outFields": "*"])
            #expect(try all.json["features"]?.arrayValue?.count == own)
            let others = user == "ada" ? "by bo" : "by ada"
            #expect(!all.text.contains(others))
            for id in 1...3 {
                let one = try await ask("/\(id)", [:])
                #expect(!one.text.contains(others))
            }
        }
    }

    @Test("A job gives no features that the layer's own condition leaves out")
    func jobs() async throws {
        try await TemporaryStore.serve { server, store in
            var definition = SyncService.definition
            definition.layers[0].unknownMembers = JSONObject(["definitionExpression": "Name <> 'hidden'"])
            try await store.createService(definition)
            let adds = ["hidden", "shown"].map { FeatureEdit(globalID: UUID(), attributes: [("Name", .text($0))]) }
            let batch = EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, moment: TemporaryStore.moment)
            #expect(try await !store.apply(batch, to: definition.name).hasErrors)
            let started = try await server.client.post(
                "Field/FeatureServer/createReplica",
                ["f": "json", "layers": "0", "async": "true", "transportType": "esriTransportTypeUrl"])
            func path(_ member: String, of answer: TestClient.Answer) throws -> String? {
                // While the job goes on the address of its result is empty.
                try answer.json[member]?.stringValue?.components(separatedBy: "/arcgis").last.flatMap {
                    $0.isEmpty ? nil : "/arcgis" + $0
                }
            }
            let job = try #require(try path("statusUrl", of: started), "\(started.text)")
            var result: String?
            for _ in 0..<600 where result == nil {
                result = try path("resultUrl", of: try await server.client.get(job, ["f": "json"]))
                if result == nil { try await Task.sleep(for: .milliseconds(50)) }
            }
            let document = try await server.client.get(try #require(result))
            #expect(document.text.contains("shown") && !document.text.contains("hidden"), "\(document.text)")
        }
    }

    @Test("The history of such a layer can't be read, and no version of it restored")
    func history() async throws {
        try await Self.serve { server in
            let update = #"[{"attributes":{"OBJECTID":1,"text":"second"}}]"#
            let updated = try await server.client.post(
                "\(Self.layer)/updateFeatures", ["features": update, "f": "json"], headers: Self.by("ada"))
            #expect(try updated.json["updateResults"]?.arrayValue?.first?["success"] == true)
            for user in ["ada", "bo"] {
                let answer = try await server.client.get("\(Self.layer)/1/history", headers: Self.by(user))
                #expect(answer.errorCode == 400)
                #expect(!answer.text.contains("by ada"))
            }
            let restored = try await server.client.post(
                "\(Self.layer)/1/history/4/restore", ["f": "json"], headers: Self.by("bo"))
            #expect(restored.errorCode == 400)
        }
    }

    @Test("Attachments of others are not listed, not read, and none is added to them")
    func attachments() async throws {
        try await Self.serve { server in
            let boundary = "own"
            let body = """
                --own\r\nContent-Disposition: form-data; name="f"\r\n\r\njson\r\n--own\r\n\
                Content-Disposition: form-data; name="attachment"; filename="bark.jpg"\r\n\
                Content-Type: image/jpeg\r\n\r\nbark\r\n--own--\r\n
                """
            func add(_ user: String) async throws -> TestClient.Answer {
                try await server.client.send(
                    "POST", "\(Self.layer)/1/addAttachment",
                    headers: Self.by(user) + [("Content-Type", "multipart/form-data; boundary=\(boundary)")],
                    body: Array(body.utf8))
            }
            #expect(try await add("bo").errorCode == 404)
            #expect(try await add("ada").json["addAttachmentResult"]?["success"] == true)
            for (user, isSeen) in [("ada", true), ("bo", false)] {
                let list = try await server.client.get(
                    "\(Self.layer)/1/attachments", ["f": "json"], headers: Self.by(user))
                #expect(list.text.contains("bark.jpg") == isSeen)
                let content = try await server.client.get("\(Self.layer)/1/attachments/1", headers: Self.by(user))
                #expect(content.text.contains("bark") == isSeen)
                let found = try await server.client.get(
                    "\(Self.layer)/queryAttachments", ["definitionExpression": "1=1", "f": "json"],
                    headers: Self.by(user))
                #expect(found.text.contains("bark.jpg") == isSeen)
            }
        }
    }

    @Test("Who gives no name goes on with nobody's upload, and ends none")
    func uploadsOfOthers() async throws {
        try await Self.serve { server in
            let root = "Reports/FeatureServer/uploads"
            let registered = try await server.client.post(
                "\(root)/register", ["itemName": "b.jpg", "f": "json"], headers: Self.by("bo"))
            let id = try #require(try registered.json["item"]?["itemID"]?.stringValue)
            for headers in [[], Self.by("ada")] {
                let appended = try await server.client.send(
                    "POST", "\(root)/\(id)/append?offset=0&f=json",
                    headers: headers + [("Content-Type", "application/octet-stream")], body: [9, 9])
                #expect(appended.errorCode == 404)
                #expect(
                    try await server.client.post("\(root)/\(id)/commit", ["f": "json"], headers: headers).errorCode
                        == 404)
            }
            let untouched = try await server.client.get("\(root)/\(id)", ["f": "json"], headers: Self.by("bo"))
            #expect(try untouched.json["received"] == 0)
        }
    }

    @Test("An upload can be continued only by the user who began it")
    func uploads() async throws {
        try await Self.serve { server in
            let root = "Reports/FeatureServer/uploads"
            let registered = try await server.client.post(
                "\(root)/register", ["itemName": "a.jpg", "f": "json"], headers: Self.by("ada"))
            let id = try #require(try registered.json["item"]?["itemID"]?.stringValue)
            func append(_ user: String) async throws -> TestClient.Answer {
                try await server.client.send(
                    "POST", "\(root)/\(id)/append?offset=0&f=json",
                    headers: Self.by(user) + [("Content-Type", "application/octet-stream")], body: [1, 2, 3])
            }
            #expect(try await append("bo").errorCode == 404)
            let untouched = try await server.client.get("\(root)/\(id)", ["f": "json"], headers: Self.by("ada"))
            #expect(try untouched.json["received"] == 0)
            #expect(try await append("ada").json["item"]?["received"] == 3)
            #expect(
                try await server.client.get("\(root)/\(id)", ["f": "json"], headers: Self.by("bo")).errorCode == 404)
        }
    }
}
