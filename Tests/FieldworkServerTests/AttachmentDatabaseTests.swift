import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkServer

@Suite(
    "Attachments over the protocol from a database", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct AttachmentDatabaseTests {
    private static let photo: [UInt8] = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }

    private func serve(_ test: (TestClient, PostgresStore) async throws -> Void) async throws {
        let store = try await PostgresStore.open(TemporaryPostgres.shared.value.storeAddress())
        try await store.createService(AttachmentServer.definition)
        let tree = FeatureEdit(
            globalID: SyncService.trees[0], attributes: [("Name", .text("Tree"))],
            geometry: .geometry(Point(x: 0, y: 0, spatialReference: .webMercator)))
        _ = try await store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, adds: [tree])], usesGlobalIDs: true, moment: TemporaryStore.moment),
            to: AttachmentServer.name)
        try await TestServer.with(store: store) { server in
            var client = server.client
            client.base += "/Field/FeatureServer"
            try await test(client, store)
        }
        try await store.close()
    }

    @Test("A photo is added, listed, given back whole and by ranges, replaced and deleted, and its history stays")
    func life() async throws {
        try await serve { client, store in
            let layer = try await client.get("0", ["f": "json"]).json
            #expect(layer["hasAttachments"]?.boolValue == true)
            let id = try await client.attach(FormFile(Self.photo), keywords: "bark")
            let info = try #require(
                try await client.get("0/1/attachments", ["f": "json"]).json["attachmentInfos"]?.arrayValue?.first)
            #expect(info["id"]?.integerValue == id && info["size"]?.integerValue == 700_000)
            #expect(info["parentGlobalId"]?.stringValue == GUID.normalForm(SyncService.trees[0]))
            let whole = try await client.get("0/1/attachments/\(id)")
            #expect(whole.body == Self.photo && whole.header("Content-Type") == "image/jpeg")
            let part = try await client.send(
                "GET", "0/1/attachments/\(id)", headers: [("Range", "bytes=299999-300003")])
            #expect(part.status == 206 && part.body == Array(Self.photo[299_999...300_003]))
            let updated = try await client.post(
                "0/1/updateAttachment", ["f": "json", "attachmentId": "\(id)"],
                file: FormFile([1, 2, 3], name: "leaf.png", type: "image/png"))
            #expect(try updated.json["updateAttachmentResult"]?["success"]?.boolValue == true)
            #expect(try await client.get("0/1/attachments/\(id)").body == [1, 2, 3])
            let deleted = try await client.post("0/1/deleteAttachments", ["f": "json", "attachmentIds": "\(id)"])
            #expect(try deleted.json["deleteAttachmentResults"]?[0]?["success"]?.boolValue == true)
            #expect(try await client.attachmentNames() == [])
            let versions = try await store.attachmentHistory(of: 1, in: AttachmentServer.trees)
            #expect(versions.map(\.info.name) == ["leaf.png", "bark.jpg"])
            let pieces = try #require(
                try await store.attachmentContent(ofVersion: versions[1].version, in: AttachmentServer.trees))
            var first: [UInt8] = []
            for try await piece in pieces { first += piece }
            #expect(first == Self.photo)
            #expect(try await store.check() == [])
        }
    }

    @Test("Attachments are asked for by feature and condition, and one that was uploaded before is attached")
    func queries() async throws {
        try await serve { client, _ in
            try await client.attach(FormFile([1], name: "a.jpg"), keywords: "north")
            try await client.attach(FormFile([1, 2], name: "b.png", type: "image/png"))
            let answer = try await client.get(
                "0/queryAttachments",
                ["f": "json", "objectIds": "1", "attachmentsDefinitionExpression": "ATT_NAME LIKE 'b%'"]
            ).json
            let infos = answer["attachmentGroups"]?[0]?["attachmentInfos"]?.arrayValue
            #expect(infos?.map { $0["name"]?.stringValue } == ["b.png"])
            let upload = try await client.post(
                "uploads/upload", file: FormFile([5, 6], name: "c.jpg", field: "file"))
            let item = try #require(try upload.json["item"]?["itemID"]?.stringValue)
            let edits = """
                [{"id": 0, "attachments": {"adds": [{"parentGlobalId": "\(GUID.normalForm(SyncService.trees[0]))", \
                "globalId": "{11111111-2222-4333-8444-555555555555}", "contentType": "image/jpeg", \
                "name": "c.jpg", "uploadId": "\(item)"}]}}]
                """
            let applied = try await client.post(
                "applyEdits", ["f": "json", "useGlobalIds": "true", "edits": edits])
            #expect(try applied.json[0]?["attachments"]?["addResults"]?[0]?["success"]?.boolValue == true)
            #expect(try await client.attachmentNames() == ["a.jpg", "b.png", "c.jpg"])
        }
    }
}
