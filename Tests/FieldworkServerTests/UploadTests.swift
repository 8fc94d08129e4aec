import Crypto
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Uploads", .fewAtATime)
struct UploadTests {
    private static let bytes: [UInt8] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 300) }

    private func upload(_ client: TestClient, _ content: [UInt8] = bytes, name: String = "bark.jpg") async throws
        -> String
    {
        let answer = try await client.post(
            "uploads/upload", ["f": "json", "description": "North"], file: FormFile(content, name: name, field: "file"))
        return try #require(try answer.json["item"]?["itemID"]?.stringValue, "\(answer.text)")
    }

    @Test("A file that was uploaded is attached by its id, with its name and type", .everyStore)
    func attach() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let id = try await upload(client)
            let item = try await client.get("uploads/\(id)", ["f": "json"]).json
            #expect(item["itemName"]?.stringValue == "bark.jpg" && item["committed"]?.boolValue == true)
            #expect(item["description"]?.stringValue == "North" && item["serviceName"]?.stringValue == "Field")
            let added = try await client.post("0/1/addAttachment", ["uploadId": id, "keywords": "k", "f": "json"])
            #expect(try added.json["addAttachmentResult"]?["success"]?.boolValue == true)
            let edits = """
                {"adds":[{"globalId":"\(UUID())","parentGlobalId":"\(SyncService.trees[1])","uploadId":"\(id)"}]}
                """
            let applied = try await client.post(
                "0/applyEdits", ["attachments": edits, "useGlobalIds": "true", "f": "json"])
            #expect(try applied.json["attachments"]?["addResults"]?[0]?["success"]?.boolValue == true)
            for (tree, attachment) in [(1, 1), (2, 2)] {
                #expect(try await client.attachmentNames(of: tree) == ["bark.jpg"])
                #expect(try await client.get("0/\(tree)/attachments/\(attachment)").body == Self.bytes)
            }
        }
    }

    @Test("Parts survive a restart, come in any order and again, and make one file")
    func parts() async throws {
        try await AttachmentServer.serve { first, _, folder in
            let registered = try await first.post("uploads/register", ["itemName": "big.mp4", "f": "json"]).json
            #expect(registered["item"]?["committed"]?.boolValue == false)
            let id = try #require(registered["item"]?["itemID"]?.stringValue)
            func part(_ number: Int, _ client: TestClient, _ content: [UInt8]) async throws {
                let answer = try await client.post(
                    "uploads/\(id)/uploadPart", ["partId": "\(number)", "f": "json"],
                    file: FormFile(content, name: "blob", type: nil, field: "file"))
                #expect(try answer.json["partId"]?.integerValue == Int64(number))
            }
            try await part(2, first, Array(Self.bytes[100_000..<200_000]))
            try await part(1, first, [0])
            let copy = folder.deletingLastPathComponent().appending(path: "fieldwork-restart-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: copy) }
            // Another server over the same files, as after a loss of power.
            try FileManager.default.copyItem(at: folder, to: copy)
            let store = try await GeoPackageStore.open(at: copy)
            try await AttachmentServer.serve(store) { second in
                try await part(1, second, Array(Self.bytes[..<100_000]))
                try await part(10, second, Array(Self.bytes[200_000...]))
                let list = try await second.get("uploads/\(id)/parts", ["f": "json"]).json["parts"]?.arrayValue
                #expect(list == ["1", "2", "10"])
                let early = try await second.post("0/1/addAttachment", ["uploadId": id, "f": "json"])
                #expect(early.errorCode == 400)
                let wrong = try await second.post("uploads/\(id)/commit", ["parts": "1,2,3", "f": "json"])
                #expect(wrong.errorCode == 400)
                for _ in 0..<2 {
                    let committed = try await second.post("uploads/\(id)/commit", ["parts": "1,2,10", "f": "json"])
                    #expect(try committed.json["item"]?["size"]?.integerValue == 300_000)
                }
                let late = try await second.post(
                    "uploads/\(id)/uploadPart", ["partId": "3", "f": "json"], file: FormFile([1], field: "file"))
                #expect(late.errorCode == 400)
                let added = try await second.post("0/1/addAttachment", ["uploadId": id, "f": "json"])
                let attachment = try #require(try added.json["addAttachmentResult"]?["objectId"]?.integerValue)
                #expect(try await second.get("0/1/attachments/\(attachment)").body == Self.bytes)
            }
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>, at offset: Int, to id: String, _ client: TestClient) async throws
        -> TestClient.Answer
    {
        try await client.send(
            "POST", "uploads/\(id)/append?offset=\(offset)&f=json",
            headers: [("Content-Type", "application/octet-stream")], body: Array(bytes))
    }

    @Test("What arrived of a broken request counts, and the rest goes from there on", .everyStore)
    func stretches() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let registered = try await client.post("uploads/register", ["itemName": "big.mp4", "f": "json"]).json
            #expect(registered["item"]?["received"]?.integerValue == 0)
            let id = try #require(registered["item"]?["itemID"]?.stringValue)
            // A request that announces all and brings a third: nobody can answer it.
            let url = try #require(URL(string: client.base))
            let path = "\(url.path)/uploads/\(id)/append?offset=0&f=json"
            let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
            let length = "Content-Length: \(Self.bytes.count)\r\n\r\n"
            try await RawSocket.send(
                Array((head + length).utf8) + Self.bytes[..<100_000], to: try #require(url.port))
            var received: Int64 = 0
            while received < 100_000 {
                received = try #require(
                    try await client.get("uploads/\(id)", ["f": "json"]).json["received"]?.integerValue)
            }
            #expect(received == 100_000)
            #expect(try await append([1, 2], at: 100_001, to: id, client).errorCode == 409)
            #expect(try await client.post("uploads/\(id)/append", ["offset": "100000", "f": "json"]).errorCode == 400)
            // It may begin before what is known to be there.
            let more = try await append(Self.bytes[90_000..<200_000], at: 90_000, to: id, client)
            #expect(try more.json["item"]?["received"]?.integerValue == 200_000)
            let early = try await client.post("uploads/\(id)/commit", ["size": "300000", "f": "json"])
            #expect(early.errorCode == 409)
            let rest = try await append(Self.bytes[200_000...], at: 200_000, to: id, client)
            #expect(try rest.json["item"]?["received"]?.integerValue == 300_000)
            for _ in 0..<2 {
                let committed = try await client.post(
                    "uploads/\(id)/commit", ["size": "300000", "sha256": Self.sha256, "f": "json"])
                #expect(try committed.json["item"]?["size"]?.integerValue == 300_000)
            }
            #expect(try await append([1], at: 0, to: id, client).errorCode == 400)
            let added = try await client.post("0/1/addAttachment", ["uploadId": id, "f": "json"])
            let attachment = try #require(try added.json["addAttachmentResult"]?["objectId"]?.integerValue)
            #expect(try await client.get("0/1/attachments/\(attachment)").body == Self.bytes)
        }
    }

    @Test("Bytes that are not what was announced make no file: they go anew", .everyStore)
    func spoiled() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let registered = try await client.post("uploads/register", ["itemName": "big.mp4", "f": "json"]).json
            let id = try #require(registered["item"]?["itemID"]?.stringValue)
            _ = try await append([1, 2, 3], at: 0, to: id, client)
            let announced: KeyValuePairs = ["size": "3", "sha256": Self.sha256, "f": "json"]
            #expect(try await client.post("uploads/\(id)/commit", announced).errorCode == 409)
            let item = try await client.get("uploads/\(id)", ["f": "json"]).json
            #expect(item["received"]?.integerValue == 0 && item["committed"]?.boolValue == false)
            #expect(try await append([1], at: 0, to: "i" + String(repeating: "0", count: 32), client).errorCode == 404)
        }
    }

    private static let sha256 = SHA256.hash(data: bytes).hexadecimal

    @Test("An upload is deleted on request, and only its own service finds it", .everyStore)
    func delete() async throws {
        try await AttachmentServer.serve { client, store, _ in
            var other = AttachmentServer.definition
            other.name = ServiceName(name: "Other")
            try await store.createService(other)
            let id = try await upload(client)
            var stranger = client
            stranger.base = client.base.replacing("/Field/", with: "/Other/")
            #expect(try await stranger.get("uploads/\(id)", ["f": "json"]).errorCode == 404)
            #expect(try await stranger.post("uploads/\(id)/delete", ["f": "json"]).errorCode == 404)
            #expect(try await client.get("uploads/\(id)/delete", ["f": "json"]).errorCode == 405)
            let deleted = try await client.post("uploads/\(id)/delete", ["f": "json"])
            #expect(try deleted.json["success"]?.boolValue == true)
            #expect(try await client.get("uploads/\(id)", ["f": "json"]).errorCode == 404)
            for name in ["..", "i..%2F..%2FField", "info2", "i" + String(repeating: "0", count: 32)] {
                #expect(try await client.get("uploads/\(name)", ["f": "json"]).errorCode != nil)
            }
            #expect(try await client.get("uploads/info", ["f": "json"]).json["maxUploadFileSize"]?.integerValue == 512)
        }
    }

    @Test("An upload that nobody used in a day is gone, with its files")
    func expiry() throws {
        let work = FileManager.default.temporaryDirectory.appending(path: "fieldwork-expiry-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: work) }
        let folder = UploadFolder(work: work)
        let now = Date()
        let item = UploadItem(
            id: UploadItem.newID(),
            name: "a.jpg", contentType: nil, description: "", service: AttachmentServer.name, editor: nil, date: now)
        try folder.keep(item)
        folder.sweep(now: now)
        #expect(folder.item(item.id, now: now)?.name == "a.jpg" && folder.count() == 1)
        let later = now.addingTimeInterval(Limits.uploadLifetimeSeconds + 60)
        #expect(folder.item(item.id, now: later) == nil)
        folder.sweep(now: later)
        #expect(folder.count() == 0)
    }
}
