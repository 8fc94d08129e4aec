import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// The first pages: the ways to a map, an address, a code.
@Suite struct StartTests {
    /// Posts a picture as the page's form does.
    static func scan(
        _ picture: Data, as visitor: PlainClient, origin: String? = nil, name: String = "code.jpg"
    ) async throws -> PlainClient.Answer {
        let mark = "----fieldwork-test"
        let head =
            "--\(mark)\r\nContent-Disposition: form-data; name=\"camera\"; filename=\"\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n\r\n"
            + "--\(mark)\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"\(name)\"\r\n"
            + "Content-Type: image/jpeg\r\n\r\n"
        let body = Data(head.utf8) + picture + Data("\r\n--\(mark)--\r\n".utf8)
        return try await visitor.send(
            "POST", "/start/code",
            fields: [
                "Origin": origin ?? "http://127.0.0.1:\(visitor.port)",
                "Content-Type": "multipart/form-data; boundary=\(mark)",
            ], bytes: Array(body))
    }

    @Test func theFirstPageOffersThreeWays() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get("/start").text
            #expect(page.contains("Which map do you want to open?"))
            #expect(page.contains("Damage Assessment"))
            #expect(page.contains(#"href="/start/server""#) && page.contains(#"href="/start/file""#))
            #expect(page.contains("Nothing is sent anywhere else."))
        }
    }

    @Test func whatIsOnTheDeviceIsOfferedWhileTheServerIsAway() async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            await field.services.stop()
            let page = try await visitor.get("/start").text
            #expect(page.contains("What is on this device opens without it."))
            #expect(page.contains("Reno"))
            #expect(!page.contains("Damage Assessment</b>"))
            #expect(try await visitor.get("/start/file").text.contains("Reno"))
            try await field.services.comeBack()
        }
    }

    @Test func theMapsOfAServerAreListedByItsAddress() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            for address in [
                "127.0.0.1:\(field.services.port)", "http://127.0.0.1:\(field.services.port)",
                field.services.root.absoluteString + "/",
            ] {
                let page = try await visitor.post("/start", ["service": address])
                #expect(page.status == 200)
                #expect(page.text.contains("Maps of 127.0.0.1") && page.text.contains("Damage Assessment"))
            }
            let url = "\(field.services.root.absoluteString)/DamageAssessment/FeatureServer"
            #expect(try await visitor.post("/start", ["service": url])["Location"] == "/map")
        }
    }

    @Test func anAddressThatDoesNotOpenStaysWithItsCauseAndTheNextStep() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let closed = "http://127.0.0.1:9/x/FeatureServer"
            for (typed, what, next) in [
                ("", "There is no address yet.", "It begins with http://"),
                ("ftp://a/b", "That is not the address of a map.", "ends in FeatureServer"),
                (closed, "can&#39;t be reached", "how the server&#39;s name is spelt"),
                ("\(field.services.root)/Nothing/FeatureServer", "didn&#39;t open", "ends in FeatureServer"),
                ("http://[::1/FeatureServer", "That is not an address.", "no spaces"),
                ("http://127.0.0.1:9/\"><b>/FeatureServer", "can&#39;t be reached", "name is spelt"),
            ] {
                let page = try await visitor.post("/start", ["service": typed])
                #expect(page.status == 422, "\(typed)")
                #expect(page.text.contains(what) && page.text.contains(next), "\(typed): \(page.text)")
                #expect(!page.text.contains("\"><b>/"))
            }
            #expect(try await visitor.post("/start", ["service": closed]).text.contains("value=\"\(closed)\""))
        }
    }

    @Test func aCodeIsShownInFullAndOpenedOnlyWhenTheUserSaysSo() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let url = "\(field.services.root.absoluteString)/DamageAssessment/FeatureServer"
            let page = try await Self.scan(CodePicture([url]).jpeg, as: visitor)
            #expect(page.status == 200)
            #expect(page.text.contains("The code says") && page.text.contains("<bdi>\(url)</bdi>"))
            #expect(page.text.contains(#"name="service" value="\#(url)""#))
            #expect(try await visitor.post("/start", ["service": url])["Location"] == "/map")
        }
    }

    @Test func severalCodesAreForTheUserToChooseFromAndABadOneIsRefusedWithItsReason() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let picture = CodePicture(["http://one.example/map.json", "<script>alert(1)</script>"])
            let page = try await Self.scan(picture.jpeg, as: visitor)
            #expect(page.text.contains("The picture has 2 codes."))
            #expect(page.text.contains(#"value="http://one.example/map.json""#))
            #expect(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
            #expect(page.text.contains("begin with http:// or https://. It was not opened."))
            #expect(page.text.components(separatedBy: "Open it</button>").count == 2)
        }
    }

    @Test func aPictureThatCannotBeUsedIsAnsweredWithTheReason() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let none = try await Self.scan(CodePicture(width: 400, height: 300).jpeg, as: visitor)
            #expect(none.status == 422 && none.text.contains("No code in this picture."))
            #expect(none.text.contains("Hold the camera closer"))
            let other = try await Self.scan(Data("GIF89a".utf8), as: visitor)
            #expect(other.text.contains("can&#39;t read this kind of picture"))
            let damaged = try await Self.scan(Data([0xFF, 0xD8, 0xFF, 0xE0]), as: visitor)
            #expect(damaged.text.contains("The picture is damaged."))
            let empty = try await Self.scan(Data(), as: visitor, name: "")
            #expect(empty.text.contains("No picture was chosen."))
            let large = try await Self.scan(Data(count: Limits.codeFormBytes + 1), as: visitor)
            #expect(large.status == 422 && large.text.contains("The picture has more than"))
            let stranger = try await Self.scan(CodePicture(["a"]).jpeg, as: visitor, origin: "http://evil.example")
            #expect(stranger.status == 403)
        }
    }
}
