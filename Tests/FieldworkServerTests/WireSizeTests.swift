import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// What a synchronisation of attribute edits weighs, as it travels.
@Suite("Bytes on the wire", .fewAtATime)
struct WireSizeTests {
    private static let count = 1_000
    private static let bytesPerEdit = 100

    private static let ids = (0..<count).map { _ in UUID() }
    private static let layers = "[{\"id\":0,\"serverGen\":%,\"syncDirection\":\"bidirectional\"}]"

    @Test("An attribute edit takes at most 100 bytes there, and at most 100 bytes on the way to the next client")
    func bothWays() async throws {
        var service = SyncService.definition
        service.layers = [TreesService.trees]
        try await AttachmentServer.serve(service) { client, store, _ in
            let adds = Self.ids.enumerated().map { index, id in
                FeatureEdit(
                    globalID: id, attributes: [("Name", .text("Tree \(index)")), ("Condition", .text("Good"))],
                    geometry: .geometry(
                        Point(
                            x: 1_234_567.125 + Double(index) * 13.7, y: 7_654_321.5 - Double(index) * 7.3,
                            spatialReference: .webMercator)))
            }
            _ = try await store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, moment: TemporaryStore.moment),
                to: AttachmentServer.name)
            var replicas: [(id: String, generation: Int64)] = []
            for _ in 0..<2 {
                let made = try await client.post(
                    "createReplica",
                    [
                        "f": "json", "layers": "0", "syncModel": "perLayer",
                        "transportType": "esriTransportTypeEmbedded",
                    ]
                ).json
                replicas.append((try #require(made["replicaID"]?.stringValue), try #require(made.generation())))
            }
            let updates = Self.ids.enumerated().map { index, id in
                "{\"attributes\":{\"GlobalID\":\"\(GUID.normalForm(id))\",\"Condition\":\"\(index % 3 == 0 ? "Poor" : "Fair")\"}}"
            }
            let edits =
                "[{\"id\":0,\"features\":{\"adds\":[],\"updates\":[\(updates.joined(separator: ","))],\"deletes\":[]}}]"
            let sent = try await synchronise(client, replicas[0], edits: edits)
            #expect(sent.answer.errorCode == nil, "\(sent.answer.text.prefix(300))")
            #expect(sent.bytes / Self.count <= Self.bytesPerEdit, "\(sent.bytes) bytes were sent")
            let fetched = try await synchronise(client, replicas[1], edits: nil)
            #expect(fetched.answer.header("content-encoding") == "gzip")
            let document = try GzipReader.expanded(fetched.answer.body, maximum: 10_000_000)
            let changed = try JSONParser.parse(document).element("edits", 0)?["features"]?["updates"]?.arrayValue
            #expect(changed?.count == Self.count)
            let bytes = fetched.answer.body.count
            #expect(bytes / Self.count <= Self.bytesPerEdit, "\(bytes) bytes came")
        }
    }

    private func synchronise(
        _ client: TestClient, _ replica: (id: String, generation: Int64), edits: String?
    ) async throws -> (answer: TestClient.Answer, bytes: Int) {
        var form = TestClient.form([
            "f": "json", "replicaID": replica.id, "transportType": "esriTransportTypeEmbedded",
            "syncLayers": Self.layers.replacing("%", with: String(replica.generation)),
        ])
        if let edits { form += "&edits=" + TestClient.escape(edits) }
        let body = try GzipStream.compressed(Array(form.utf8))
        let answer = try await client.send(
            "POST", "synchronizeReplica",
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Encoding", "gzip"),
                ("Accept-Encoding", "gzip"),
            ], body: body)
        return (answer, body.count)
    }
}
