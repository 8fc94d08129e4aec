import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// Photos and files through the app's pages, without a script, over the SDK and a real server.
@Suite struct PhotoTests {
    private static let tree = TreesField.address(1)
    private static let edit = "\(tree)/edit"
    private static let page = Data("<!doctype html><script>document.title='run'</script>".utf8)

    /// Posts a form with a file, as a browser does.
    static func stage(
        _ data: Data, name: String, type: String = "image/jpeg", to address: String,
        with values: KeyValuePairs<String, String> = [:], as visitor: PlainClient
    ) async throws -> PlainClient.Answer {
        let mark = "----fieldwork-test-\(UUID().uuidString)"
        var body = Data()
        for (field, value) in values {
            body += Data("--\(mark)\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n\(value)\r\n".utf8)
        }
        body += Data(
            ("--\(mark)\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\n"
                + "Content-Type: \(type)\r\n\r\n").utf8)
        body += data + Data("\r\n--\(mark)--\r\n".utf8)
        return try await visitor.send(
            "POST", address,
            fields: [
                "Origin": "http://127.0.0.1:\(visitor.port)", "Content-Type": "multipart/form-data; boundary=\(mark)",
            ], bytes: Array(body))
    }

    private static func attachments(_ field: TreesField) async throws -> [AttachmentInfo] {
        try await field.store.attachments(
            AttachmentQuery(features: FeatureQuery()), in: LayerAddress(service: TreesField.service, layerID: 0)
        ).attachments
    }

