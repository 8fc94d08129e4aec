import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Edits that come as an upload, and requests that come compressed.
@Suite("Uploaded edits and compressed requests", .fewAtATime)
struct UploadedEditsTests {
    private static func update(_ tree: Int, _ name: String) -> String {
        """
        {"attributes":{"GlobalID":"\(GUID.normalForm(SyncService.trees[tree]))","Name":"\(name)"}}
        """
    }

    private func upload(_ client: TestClient, _ bytes: [UInt8]) async throws -> String {
        let answer = try await client.post(
            "uploads/upload", ["f": "json"], file: FormFile(bytes, name: "edits.json", field: "file"))
        return try #require(try answer.json["item"]?["itemID"]?.stringValue, "\(answer.text)")
    }

    private func names(_ store: WholeStore) async throws -> [String] {
        try await store.records(FeatureQuery(), in: AttachmentServer.trees)
            .compactMap { $0.attributes["Name"]?.textValue }
    }

    private func post(
        _ client: TestClient, _ path: String, _ form: KeyValuePairs<String, String>, encoding: String = "gzip",
        _ encode: ([UInt8]) throws -> [UInt8] = { try GzipStream.compressed($0) }
    ) async throws -> TestClient.Answer {
        try await client.send(
            "POST", path,
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Encoding", encoding)],
            body: try encode(Array(TestClient.form(form).utf8)))
    }

    @Test("synchronizeReplica takes its edits from an upload, compressed or not", arguments: [false, true])
    func synchronising(isCompressed: Bool) async throws {
        try await AttachmentServer.serve { client, store, _ in
            let created = try await client.post(
                "createReplica",
                [
                    "f": "json", "layers": "0", "syncModel": "perLayer", "transportType": "esriTransportTypeEmbedded",
                ]
            ).json
            let id = try #require(created["replicaID"]?.stringValue)
            let edits = Array("[{\"id\":0,\"features\":{\"updates\":[\(Self.update(0, "Renamed"))]}}]".utf8)
            let item = try await upload(client, isCompressed ? GzipStream.compressed(edits) : edits)
            let layers = "[{\"id\":0,\"serverGen\":\(created.generation() ?? 0),\"syncDirection\":\"bidirectional\"}]"
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": id, "syncLayers": layers, "editsUploadId": item,
                    "editsUploadFormat": "json", "transportType": "esriTransportTypeEmbedded",
                ])
            #expect(answer.errorCode == nil, "\(answer.text)")
            #expect(try await names(store) == ["Renamed", "Tree 1"])
        }
    }

    @Test("synchronizeReplica takes the address of an upload of its own service, and fetches nothing from elsewhere")
    func byAddress() async throws {
        try await AttachmentServer.serve { client, store, _ in
            let created = try await client.post(
                "createReplica",
                ["f": "json", "layers": "0", "syncModel": "perReplica", "transportType": "esriTransportTypeEmbedded"]
            ).json
            let id = try #require(created["replicaID"]?.stringValue)
            let edits = Array("[{\"id\":0,\"features\":{\"updates\":[\(Self.update(0, "Renamed"))]}}]".utf8)
            let item = try await upload(client, edits)
            func synchronize(
                _ address: String, _ more: (String, String) = ("syncDirection", "upload")
            ) async throws -> TestClient.Answer {
                try await client.post(
                    "synchronizeReplica",
                    [
                        "f": "json", "replicaID": id, "editsURL": address, "replicaServerGen": "1", more.0: more.1,
                        "transportType": "esriTransportTypeEmbedded",
                    ])
            }
            let service = AttachmentServer.trees.service.path
            for address in [
                "http://127.0.0.1:1/arcgis/rest/services/Other/FeatureServer/uploads/\(item)",
                "http://127.0.0.1:1/edits.json", "file:///etc/passwd", "/uploads/\(item)",
                "http://127.0.0.1:1/\(service)/FeatureServer/uploads/i00000000000000000000000000000000",
            ] {
                let answer = try await synchronize(address)
                #expect(answer.errorCode == 400, "\(address): \(answer.text)")
            }
            let own = "http://127.0.0.1:1/arcgis/rest/services/\(service)/FeatureServer/uploads/\(item)"
            #expect(try await synchronize(own, ("editsUploadId", item)).errorCode == 400)
            #expect(try await synchronize(own, ("edits", "[]")).errorCode == 400)
            #expect(try await names(store) == ["Tree 0", "Tree 1"])
            #expect(try await synchronize(own).errorCode == nil)
            #expect(try await names(store) == ["Renamed", "Tree 1"])
        }
    }

    @Test("applyEdits of a layer and of a service take theirs as well; other forms, doubles and strangers are refused")
    func applying() async throws {
        try await AttachmentServer.serve { client, store, _ in
            let layer = try await upload(client, Array("{\"updates\":[\(Self.update(0, "One"))]}".utf8))
            let form: KeyValuePairs = ["f": "json", "useGlobalIds": "true", "editsUploadId": layer]
            #expect(try await client.post("0/applyEdits", form).errorCode == nil)
            let service = try await upload(client, Array("[{\"id\":0,\"updates\":[\(Self.update(1, "Two"))]}]".utf8))
            let whole = try await client.post(
                "applyEdits", ["f": "json", "useGlobalIds": "true", "editsUploadId": service])
            #expect(whole.errorCode == nil)
            #expect(try await names(store) == ["One", "Two"])
            for (name, value) in [
                ("editsUploadFormat", "pbf"), ("editsUploadFormat", "sqlite"), ("updates", "[]"),
            ] {
                let refused = try await client.post(
                    "0/applyEdits", ["f": "json", "useGlobalIds": "true", "editsUploadId": layer, name: value])
                #expect(refused.errorCode == 400 && refused.text.contains("editsUpload"))
            }
            let broken = try await upload(client, [0x1F, 0x8B, 0, 1])
            for item in [broken, "i00000000000000000000000000000000", "../x"] {
                let refused = try await client.post("0/applyEdits", ["f": "json", "editsUploadId": item])
                #expect(refused.errorCode == 400)
            }
            let added = try await client.post("0/addFeatures", ["f": "json", "features": "[]", "editsUploadId": layer])
            #expect(added.errorCode == 400)
        }
    }

    @Test("A compressed request is read like any other; what is none, or too much, is refused")
    func compressedRequests() async throws {
        try await AttachmentServer.serve { client, store, _ in
            let form: KeyValuePairs = [
                "f": "json", "useGlobalIds": "true", "updates": "[\(Self.update(0, "Compressed"))]",
            ]
            #expect(try await post(client, "0/applyEdits", form).errorCode == nil)
            #expect(try await names(store) == ["Compressed", "Tree 1"])
            let half = try await post(client, "0/applyEdits", form) { Array(try GzipStream.compressed($0).dropLast(4)) }
            #expect(half.errorCode == 400)
            #expect(try await post(client, "0/applyEdits", form) { $0 }.errorCode == 400)
            #expect(try await post(client, "0/applyEdits", form, encoding: "br").errorCode == 415)
            // Some kilobytes that stand for more than a request may have.
            let bomb = try GzipStream.compressed([UInt8](repeating: 0x61, count: Limits.bodyBytes + 1))
            let refused = try await post(client, "0/applyEdits", form) { _ in bomb }
            #expect(refused.errorCode == 413)
            #expect(try await names(store) == ["Compressed", "Tree 1"])
        }
    }
}
