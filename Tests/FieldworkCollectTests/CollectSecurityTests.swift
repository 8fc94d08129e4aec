import BrowserSupport
import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// The app as other programs and other sites' pages meet it, over a socket.
@Suite struct CollectSecurityTests {
    private static let pages = [
        "/", "/map", "/data/map", "/data/overlay", "/list", "/changes", "/changes/unsent.geojson", "/events", "/start",
        "/settings", "/?key=0000",
    ]

    @Test("A visitor without the key gets neither a page nor the cookie, and reads where the address is")
    func nothingOpensWithoutTheKey() async throws {
        try await DamageField.with(points: 1) { field in
            let stranger = PlainClient(port: field.app.port)
            for path in Self.pages {
                let answer = try await stranger.get(path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer["Set-Cookie"] == nil, "\(path)")
                #expect(!answer.text.contains("Cause"), "\(path)")
                #expect(!answer.text.contains(field.app.key), "\(path)")
                #expect(answer.text.contains("Fieldwork is ready"), "\(path)")
            }
            // What the refusal looks like is answered, or nobody could read it.
            let page = try await stranger.get("/")
            let sheet = try #require(page.text.firstMatch(of: #/href="(\/assets\/[^"]+app\.css)"/#)?.output.1)
            #expect(try await stranger.get(String(sheet)).status == 200)
        }
    }

    @Test("The printed address gives the cookie and goes on at an address without the key")
    func thePrintedAddressOpens() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = PlainClient(port: field.app.port)
            let door = try await visitor.get("/?key=\(field.app.key)")
            #expect(door.status == 303)
            #expect(door["Location"] == "/")
            let cookie = try #require(door["Set-Cookie"])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            // It opens nothing but the front door.
            for path in ["/map", "/list", "/start"] {
                let answer = try await PlainClient(port: field.app.port).get("\(path)?key=\(field.app.key)")
                #expect(answer.status == 403 && answer["Set-Cookie"] == nil, "\(path)")
            }
            #expect(try await PlainClient.visitor(of: field.app).get("/map").status == 200)
        }
    }

    @Test("The key stays over starts in a file of its owner; one that others may read gives way to a new key")
    func theKeyStays() async throws {
        try await DamageField.with(points: 1) { field in
            let file = field.deviceFolder.appending(path: PageKey.fileName)
            let manager = FileManager.default
            let mode = try manager.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let visitor = try await PlainClient.visitor(of: field.app)
            try await field.restartedApp { next in
                #expect(next.key == field.app.key)
                var again = PlainClient(port: next.port)
                // The cookie is named after the port, which is another one here.
                again.cookie = visitor.cookie?.replacing("\(field.app.port)", with: "\(next.port)")
                #expect(try await again.get("/map").status == 200)
                try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            }
            try await field.restartedApp { next in
                #expect(next.key != field.app.key)
                let renewed = try manager.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(renewed == 0o600)
            }
        }
    }

    @Test("The data folder is its owner's alone, also one that an older version left open to others")
    func theFolderIsTheOwners() async throws {
        try await DamageField.with(points: 1) { field in
            let manager = FileManager.default
            let (folder, settings) = (field.deviceFolder, field.deviceFolder.appending(path: "settings.json"))
            let reference = try await field.firstReference()
            let visitor = try await PlainClient.visitor(of: field.app)
            let form: KeyValuePairs = ["field.primcause": "Typed"]
            #expect(try await visitor.post("/f/\(reference)/edit", form).status == 303)
            func modes() throws -> [String: Int] {
                var modes: [String: Int] = [:]
                for path in [""] + (try manager.subpathsOfDirectory(atPath: folder.path)) {
                    let item = path.isEmpty ? folder : folder.appending(path: path)
                    modes[path] = try manager.attributesOfItem(atPath: item.path)[.posixPermissions] as? Int
                }
                return modes
            }
            #expect(try modes()[""] == 0o700)
            await field.app.stop()
            for (path, mode) in try modes() {
                let item = path.isEmpty ? folder : folder.appending(path: path)
                try manager.setAttributes([.posixPermissions: mode | 0o055], ofItemAtPath: item.path)
            }
            try await field.restartedApp { _ in
                let now = try modes()
                #expect(now[""] == 0o700)
                #expect(now.values.allSatisfy { $0 & 0o077 == 0 }, "\(now)")
                #expect(now["settings.json"] == 0o600)
                #expect(now["maps"] == 0o700)
            }
            #expect(manager.fileExists(atPath: settings.path))
        }
    }

    @Test("A folder that holds other things keeps its rights; what the app keeps in it loses those of others")
    func aSharedFolderStaysShared() throws {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appending(path: "fieldwork-shared-\(UUID().uuidString)")
        defer { try? manager.removeItem(at: folder) }
        try manager.createDirectory(at: folder.appending(path: "maps"), withIntermediateDirectories: true)
        for name in ["other.txt", "maps/typed.json"] {
            try Data("x".utf8).write(to: folder.appending(path: name))
            try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.appending(path: name).path)
        }
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try OwnerOnly.prepare(folder)
        func mode(_ path: String) throws -> Int? {
            try manager.attributesOfItem(atPath: folder.path + path)[.posixPermissions] as? Int
        }
        #expect(try mode("") == 0o755)
        #expect(try mode("/other.txt") == 0o644)
        #expect(try mode("/maps") == 0o700)
        #expect(try mode("/maps/typed.json") == 0o600)
    }

    @Test func aPageOfAnotherSiteCanNeitherReadNorWrite() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let cross = ["Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"]
            #expect(try await visitor.get("/map", fields: cross).status == 403)
            let form: KeyValuePairs = ["lon": "-98", "lat": "38", "template": "t0"]
            #expect(try await visitor.post("/add/0", form, fields: cross).status == 403)
            #expect(try await visitor.post("/add/0", form, fields: ["Origin": "null"]).status == 403)
            let unmarked = try await visitor.send(
                "POST", "/add/0", fields: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "lon=-98&lat=38&template=t0")
            #expect(unmarked.status == 403)
            for path in ["/", "/?key=\(field.app.key)"] {
                #expect(try await visitor.get(path, fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            }
            #expect(try await field.serverFeatures().count == 1)
        }
    }

    @Test func anotherNameForThisAddressIsTurnedAway() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            for name in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
                let rebound = try await visitor.get("/map", fields: ["Host": "\(name):\(field.app.port)"])
                #expect(rebound.status == 403, "\(name)")
                #expect(rebound["Set-Cookie"] == nil, "\(name)")
            }
            #expect(try await visitor.get("/map").status == 200)
        }
    }

    @Test func everyAnswerCarriesTheSecurityHeaders() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
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
            let visitor = try await PlainClient.visitor(of: field.app)
            let reference = try await field.firstReference()
            let pages = [
                "/map", "/map/f/\(reference)", "/f/\(reference)", "/f/\(reference)/edit", "/f/\(reference)/move",
                "/add/0",
                "/list", "/changes", "/layers", "/settings", "/help/keys", "/start",
            ]
            for path in pages {
                let answer = try await visitor.get(path)
                #expect(answer.status == 200, "\(path)")
                // Where something slips in, the browser does not run it.
                let policy = answer["Content-Security-Policy"] ?? ""
                #expect(policy.contains("script-src 'self'") && !policy.contains("unsafe-inline"), "\(path)")
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
            let visitor = try await PlainClient.visitor(of: field.app)
            let answer = try await visitor.post(
                "/settings", ["theme": String(repeating: "x", count: Limits.formBytes + 1)])
            #expect(answer.status == 413)
        }
    }
}
