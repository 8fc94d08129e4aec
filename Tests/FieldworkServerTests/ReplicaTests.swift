import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Sessions of the plain protocol, written by hand as the protocol's reference shows them.
@Suite("Replicas over the protocol", .fewAtATime, .everyStore)
struct ReplicaTests {
    private func create(
        _ client: TestClient, _ extra: KeyValuePairs<String, String> = [:], model: String = "perLayer"
    ) async throws -> JSONValue {
        var form: [(String, String)] = [
            ("f", "json"), ("replicaName", "crew"), ("layers", "0,1"), ("syncModel", model),
            ("transportType", "esriTransportTypeEmbedded"),
        ]
        form += extra.map { ($0.key, $0.value) }
        let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
        return try await client.send(
            "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8)
        ).json
    }

    private func guid(_ id: UUID) -> String { GUID.normalForm(id) }

    private func syncLayers(_ generation: Int64, direction: String = "bidirectional") -> String {
        #"[{"id":0,"serverGen":\#(generation),"syncDirection":"\#(direction)"},"#
            + #"{"id":1,"serverGen":\#(generation),"syncDirection":"\#(direction)"}]"#
    }

    @Test("A service that allows it says what it can do with replicas; another one refuses")
    func abilities() async throws {
        try await SyncService.serve { client, _ in
            let root = try await client.get("", ["f": "json"]).json
            #expect(root["syncEnabled"] == true)
            #expect(root["syncCapabilities"]?["supportsPerLayerSync"] == true)
            #expect(root["syncCapabilities"]?["supportsRollbackOnFailure"] == true)
            #expect(root["extractChangesCapabilities"]?["supportsServerGens"] == true)
            #expect(root["changeTrackingInfo"]?.generation() == 1)
        }
        try await TemporaryStore.serve { server, _ in
            let root = try await server.client.get("Trees/FeatureServer", ["f": "json"]).json
            #expect(root["syncEnabled"] == false)
            #expect(root["syncCapabilities"] == nil)
            let answer = try await server.client.post(
                "Trees/FeatureServer/createReplica", ["f": "json", "layers": "0", "syncModel": "perLayer"])
            #expect(answer.errorCode == 400)
        }
    }

