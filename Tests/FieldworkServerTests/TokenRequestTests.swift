import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import HTTPTypes
import Logging
import Synchronization
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Requests with tokens", .fewAtATime)
struct TokenRequestTests {
    private static let layer = "Trees/FeatureServer/0"

    @Test("A token opens a service in each of the ways in which clients send it")
    func ways() async throws {
        try await PeopleServer.with { people in
            let token = try await people.token("viewer")
            let client = people.client
            #expect(try await client.get(Self.layer, ["f": "json", "token": token]).errorCode == nil)
            #expect(try await client.post(Self.layer, ["f": "json", "token": token]).errorCode == nil)
            #expect(try await client.postMultipart(Self.layer, ["f": "json", "token": token]).errorCode == nil)
            for field in ["X-Esri-Authorization", "Authorization"] {
                for scheme in ["Bearer", "bearer"] {
                    let answer = try await client.get(
                        Self.layer, ["f": "json"], headers: [(field, "\(scheme) \(token)")])
                    #expect(answer.errorCode == nil)
                }
            }
            let none = try await client.get(Self.layer, ["f": "json"])
            #expect(none.status == 200 && none.errorCode == 499)
            #expect(try none.json["error"]?["message"] == "Token Required")
            let wrong = try await client.get(Self.layer, ["f": "json", "token": token + "x"])
            #expect(wrong.status == 200 && wrong.errorCode == 498)
            #expect(try wrong.json["error"]?["message"] == "Invalid token.")
        }
    }

    @Test("generateToken gives a token for a name and a password, by POST alone, at each of its addresses")
    func generate() async throws {
        try await PeopleServer.with { people in
            let form: KeyValuePairs = [
                "username": "Viewer", "password": PeopleServer.password, "client": "referer", "referer": "http",
                "expiration": "60", "f": "json",
            ]
            for path in [
                "/arcgis/tokens/generateToken", "/arcgis/tokens/", "/arcgis/sharing/rest/generateToken",
                "/arcgis/sharing/generateToken",
            ] {
                let answer = try await people.client.post(path, form)
                let token = try #require(try answer.json["token"]?.stringValue, "\(path) \(answer.text)")
                #expect(try answer.json["ssl"] == false)
                let expires = try #require(try answer.json["expires"]?.integerValue)
                #expect(abs(expires - people.portal.now - 3_600_000) < 60_000)
                #expect(answer.header("Cache-Control") == "no-store")
                #expect(try await people.client.get(Self.layer, ["f": "json", "token": token]).errorCode == nil)
                #expect(try await people.client.get(path, form).errorCode == 405)
            }
            let wrong = try await people.client.post(
                "/arcgis/tokens/generateToken", ["username": "viewer", "password": "wrong", "f": "json"])
            #expect(wrong.status == 200 && wrong.errorCode == 400)
            #expect(try wrong.json["error"]?["message"] == "Unable to generate token.")
            #expect(try wrong.json["error"]?["details"] == ["Invalid username or password."])
        }
    }

    @Test("A token of the portal is exchanged for one of its server, and of no other")
    func exchange() async throws {
        try await PeopleServer.with { people in
            let token = try await people.token("viewer")
            let origin = try #require(URL(string: people.client.base)).port.map { "http://127.0.0.1:\($0)" } ?? ""
            for server in ["\(origin)/arcgis", "http://127.0.0.1"] {
                let answer = try await people.client.post(
                    "/arcgis/sharing/rest/generateToken",
                    ["token": token, "serverURL": server, "request": "getToken", "expiration": "20160", "f": "json"])
                let other = try #require(try answer.json["token"]?.stringValue, "\(answer.text)")
                #expect(try await people.client.get(Self.layer, ["f": "json", "token": other]).errorCode == nil)
            }
            let foreign = try await people.client.post(
                "/arcgis/sharing/rest/generateToken",
                ["token": token, "serverUrl": "https://other.example/arcgis", "f": "json"])
            #expect(foreign.errorCode == 400)
        }
    }

    @Test("A token that was exchanged lives no longer than the one that it was had for, and is bound to the same")
    func exchangeEnds() async throws {
        try await PeopleServer.with { people in
            let first = try await people.portal.issueToken(
                to: "viewer", seconds: 60, binding: TokenBinding(referer: "https://maps.example"))
            let headers = [("Referer", "https://maps.example/page")]
            let answer = try await people.client.post(
                "/arcgis/sharing/rest/generateToken",
                ["f": "json", "token": first.token, "serverUrl": people.client.base, "expiration": "20160"],
                headers: headers)
            let expires = try #require(try answer.json["expires"]?.integerValue, "\(answer.text)")
            #expect(expires <= first.expires)
            let second = try #require(try answer.json["token"]?.stringValue)
            let elsewhere = try await people.client.get("Trees/FeatureServer", ["f": "json", "token": second])
            #expect(elsewhere.errorCode == 498)
            let there = try await people.client.get(
                "Trees/FeatureServer", ["f": "json", "token": second], headers: headers)
            #expect(there.errorCode == nil, "\(there.text)")
        }
    }