    private static func bytes(_ info: AttachmentInfo, _ field: TreesField) async throws -> Data {
        let stored = try #require(
            try await field.store.attachmentContent(
                .id(info.id), of: nil, range: nil,
                in: LayerAddress(service: TreesField.service, layerID: 0)))
        var data = Data()
        for try await piece in stored.pieces { data += Data(piece) }
        return data
    }

    private static func match(_ pattern: Regex<(Substring, Substring)>, in text: String) throws -> String {
        String(try #require(text.firstMatch(of: pattern)).1)
    }

    @Test func aStagedPhotoIsNamedAfterItsTreeAndSavedInTheChosenSize() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let staged = try await Self.stage(
                SamplePhoto.jpeg, name: "image.jpg", to: Self.edit, with: ["field.Notes": "Cavity", "stage": "yes"],
                as: visitor)
            #expect(staged.status == 303)
            let form = try await visitor.get(try #require(staged["Location"])).text
            #expect(form.contains("New photo 1"))
            #expect(form.contains("kept when you save"))
            #expect(form.contains("Cavity"), "what was typed is kept beside it")
            #expect(form.contains("Remove the place from the photo"))
            let name = try Self.match(/name="photo\.[0-9a-f-]+\.name" value="([^"]+)"/, in: form)
            #expect(name.hasPrefix("3252 NE Ainsworth St 20") && name.hasSuffix(" 1.jpg"), "\(name)")
            #expect(form.contains("Small, ") && !form.contains("Large, ") && form.contains("Actual, "))
            #expect(try await Self.attachments(field).isEmpty, "nothing is kept before Save")

            let id = try Self.match(/name="photo\.([0-9a-f-]+)\.name"/, in: form)
            let saved = try await visitor.post(
                Self.edit,
                [
                    "session": "one", "field.Notes": "Cavity", "photo.\(id).name": "Cavity at 1.2 m",
                    "photo.\(id).size": "small", "photo.\(id).place": "remove",
                ])
            #expect(saved.status == 303)
            let info = try #require(try await Self.attachments(field).first)
            #expect(info.name == "Cavity at 1.2 m.jpg")
            #expect(info.contentType == "image/jpeg")
            #expect(info.parentGlobalID == TreesField.treeIDs[1])
            let data = try await Self.bytes(info, field)
            #expect(PhotoScaler.size(data) == PhotoScaler.Size(width: 320, height: 640), "upright, 640 long")
            #expect(PhotoNotes(data) == PhotoNotes(Data([0xFF, 0xD8])), "no notes, so no place")
            #expect(try await field.tree(1)?.attributes["Notes"] == .text("Cavity"))
            #expect(!(try await visitor.get(Self.edit).text.contains("New photo")), "the draft is gone")
            #expect(try await visitor.get("/settings").status == 200)
        }
    }

    @Test func aChangeOfSizeIsRememberedAndActualKeepsEveryByte() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await Self.stage(SamplePhoto.jpeg, name: "Crown.jpg", to: Self.edit, as: visitor)
            let info = try #require(try await Self.attachments(field).first)
            #expect(info.name == "Crown.jpg", "a name that says something stays")
            #expect(try await Self.bytes(info, field) == SamplePhoto.jpeg)
        }
    }

    @Test func theListShowsThumbnailsAndAFileThatAPageCouldRunIsOnlySaved() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await Self.stage(SamplePhoto.jpeg, name: "Crown.jpg", to: Self.edit, as: visitor)
            _ = try await Self.stage(
                Self.page, name: "a%22><b>.xml", type: "application/xml", to: Self.edit, as: visitor)
            let list = try await visitor.get("\(Self.tree)/photos").text
            #expect(list.contains("Crown.jpg") && list.contains("On the server"))
            #expect(!list.contains("<b>.xml"), "a name is text")
            let ids = try await Self.attachments(field).sorted { $0.id < $1.id }.map(\.id)
            try #require(ids.count == 2)
            let picture = try await visitor.get("\(Self.tree)/photos/\(ids[0])/content?edge=320")
            #expect(picture["Content-Type"] == "image/jpeg")
            #expect(PhotoScaler.size(Data(picture.body)) == PhotoScaler.Size(width: 160, height: 320))
            let file = try await visitor.get("\(Self.tree)/photos/\(ids[1])/content")
            #expect(file["Content-Type"] == "application/octet-stream")
            #expect(file["Content-Disposition"]?.hasPrefix("attachment; filename*=UTF-8''") == true)
            #expect(file["X-Content-Type-Options"] == "nosniff")
            #expect(Data(file.body) == Self.page)
            let one = try await visitor.get("\(Self.tree)/photos/\(ids[0])").text
            #expect(one.contains(#"alt="Photo 1 of 2: Crown.jpg.""#))
            #expect(try await visitor.get(Self.tree).text.contains("Photos and files 2"))
            let stranger = try await PlainClient(port: field.app.port).get("\(Self.tree)/photos/\(ids[0])/content")
            #expect(stranger.status == 403)
        }
    }

    @Test func aDeletedPhotoComesAgainByUndoAndAnAddedOneGoes() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let added = try await Self.stage(SamplePhoto.jpeg, name: "Crown.jpg", to: Self.edit, as: visitor)
            let id = try #require(try await Self.attachments(field).first?.id)
            let deleted = try await visitor.post(Self.edit, ["session": "del", "gone.\(id)": "yes"])
            #expect(try await Self.attachments(field).isEmpty)
            _ = try await visitor.post("/undo/\(try Self.edit(of: deleted))", ["back": "/changes"])
            let back = try await Self.attachments(field)
            #expect(back.map(\.name) == ["Crown.jpg"])
            #expect(try await Self.bytes(try #require(back.first), field) == SamplePhoto.jpeg)
            _ = try await visitor.post("/undo/\(try Self.edit(of: added))", ["back": "/changes"])
            #expect(try await Self.attachments(field).isEmpty)
        }
    }

    @Test func aFileThatTheServerRefusesIsToldAndGoesByUndo() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let saved = try await Self.stage(
                Self.page, name: "page.html", type: "text/html", to: Self.edit, as: visitor)
            let changes = try await visitor.get("/changes").text
            #expect(changes.contains("Refused by the server"))
            #expect(changes.contains("Files with the ending"))
            #expect(changes.contains("1 edit"))
            _ = try await visitor.post("/undo/\(try Self.edit(of: saved))", ["back": "/changes"])
            #expect(try await visitor.get("/changes").text.contains("Everything is sent"))
            #expect(try await Self.attachments(field).isEmpty)
        }
    }

    private static func edit(of answer: PlainClient.Answer) throws -> String {
        try match(/edit=([0-9a-f-]+)/, in: try #require(answer["Location"]))
    }

    @Test func withoutAServerAPhotoWaitsOnThisDeviceAndIsSentLater() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.get(Self.tree)
            await field.services.stop()
            let saved = try await Self.stage(SamplePhoto.jpeg, name: "Crown.jpg", to: Self.edit, as: visitor)
            #expect(saved.status == 303)
            #expect(try await visitor.get("/changes").text.contains("1 photo added"))
            try await field.services.comeBack()
            _ = try await visitor.post("/sync", ["back": "/changes"])
            for _ in 0..<200 where try await Self.attachments(field).isEmpty {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await Self.attachments(field).map(\.name) == ["Crown.jpg"])
        }
    }

    @Test func stagedPhotosOutliveTheProcessAndAreRemovedOneByOne() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            for name in ["One.jpg", "Two.jpg"] {
                _ = try await Self.stage(
                    SamplePhoto.jpeg, name: name, to: Self.edit, with: ["stage": "yes"], as: visitor)
            }
            try await field.restartedApp { app in
                let visitor = try await PlainClient.visitor(of: app)
                let form = try await visitor.get(Self.edit).text
                #expect(form.contains(#"value="One.jpg""#) && form.contains(#"value="Two.jpg""#))
                let first = try Self.match(/name="photo\.([0-9a-f-]+)\.name" value="One/, in: form)
                let second = try Self.match(/name="photo\.([0-9a-f-]+)\.name" value="Two/, in: form)
                let wrong = try await visitor.post(
                    Self.edit, ["session": "a", "photo.\(first).gone": "yes", "photo.\(second).name": "a/b"])
                #expect(wrong.status == 422)
                #expect(wrong.text.contains("A name has no slash."))
                _ = try await visitor.post(
                    Self.edit, ["session": "b", "photo.\(first).gone": "yes", "photo.\(second).name": "Two.jpg"])
                #expect(try await Self.attachments(field).map(\.name) == ["Two.jpg"])
            }
        }
    }

    /// The process ends after the edit is kept and before the form is forgotten: what the disk holds then is put back.
    @Test func aFormSavedAgainAfterACrashAddsNothingTwice() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let new = "/add/0/form?lon=-122.625&lat=45.565&template=p0"
            let place = ["lon": "-122.625", "lat": "45.565", "template": "p0"] as KeyValuePairs
            for (address, values) in [(Self.edit, [:] as KeyValuePairs<String, String>), (new, place)] {
                let staged = try await Self.stage(
                    SamplePhoto.jpeg, name: "Crown.jpg", to: address == new ? "/add/0/form" : address,
                    with: address == new
                        ? ["lon": "-122.625", "lat": "45.565", "template": "p0", "stage": "yes"] : ["stage": "yes"],
                    as: visitor)
                #expect(staged.status == 303)
                let drafts = try #require(Self.drafts(field))
                let copy = drafts.deletingLastPathComponent().appending(path: "copy")
                try FileManager.default.copyItem(at: drafts, to: copy)
                let saved =
                    address == new
                    ? try await visitor.post("/add/0/form", place) : try await visitor.post(address, values)
                #expect(saved.status == 303)
                try FileManager.default.removeItem(at: drafts)
                try FileManager.default.moveItem(at: copy, to: drafts)
                let made = try await field.rows(of: 0).first { !TreesField.treeIDs.contains($0.globalID ?? UUID()) }
                try Self.markBegun(in: drafts, identity: made?.globalID)
            }
            #expect(try await field.rows(of: 0).count == 7)
            #expect(try await Self.attachments(field).count == 2)
            try await field.restartedApp { app in
                let visitor = try await PlainClient.visitor(of: app)
                #expect(try await visitor.get(Self.edit).text.contains("Crown.jpg"))
                #expect(try await visitor.post(Self.edit, ["session": "again"]).status == 303)
                #expect(try await visitor.get(new).text.contains("Crown.jpg"))
                let again = try await visitor.post(
                    "/add/0/form",
                    ["session": "new", "lon": "-122.625", "lat": "45.565", "template": "p0", "field.Notes": "Young"])
                #expect(again.status == 303)
                #expect(try await field.rows(of: 0).count == 7)
                #expect(try await Self.attachments(field).count == 2)
                let made = try #require(
                    try await field.rows(of: 0).first { !TreesField.treeIDs.contains($0.globalID ?? UUID()) })
                #expect(made.attributes["Notes"] == .text("Young"), "what was typed since isn't lost")
            }
        }
    }

    private static func drafts(_ field: TreesField) -> URL? {
        let maps = field.deviceFolder.appending(path: "maps")
        return try? FileManager.default.contentsOfDirectory(at: maps, includingPropertiesForKeys: nil).first?
            .appending(path: "drafts")
    }

    private static func markBegun(in drafts: URL, identity: UUID?) throws {
        let walker = FileManager.default.enumerator(at: drafts, includingPropertiesForKeys: nil)
        for case let file as URL in walker ?? .init() where file.pathExtension == "json" {
            var text = try String(contentsOf: file, encoding: .utf8)
            text = text.replacingOccurrences(of: #""isBegun":false"#, with: #""isBegun":true"#)
            if let identity, text.contains(#"add\/0\/form"#), !text.contains("identity") {
                text.insert(
                    contentsOf: #""identity":"\#(identity.uuidString)","#, at: text.index(after: text.startIndex))
            }
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }
}
