import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkPortal
@testable import FieldworkServer

/// What is left of the ways to use somebody else's sign-in, or more than was shared.
@Suite("Sign-ins of others", .fewAtATime)
struct SessionTests {
    private static let oauth = "/arcgis/sharing/rest/oauth2"
    private static let author = Author(name: "test", address: "")

    @Test("A cookie that was planted before the sign-in opens nothing after it, and is replaced by a new one")
    func fixation() async throws {
        try await PeopleServer.with { people in
            let html = [("Accept", "text/html")]
            func signIn(_ planted: (String, String)?) async throws -> String {
                let headers = planted.map { [$0] } ?? []
                let page = try await people.client.get(
                    "\(Self.oauth)/authorize", ["client_id": "directory", "response_type": "code"], headers: headers)
                let mark = try #require(page.text.range(of: "name=\"oauth_state\" value=\""))
                let state = String(page.text[mark.upperBound...].prefix { $0 != "\"" })
                let sent = try await people.client.post(
                    "\(Self.oauth)/signin",
                    [
                        "oauth_state": state, "username": "viewer", "password": PeopleServer.password,
                        "authorize": "true",
                    ], headers: headers)
                return String(try #require(sent.header("Set-Cookie"), "\(sent.text)").prefix { $0 != ";" })
            }
            // What somebody who plants a cookie knows: the name of the cookie, and a value of the right form.
            let known = try await signIn(nil)
            let name = try #require(known.split(separator: "=").first.map(String.init))
            let value = try #require(known.split(separator: "=").last.map(String.init))
            let planted = ("Cookie", "\(name)=\(String(value.reversed()))")
            let given = try await signIn(planted)
            #expect(given != planted.1 && given != known)
            let opened = try await people.client.get("", headers: html + [planted])
            #expect(!opened.text.contains("Trees"), "the planted cookie is nobody's")
            #expect(try await people.client.get("", headers: html + [("Cookie", given)]).text.contains("Trees"))
        }
    }

    @Test("A map that is shared with everyone opens none of its layers")
    func privateLayer() async throws {
        try await PeopleServer.with { people in
            let service = try #require(try await people.portal.item(ofService: "Trees"))
            _ = try await people.portal.share(
                service.id, everyone: false, organisation: false, addingGroups: [], onlyGroups: true, for: .everybody,
                by: Self.author)
            let text =
                #"{"operationalLayers":[{"id":"a","title":"Trees","itemId":"\#(service.id)","#
                + #""url":"\#(people.client.base)/Trees/FeatureServer/0","layerType":"ArcGISFeatureLayer"}],"#
                + #""baseMap":{"baseMapLayers":[],"title":"none"},"version":"2.31"}"#
            let content = "/arcgis/sharing/rest/content"
            let added = try await people.post(
                "\(content)/users/owner/addItem",
                ["f": "json", "title": "Open map", "type": "Web Map", "text": text], as: "owner")
            let id = try #require(try added.json["id"]?.stringValue, "\(added.text)")
            let shared = try await people.post(
                "\(content)/users/owner/items/\(id)/share", ["f": "json", "everyone": "true", "org": "true"],
                as: "owner")
            #expect(shared.errorCode == nil)
            #expect(try await people.get("\(content)/items/\(id)/data", as: nil).text.contains("Trees"))
            let query: KeyValuePairs = ["f": "json", "where": "1=1", "outFields": "*"]
            for path in ["FeatureServer/0/query", "FeatureServer/0", "MapServer/0/query", "VectorTileServer"] {
                let nobody = try await people.get("Trees/\(path)", query, as: nil)
                #expect(nobody.errorCode == 499, "\(path): \(nobody.text.prefix(200))")
                let viewer = try await people.get("Trees/\(path)", query, as: "viewer")
                #expect(viewer.errorCode == 403, "\(path): \(viewer.text.prefix(200))")
            }
            #expect(try await people.get("\(content)/items/\(service.id)", as: nil).errorCode != nil)
            #expect(try await people.get("Trees/FeatureServer/0/query", query, as: "owner").errorCode == nil)
        }
    }

    @Test(
        "An account that was guessed at waits at every door, whatever address a client says it comes from, and so does one that is not there",
        arguments: ["viewer", "nobody"])
    func guessing(name: String) async throws {
        try await PeopleServer.with { people in
            func generate(_ password: String, _ number: Int) async throws -> TestClient.Answer {
                try await people.client.post(
                    "/arcgis/tokens/generateToken", ["username": name, "password": password, "f": "json"],
                    headers: [("X-Forwarded-For", "192.0.2.\(number)"), ("Forwarded", "for=192.0.2.\(number)")])
            }
            let failures = FieldworkPortal.Limits.failuresPerAccount
            for number in 0..<failures {
                #expect(try await generate("guess \(number)", number).text.contains("Invalid username or password"))
            }
            // On a slow machine the first wait, a second, may be over already.
            for _ in 0..<10 {
                try await people.portal.records.write { records in
                    try SignInGuard.fail([(SignInGuard.account(name), failures)], now: people.portal.now, records)
                }
            }
            // The right password opens nothing now, and is told the same as a wrong one.
            let locked = try await generate(PeopleServer.password, 99)
            #expect(locked.text.contains("Try again in") && !locked.text.contains("\"token\""), "\(locked.text)")
            let page = try await people.client.get(
                "\(Self.oauth)/authorize", ["client_id": "directory", "response_type": "code"])
            let mark = try #require(page.text.range(of: "name=\"oauth_state\" value=\""))
            let state = String(page.text[mark.upperBound...].prefix { $0 != "\"" })
            let sent = try await people.client.post(
                "\(Self.oauth)/signin",
                ["oauth_state": state, "username": name, "password": PeopleServer.password, "authorize": "true"])
            #expect(sent.header("Set-Cookie") == nil && sent.text.contains("Try again in"), "\(sent.text)")
            let entries = try await people.portal.audit().filter { $0.action == "signIn.failed" }
            #expect(entries.count == failures && entries.allSatisfy { $0.target == name })
            #expect(entries.allSatisfy { $0.address == "127.0.0.1" }, "\(entries)")
        }
    }

    @Test("No page tells its address to another site: a code or a token in it would go along")
    func referrers() async throws {
        try await PeopleServer.with { people in
            let token = try await people.token("administrator")
            let html = [("Accept", "text/html"), ("X-Esri-Authorization", "Bearer \(token)")]
            for path in [
                "\(Self.oauth)/authorize?client_id=directory&response_type=code", "\(Self.oauth)/approval?code=abc",
                "/arcgis/home", "/arcgis/home/people", "/arcgis/rest/services?token=\(token)",
                "/arcgis/rest/services/Trees/FeatureServer/0?f=html&token=\(token)",
            ] {
                let page = try await people.client.get(path, headers: html)
                #expect(page.header("Content-Type")?.hasPrefix("text/html") == true, "\(path)")
                #expect(page.header("Referrer-Policy") == "same-origin", "\(path)")
                #expect(!page.text.contains(token), "\(path)")
            }
        }
    }

    @Test("A token that was revoked, or whose person has another password, opens nothing at the next request")
    func ended() async throws {
        try await PeopleServer.with { people in
            let path = "Trees/FeatureServer/0/query"
            func code(_ token: String) async throws -> Int? {
                try await people.client.get(
                    path, ["f": "json", "where": "1=1", "returnCountOnly": "true", "token": token]
                ).errorCode
            }
            let token = try await people.token("viewer")
            #expect(try await code(token) == nil)
            _ = try await people.client.post(
                "\(Self.oauth)/revokeToken", ["client_id": "fieldwork", "auth_token": token, "f": "json"])
            #expect(try await code(token) == 498)
            let other = try await people.token("viewer")
            let group = try await people.portal.addGroup(
                title: "Crew", for: .everybody, owner: "administrator", by: Self.author)
            _ = try await people.portal.addMembers(["viewer"], to: group.id, for: .everybody, by: Self.author)
            let item = try #require(try await people.portal.item(ofService: "Trees"))
            _ = try await people.portal.share(
                item.id, everyone: false, organisation: false, addingGroups: [group.id], onlyGroups: true,
                for: .everybody, by: Self.author)
            #expect(try await code(other) == nil)
            _ = try await people.portal.removeMembers(["viewer"], from: group.id, for: .everybody, by: Self.author)
            #expect(try await code(other) == 403, "who left the group sees it no more")
            try await people.portal.setPassword("another horse", of: "viewer", by: Self.author)
            #expect(try await code(other) == 498)
        }
    }

    @Test(
        "Three servers of a database honour each other's tokens, and within a second what one of them takes away",
        .enabled(if: TemporaryPostgres.isInstalled))
    func threeServers() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        var portals: [Portal] = []
        var servers: [RunningFeatureServer] = []
        let first = try await PostgresStore.open(address)
        try await first.createService(TreesService.definition)
        for _ in 0..<3 {
            let store = try await PostgresStore.open(address)
            let portal = try await Portal(store.openRecords(), passwordCost: 4)
            portals.append(portal)
            servers.append(
                try await RunningFeatureServer.start(
                    store: store, configuration: ServerConfiguration(port: 0, portal: portal)))
        }
        let clients = servers.map { TestClient(base: $0.servicesAddress) }
        for (name, role) in [("ana", Role.administrator), ("ben", .editor)] {
            try await portals[0].addPerson(name, password: PeopleServer.password, role: role, by: Self.author)
        }
        func answers(_ token: String) async throws -> [Int] {
            var codes: [Int] = []
            for client in clients {
                let answer = try await client.get(
                    "Trees/FeatureServer/0/query", ["f": "json", "where": "1=1", "returnCountOnly": "true"],
                    headers: [("X-Esri-Authorization", "Bearer \(token)")])
                codes.append(answer.errorCode ?? 0)
            }
            return codes
        }
        try await Task.sleep(for: .milliseconds(300))
        for index in 0..<3 {
            let signed = try await clients[index].post(
                "/arcgis/tokens/generateToken",
                ["username": "ben", "password": PeopleServer.password, "client": "requestip", "f": "json"])
            let token = try #require(try signed.json["token"]?.stringValue, "\(signed.text)")
            #expect(try await answers(token) == [0, 0, 0])
            if index == 2 {
                try await portals[1].setDisabled(true, "ben", by: Self.author)
            } else {
                try await portals[(index + 1) % 3].revoke(token, by: Self.author)
            }
            try await Task.sleep(for: .seconds(1))
            #expect(try await answers(token) == [498, 498, 498])
        }
        for server in servers { try await server.stop() }
        for portal in portals { await portal.close() }
        try await first.close()
    }
}
