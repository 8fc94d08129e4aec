import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// The app as other programs and other sites' pages meet it, over a socket.
@Suite struct CollectSecurityTests {
    @Test func theFrontDoorGivesTheKeyAndNothingElseOpensWithoutIt() async throws {
        try await DamageField.with(points: 1) { field in
            let stranger = PlainClient(port: field.app.port)
            let door = try await stranger.get("/")
            #expect(door.status == 303)
            let cookie = try #require(door["Set-Cookie"])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            for path in ["/map", "/data/map", "/data/overlay", "/list", "/changes", "/events", "/start", "/settings"] {
                let answer = try await stranger.get(path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer["Set-Cookie"] == nil, "\(path)")
                #expect(!answer.text.contains("Cause"), "\(path)")
            }
        }
    }

    @Test func aPageOfAnotherSiteCanNeitherReadNorWrite() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(port: field.app.port)
            let cross = ["Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"]
            #expect(try await visitor.get("/map", fields: cross).status == 403)
            let form: KeyValuePairs = ["lon": "-98", "lat": "38", "template": "t0"]
            #expect(try await visitor.post("/add/0", form, fields: cross).status == 403)
            #expect(try await visitor.post("/add/0", form, fields: ["Origin": "null"]).status == 403)
            let unmarked = try await visitor.send(
                "POST", "/add/0", fields: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "lon=-98&lat=38&template=t0")
            #expect(unmarked.status == 403)
            #expect(try await visitor.get("/", fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            #expect(try await field.serverFeatures().count == 1)
        }
    }

    @Test func anotherNameForThisAddressIsTurnedAway() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(port: field.app.port)
            let rebound = try await visitor.get("/map", fields: ["Host": "evil.example:\(field.app.port)"])
            #expect(rebound.status == 403)
            #expect(rebound["Set-Cookie"] == nil)
            #expect(try await visitor.get("/map").status == 200)
        }
    }

    @Test func everyAnswerCarriesTheSecurityHeaders() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(port: field.app.port)
            for path in ["/", "/map", "/data/map", "/list", "/nowhere", "/assets/none/js/app.js"] {
                let answer = try await visitor.get(path)
                #expect(answer["Content-Security-Policy"] == SecurityHeaders.contentPolicy, "\(path)")
                #expect(answer["X-Content-Type-Options"] == "nosniff", "\(path)")
                #expect(answer["X-Frame-Options"] == "DENY", "\(path)")
                #expect(answer["Referrer-Policy"] == "same-origin", "\(path)")
            }
        }
    }

    @Test func pagesHoldNothingInline() async throws {
        try await DamageField.with(points: 3) { field in
            let visitor = try await PlainClient.visitor(port: field.app.port)
            let reference = try await field.firstReference()
            let pages = [
                "/map", "/map/f/\(reference)", "/f/\(reference)", "/f/\(reference)/edit", "/f/\(reference)/move",
                "/add/0",
                "/list", "/changes", "/layers", "/settings", "/help/keys", "/start",
            ]
            for path in pages {
                let answer = try await visitor.get(path)
                #expect(answer.status == 200, "\(path)")
                #expect(!answer.text.contains(" style="), "\(path)")
                #expect(answer.text.firstMatch(of: #/\son[a-z]+="/#) == nil, "\(path)")
                #expect(answer.text.firstMatch(of: #/<script(?![^>]*\ssrc=)/#) == nil, "\(path)")
                #expect(!answer.text.contains("<style"), "\(path)")
                #expect(answer.text.matches(of: #/<h1[\s>]/#).count >= 1, "\(path)")
            }
        }
    }

    @Test func theAppListensOnThisMachineOnly() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-host-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = CollectConfiguration(host: "0.0.0.0", port: 0, dataDirectory: folder)
        let app = CollectApp(configuration: configuration, logger: .init(label: "test"))
        let error = await #expect(throws: CollectError.self) { try await app.run(onReady: { _ in }) }
        #expect(error?.code == .notLoopback)
    }

    @Test func aBodyBeyondTheLimitIsRefused() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(port: field.app.port)
            let answer = try await visitor.post(
                "/settings", ["theme": String(repeating: "x", count: Limits.formBytes + 1)])
            #expect(answer.status == 413)
        }
    }
}
