import Crypto
import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkServer

/// Each server stands for a process of its own: they share nothing but the database.
@Suite(
    "Uploads to any of several servers of one database", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct UploadDatabaseTests {
    private static let bytes: [UInt8] = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 / 250) }
    private static let sha256 = SHA256.hash(data: bytes).hexadecimal

    /// Runs a test with two servers of one database, with two trees.
    private func serve(
        at known: String? = nil,
        _ test: (TestClient, TestClient, PostgresStore) async throws -> Void
    ) async throws {
        var address = known ?? ""
        if known == nil { address = try await TemporaryPostgres.shared.value.storeAddress() }
        let (one, other) = (try await PostgresStore.open(address), try await PostgresStore.open(address))
        try await one.createService(AttachmentServer.definition)
        let adds = (0..<2).map { index in
            FeatureEdit(
                globalID: SyncService.trees[index], attributes: [("Name", .text("Tree \(index)"))],
                geometry: .geometry(Point(x: Double(index), y: 0, spatialReference: .webMercator)))
        }
        _ = try await one.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, moment: TemporaryStore.moment),
            to: AttachmentServer.name)
        try await AttachmentServer.serve(one) { first in
            try await AttachmentServer.serve(other) { second in try await test(first, second, one) }
        }
    }

    private func register(_ client: TestClient) async throws -> String {
        let answer = try await client.post("uploads/register", ["itemName": "big.mp4", "f": "json"])
        return try #require(try answer.json["item"]?["itemID"]?.stringValue, "\(answer.text)")
    }

    private func append(_ range: Range<Int>, to id: String, _ client: TestClient) async throws -> TestClient.Answer {
        try await client.send(
            "POST", "uploads/\(id)/append?offset=\(range.lowerBound)&f=json",
            headers: [("Content-Type", "application/octet-stream")], body: Array(Self.bytes[range]))
    }

    private func part(_ number: Int, _ range: Range<Int>, of id: String, _ client: TestClient) async throws {
        let answer = try await client.post(
            "uploads/\(id)/uploadPart", ["partId": "\(number)", "f": "json"],
            file: FormFile(Array(Self.bytes[range]), name: "blob", type: nil, field: "file"))
        #expect(try answer.json["partId"]?.integerValue == Int64(number), "\(answer.text)")
    }

    @Test("Parts go to one server and another, one of them twice, and a third use of them is somewhere else again")
    func parts() async throws {
        try await serve { first, second, _ in
            let id = try await register(first)
            try await part(2, 300_000..<600_000, of: id, second)
            try await part(1, 0..<7, of: id, first)
            try await part(1, 0..<300_000, of: id, second)
            try await part(10, 600_000..<900_000, of: id, first)
            let list = try await second.get("uploads/\(id)/parts", ["f": "json"]).json["parts"]?.arrayValue
            #expect(list == ["1", "2", "10"])
            for client in [second, first] {
                let committed = try await client.post("uploads/\(id)/commit", ["parts": "1,2,10", "f": "json"])
                #expect(try committed.json["item"]?["size"]?.integerValue == 900_000, "\(committed.text)")
            }
            let late = try await second.post(
                "uploads/\(id)/uploadPart", ["partId": "3", "f": "json"], file: FormFile([1], field: "file"))
            #expect(late.errorCode == 400)
            let added = try await first.post("0/1/addAttachment", ["uploadId": id, "f": "json"])
            let attachment = try #require(try added.json["addAttachmentResult"]?["objectId"]?.integerValue)
            #expect(try await second.get("0/1/attachments/\(attachment)").body == Self.bytes)
        }
    }

    @Test("A commit that another has overtaken gives what that one gave, wherever it was by then")
    func overtakenCommit() async throws {
        try await serve { first, _, store in
            let announced = UploadAnnouncement(size: 900_000, sha256: Self.sha256)
            for isStretched in [true, false] {
                let id = try await register(first)
                if isStretched {
                    _ = try await append(0..<900_000, to: id, first)
                } else {
                    try await part(1, 0..<900_000, of: id, first)
                }
                let uploads = DatabaseUploads(work: store.sharedWork, folder: store.workFolder)
                let item = try #require(try await uploads.item(id, now: .now))
                let done = try await uploads.commit(item, parts: isStretched ? nil : [1], as: announced)
                #expect(done.content?.size == 900_000)
                // It has read the upload before, and comes to the parts only now.
                let late = try await uploads.commit(item, parts: isStretched ? nil : [1], as: announced)
                #expect(late.content?.sha256 == done.content?.sha256)
                let wrong = UploadAnnouncement(size: 7, sha256: nil)
                #expect(try await uploads.commit(item, parts: nil, as: wrong).content?.size == 900_000)
            }
            let open = try #require(
                try await DatabaseUploads(work: store.sharedWork, folder: store.workFolder).item(
                    try await register(first), now: .now))
            await #expect(throws: ServiceError.self) {
                try await DatabaseUploads(work: store.sharedWork, folder: store.workFolder).commit(
                    open, parts: nil, as: announced)
            }
        }
    }

    @Test("Stretches that overlap, in the midst of a piece and beyond one, make the content of one file")
    func stretches() async throws {
        try await serve { first, second, store in
            let id = try await register(first)
            _ = try await append(0..<400_000, to: id, first)
            _ = try await append(399_000..<400_500, to: id, second)
            // Nothing new, and all of it twice.
            _ = try await append(1_000..<300_000, to: id, second)
            #expect(try await append(400_501..<400_600, to: id, second).errorCode == 409)
            let more = try await append(100_000..<900_000, to: id, second)
            #expect(try more.json["item"]?["received"]?.integerValue == 900_000)
            let early = try await first.post("uploads/\(id)/commit", ["size": "900001", "f": "json"])
            #expect(early.errorCode == 409)
            // Two commits at a time: one content.
            async let one = first.post("uploads/\(id)/commit", ["size": "900000", "sha256": Self.sha256, "f": "json"])
            async let other = second.post(
                "uploads/\(id)/commit", ["size": "900000", "sha256": Self.sha256, "f": "json"])
            for answer in [try await one, try await other] {
                #expect(try answer.json["item"]?["size"]?.integerValue == 900_000, "\(answer.text)")
            }
            let content = try #require(try await store.sharedWork.upload(id)?.content)
            var found: [UInt8] = []
            for try await piece in store.sharedWork.pieces(of: content, in: 299_999..<700_001) { found += piece }
            #expect(found == Array(Self.bytes[299_999..<700_001]))
            #expect(try await store.sharedWork.parts(of: id) == [])
            let deleted = try await second.post("uploads/\(id)/delete", ["f": "json"])
            #expect(try deleted.json["success"]?.boolValue == true)
            await #expect(throws: StoreError.self) {
                for try await _ in store.sharedWork.pieces(of: content, in: 0..<1) {}
            }
        }
    }

    @Test("A part that goes while its upload is completed spoils nothing: it is done anew")
    func replacedPart() async throws {
        try await serve { client, _, store in
            let id = try await register(client)
            try await part(1, 0..<1_000, of: id, client)
            let read = try await store.sharedWork.parts(of: id)
            try await part(1, 0..<1_000, of: id, client)
            let segments = read.map { SharedWork.Segment(file: $0.file, range: 0..<$0.size) }
            #expect(try await store.sharedWork.completeUpload(id, of: segments, item: "{}") == false)
            let committed = try await client.post("uploads/\(id)/commit", ["f": "json"])
            #expect(try committed.json["item"]?["size"]?.integerValue == 1_000)
            #expect(try await store.sharedWork.completeUpload(id, of: segments, item: "{}") == false)
        }
    }

    @Test("Edits that were uploaded to one server are applied by another, with a file that came to a third place")
    func uploadedEdits() async throws {
        try await serve { first, second, _ in
            let photo = try await second.post(
                "uploads/upload", ["f": "json"], file: FormFile(Self.bytes, name: "bark.jpg", field: "file"))
            let photoID = try #require(try photo.json["item"]?["itemID"]?.stringValue, "\(photo.text)")
            let edits = """
                [{"id":0,"attachments":{"adds":[{"globalId":"\(UUID())","parentGlobalId":"\(SyncService.trees[1])",\
                "uploadId":"\(photoID)"}]}}]
                """
            let file = try await first.post(
                "uploads/upload", ["f": "json"],
                file: FormFile(Array(edits.utf8), name: "edits.json", type: "application/json", field: "file"))
            let id = try #require(try file.json["item"]?["itemID"]?.stringValue, "\(file.text)")
            let applied = try await second.post(
                "applyEdits", ["editsUploadId": id, "useGlobalIds": "true", "f": "json"])
            #expect(
                try applied.json[0]?["attachments"]?["addResults"]?[0]?["success"]?.boolValue == true,
                "\(applied.text)")
            #expect(try await first.attachmentNames(of: 2) == ["bark.jpg"])
            let none = "i" + String(repeating: "0", count: 32)
            #expect(try await first.post("applyEdits", ["editsUploadId": none, "f": "json"]).errorCode == 400)
            #expect(try await first.post("0/1/addAttachment", ["uploadId": none, "f": "json"]).errorCode == 400)
        }
    }

    @Test("An upload that nobody used in a day is gone, and its room is free")
    func expiry() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await serve(at: address) { client, _, store in
            let uploads = DatabaseUploads(work: store.sharedWork, folder: store.workFolder)
            let id = try await register(client)
            let now = Date()
            try await uploads.sweep(now: now)
            #expect(try await uploads.item(id, now: now)?.name == "big.mp4")
            let later = now.addingTimeInterval(Limits.uploadLifetimeSeconds + 60)
            #expect(try await uploads.item(id, now: later) == nil)
            #expect(try await uploads.count() == 1)
            let connection = try PostgresConnection(PostgresSettings(address))
            try connection.execute("UPDATE fieldwork.uploads SET made = made - interval '24 hours 1 minute'")
            try await uploads.sweep(now: later)
            #expect(try await uploads.count() == 0)
        }
    }

    @Test("Nothing of a request stays on the disk of the server that took it")
    func localFiles() async throws {
        try await serve { client, _, store in
            let upload = try await client.post(
                "uploads/upload", ["f": "json"], file: FormFile([1, 2], name: "a.jpg", field: "file"))
            let id = try #require(try upload.json["item"]?["itemID"]?.stringValue)
            _ = try await client.post("0/1/addAttachment", ["uploadId": id, "f": "json"])
            #expect(try await client.attachmentNames() == ["a.jpg"])
            let incoming = store.workFolder.appending(path: "incoming")
            #expect(try FileManager.default.contentsOfDirectory(atPath: incoming.path) == [])
        }
    }
}
