import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Attachments over the protocol", .fewAtATime)
struct AttachmentServiceTests {
    private static let photo: [UInt8] = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }

    // MARK: One feature's attachments

    @Test("A photo is added, listed, given back with its bytes, replaced and deleted")
    func life() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let id = try await client.attach(FormFile(Self.photo), keywords: "bark")
            let list = try await client.get("0/1/attachments", ["f": "json"]).json
            let info = try #require(list["attachmentInfos"]?.arrayValue?.first)
            #expect(info["id"]?.integerValue == id && info["name"]?.stringValue == "bark.jpg")
            #expect(info["size"]?.integerValue == 700_000 && info["contentType"]?.stringValue == "image/jpeg")
            #expect(info["keywords"]?.stringValue == "bark")
            #expect(info["parentGlobalId"]?.stringValue == GUID.normalForm(SyncService.trees[0]))
            let file = try await client.get("0/1/attachments/\(id)")
            #expect(file.body == Self.photo && file.header("Content-Type") == "image/jpeg")
            #expect(file.header("Content-Length") == "700000" && file.header("Accept-Ranges") == "bytes")
            #expect(file.header("Content-Disposition")?.hasPrefix("inline; filename=\"bark.jpg\"") == true)
            let updated = try await client.post(
                "0/1/updateAttachment", ["f": "json", "attachmentId": "\(id)"],
                file: FormFile([1, 2, 3], name: "leaf.png", type: "image/png"))
            #expect(try updated.json["updateAttachmentResult"]?["success"]?.boolValue == true)
            #expect(try await client.get("0/1/attachments/\(id)").body == [1, 2, 3])
            #expect(try await client.attachmentNames() == ["leaf.png"])
            let deleted = try await client.post("0/1/deleteAttachments", ["f": "json", "attachmentIds": "\(id),99"])
            let results = try #require(try deleted.json["deleteAttachmentResults"]?.arrayValue)
            #expect(results.map { $0["success"]?.boolValue } == [false, false], "one fails, all stay")
            let again = try await client.post(
                "0/1/deleteAttachments", ["f": "json", "attachmentIds": "\(id),99", "rollbackOnFailure": "false"])
            let kept = try #require(try again.json["deleteAttachmentResults"]?.arrayValue)
            #expect(kept.map { $0["success"]?.boolValue } == [true, false])
            #expect(try await client.attachmentNames() == [])
            #expect(try await client.get("0/1/attachments/\(id)").errorCode == 404)
        }
    }

    @Test(
        "A part of a file is given as it is asked for",
        arguments: [
            ("bytes=0-9", 0..<10), ("bytes=300000-300004", 300_000..<300_005), ("bytes=699990-", 699_990..<700_000),
            ("bytes=-5", 699_995..<700_000), ("bytes=699999-800000", 699_999..<700_000),
        ])
    func ranges(header: String, range: Range<Int>) async throws {
        try await AttachmentServer.serve { client, _, _ in
            let id = try await client.attach(FormFile(Self.photo))
            let part = try await client.get("0/1/attachments/\(id)", headers: [("Range", header)])
            #expect(part.status == 206 && part.body == Array(Self.photo[range]))
            #expect(
                part.header("Content-Range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/700000")
            let behind = try await client.get("0/1/attachments/\(id)", headers: [("Range", "bytes=700000-")])
            #expect(behind.status == 416)
            #expect(behind.header("Content-Range") == "bytes */700000")
        }
    }

    @Test("The same photo for two trees is stored once, and GDAL still opens the file")
    func storedOnce() async throws {
        try await AttachmentServer.serve { client, store, folder in
            try await client.attach(FormFile(Self.photo))
            try await client.attach(FormFile(Self.photo, name: "again.jpg"), to: 2)
            #expect(try await store.check() == [])
            let path = folder.appending(path: "Field.gpkg").path
            if Tool.isInstalled("sqlite3") {
                #expect(try await Tool.run("sqlite3", [path, "SELECT count(*) FROM fieldwork_media"]).text == "1\n")
            }
            if Tool.isInstalled("ogrinfo") {
                #expect(try await Tool.run("ogrinfo", ["-so", path, "Trees"]).text.contains("Feature Count: 2"))
            }
        }
    }

    @Test("A content that the disk has spoiled is not given", .enabled(if: Tool.isInstalled("sqlite3")))
    func corrupted() async throws {
        try await AttachmentServer.serve { client, _, folder in
            let id = try await client.attach(
                FormFile([UInt8](repeating: 65, count: 9_000), name: "a.txt", type: "text/plain"))
            let path = folder.appending(path: "Field.gpkg").path
            _ = try await Tool.run(
                "sqlite3", [path, "UPDATE fieldwork_media SET data = CAST(replace(data, 'AAAA', 'AAAB') AS BLOB)"])
            let answer = try await client.get("0/1/attachments/\(id)")
            #expect(answer.errorCode == 500 && !answer.text.contains("AAAB"))
        }
    }

    // MARK: What browsers make of it

    @Test(
        "Pages and drawings that could run script are refused by name, and never shown under another",
        arguments: ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript"])
    func script(type: String) async throws {
        let page = Array("<script>alert(1)</script>".utf8)
        try await AttachmentServer.serve { client, _, _ in
            for name in ["page.html", "drawing.svg", "script.js", "page.xhtml"] {
                let answer = try await client.post("0/1/addAttachment", file: FormFile(page, name: name, type: type))
                #expect(try answer.json["addAttachmentResult"]?["success"]?.boolValue == false)
            }
            let id = try await client.attach(FormFile(page, name: "notes.txt", type: type))
            let file = try await client.get("0/1/attachments/\(id)", headers: [("Accept", "text/html")])
            #expect(file.body == page && file.header("Content-Type") == "application/octet-stream")
            #expect(file.header("Content-Disposition")?.hasPrefix("attachment;") == true)
            #expect(file.header("X-Content-Type-Options") == "nosniff")
            #expect(file.header("Content-Security-Policy")?.contains("sandbox") == true)
            #expect(try await client.get("0/1/attachments/\(id)", ["callback": "run"]).body == page)
        }
    }

    @Test(
        "A drawing that another program has put into the file is only saved", .enabled(if: Tool.isInstalled("sqlite3")))
    func foreignDrawing() async throws {
        try await AttachmentServer.serve { client, _, folder in
            let sql = """
                INSERT INTO fieldwork_media (content_type, data) VALUES ('image/svg+xml', CAST('<svg/>' AS BLOB));
                INSERT INTO fieldwork_attachments_0 (base_id, related_id, att_name)
                VALUES (1, last_insert_rowid(), 'a"; filename="b.html' || char(13) || char(10) || 'X-Evil: 1');
                """
            let arguments = ["-cmd", ".timeout 60000", folder.appending(path: "Field.gpkg").path, sql]
            _ = try await Tool.run("sqlite3", arguments)
            let file = try await client.get("0/1/attachments/1")
            #expect(file.text == "<svg/>" && file.header("Content-Type") == "application/octet-stream")
            let disposition = try #require(file.header("Content-Disposition"))
            #expect(disposition.hasPrefix("attachment; filename=\"a_; filename=_b.html__X-Evil: 1\""))
            #expect(file.header("X-Evil") == nil)
        }
    }

    @Test("Names keep their letters", arguments: ["Rinde Ä–1.jpg", "a;b.jpg", "樹.png"])
    func names(name: String) async throws {
        try await AttachmentServer.serve { client, _, _ in
            let id = try await client.attach(FormFile([1], name: name))
            #expect(try await client.attachmentNames() == [name])
            let disposition = try await client.get("0/1/attachments/\(id)").header("Content-Disposition")
            let escaped = disposition?.components(separatedBy: "UTF-8''").last
            #expect(escaped?.removingPercentEncoding == name)
        }
    }

    // MARK: Refusals

    @Test("What can't be attached is refused with a reason")
    func refusals() async throws {
        try await AttachmentServer.serve { client, store, _ in
            let noFile = try await client.post("0/1/addAttachment", ["f": "json"])
            #expect(noFile.errorCode == 400 && noFile.text.contains("attachment"))
            #expect(try await client.get("0/1/addAttachment", ["f": "json"]).errorCode == 405)
            let noTree = try await client.post("0/99/addAttachment", file: FormFile([1]))
            #expect(try noTree.json["addAttachmentResult"]?["error"]?["code"]?.integerValue == 1000)
            let noLayer = try await client.post("1/1/addAttachment", file: FormFile([1]))
            #expect(noLayer.errorCode == 400 && noLayer.text.contains("no attachments"))
            let noUpload = try await client.post("0/1/addAttachment", ["f": "json", "uploadId": "../../x"])
            #expect(noUpload.errorCode == 400 && noUpload.text.contains("uploadId"))
            let version = try await client.post("0/1/addAttachment", ["gdbVersion": "v"], file: FormFile([1]))
            #expect(version.errorCode == 400 && version.text.contains("gdbVersion"))
            #expect(try await client.get("0/99/attachments", ["f": "json"]).errorCode == 404)
            #expect(try await store.check() == [])
        }
        var readOnly = AttachmentServer.definition
        readOnly.capabilities = [.query]
        try await AttachmentServer.serve(readOnly) { client, _, _ in
            let added = try await client.post("0/1/addAttachment", file: FormFile([1]))
            #expect(added.errorCode == 400)
            let uploaded = try await client.post("uploads/upload", file: FormFile([1], field: "file"))
            #expect(uploaded.errorCode == 400)
            #expect(try await client.get("", ["f": "json"]).json["capabilities"]?.stringValue == "Query")
        }
    }

    @Test("A file that is too large leaves nothing behind")
    func tooLarge() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-large-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let field = MultipartReader.Field(name: "file", fileName: "a.bin", contentType: nil)
        func receive(_ count: Int) throws -> Int {
            var file = try FileReception(field, in: folder, maximumBytes: 1_000)
            for _ in 0..<count { try file.write([1, 2, 3, 4, 5]) }
            return file.finish().size
        }
        #expect(try receive(200) == 1_000)
        let error = #expect(throws: ServiceError.self) { try receive(201) }
        #expect(error?.code == 413)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("Files of broken and of finished requests do not stay in the work folder")
    func incoming() async throws {
        try await AttachmentServer.serve { client, store, _ in
            try await client.attach(FormFile(Self.photo))
            _ = try await client.post("0/1/addAttachment", file: FormFile(Self.photo, name: "a.exe"))
            let half = Array(
                "--b\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"a.jpg\"\r\n\r\nhalf".utf8)
            let broken = try await client.send(
                "POST", "0/1/addAttachment", headers: [("Content-Type", "multipart/form-data; boundary=b")], body: half)
            #expect(broken.errorCode == 400)
            let folder = UploadFolder(work: store.workFolder).incoming
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    // MARK: applyEdits

    @Test("A tree and its photo come in one batch, by global ids, and twice is once")
    func applyEdits() async throws {
        let (tree, photo) = (GUID.normalForm(UUID()), GUID.normalForm(UUID()))
        let data = Data(Self.photo).base64EncodedString()
        let edits = """
            [{"id":0,"adds":[{"attributes":{"GlobalID":"\(tree)","Name":"New"},"geometry":{"x":5,"y":5}}],
              "attachments":{"adds":[{"globalId":"\(photo)","parentGlobalId":"\(tree)","name":"a.jpg",
                "contentType":"image/jpeg","data":"\(data)"}]}}]
            """
        try await AttachmentServer.serve { client, store, _ in
            let first = try await client.post("applyEdits", ["edits": edits, "useGlobalIds": "true", "f": "json"]).json
            let added = try #require(first.arrayValue?.first?["attachments"]?["addResults"]?.arrayValue?.first)
            #expect(added["success"]?.boolValue == true && added["globalId"]?.stringValue == photo)
            let id = try #require(added["objectId"]?.integerValue)
            #expect(try await client.get("0/3/attachments/\(id)").body == Self.photo)
            let second = try await client.post(
                "applyEdits",
                ["edits": edits, "useGlobalIds": "true", "rollbackOnFailure": "false", "f": "json"]
            ).json
            let again = try #require(second.arrayValue?.first?["attachments"]?["addResults"]?.arrayValue?.first)
            #expect(again["error"]?["code"]?.integerValue == 1016 && again["objectId"]?.integerValue == id)
            #expect(try await client.attachmentNames(of: 3) == ["a.jpg"])
            let changes = """
                {"updates":[{"globalId":"\(photo)","keywords":"bark"}],"deletes":["\(GUID.normalForm(UUID()))"]}
                """
            let rolledBack = try await client.post(
                "0/applyEdits", ["attachments": changes, "useGlobalIds": "true", "f": "json"]
            ).json["attachments"]
            #expect(rolledBack?["updateResults"]?[0]?["error"]?["code"]?.integerValue == 1003)
            #expect(rolledBack?["deleteResults"]?[0]?["error"]?["code"]?.integerValue == 1000)
            let list = try await store.attachments(AttachmentQuery(), in: AttachmentServer.trees).attachments
            #expect(list.map(\.keywords) == [""])
        }
    }

    @Test("Without global ids attachments are named by object ids")
    func applyEditsByObjectIDs() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let adds = """
                {"adds":[{"parentObjectId":2,"name":"a.txt","data":"aGVs\\nbG8="},
                         {"parentObjectId":2,"name":"b.txt","data":"no base64!"}]}
                """
            let answer = try await client.post(
                "0/applyEdits", ["attachments": adds, "rollbackOnFailure": "false", "f": "json"]
            ).json["attachments"]?["addResults"]
            #expect(answer?[0]?["success"]?.boolValue == true && answer?[1]?["success"]?.boolValue == false)
            let id = try #require(answer?[0]?["objectId"]?.integerValue)
            #expect(try await client.get("0/2/attachments/\(id)").text == "hello")
            let deleted = try await client.post("0/applyEdits", ["attachments": "{\"deletes\":[\(id)]}", "f": "json"])
            #expect(try deleted.json["attachments"]?["deleteResults"]?[0]?["success"]?.boolValue == true)
            #expect(try await client.attachmentNames(of: 2) == [])
        }
    }

    @Test("A deleted tree takes its photos along, and the history keeps them")
    func deletedFeature() async throws {
        try await AttachmentServer.serve { client, store, _ in
            try await client.attach(FormFile(Self.photo))
            let deleted = try await client.post("0/deleteFeatures", ["objectIds": "1", "f": "json"])
            #expect(try deleted.json["deleteResults"]?[0]?["success"]?.boolValue == true)
            let history = try await store.attachmentHistory(of: 1, in: AttachmentServer.trees)
            let version = try #require(history.first)
            let pieces = try #require(
                try await store.attachmentContent(ofVersion: version.version, in: AttachmentServer.trees))
            var bytes: [UInt8] = []
            for try await piece in pieces { bytes += piece }
            #expect(bytes == Self.photo)
        }
    }

    // MARK: queryAttachments

    @Test("Attachments are found by their features and by what they are")
    func queries() async throws {
        try await AttachmentServer.serve { client, _, _ in
            try await client.attach(FormFile([1], name: "a.jpg"), keywords: "bark,north")
            try await client.attach(FormFile([1, 2], name: "b.png", type: "image/png"), keywords: "leaf")
            try await client.attach(FormFile([1, 2, 3], name: "c.pdf", type: "application/pdf"), to: 2)
            func names(_ parameters: KeyValuePairs<String, String>) async throws -> [String] {
                let groups = try await client.post("0/queryAttachments", parameters).json["attachmentGroups"]
                return (groups?.arrayValue ?? []).flatMap { $0["attachmentInfos"]?.arrayValue ?? [] }
                    .compactMap { $0["name"]?.stringValue }
            }
            #expect(try await names(["definitionExpression": "1=1", "keywords": "", "returnUrl": "false"]).count == 3)
            #expect(try await names(["objectIds": "2"]) == ["c.pdf"])
            #expect(try await names(["globalIds": GUID.normalForm(SyncService.trees[1])]) == ["c.pdf"])
            #expect(try await names(["definitionExpression": "Name = 'Tree 0'"]) == ["a.jpg", "b.png"])
            #expect(
                try await names(["attachmentsDefinitionExpression": "DATA_SIZE > 1 AND ATT_NAME LIKE 'b%'"]) == [
                    "b.png"
                ])
            #expect(try await names(["attachmentTypes": "image/jpeg, pdf"]) == ["a.jpg", "c.pdf"])
            #expect(try await names(["attachmentTypes": "image"]) == ["a.jpg", "b.png"])
            #expect(try await names(["size": "2,3"]) == ["b.png", "c.pdf"])
            #expect(try await names(["size": "3"]) == ["c.pdf"])
            #expect(try await names(["keywords": "north,leaf"]) == ["a.jpg", "b.png"])
            #expect(
                try await names(["orderByFields": "size DESC", "resultOffset": "1", "resultRecordCount": "1"]) == [
                    "b.png"
                ])
            let page = try await client.post("0/queryAttachments", ["resultRecordCount": "2", "returnUrl": "true"]).json
            #expect(page["exceededTransferLimit"]?.boolValue == true)
            let url = try #require(page["attachmentGroups"]?[0]?["attachmentInfos"]?[1]?["url"]?.stringValue)
            let path = try #require(URL(string: url)?.path)
            #expect(try await client.get(path).body == [1, 2])
            let counts = try await client.get("0/queryAttachments", ["returnCountOnly": "true"]).json[
                "attachmentGroups"]
            #expect(counts?.arrayValue?.compactMap { $0["count"]?.integerValue } == [2, 1])
            for refused in ["size=3,2", "orderByFields=data", "gdbVersion=v", "attachmentsDefinitionExpression=x%3D1"] {
                #expect(try await client.get("0/queryAttachments?\(refused)").errorCode == 400)
            }
        }
    }

    // MARK: What is advertised

    @Test("Layers with attachments say so and what they can, others don't")
    func advertised() async throws {
        try await AttachmentServer.serve { client, _, _ in
            let root = try await client.get("", ["f": "json"]).json
            #expect(root["capabilities"]?.stringValue?.contains("Uploads") == true)
            for (id, expected) in [(0, true), (1, false)] {
                let layer = try await client.get("\(id)", ["f": "json"]).json
                #expect(layer["hasAttachments"]?.boolValue == expected)
                #expect(layer["supportsAttachmentsByUploadId"]?.boolValue == expected)
                #expect(layer["advancedQueryCapabilities"]?["supportsQueryAttachments"]?.boolValue == expected)
                #expect((layer["attachmentProperties"] != nil) == expected)
            }
        }
    }
}
