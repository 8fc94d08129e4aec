import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Registered applications over HTTP, as the protocol's clients register them.
@Suite("Requests about applications", .fewAtATime)
struct AppRequestTests {
    private static let portal = "/arcgis/sharing/rest"
    private static let redirect = "https://reports.example/back"

    private static func addItem(_ people: PeopleServer, as name: String = "owner") async throws -> String {
        let added = try await people.post(
            "\(portal)/content/users/\(name)/addItem", ["f": "json", "title": "Reports", "type": "Application"],
            as: name)
        return try #require(try added.json["id"]?.stringValue, "\(added.text)")
    }

    private static func register(_ people: PeopleServer, _ item: String) async throws -> JSONValue {
        let answer = try await people.post(
            "\(portal)/oauth2/registerApp",
            [
                "f": "json", "itemId": item, "appType": "native",
                "redirect_uris": "[\"\(redirect)\",\"org.example.app://auth\"]",
            ],
            as: "owner")
        return try answer.json
    }

    @Test("An item is registered, described without its secret, changed and unregistered; a stranger gets none of it")
    func life() async throws {
        try await PeopleServer.with { people in
            let item = try await Self.addItem(people)
            let made = try await Self.register(people, item)
            let id = try #require(made["client_id"]?.stringValue)
            let secret = try #require(made["client_secret"]?.stringValue)
            #expect(made["itemId"] == .string(item))
            #expect(made["redirect_uris"] == [.string(Self.redirect), "org.example.app://auth"])
            let info = "\(Self.portal)/content/users/owner/items/\(item)/registeredAppInfo"
            for path in [info, "\(Self.portal)/oauth2/apps/\(id)", "\(Self.portal)/oauth2/apps"] {
                let seen = try await people.get(path, as: "owner")
                #expect(
                    seen.text.contains(id) && !seen.text.contains(secret) && !seen.text.contains("secret"), "\(path)")
                let hidden = try await people.get(path, as: "viewer")
                #expect(!hidden.text.contains(id), "\(path)")
            }
            let changed = try await people.post(
                "\(Self.portal)/oauth2/apps/\(id)/update", ["f": "json", "redirect_uris": "[\"http://localhost\"]"],
                as: "owner")
            #expect(try changed.json["redirect_uris"] == ["http://localhost"])
            for (path, form) in [
                (
                    "oauth2/apps/\(id)/update",
                    ["f": "json", "redirect_uris": "[\"https://evil.example/\"]"] as KeyValuePairs
                ),
                ("oauth2/apps/\(id)/unregister", ["f": "json"]),
            ] {
                let refused = try await people.post("\(Self.portal)/\(path)", form, as: "editor")
                #expect(refused.errorCode == 400, "\(refused.text)")
            }
            let again = try await Self.register(people, item)
            #expect(again["error"]?["message"]?.stringValue?.contains("registered already") == true)
            let ended = try await people.post("\(Self.portal)/oauth2/apps/\(id)/unregister", ["f": "json"], as: "owner")
            #expect(try ended.json["success"] == true)
            let token = try await Self.credentials(people, id, secret)
            #expect(token.errorCode == 400, "the application is gone")
        }
    }

    private static func credentials(_ people: PeopleServer, _ id: String, _ secret: String) async throws
        -> TestClient.Answer
    {
        try await people.client.post(
            "\(portal)/oauth2/token",
            ["f": "json", "grant_type": "client_credentials", "client_id": id, "client_secret": secret])
    }

    @Test("A registered application gets a token for itself, which reads what the organisation sees and edits nothing")
    func credentials() async throws {
        try await PeopleServer.with { people in
            let made = try await Self.register(people, try await Self.addItem(people))
            let id = made["client_id"]?.stringValue ?? ""
            let answer = try await Self.credentials(people, id, made["client_secret"]?.stringValue ?? "")
            let token = try #require(try answer.json["access_token"]?.stringValue, "\(answer.text)")
            let read = try await people.client.get("Trees/FeatureServer/0", ["f": "json", "token": token])
            #expect(read.errorCode == nil)
            let edit = try await people.client.post(
                "Trees/FeatureServer/0/deleteFeatures", ["f": "json", "objectIds": "1", "token": token])
            #expect(edit.errorCode == 403)
            #expect(try await Self.credentials(people, id, "wrong").errorCode == 400)
        }
    }

    @Test("People are sent back to registered addresses alone, and with the code no other application gets a token")
    func redirects() async throws {
        try await PeopleServer.with { people in
            let made = try await Self.register(people, try await Self.addItem(people))
            let id = made["client_id"]?.stringValue ?? ""
            func page(_ redirect: String) async throws -> String {
                try await people.client.get(
                    "\(Self.portal)/oauth2/authorize",
                    ["client_id": id, "response_type": "code", "redirect_uri": redirect]
                ).text
            }
            for good in [Self.redirect, "org.example.app://auth"] {
                #expect(try await page(good).contains("<form"), "\(good)")
            }
            for evil in [
                "https://reports.example/back/../evil", "https://reports.example/back?x=1", "https://reports.example",
                "https://reports.example.evil/back", "http://127.0.0.1:1/", "org.example.app://other",
                "https://evil.example/",
            ] {
                let text = try await page(evil)
                #expect(text.contains("Invalid redirect_uri") && !text.contains("<form"), "\(evil)")
            }
            let token = try await people.client.get(
                "\(Self.portal)/oauth2/authorize",
                ["client_id": id, "response_type": "token", "redirect_uri": Self.redirect])
            #expect(token.text.contains("Invalid response_type"), "an application of today exchanges codes")
        }
    }

    @Test(
        "What is no list of safe addresses is refused, and no application is made of it",
        arguments: [
            "x", "{}", "[1]", "[\"http://app.example/\"]", "[\"javascript:alert(1)\"]", "\"https://app.example/\"",
        ])
    func refused(_ addresses: String) async throws {
        try await PeopleServer.with { people in
            let item = try await Self.addItem(people)
            let answer = try await people.post(
                "\(Self.portal)/oauth2/registerApp", ["f": "json", "itemId": item, "redirect_uris": addresses],
                as: "owner")
            #expect(answer.errorCode == 400, "\(answer.text)")
            #expect(try await people.portal.apps(for: .everybody).total == 0)
        }
    }
}