    @Test("A replica per layer: created, changed on both sides, synchronised, and nothing comes back that is known")
    func perLayer() async throws {
        try await SyncService.serve { client, store in
            let replica = try await create(client)
            let id = try #require(replica["replicaID"]?.stringValue)
            #expect(replica["replicaName"] == "crew")
            #expect(replica["responseType"] == "esriReplicaResponseTypeData")
            #expect(replica.element("layers", 0)?["features"]?.names == ["Tree 0", "Tree 1", "Tree 2"])
            #expect(replica.element("layers", 1)?["features"]?.notes.count == 3)
            let generation = try #require(replica.generation())
            // Somebody else, on the service.
            let other = try await client.post(
                "0/updateFeatures", ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Height":7}}]"#])
            #expect(try other.json["updateResults"]?.arrayValue?.first?["success"] == true)
            let added = UUID()
            let edits = """
                [{"id":0,"features":{
                    "adds":[{"attributes":{"GlobalID":"\(guid(added))","Name":"New","Species":"Oak"},
                             "geometry":{"x":5,"y":6,"spatialReference":{"wkid":102100}}}],
                    "updates":[{"attributes":{"OBJECTID":77,"GlobalID":"\(guid(SyncService.trees[0]))","Name":"Mine"}}],
                    "deletes":["\(guid(SyncService.trees[2]))"]}}]
                """
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncLayers": syncLayers(generation), "edits": edits,
                    "returnIdsForAdds": "true", "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(answer["responseType"] == "esriReplicaResponseTypeEdits")
            let layer = try #require(answer.element("edits", 0))
            #expect(layer["addResults"]?.arrayValue?.first?["success"] == true)
            #expect(layer["addResults"]?.arrayValue?.first?["globalId"] == .string(guid(added)))
            #expect(layer["updateResults"] == [])
            // The merged feature comes back, since the service knows more of it; what was handed in does not.
            #expect(layer["features"]?["updates"]?.names == ["Mine"])
            #expect(layer["features"]?["updates"]?.arrayValue?.first?["attributes"]?["Height"] == 7)
            #expect(layer["features"]?["adds"] == [])
            #expect(layer["features"]?["deleteIds"] == [])
            let next = try #require(answer.generation())
            #expect(next > generation)
            let count = try await store.count(FeatureQuery(), in: LayerAddress(service: SyncService.name, layerID: 0))
            #expect(count == 3)
            let quiet = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncLayers": syncLayers(next),
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(quiet["responseType"] == "esriReplicaResponseTypeNoEdits")
            #expect(quiet.generation() == next)
        }
    }

    @Test("A replica as a whole: download, upload and both, with one generation")
    func perReplica() async throws {
        try await SyncService.serve { client, _ in
            let replica = try await create(client, model: "perReplica")
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica["replicaServerGen"]?.integerValue)
            #expect(replica["layerServerGens"] == nil)
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "3"])
            let edits = #"[{"id":1,"adds":[{"attributes":{"GlobalID":"\#(guid(UUID()))","Note":"flat"}}]}]"#
            let uploaded = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": "{\(id.uppercased())}", "replicaServerGen": "\(generation)",
                    "syncDirection": "upload", "edits": edits, "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            // Nothing was fetched: the client's generation stays.
            #expect(uploaded["replicaServerGen"]?.integerValue == generation)
            #expect(uploaded.element("edits", 0)?["features"]?["deleteIds"] == [])
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "replicaServerGen": "\(generation)", "syncDirection": "download",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(answer.element("edits", 0)?["features"]?["deleteIds"] == [.string(guid(SyncService.trees[2]))])
            #expect(answer.element("edits", 1)?["features"]?["adds"]?.notes == ["flat"])
            let snapshot = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncDirection": "snapshot",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(snapshot["responseType"] == "esriReplicaResponseTypeData")
            #expect(snapshot.element("layers", 0)?["features"]?.names == ["Tree 0", "Tree 1"])
        }
    }

    @Test("An area takes its trees and their inspections; both come and go with the tree")
    func areaWithRelated() async throws {
        try await SyncService.serve { client, _ in
            let replica = try await create(
                client, ["geometry": "-10,-10,110,10", "geometryType": "esriGeometryEnvelope", "inSR": "102100"])
            #expect(replica.element("layers", 0)?["features"]?.names == ["Tree 0", "Tree 1"])
            #expect(replica.element("layers", 1)?["features"]?.notes == ["Note 0", "Note 1"])
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            func move(_ objectID: Int, to x: Int) async throws {
                let features = #"[{"attributes":{"OBJECTID":\#(objectID)},"geometry":{"x":\#(x),"y":0}}]"#
                _ = try await client.post("0/updateFeatures", ["f": "json", "features": features])
            }
            try await move(1, to: 5_000)
            try await move(3, to: 50)
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncLayers": syncLayers(generation),
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(answer.element("edits", 0)?["features"]?["adds"]?.names == ["Tree 2"])
            #expect(answer.element("edits", 0)?["features"]?["deleteIds"] == [.string(guid(SyncService.trees[0]))])
            #expect(answer.element("edits", 1)?["features"]?["adds"]?.notes == ["Note 2"])
            #expect(
                answer.element("edits", 1)?["features"]?["deleteIds"] == [.string(guid(SyncService.inspections[0]))])
        }
    }

    @Test("An upload with a name is done once, and merged by the service's rule")
    func uploadID() async throws {
        try await SyncService.serve(rule: .holdForReview) { client, store in
            let replica = try await create(client)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            _ = try await client.post(
                "0/updateFeatures", ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Name":"Theirs"}}]"#])
            let update = #"{"attributes":{"GlobalID":"\#(guid(SyncService.trees[0]))","Name":"Mine","Height":3}}"#
            let form: KeyValuePairs = [
                "f": "json", "replicaID": id, "syncLayers": syncLayers(generation), "uploadId": UUID().uuidString,
                "edits": #"[{"id":0,"features":{"updates":[\#(update)]}}]"#,
                "transportType": "esriTransportTypeEmbedded",
            ]
            let first = try await client.post("synchronizeReplica", form).json
            #expect(first.element("edits", 0)?["features"]?["updates"]?.names == ["Theirs"])
            #expect(first["conflicts"] == [1])
            let before = try await store.generation(of: SyncService.name)
            let second = try await client.post("synchronizeReplica", form).json
            #expect(second["conflicts"] == [1])
            #expect(try await store.generation(of: SyncService.name) == before)
            let open = try await client.get("conflicts", ["f": "json", "state": "open"]).json
            let conflict = try #require(open["conflicts"]?.arrayValue?.first)
            #expect(conflict["lost"]?["attributes"] == ["Name": "Mine"])
            #expect(try await client.post("conflicts/1/restore", ["f": "json"]).json["success"] == true)
            #expect(try await client.get("conflicts/1", ["f": "json"]).json["state"] == "restored")
            let feature = try await client.get("0/1", ["f": "json"]).json
            #expect(feature["feature"]?["attributes"]?["Name"] == "Mine")
            #expect(feature["feature"]?["attributes"]?["Height"] == 3)
        }
    }

    @Test("A feature that an upload updates and deletes stays deleted where somebody else has deleted it before")
    func updatedAndDeleted() async throws {
        try await SyncService.serve { client, store in
            let replica = try await create(client)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            _ = try await client.post("0/deleteFeatures", ["f": "json", "objectIds": "1"])
            let tree = guid(SyncService.trees[0])
            let update = #"{"attributes":{"GlobalID":"\#(tree)","Name":"Mine"}}"#
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncLayers": syncLayers(generation),
                    "edits": #"[{"id":0,"features":{"updates":[\#(update)],"deletes":["\#(tree)"]}}]"#,
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(answer["conflicts"] == nil)
            let trees = LayerAddress(service: SyncService.name, layerID: 0)
            #expect(try await store.count(FeatureQuery(), in: trees) == 2)
            #expect(try await client.get("conflicts", ["f": "json"]).json["conflicts"] == [])
        }
    }

    @Test("A failing item undoes all with rollbackOnFailure, and is told of without")
    func rollback() async throws {
        try await SyncService.serve { client, store in
            let replica = try await create(client)
            let id = try #require(replica["replicaID"]?.stringValue)
            let generation = try #require(replica.generation())
            let good = #"{"attributes":{"GlobalID":"\#(guid(SyncService.trees[0]))","Name":"Good"}}"#
            let bad = #"{"attributes":{"GlobalID":"\#(guid(SyncService.trees[1]))","Height":999}}"#
            func sync(rollback: String) async throws -> TestClient.Answer {
                try await client.post(
                    "synchronizeReplica",
                    [
                        "f": "json", "replicaID": id, "syncLayers": syncLayers(generation),
                        "edits": #"[{"id":0,"features":{"updates":[\#(good),\#(bad)]}}]"#,
                        "rollbackOnFailure": rollback, "transportType": "esriTransportTypeEmbedded",
                    ])
            }
            #expect(try await sync(rollback: "true").errorCode == 400)
            #expect(try await store.generation(of: SyncService.name) == 1)
            let answer = try await sync(rollback: "false").json
            let results = answer.element("edits", 0)?["updateResults"]?.arrayValue
            #expect(results?.count == 1)
            #expect(results?.first?["globalId"] == .string(guid(SyncService.trees[1])))
            #expect(results?.first?["success"] == false)
        }
    }

    @Test("Replicas are listed, described, ended; an ended one still takes edits in, an unknown one is refused")
    func lifeCycle() async throws {
        try await SyncService.serve { client, store in
            let replica = try await create(client)
            let id = try #require(replica["replicaID"]?.stringValue)
            let list = try await client.get("replicas", ["f": "json"]).json
            #expect(list == [["replicaName": "crew", "replicaID": .string(id)]])
            let info = try await client.get("replicas/\(id)", ["f": "json"]).json
            #expect(info["syncModel"] == "perLayer")
            #expect(info.generation() == 1)
            #expect(info["layers"]?.arrayValue?.count == 2)
            #expect(try await client.get("unRegisterReplica", ["f": "json", "replicaID": id]).errorCode == 405)
            let ended = try await client.post("unRegisterReplica", ["f": "json", "replicaID": id]).json
            #expect(ended["success"] == true)
            #expect(try await client.get("replicas", ["f": "json"]).json == [])
            #expect(try await client.post("unRegisterReplica", ["f": "json", "replicaID": id]).errorCode == 404)
            let update = #"{"attributes":{"GlobalID":"\#(guid(SyncService.trees[0]))","Name":"Late"}}"#
            func sync(_ id: String) async throws -> TestClient.Answer {
                try await client.post(
                    "synchronizeReplica",
                    [
                        "f": "json", "replicaID": id, "syncLayers": syncLayers(1),
                        "edits": #"[{"id":0,"features":{"updates":[\#(update)]}}]"#,
                        "transportType": "esriTransportTypeEmbedded",
                    ])
            }
            #expect(try await sync(id).errorCode == nil)
            let feature = try await client.get("0/1", ["f": "json"]).json
            #expect(feature["feature"]?["attributes"]?["Name"] == "Late")
            #expect(try await sync(UUID().uuidString).errorCode == 404)
        }
    }

    @Test("As a file: in one answer, as a job that is asked for, and in parts")
    func files() async throws {
        try await SyncService.serve { client, _ in
            let direct = try await create(client, ["transportType": "esriTransportTypeUrl"])
            let url = try #require(direct["URL"]?.stringValue)
            #expect(direct["resultUrl"]?.stringValue == url)
            let path = try #require(URL(string: url)?.path)
            let whole = try await client.get(path)
            #expect(try whole.json.element("layers", 0)?["features"]?.names.count == 3)
            #expect(whole.header("Accept-Ranges") == "bytes")
            let part = try await client.get(path, headers: [("Range", "bytes=10-19")])
            #expect(part.status == 206)
            #expect(part.body == Array(whole.body[10..<20]))
            #expect(part.header("Content-Range") == "bytes 10-19/\(whole.body.count)")
            let rest = try await client.get(path, headers: [("Range", "bytes=100-")])
            #expect(rest.body == Array(whole.body[100...]))
            #expect(try await client.get(path, headers: [("Range", "bytes=999999-")]).status == 416)
            #expect(try await client.get("replicafiles/..%2F..%2FField.gpkg").errorCode == 404)

            let job = try await create(client, ["async": "true"])
            let statusPath = try #require(job["statusUrl"]?.stringValue.flatMap(URL.init)?.path)
            var status = try await client.get(statusPath, ["f": "json"]).json
            while status["status"] == "Pending" || status["status"] == "InProgress" {
                #expect(status["resultUrl"] == "")
                try await Task.sleep(for: .milliseconds(20))
                status = try await client.get(statusPath, ["f": "json"]).json
            }
            #expect(status["status"] == "Completed")
            #expect(status["replicaName"] == "crew_0")
            let resultPath = try #require(status["resultUrl"]?.stringValue.flatMap(URL.init)?.path)
            let document = try await client.get(resultPath, ["f": "json"]).json
            #expect(document["replicaID"] == status["replicaID"])
        }
    }

    @Test("Changes without a replica: by generation, by kind, ids only")
    func extractChanges() async throws {
        try await SyncService.serve { client, _ in
            let edits = """
                [{"id":0,"adds":[{"attributes":{"Name":"New"},"geometry":{"x":1,"y":1}}],
                  "updates":[{"attributes":{"OBJECTID":2},"geometry":{"x":9,"y":9}}],"deletes":[1]}]
                """
            _ = try await client.post("applyEdits", ["f": "json", "edits": edits])
            func changes(_ extra: KeyValuePairs<String, String>) async throws -> JSONValue {
                var form: [(String, String)] = [
                    ("f", "json"), ("layers", "[0]"), ("transportType", "esriTransportTypeEmbedded"),
                ]
                form += extra.map { ($0.key, $0.value) }
                let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }
                return try await client.send(
                    "POST", "extractChanges", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Array(body.joined(separator: "&").utf8)
                ).json
            }
            let all = try await changes([
                "layerServerGens": #"[{"id":0,"serverGen":1}]"#, "returnInserts": "true", "returnUpdates": "true",
                "returnDeletes": "true", "returnHasGeometryUpdates": "true",
            ])
            #expect(all["responseType"] == "esriDataChangesResponseTypeEdits")
            #expect(all.generation() == 2)
            let layer = try #require(all.element("edits", 0))
            #expect(layer["features"]?["adds"]?.names == ["New"])
            #expect(layer["features"]?["updates"]?.names == ["Tree 1"])
            #expect(layer["features"]?["deleteIds"] == [.string(guid(SyncService.trees[0]))])
            #expect(layer["hasGeometryUpdates"] == true)
            let inserts = try await changes(["serverGens": #"{"sinceServerGen":1}"#, "returnInserts": "true"])
            #expect(inserts.element("edits", 0)?["features"]?["updates"] == [])
            #expect(inserts.element("edits", 0)?["features"]?["deleteIds"] == [])
            let ids = try await changes([
                "serverGens": "[1]", "returnIdsOnly": "true", "returnInserts": "true", "returnUpdates": "true",
                "returnDeletes": "true",
            ])
            #expect(ids.element("edits", 0)?["objectIds"] == ["adds": [4], "updates": [2], "deletes": [1]])
            #expect(try await changes(["serverGens": "[1]"])["error"]?["code"] == 400)
            #expect(try await changes(["returnInserts": "true"])["error"]?["code"] == 400)
            #expect(
                try await changes(["serverGens": "[1]", "returnInserts": "true", "returnExtentOnly": "true"])["error"]?[
                    "code"] == 400)
        }
    }

    @Test(
        "What is not supported or makes no sense is refused by name",
        arguments: [
            ("dataFormat", "shapefile"), ("attachmentsSyncDirection", "bidirectional"), ("syncModel", "perPerson"),
            ("layers", "0,9"),
            ("layerQueries", #"{"0":{"where":"nothing = 1"}}"#), ("layerQueries", #"{"0":{"fields":"Name"}}"#),
            ("geometry", "nonsense"), ("spatialRel", "esriSpatialRelContains"), ("gdbVersion", "sde.other"),
        ])
    func refusals(name: String, value: String) async throws {
        try await SyncService.serve { client, store in
            let form: [(String, String)] = [("f", "json"), ("layers", "0,1"), ("syncModel", "perLayer"), (name, value)]
            let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
            let answer = try await client.send(
                "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(body.utf8))
            #expect(answer.errorCode == 400)
            #expect(try await store.replicas(of: SyncService.name).isEmpty)
        }
    }
}
