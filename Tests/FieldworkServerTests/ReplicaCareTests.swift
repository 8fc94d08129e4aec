import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Logging
import TestSupport
import Testing

@testable import FieldworkServer

/// Replicas that nobody has heard of for long, and the change log that is shortened then.
@Suite("The care of replicas", .fewAtATime)
struct ReplicaCareTests {
    private func update(_ client: TestClient, _ id: Int, _ name: String) async throws {
        let answer = try await client.post(
            "0/updateFeatures",
            ["f": "json", "features": #"[{"attributes":{"OBJECTID":\#(id),"Name":"\#(name)"}}]"#])
        #expect(try answer.json["updateResults"]?.arrayValue?.first?["success"] == true)
    }

    @Test("An expired replica strands nothing: its edits come in, what they replace is kept, and it lives again")
    func expiry() async throws {
        try await SyncService.serve { client, store in
            let created = try await client.post(
                "createReplica",
                [
                    "f": "json", "replicaName": "crew", "layers": "0", "syncModel": "perReplica",
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            let replica = try #require(created["replicaID"]?.stringValue)
            let generation = try #require(created["replicaServerGen"]?.integerValue)
            try await update(client, 1, "Meanwhile")
            let care = ReplicaCare(store: store, policy: ReplicaPolicy(), logger: Logger(label: "test"))
            #expect(await care.round(Date.now) == 0)
            let later = Date.now.addingTimeInterval(Limits.replicaSilenceSeconds + Limits.changeLogSeconds + 1)
            #expect(await care.round(later) > 0)
            #expect(try await store.replicas(of: SyncService.name).map(\.state) == [.expired])

            let tree = GUID.normalForm(SyncService.trees[0])
            let edits =
                #"[{"id":0,"features":{"updates":[{"attributes":{"GlobalID":"\#(tree)","Name":"From the field"}}]}}]"#
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": replica, "replicaServerGen": "\(generation)",
                    "syncDirection": "bidirectional", "edits": edits, "uploadId": UUID().uuidString,
                    "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            #expect(answer["error"] == nil)
            let rows = try await store.records(
                FeatureQuery(objectIDs: [1]), in: LayerAddress(service: SyncService.name, layerID: 0))
            #expect(rows.first?.attributes["Name"] == .text("From the field"))
            let conflicts = try await client.get("conflicts", ["f": "json"]).json["conflicts"]?.arrayValue
            #expect(conflicts?.first?["lost"]?["attributes"]?["Name"] == "Meanwhile")
            #expect(try await store.replicas(of: SyncService.name).map(\.state) == [.live])
        }
    }

    @Test("A broken file keeps nobody from the care of the services after it")
    func brokenFile() async throws {
        try await SyncService.serve { client, store in
            // In a database there is no such file.
            guard let files = store as? GeoPackageStore else { return }
            // Its name comes before that of every other.
            let junk = files.folder.appending(path: "AAA.gpkg")
            try Data("no database at all".utf8).write(to: junk)
            #expect(try await store.serviceNames().first?.name == "AAA")
            try await update(client, 1, "Meanwhile")
            let care = ReplicaCare(store: store, policy: ReplicaPolicy(), logger: Logger(label: "test"))
            let later = Date.now.addingTimeInterval(Limits.replicaSilenceSeconds + Limits.changeLogSeconds + 1)
            #expect(await care.round(later) > 0)
            try FileManager.default.removeItem(at: junk)
        }
    }
}
