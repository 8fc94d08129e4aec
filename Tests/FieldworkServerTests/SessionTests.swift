import FieldworkGeometry
import FieldworkPortal
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

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
