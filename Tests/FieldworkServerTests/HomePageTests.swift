import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The portal's pages, as a browser asks for them.
@Suite("The portal's pages", .fewAtATime)
struct HomePageTests {
    private static let home = "/arcgis/home"
    private static let author = Author(name: "test", address: "")
    /// What breaks out of text, attributes and addresses where it is not escaped.
    private static let hostile = "\"'><script>alert(1)</script>&amp;<img src=x onerror=alert(2)>"

    private static func cookie(_ people: PeopleServer, _ name: String) async throws -> (String, String) {
        let session = try await people.portal.issueToken(to: name, kind: .session)
        return ("Cookie", "\(Authenticator.cookie)=\(session.token)")
    }

    private static func page(_ people: PeopleServer, _ path: String, as name: String?) async throws -> TestClient.Answer
    {
        var headers = [("Accept", "text/html")]
        if let name { headers.append(try await cookie(people, name)) }
        return try await people.client.get("\(home)\(path)", headers: headers)
    }

    private static func post(
        _ people: PeopleServer, _ path: String, _ form: KeyValuePairs<String, String>, as name: String,
        headers more: [(String, String)] = []
    ) async throws -> TestClient.Answer {
        let headers = [("Accept", "text/html"), try await cookie(people, name)] + more
        return try await people.client.post("\(home)/\(path)", form, headers: headers)
    }

    private static func addMap(_ people: PeopleServer, _ title: String, snippet: String = "") async throws -> Item {
        var change = ItemChange()
        (change.title, change.type, change.snippet) = (title, "Web Map", snippet)
        change.description = snippet
        change.tags = [snippet]
        return try await people.portal.addItem(change, owner: "owner", for: .everybody, by: author)
    }

