import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// A layer that allows less than its service: every way of editing holds to it.
@Suite("Rights of a layer", .fewAtATime)
struct LayerRightsTests {
    private static let layer = "Field/FeatureServer/0"

    /// A server with three trees whose layer has these rights.
    private static func serve(
        _ capabilities: Set<Capability>, _ test: (TestClient, GeoPackageStore) async throws -> Void
    ) async throws {
        var definition = SyncService.definition
        definition.layers[0].capabilities = capabilities
        try await TemporaryStore.serve { [definition] server, store in
            try await store.createService(definition)
            let adds = SyncService.trees.map { FeatureEdit(globalID: $0, attributes: [("Name", .text("Tree"))]) }
            let batch = EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, moment: TemporaryStore.moment)
            #expect(try await !store.apply(batch, to: SyncService.name).hasErrors)
            try await test(server.client, store)
        }
    }

    private static func count(_ store: GeoPackageStore) async throws -> Int {
        try await store.count(FeatureQuery(), in: LayerAddress(service: SyncService.name, layerID: 0))
    }

    @Test("Where a layer allows no deletes, none goes through the layer, the service or a sync")
    func deletes() async throws {
        try await Self.serve([.query, .create, .update, .editing, .sync]) { client, store in
            #expect(
                try await client.post("\(Self.layer)/deleteFeatures", ["objectIds": "1", "f": "json"]).errorCode == 400)
            #expect(try await client.post("\(Self.layer)/applyEdits", ["deletes": "1", "f": "json"]).errorCode == 400)
            let edits = #"[{"id":0,"deletes":[1]}]"#
            let service = try await client.post("Field/FeatureServer/applyEdits", ["edits": edits, "f": "json"])
            #expect(service.errorCode == 400)
            let replica = try await client.post(
                "Field/FeatureServer/createReplica",
                [
                    "f": "json", "replicaName": "crew", "layers": "0", "syncModel": "perLayer",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            let id = try #require(replica["replicaID"]?.stringValue)
            let tree = GUID.normalForm(SyncService.trees[0])
            let sync = try await client.post(
                "Field/FeatureServer/synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "transportType": "esriTransportTypeEmbedded",
                    "syncLayers": #"[{"id":0,"serverGen":1,"syncDirection":"bidirectional"}]"#,
                    "edits": #"[{"id":0,"features":{"deletes":["\#(tree)"]}}]"#,
                ])
            #expect(sync.errorCode == 400)
            #expect(try await Self.count(store) == 3)
            let update = #"[{"attributes":{"OBJECTID":1,"Name":"Oak"}}]"#
            let updated = try await client.post("\(Self.layer)/updateFeatures", ["features": update, "f": "json"])
            #expect(try updated.json["updateResults"]?.arrayValue?.first?["success"] == true)
        }
    }

    @Test("A batch with a delete that the layer does not allow is refused as a whole, and so is a sync")
    func batches() async throws {
        try await Self.serve([.query, .create, .update, .editing, .sync]) { client, store in
            let tree = GUID.normalForm(SyncService.trees[0])
            let adds = #"[{"attributes":{"Name":"New"}}]"#
            let layer = try await client.post(
                "\(Self.layer)/applyEdits", ["adds": adds, "deletes": "1", "f": "json"])
            #expect(layer.errorCode == 400)
            let replica = try await client.post(
                "Field/FeatureServer/createReplica",
                [
                    "f": "json", "replicaName": "crew", "layers": "0", "syncModel": "perLayer",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            let id = try #require(replica["replicaID"]?.stringValue)
            let changes = #"{"updates":[{"attributes":{"GlobalID":"\#(tree)","Name":"Oak"}}],"deletes":["\#(tree)"]}"#
            let sync = try await client.post(
                "Field/FeatureServer/synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "transportType": "esriTransportTypeEmbedded",
                    "syncLayers": #"[{"id":0,"serverGen":1,"syncDirection":"upload"}]"#,
                    "edits": #"[{"id":0,"features":\#(changes)}]"#,
                ])
            #expect(sync.errorCode == 400)
            #expect(try await Self.count(store) == 3)
            let names = try await store.records(
                FeatureQuery(), in: LayerAddress(service: SyncService.name, layerID: 0)
            ).map { $0.attributes["Name"] }
            #expect(names == Array(repeating: .text("Tree"), count: 3))
        }
    }

    @Test("A global id that a client gives without saying that it uses them is not the feature's")
    func givenGlobalID() async throws {
        try await Self.serve([.query, .create, .update, .delete, .editing, .sync]) { client, _ in
            let given = UUID()
            func add(_ more: String) async throws -> UUID? {
                let answer = try await client.post(
                    "\(Self.layer)/applyEdits",
                    [
                        "adds": #"[{"attributes":{"Name":"New","GlobalID":"\#(GUID.normalForm(given))"}}]"#,
                        "useGlobalIds": more, "f": "json",
                    ])
                let result = try answer.json["addResults"]?.arrayValue?.first
                #expect(result?["success"] == true)
                return result?["globalId"]?.stringValue.flatMap(GUID.parse)
            }
            let own = try #require(try await add("false"))
            #expect(own != given)
            #expect(try await add("true") == given)
        }
    }

    @Test("Without a rollback the results of deletes are told, whether they are wanted or not")
    func resultsWithoutRollback() async throws {
        try await Self.serve([.query, .create, .update, .delete, .editing, .sync]) { client, store in
            let answer = try await client.post(
                "\(Self.layer)/deleteFeatures",
                [
                    "objectIds": "1,99", "rollbackOnFailure": "false", "returnDeleteResults": "false", "f": "json",
                ])
            let results = try answer.json["deleteResults"]?.arrayValue
            #expect(results?.map { $0["success"] } == [true, false], "\(answer.text)")
            #expect(try await Self.count(store) == 2)
        }
    }

    @Test("Editing with one verb named allows that verb, and no other")
    func oneVerb() async throws {
        try await Self.serve([.query, .create, .editing]) { client, store in
            let add = #"[{"attributes":{"Name":"New"}}]"#
            let added = try await client.post("\(Self.layer)/addFeatures", ["features": add, "f": "json"])
            #expect(try added.json["addResults"]?.arrayValue?.first?["success"] == true)
            let update = #"[{"attributes":{"OBJECTID":1,"Name":"Oak"}}]"#
            let refused = try await client.post("\(Self.layer)/updateFeatures", ["features": update, "f": "json"])
            #expect(refused.errorCode == 400)
            #expect(
                try await client.post("\(Self.layer)/deleteFeatures", ["objectIds": "1", "f": "json"]).errorCode == 400)
            #expect(try await Self.count(store) == 4)
        }
    }

    @Test("Editing without a verb allows all three")
    func noVerb() async throws {
        try await Self.serve([.query, .editing]) { client, store in
            let deleted = try await client.post("\(Self.layer)/deleteFeatures", ["objectIds": "1", "f": "json"])
            #expect(deleted.errorCode == nil)
            #expect(try await Self.count(store) == 2)
        }
    }
}