    @Test("info says where tokens come from, once there are people")
    func info() async throws {
        try await PeopleServer.with { people in
            let json = try await people.client.get("/arcgis/rest/info", ["f": "json", "token": "expired"]).json
            #expect(json["authInfo"]?["isTokenBasedSecurity"] == true)
            let base = try #require(json["owningSystemUrl"]?.stringValue)
            #expect(json["authInfo"]?["tokenServicesUrl"]?.stringValue == "\(base)/tokens/generateToken")
            let portal = try await people.client.get("/arcgis/sharing/rest/info", ["f": "json"]).json
            #expect(portal["authInfo"]?["tokenServicesUrl"]?.stringValue == "\(base)/sharing/rest/generateToken")
        }
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get("/arcgis/rest/info", ["f": "json"]).json
            #expect(json["authInfo"]?["isTokenBasedSecurity"] == false && json["owningSystemUrl"] == nil)
        }
    }

    @Test("Edits carry the name of the person, in the tracking fields' place and in the history")
    func editor() async throws {
        try await PeopleServer.with { people in
            let update = try await people.post(
                "\(Self.layer)/updateFeatures",
                ["f": "json", "features": "[{\"attributes\":{\"OBJECTID\":1,\"Name\":\"Oak\"}}]"], as: "editor")
            #expect(try update.json["updateResults"]?.arrayValue?.first?["success"] == true, "\(update.text)")
            let again = try await people.post(
                "\(Self.layer)/updateFeatures",
                ["f": "json", "features": "[{\"attributes\":{\"OBJECTID\":1,\"Name\":\"Lime\"}}]"], as: "owner")
            #expect(try again.json["updateResults"]?.arrayValue?.first?["success"] == true)
            let history = try await people.get("\(Self.layer)/1/history", as: "viewer")
            #expect(history.text.contains("\"editor\":\"editor\""), "\(history.text)")
        }
    }

    @Test("Who may not edit is offered no editing")
    func offered() async throws {
        try await PeopleServer.with { people in
            func capabilities(_ name: String, _ path: String) async throws -> Set<String> {
                let text = try await people.get(path, as: name).json["capabilities"]?.stringValue ?? ""
                return Set(text.split(separator: ",").map(String.init))
            }
            for path in ["Trees/FeatureServer", Self.layer] {
                let (viewers, editors) = (
                    try await capabilities("viewer", path), try await capabilities("editor", path)
                )
                #expect(viewers.isDisjoint(with: ["Create", "Update", "Delete", "Editing"]))
                #expect(editors.isSuperset(of: ["Create", "Update", "Delete"]))
            }
        }
    }

    @Test("The catalogue lists what its reader may see")
    func catalogue() async throws {
        try await PeopleServer.with { people in
            func names(_ name: String?) async throws -> Set<String> {
                let json = try await people.get("", as: name).json
                let services = (json["services"]?.arrayValue ?? []).filter { $0["type"] == "FeatureServer" }
                return Set(services.compactMap { $0["name"]?.stringValue })
            }
            #expect(try await names(nil).isEmpty)
            #expect(try await names("viewer").contains("Trees"))
            let item = try #require(try await people.portal.item(ofService: "Trees"))
            _ = try await people.portal.share(
                item.id, everyone: true, organisation: true, for: .everybody, by: .commandLine)
            #expect(try await names(nil) == ["Trees"])
            _ = try await people.portal.share(
                item.id, everyone: false, organisation: false, for: .everybody, by: .commandLine)
            #expect(try await !names("viewer").contains("Trees"))
            #expect(try await names("owner").contains("Trees"))
            #expect(try await people.get(Self.layer, as: "viewer").errorCode == 403)
        }
    }

    @Test("A person who is disabled, and a role that is taken away, hold from the next request on")
    func takenAway() async throws {
        try await PeopleServer.with { people in
            let token = try await people.token("editor")
            func edit() async throws -> Int? {
                try await people.client.post(
                    "\(Self.layer)/deleteFeatures", ["f": "json", "objectIds": "99", "token": token]
                ).errorCode
            }
            #expect(try await edit() == nil)
            try await people.portal.setRole(.viewer, of: "editor", by: .commandLine)
            #expect(try await edit() == 403)
            try await people.portal.setDisabled(true, "editor", by: .commandLine)
            #expect(try await edit() == 498)
        }
    }

    @Test("A token stands in no address that the server works with, and in no parameter")
    func stripped() {
        for (address, expected) in [
            ("/a?f=json&token=x", "/a?f=json"), ("/a?token=x&f=json", "/a?f=json"), ("/a?TOKEN=x", "/a?"),
            ("/a?%74oken=x&b=1", "/a?b=1"), ("/a?tokens=1", "/a?tokens=1"), ("/a", "/a"),
            ("/a?x=token", "/a?x=token"),
        ] {
            #expect(Authenticator.withoutToken(address) == expected, "\(address)")
        }
    }

    @Test("Nothing that the log says holds a token or a password")
    func logs() async throws {
        let lines = Mutex<[String]>([])
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        try await store.createService(TreesService.definition)
        let portal = try await Portal(try RecordDatabase(file: Portal.file(in: folder)), passwordCost: 4)
        try await portal.addPerson("ana", password: PeopleServer.password, role: .administrator, by: .commandLine)
        let token = try await portal.issueToken(to: "ana").token
        var logger = Logger(label: "test") { _ in KeptLog { line in lines.withLock { $0.append(line) } } }
        logger.logLevel = .trace
        let running = try await RunningFeatureServer.start(
            store: store, configuration: ServerConfiguration(port: 0, portal: portal), logger: logger)
        let client = TestClient(base: running.servicesAddress)
        for path in ["Trees/FeatureServer/0/query", "Nothing/FeatureServer/0", "/nothing", "Trees/FeatureServer/x"] {
            _ = try await client.get(path, ["f": "json", "token": token, "where": "1=1"])
            _ = try await client.post(path, ["f": "json", "token": token, "where": "x'"])
        }
        _ = try await client.post(
            "/arcgis/tokens/generateToken", ["username": "ana", "password": PeopleServer.password, "f": "json"])
        try await running.stop()
        await portal.close()
        let log = lines.withLock { $0 }
        #expect(!log.isEmpty)
        #expect(!log.contains { $0.contains(token) || $0.contains(PeopleServer.password) })
    }

    @Test("A job that goes on after its person lost the right is refused")
    func jobs() async throws {
        try await PeopleServer.with { people in
            let access = Access(portal: people.portal)
            let published = PublishedService(
                definition: try await people.store.service(TreesService.name), version: 0)
            #expect(try await access.seen(published, byPerson: "editor").definition.capabilities.contains(.update))
            #expect(try await !access.seen(published, byPerson: "viewer").definition.capabilities.contains(.update))
            try await people.portal.setDisabled(true, "editor", by: .commandLine)
            await #expect(throws: ServiceError.self) { try await access.seen(published, byPerson: "editor") }
            await #expect(throws: ServiceError.self) { try await access.seen(published, byPerson: nil) }
        }
    }

    @Test("A cookie of the server's pages opens them for reading, and no page of another site uses it")
    func cookie() async throws {
        try await PeopleServer.with { people in
            let session = try await people.portal.issueToken(to: "viewer", kind: .session).token
            let field = ("Cookie", "a=b; \(Authenticator.cookie)=\(session)")
            #expect(try await people.client.get(Self.layer, ["f": "json"], headers: [field]).errorCode == nil)
            let foreign = try await people.client.get(
                Self.layer, ["f": "json"], headers: [field, ("Origin", "https://evil.example")])
            #expect(foreign.status == 403)
            let access = try await people.token("viewer")
            let mixed = [("Cookie", "\(Authenticator.cookie)=\(access)")]
            #expect(try await people.client.get(Self.layer, ["f": "json"], headers: mixed).errorCode == 499)
        }
    }

    @Test("With the cookie of a person a page of another site is nobody, also one that may read or edit")
    func cookieOfAnotherSite() async throws {
        try await PeopleServer.with { people in
            let session = try await people.portal.issueToken(to: "viewer", kind: .session).token
            var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
            head.headerFields[.cookie] = "\(Authenticator.cookie)=\(session)"
            let authenticator = Authenticator(portal: people.portal)
            var visit = Visit(address: "http://127.0.0.1")
            #expect(try await authenticator.principal(token: nil, head, visit).get().name == "viewer")
            for mayEdit in [false, true] {
                visit.site = .other(mayEdit: mayEdit)
                #expect(try await authenticator.principal(token: nil, head, visit).get() == .nobody)
            }
        }
    }
}

/// Keeps what is logged.
private struct KeptLog: LogHandler {
    let keep: @Sendable (String) -> Void
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    init(_ keep: @escaping @Sendable (String) -> Void) { self.keep = keep }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { keep("\(event.message) \(event.metadata ?? [:])") }
}