    @Test("The gallery shows each reader the maps that the reader may see, by words and page by page")
    func gallery() async throws {
        try await PeopleServer.with { people in
            let open = try await Self.addMap(people, "Open map")
            _ = try await people.portal.share(open.id, everyone: true, for: .everybody, by: Self.author)
            _ = try await Self.addMap(people, "Secret map")
            let nobody = try await Self.page(people, "", as: nil)
            #expect(nobody.text.contains("Open map") && !nobody.text.contains("Secret map"))
            #expect(nobody.text.contains("Sign in") && !nobody.text.contains(">People<"))
            let owner = try await Self.page(people, "", as: "owner")
            #expect(
                owner.text.contains("Secret map") && owner.text.contains("2 maps") && !owner.text.contains("Trees<"))
            let found = try await Self.page(people, "?q=secret", as: "owner")
            #expect(found.text.contains("Secret map") && !found.text.contains("Open map"))
            #expect(try await Self.page(people, "?show=all", as: "owner").text.contains(">Trees</a>"))
            let broken = try await Self.page(people, "?q=\(String(repeating: "(", count: 40))a", as: "owner")
            #expect(broken.status == 200 && broken.text.contains("role=\"alert\""))
            for number in 0..<Limits.itemsPerPage { _ = try await Self.addMap(people, "Map \(number)") }
            let first = try await Self.page(people, "", as: "owner")
            #expect(
                first.text.contains("start=\(Limits.itemsPerPage + 1)\">Next</a>") && !first.text.contains("Previous"))
            let second = try await Self.page(people, "?start=\(Limits.itemsPerPage + 1)", as: "owner")
            #expect(second.text.contains("start=1\">Previous</a>") && second.text.contains("Open map"))
        }
    }

    @Test("Every value is escaped, on every page")
    func escaping() async throws {
        try await PeopleServer.with { people in
            let item = try await Self.addMap(people, Self.hostile, snippet: Self.hostile)
            let group = try await people.portal.addGroup(
                title: Self.hostile, for: .everybody, owner: "administrator", by: Self.author)
            _ = try await people.portal.share(item.id, addingGroups: [group.id], for: .everybody, by: Self.author)
            try await people.portal.updatePerson("viewer", fullName: Self.hostile, by: Self.author)
            let query = TestClient.escape(Self.hostile)
            for path in [
                "", "?show=all&q=\(query)", "/item.html?id=\(item.id)", "/item.html?id=\(query)", "/groups",
                "/groups/\(group.id)", "/people", "/people/viewer", "/people/\(query)", "/visitors",
                "/people/viewer?q=\(query)",
                "/item.html?id=\(item.id)&done=\(query)",
            ] {
                let page = try await Self.page(people, path, as: "administrator")
                #expect(page.text.contains("<h1>"), "\(path)")
                #expect(!page.text.contains("<script") && !page.text.contains("<img src=x"), "\(path)")
                let policy = try #require(page.header("Content-Security-Policy"), "\(path)")
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "\(path)")
                #expect(page.header("Cache-Control") == "no-store", "\(path)")
            }
            let refused = try await Self.post(
                people, "groups/\(group.id)/addMember", ["user": Self.hostile], as: "administrator")
            #expect(refused.text.contains("There is no user") && !refused.text.contains("<script"))
        }
    }

    @Test(
        "What somebody may not see has the page of what is not there, which leads to the sign-in and back to the item")
    func closed() async throws {
        try await PeopleServer.with { people in
            let item = try await Self.addMap(people, "Secret map")
            for (id, name) in [(item.id, nil), (item.id, "viewer"), (String(repeating: "0", count: 32), "viewer")] {
                let page = try await Self.page(people, "/item.html?id=\(id)", as: name)
                #expect(
                    page.status == 403 && page.text.contains("It is not there") && !page.text.contains("Secret map"))
            }
            let page = try await Self.page(people, "/item.html?id=\(item.id)", as: nil)
            #expect(page.text.contains("name=\"state\" value=\"\(item.id)\""))
            #expect(try await Self.signIn(people, state: item.id) == "/arcgis/home/item.html?id=\(item.id)")
            for state in ["", "https://evil.example/", "//evil.example", "../rest", String(repeating: "g", count: 32)] {
                #expect(try await Self.signIn(people, state: state) == "/arcgis/home", "\(state)")
            }
            for path in ["/people", "/people/owner", "/visitors"] {
                for name in [nil, "viewer", "owner"] where path != "/people/owner" || name != "owner" {
                    let page = try await Self.page(people, path, as: name)
                    #expect(page.status == 403 && !page.text.contains("administrator"), "\(path) \(name ?? "nobody")")
                }
            }
        }
    }

    /// - Returns: where the browser goes on after the sign-in.
    private static func signIn(_ people: PeopleServer, state: String) async throws -> String? {
        let page = try await people.client.get(
            "/arcgis/sharing/rest/oauth2/authorize",
            ["client_id": "home", "response_type": "code", "state": state, "redirect_uri": "https://evil.example/"])
        let value = try #require(page.text.firstMatch(of: /name="oauth_state" value="([^"]+)"/)?.1)
        let sent = try await people.client.post(
            "/arcgis/sharing/rest/oauth2/signin",
            ["oauth_state": String(value), "username": "owner", "password": PeopleServer.password])
        #expect(sent.status == 302 && sent.header("Set-Cookie")?.contains("HttpOnly") == true)
        return sent.header("Location")
    }

    @Test("An item's page says who sees it, changes that, and gives the address and its code")
    func item() async throws {
        try await PeopleServer.with { people in
            let item = try #require(try await people.portal.item(ofService: "Trees"))
            let group = try await people.portal.addGroup(
                title: "Crew", for: .everybody, owner: "owner", by: Self.author)
            let other = try await people.portal.addGroup(
                title: "Others", for: .everybody, owner: "administrator", by: Self.author)
            _ = try await people.portal.share(item.id, addingGroups: [other.id], for: .everybody, by: Self.author)
            let address = "\(Self.home)/item.html?id=\(item.id)"
            let before = try await Self.page(people, "/item.html?id=\(item.id)", as: "owner")
            #expect(before.text.contains("Everyone who has signed in sees it") && before.text.contains(address))
            #expect(before.text.contains("edits features") && before.text.contains("The item belongs to the person."))
            let viewer = try await Self.page(people, "/item.html?id=\(item.id)", as: "viewer")
            #expect(viewer.status == 200 && !viewer.text.contains("Change the sharing"))

            let form: KeyValuePairs = ["access": "public", "group-\(group.id)": "true", "editing": "true"]
            let changed = try await Self.post(people, "items/\(item.id)/share", form, as: "owner")
            #expect(changed.status == 302 && changed.header("Location") == "\(address)&done=shared")
            var facts = try await people.portal.facts(ofItem: item.id)
            #expect(facts.sharing.everyone && facts.isOpenToEdits)
            #expect(facts.sharing.groups == [group.id, other.id], "a group that the owner is not in stays")
            let after = try await Self.page(people, "/item.html?id=\(item.id)&done=shared", as: nil)
            #expect(
                after.text.contains("The sharing was changed.")
                    && after.text.contains("Everyone may edit its features."))

            let closed = try await Self.post(people, "items/\(item.id)/share", ["access": "private"], as: "owner")
            #expect(closed.status == 302)
            facts = try await people.portal.facts(ofItem: item.id)
            #expect(!facts.sharing.everyone && !facts.isOpenToEdits && facts.sharing.groups == [other.id])
            for name in ["viewer", "editor"] {
                let refused = try await Self.post(people, "items/\(item.id)/share", form, as: name)
                #expect(refused.status != 302, "\(name)")
            }
            #expect(try await people.portal.facts(ofItem: item.id) == facts)
            let none = try await people.client.get("\(Self.home)/items/\(item.id)/code.svg", ["f": "json"])
            #expect(none.errorCode == 400, "what nobody sees has no code")
        }
    }

    @Test("Administrators add people and change their roles, passwords and sign-ins; nobody else does")
    func people() async throws {
        try await PeopleServer.with { people in
            let added = try await Self.post(
                people, "addPerson",
                ["username": "zoe", "fullname": "Zoe", "role": Role.editor.id, "password": "correct zoe"],
                as: "administrator")
            #expect(added.status == 302)
            #expect(try await people.portal.person(named: "zoe")?.roleID == Role.editor.id)
            let short = try await Self.post(
                people, "addPerson", ["username": "max", "role": Role.viewer.id, "password": "short"],
                as: "administrator")
            #expect(short.text.contains("role=\"alert\"") && short.text.contains("8 characters"))
            let page = try await Self.page(people, "/people", as: "administrator")
            #expect(page.text.contains("/arcgis/home/people/zoe") && page.text.contains("has never signed in"))
            #expect(!page.text.contains("scrypt"))
            for (path, form) in [
                ("people/zoe/role", ["role": Role.viewer.id] as KeyValuePairs),
                ("people/zoe/password", ["password": "another one"]),
                ("people/zoe/disable", [:]),
            ] {
                let refused = try await Self.post(people, path, form, as: "owner")
                #expect(refused.status != 302, "\(path)")
                #expect(try await Self.post(people, path, form, as: "administrator").status == 302, "\(path)")
            }
            let zoe = try #require(try await people.portal.person(named: "zoe"))
            #expect(zoe.roleID == Role.viewer.id && zoe.isDisabled)
            #expect(try await Self.post(people, "people/zoe/enable", [:], as: "administrator").status == 302)
            #expect(try await people.portal.signIn("zoe", password: "another one", from: "::1").name == "zoe")
            let last = try await Self.post(people, "people/administrator/disable", [:], as: "administrator")
            #expect(last.text.contains("only administrator"))

            // A session that was left open is not enough to change the password of its person.
            let open = try await Self.post(people, "people/owner/password", ["password": "taken over"], as: "owner")
            #expect(open.status != 302)
            let own = try await Self.post(
                people, "people/owner/password", ["password": "a new one", "oldPassword": PeopleServer.password],
                as: "owner")
            #expect(own.header("Location") == "/arcgis/home?done=password")
        }
    }

    @Test("A link lets its person choose a password once, signs nobody in by itself, and ends with a newer one")
    func invitation() async throws {
        try await PeopleServer.with { people in
            let author = Author.commandLine
            try await people.portal.addPerson("zoe", password: Secret.make(), role: .editor, by: author)
            let former = try await people.portal.invite("zoe", by: author).token
            let code = try await people.portal.invite("zoe", by: author).token
            func page(_ code: String) async throws -> TestClient.Answer {
                try await people.client.get("\(Self.home)/welcome?code=\(code)")
            }
            func choose(_ code: String, _ password: String, again: String? = nil) async throws -> TestClient.Answer {
                try await people.client.post(
                    "\(Self.home)/choosePassword", ["code": code, "password": password, "again": again ?? password])
            }
            for bad in [former, "invented", ""] {
                #expect(try await !page(bad).text.contains("<form method=\"post\" class=\"gap\""), "\(bad)")
                #expect(try await choose(bad, "correct zoe").status != 302, "\(bad)")
            }
            // Looking, twice, uses nothing up.
            for _ in 0..<2 { #expect(try await page(code).text.contains("value=\"zoe\"")) }
            #expect(try await choose(code, "short").text.contains("8 characters"))
            #expect(try await choose(code, "correct zoe", again: "correct zoo").text.contains("not the same"))
            let opened = try await people.client.get(
                "Trees/FeatureServer/0", ["f": "json", "token": code])
            #expect(opened.errorCode == 498, "the code is no token")
            let done = try await choose(code, "correct zoe")
            #expect(done.status == 302 && done.header("Set-Cookie") == nil, "\(done.text)")
            #expect(try await people.portal.signIn("zoe", password: "correct zoe", from: "::1").name == "zoe")
            #expect(try await choose(code, "another one").status != 302, "it was used")
            let late = try await people.portal.invite("zoe", by: author).token
            try await people.portal.setDisabled(true, "zoe", by: author)
            #expect(try await choose(late, "another one").status != 302)
            #expect(try await people.portal.audit().contains { $0.action == "user.password" && $0.actor == "zoe" })
        }
    }

    @Test("Groups are made, joined and left on their pages by those who may")
    func groups() async throws {
        try await PeopleServer.with { people in
            #expect(
                try await Self.post(people, "addGroup", ["title": "Crew", "access": "org"], as: "owner").status == 302)
            let refused = try await Self.post(people, "addGroup", ["title": "Mine"], as: "viewer")
            #expect(refused.status != 302)
            let group = try await people.portal.group(titled: "Crew")
            let path = "groups/\(group.id)"
            #expect(
                try await Self.post(people, "\(path)/addMember", ["user": "editor", "manages": "true"], as: "owner")
                    .status
                    == 302)
            #expect(try await Self.post(people, "\(path)/addMember", ["user": "viewer"], as: "editor").status == 302)
            #expect(try await Self.post(people, "\(path)/removeMember", ["user": "editor"], as: "viewer").status != 302)
            #expect(try await Self.post(people, "\(path)/removeMember", ["user": "viewer"], as: "viewer").status == 302)
            let page = try await Self.page(people, "/\(path)", as: "viewer")
            #expect(page.text.contains("editor") && !page.text.contains("Add a member"))
            #expect(try await Self.post(people, "\(path)/delete", [:], as: "editor").status != 302)
            #expect(try await Self.post(people, "\(path)/delete", [:], as: "owner").status == 302)
            await #expect(throws: PortalError.self) { try await people.portal.group(titled: "Crew") }
        }
    }

    @Test("What a page says of a person's rights is what the function says that guards the routes")
    func rights() async throws {
        try await PeopleServer.with { people in
            let item = try #require(try await people.portal.item(ofService: "Trees"))
            for name in ["viewer", "editor", "owner", "administrator"] {
                let principal = try #require(try await people.portal.principal(named: name))
                let rights = ItemRights(of: principal, on: try await people.portal.facts(ofItem: item.id))
                let words = rights.words(for: item).joined(separator: ", ")
                let page = try await Self.page(people, "/people/\(name)?q=id:\(item.id)", as: "administrator")
                #expect(page.text.contains("<p class=\"may\">\(words)</p>"), "\(name): \(words)")
                for reason in rights.reasons { #expect(page.text.contains("<li>\(reason)</li>"), "\(name)") }
            }
            let visitors = try await Self.page(people, "/visitors?q=id:\(item.id)", as: "administrator")
            #expect(visitors.text.contains("<p class=\"may\">nothing</p>"))
            // Of oneself one reads only what one sees.
            let secret = try await Self.addMap(people, "Secret map")
            let own = try await Self.page(people, "/people/viewer", as: "viewer")
            #expect(own.status == 200 && own.text.contains("Trees") && !own.text.contains(secret.title))
        }
    }

    @Test("A form of another site changes nothing, whatever the rules allow to its pages")
    func forgery() async throws {
        try await PeopleServer.with { people in
            for headers in [
                [("Origin", "https://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")],
            ] {
                let forged = try await Self.post(
                    people, "addPerson", ["username": "eve", "role": Role.administrator.id, "password": "correct eve"],
                    as: "administrator", headers: headers)
                #expect(forged.status == 403, "\(headers)")
            }
            #expect(try await people.portal.person(named: "eve") == nil)
            // A link can't do it either.
            let link = try await Self.page(
                people, "/addPerson?username=eve&role=org_admin&password=correct+eve", as: "administrator")
            #expect(link.status == 405)
            #expect(try await people.portal.person(named: "eve") == nil)
        }
    }

    @Test("A server without people says that it has no portal, and its forms make nobody an administrator")
    func withoutPeople() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-home-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let portal = try await Portal(try RecordDatabase(file: Portal.file(in: folder)), passwordCost: 4)
        try await TemporaryStore.serve(trees: 1, configuration: ServerConfiguration(port: 0, portal: portal)) {
            server, _ in
            let page = try await server.client.get(Self.home, headers: [("Accept", "text/html")])
            #expect(page.text.contains("no people yet"))
            let made = try await server.client.post(
                "\(Self.home)/addPerson", ["username": "eve", "role": Role.administrator.id, "password": "correct eve"])
            #expect(made.status != 302)
            #expect(try await !portal.hasPeople())
        }
        await portal.close()
    }

    @Test("The code of an item is that of its page's address, for those who see the item")
    func code() async throws {
        try await PeopleServer.with { people in
            let item = try #require(try await people.portal.item(ofService: "Trees"))
            let code = try await people.get("\(Self.home)/items/\(item.id)/code.svg", ["f": "html"], as: "viewer")
            let page = try await Self.page(people, "/item.html?id=\(item.id)", as: "viewer")
            #expect(code.header("Content-Type")?.hasPrefix("image/svg+xml") == true, "\(code.text)")
            let port = try #require(URL(string: people.client.base)?.port)
            #expect(code.text == "<svg>http://127.0.0.1:\(port)\(Self.home)/item.html?id=\(item.id)</svg>")
            #expect(page.text.contains("code.svg"))
        }
    }
}
