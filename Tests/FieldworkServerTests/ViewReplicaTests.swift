import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Devices that take a view offline have what it shows, and stay so.
@Suite("Replicas of views", .fewAtATime, .everyStore)
struct ViewReplicaTests {
    private static func create(
        _ client: TestClient, _ extra: KeyValuePairs<String, String> = [:]
    ) async throws -> JSONValue {
        var form: [(String, String)] = [
            ("f", "json"), ("replicaName", "crew"), ("layers", "0,1"), ("syncModel", "perLayer"),
            ("transportType", "esriTransportTypeEmbedded"), ("returnAttachments", "true"),
            ("attachmentsSyncDirection", "bidirectional"),
        ]
        form += extra.map { ($0.key, $0.value) }
        let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
        let answer = try await client.send(
            "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
        #expect(answer.errorCode == nil, "\(answer.text)")
        #expect(!answer.text.contains("secret") && !answer.text.contains("Species"), "\(answer.text)")
        return try answer.json
    }

    private static func synchronize(
        _ client: TestClient, _ id: String, _ generation: Int64, edits: String = "[]", isClean: Bool = true
    ) async throws -> JSONValue {
        let layers = [0, 1].map { #"{"id":\#($0),"serverGen":\#(generation),"syncDirection":"bidirectional"}"# }
        let answer = try await client.post(
            "synchronizeReplica",
            [
                "f": "json", "replicaID": id, "syncLayers": "[\(layers.joined(separator: ","))]", "edits": edits,
                "transportType": "esriTransportTypeEmbedded", "returnIdsForAdds": "true", "rollbackOnFailure": "false",
            ])
        #expect(!isClean || !answer.text.contains("secret"), "\(answer.text)")
        #expect(!answer.text.contains("Species"), "\(answer.text)")
        return try answer.json
    }

    private static func update(_ store: WholeStore, _ index: Int, _ attributes: [(String, AttributeValue)]) async throws
    {
        let edit = FeatureEdit(globalID: ViewService.trees[index], attributes: attributes.map { ($0.0, $0.1) })
        let batch = EditBatch(
            layers: [LayerEdits(layerID: 0, updates: [edit])], usesGlobalIDs: true, moment: Date.now)
        #expect(try await !store.apply(batch, to: ViewService.name).hasErrors)
    }

    private static func features(_ answer: JSONValue, _ kind: String) -> [String] {
        answer.element("edits", 0)?["features"]?[kind]?.names ?? []
    }

    @Test("A replica of a view has what the view shows; features enter and leave it as they come to meet its condition")
    func deltas() async throws {
        try await ViewService.serve { view, _, _, store in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            #expect(replica.element("layers", 0)?["features"]?.names == ["Tree 0", "Tree 2"])
            #expect(replica.element("layers", 1)?["features"]?.notes == ["Note 0", "Note 2"])
            // One comes in, by a field that nobody sees, and one goes.
            try await Self.update(store, 1, [("Species", .text("secret oak")), ("Name", .text("Tree 1"))])
            try await Self.update(store, 2, [("Species", .text("secret elm"))])
            try await Self.update(store, 0, [("Stems", .integer(4))])
            // With the tree that comes in comes its photo, whose name has the word of what is hidden.
            let answer = try await Self.synchronize(view, id, generation, isClean: false)
            #expect(Self.features(answer, "adds") == ["Tree 1"], "\(answer)")
            #expect(Self.features(answer, "updates") == ["Tree 0"])
            let gone = answer.element("edits", 0)?["features"]?["deleteIds"]?.arrayValue?.compactMap(\.stringValue)
            #expect(gone == [GUID.normalForm(ViewService.trees[2])], "\(answer)")
        }
    }

    @Test("What a device did to features that its view no longer shows is refused, and the rest is taken")
    func uploads() async throws {
        try await ViewService.serve { view, service, _, store in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            try await Self.update(store, 2, [("Species", .text("secret elm"))])
            let ids = ViewService.trees.map(GUID.normalForm)
            let edits = """
                [{"id":0,"features":{"updates":[
                    {"attributes":{"GlobalID":"\(ids[0])","Name":"mine","Keeper":"me"}},
                    {"attributes":{"GlobalID":"\(ids[1])","Name":"mine"}},
                    {"attributes":{"GlobalID":"\(ids[2])","Name":"mine"}}],
                    "deletes":[]}}]
                """
            let answer = try await Self.synchronize(view, id, generation, edits: edits)
            let results = answer.element("addResults", 0) ?? answer["editsResults"] ?? answer
            let names = try await service.get(
                "0/query", ["where": "1=1", "outFields": "Name,Keeper", "f": "json"])
            #expect(try names.json["features"]?.names == ["mine", "secret tree", "Tree 2"], "\(results)")
            #expect(!names.text.contains("\"me\""))
            let conflicts = try await service.get("conflicts", ["f": "json"]).json
            #expect(conflicts["conflicts"] == [], "what is out of reach is nobody's conflict: \(conflicts)")
            let deletes = #"[{"id":0,"features":{"deletes":["\#(ids[1])","\#(ids[2])"]}}]"#
            _ = try await Self.synchronize(view, id, generation, edits: deletes)
            let left = try await service.get("0/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try left.json["count"] == 3)
        }
    }

    @Test("A deleted feature that the view did not show is not brought back through it")
    func restores() async throws {
        try await ViewService.serve { view, service, _, store in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            let batch = EditBatch(
                layers: [
                    LayerEdits(
                        layerID: 0, deletes: .features([0, 1].map { .globalID(ViewService.trees[$0]) }))
                ], usesGlobalIDs: true, moment: Date.now)
            #expect(try await !store.apply(batch, to: ViewService.name).hasErrors)
            let ids = ViewService.trees.map(GUID.normalForm)
            let edits = """
                [{"id":0,"features":{"updates":[{"attributes":{"GlobalID":"\(ids[0])","Name":"mine"}},
                    {"attributes":{"GlobalID":"\(ids[1])","Name":"mine"}}]}}]
                """
            _ = try await Self.synchronize(view, id, generation, edits: edits)
            let names = try await service.get("0/query", ["where": "1=1", "outFields": "Name", "f": "json"])
            #expect(Set(try names.json["features"]?.names ?? []) == ["mine", "Tree 2"], "\(names.text)")
        }
    }

    @Test("A replica belongs to the view that it was made through, and is none of the service's or of another view")
    func belonging() async throws {
        try await ViewService.serve { view, service, _, _ in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            let layers = #"[{"id":0,"serverGen":\#(generation),"syncDirection":"download"}]"#
            let foreign = try await service.post(
                "synchronizeReplica",
                ["f": "json", "replicaID": id, "syncLayers": layers, "transportType": "esriTransportTypeEmbedded"])
            #expect(foreign.errorCode == 404, "\(foreign.text)")
            #expect(try await service.post("unRegisterReplica", ["f": "json", "replicaID": id]).errorCode == 404)
            #expect(try await view.get("replicas", ["f": "json"]).text.contains(id))
            #expect(try await !service.get("replicas", ["f": "json"]).text.contains(id))
            #expect(try await view.post("unRegisterReplica", ["f": "json", "replicaID": id]).errorCode == nil)
        }
    }

    @Test("When a view comes to show something else, its devices get their features anew")
    func changed() async throws {
        try await ViewService.serve { view, _, views, store in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            views.change(ViewService.view) { $0.layers[0].filter = "Name = 'Tree 2'" }
            let answer = try await Self.synchronize(view, id, generation)
            let text = answer.text
            #expect(text.contains("Tree 2") && !text.contains("Tree 0"), "\(text.prefix(2_000))")
            let floors = try await view.get("", ["f": "json"]).json["changeTrackingInfo"]
            #expect(floors?.text.contains("minServerGen") == true, "\(String(describing: floors))")
            _ = store
        }
    }

    @Test("After a change of its view a device gets everything once, and changes from then on, also where nobody edits")
    func changedOnce() async throws {
        try await ViewService.serve { view, _, views, store in
            let replica = try await Self.create(view)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            // So long ago that every server knows of it.
            views.change(ViewService.view, at: Date.now.addingTimeInterval(-10)) { $0.layers[0].filter = "Stems > 0" }
            let first = try await Self.synchronize(view, id, generation, isClean: false)
            #expect(first.text.contains("Tree 0") && first.text.contains("Tree 2"), "\(first.text.prefix(2_000))")
            let next = try #require(first.generation())
            #expect(next > generation)
            let second = try await Self.synchronize(view, id, next, isClean: false)
            #expect(!second.text.contains("Tree 0"), "\(second.text.prefix(2_000))")
            try await Self.update(store, 0, [("Stems", .integer(7))])
            let third = try await Self.synchronize(view, id, next, isClean: false)
            #expect(third.text.contains("Tree 0") && !third.text.contains("Tree 2"), "\(third.text.prefix(2_000))")
        }
    }

    @Test("A file of a view holds no column that the view hides")
    func file() async throws {
        try await ViewService.serve { view, _, _, _ in
            let answer = try await view.post(
                "createReplica",
                [
                    "f": "json", "replicaName": "file", "layers": "0,1", "syncModel": "perLayer",
                    "dataFormat": "sqlite", "transportType": "esriTransportTypeUrl", "returnAttachments": "true",
                ])
            let url = try #require(try answer.json["URL"]?.stringValue, "\(answer.text)")
            let path = try #require(url.components(separatedBy: "/arcgis").last)
            let bytes = try await view.get("/arcgis" + path).body
            #expect(bytes.starts(with: Array("SQLite format 3".utf8)))
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("secret") && !text.contains("Species") && !text.contains("Keeper"))
            #expect(text.contains("Tree 2") && text.contains("bark"))
        }
    }
}
