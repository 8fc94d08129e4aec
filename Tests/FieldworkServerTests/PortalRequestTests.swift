import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The sharing API, asked as its clients ask.
@Suite("The portal", .fewAtATime)
struct PortalRequestTests {
    private static let rest = "/arcgis/sharing/rest"

    /// Adds a web map of the owner, as clients do.
    private static func addMap(_ people: PeopleServer, title: String = "Trees", folder: String = "") async throws
        -> String
    {
        let answer = try await people.post(
            "\(rest)/content/users/owner\(folder)/addItem",
            [
                "f": "json", "title": title, "type": "Web Map", "tags": "oak,street trees", "snippet": "All trees",
                "text": "{\"operationalLayers\":[]}", "extent": "-123,45,-122,46",
            ], as: "owner")
        return try #require(try answer.json["id"]?.stringValue, "\(answer.text)")
    }

    @Test("The organisation tells every member that clients read without asking whether it is there")
    func organisation() async throws {
        try await PeopleServer.with { people in
            let json = try await people.get("\(Self.rest)/portals/self", as: "owner").json
            for member in [
                "id", "name", "portalName", "portalMode", "portalHostname", "isPortal", "helperServices",
                "defaultBasemap", "basemapGalleryGroupQuery", "user",
            ] {
                #expect(json[member] != nil, "\(member)")
            }
            #expect(json["user"]?["username"] == "owner" && json["user"]?["role"] == "org_publisher")
            let privileges = try #require(json["user"]?["privileges"]?.arrayValue)
            #expect(privileges.contains("features:user:edit"))
            #expect(json["portalHostname"]?.stringValue?.hasSuffix("/arcgis") == true)
            #expect(try await people.get("\(Self.rest)/portals/self", as: nil).json["user"] == nil)
            let own = try await people.get("\(Self.rest)/community/self", as: "viewer").json
            #expect(own["username"] == "viewer")
            #expect(try await people.get("\(Self.rest)/community/self", as: nil).errorCode == 499)
            let version = try await people.get(Self.rest, as: nil).json
            #expect(version["currentVersion"]?.stringValue != nil)
        }
    }

    @Test("A web map is added, found, read, changed, shared and removed")
    func map() async throws {
        try await PeopleServer.with { people in
            let id = try await Self.addMap(people)
            let item = try await people.get("\(Self.rest)/content/items/\(id)", as: "owner").json
            #expect(item["owner"] == "owner" && item["type"] == "Web Map" && item["access"] == "private")
            #expect(item["tags"] == ["oak", "street trees"])
            #expect(item["extent"]?.arrayValue?.count == 2)
            let data = try await people.get("\(Self.rest)/content/items/\(id)/data", as: "owner")
            #expect(try data.json["operationalLayers"] == [])
            let hidden = try await people.get("\(Self.rest)/content/items/\(id)", as: "viewer")
            #expect(hidden.status == 200 && hidden.errorCode == 400)
            #expect(try hidden.json["error"]?["message"] == "Item does not exist or is inaccessible.")
            #expect(try await people.get("\(Self.rest)/content/items/\(id)/data", as: nil).errorCode == 400)

            let place = "\(Self.rest)/content/users/owner/items/\(id)"
            let shared = try await people.post(
                "\(place)/share", ["f": "json", "everyone": "true", "org": "true"], as: "owner")
            #expect(try shared.json["notSharedWith"] == [])
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: nil).json["access"] == "public")
            #expect(
                try await people.get("\(Self.rest)/content/items/\(id)/data", as: nil).json["operationalLayers"] == [])
            let update = try await people.post(
                "\(place)/update", ["f": "json", "title": "Better", "data": "{\"version\":\"2.0\"}"], as: "owner")
            #expect(try update.json["success"] == true)
            let changed = try await people.get("\(Self.rest)/content/items/\(id)", as: nil).json
            #expect(changed["title"] == "Better" && changed["snippet"] == "All trees", "what is not sent stays")
            #expect(try await people.get("\(Self.rest)/content/items/\(id)/data", as: nil).json["version"] == "2.0")
            for caller in ["viewer", "editor"] {
                #expect(
                    try await people.post("\(place)/update", ["f": "json", "title": "Bad"], as: caller).errorCode == 403
                )
                #expect(try await people.post("\(place)/delete", ["f": "json"], as: caller).errorCode == 403)
            }
            #expect(try await people.post("\(place)/delete", ["f": "json"], as: nil).errorCode == 499)
            #expect(try await people.get("\(place)/delete", as: "owner").errorCode == 405, "a link removes nothing")
            let private_ = try await people.post(
                "\(place)/share", ["f": "json", "everyone": "false", "org": "false", "groups": " "], as: "owner")
            #expect(private_.errorCode == nil)
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: nil).errorCode == 400)
            #expect(try await people.post("\(place)/delete", ["f": "json"], as: "owner").json["success"] == true)
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "owner").errorCode == 400)
        }
    }

    @Test(
        "A map that everyone sees opens none of its services to who may not see them, and its page says so to who shares it"
    )
    func mapOfPrivateService() async throws {
        try await PeopleServer.with { people in
            let service = try #require(try await people.portal.item(ofService: "Trees"))
            _ = try await people.post(
                "/arcgis/sharing/rest/content/users/owner/items/\(service.id)/share",
                ["f": "json", "everyone": "false", "org": "false", "groups": " "], as: "owner")
            let map = #"{"operationalLayers":[{"id":"t","url":"\#(people.client.base)/Trees/FeatureServer/0"}]}"#
            let added = try await people.post(
                "/arcgis/sharing/rest/content/users/owner/addItem",
                ["f": "json", "title": "Map", "type": "Web Map", "text": map, "everyone": "true"], as: "owner")
            let id = try #require(try added.json["id"]?.stringValue, "\(added.text)")
            _ = try await people.post(
                "/arcgis/sharing/rest/content/users/owner/items/\(id)/share", ["f": "json", "everyone": "true"],
                as: "owner")
            let data = try await people.get("/arcgis/sharing/rest/content/items/\(id)/data", as: nil)
            #expect(try data.json["operationalLayers"]?[0]?["id"] == "t")
            for path in ["Trees/FeatureServer", "Trees/FeatureServer/0", "Trees/FeatureServer/0/query"] {
                #expect(try await people.get(path, as: nil).errorCode == 499, "\(path)")
                #expect(try await people.get(path, as: "viewer").errorCode != nil, "\(path)")
            }
            let words = "Fewer people may see Trees: the others see the map without it."
            let page = "/arcgis/home/item.html"
            #expect(try await people.get(page, ["id": id], as: "owner").text.contains(words))
            #expect(try await !people.get(page, ["id": id], as: nil).text.contains(words))
        }
    }

    @Test("Services have their items by themselves, with an address that leads to them")
    func services() async throws {
        try await PeopleServer.with { people in
            let found = try await people.get(
                "\(Self.rest)/search", ["f": "json", "q": "type:\"Feature Service\" AND title:Trees", "num": "100"],
                as: "viewer"
            ).json
            let item = try #require(found["results"]?.arrayValue?.first { $0["title"] == "Trees" })
            let url = try #require(item["url"]?.stringValue)
            #expect(url.hasSuffix("/arcgis/rest/services/Trees/FeatureServer"))
            #expect(url.hasPrefix("http://127.0.0.1:"))
            let id = try #require(item["id"]?.stringValue)
            let removed = try await people.post(
                "\(Self.rest)/content/users/owner/items/\(id)/delete", ["f": "json"], as: "owner")
            #expect(removed.errorCode == 403, "the service is there")
            #expect(try await people.get("\(Self.rest)/search", ["f": "json", "q": ""], as: nil).json["total"] == 0)
        }
    }

    @Test("A search answers with the envelope that clients page by")
    func search() async throws {
        try await PeopleServer.with { people in
            for number in 1...5 { _ = try await Self.addMap(people, title: "Map \(number)") }
            func page(_ start: Int) async throws -> JSONValue {
                try await people.get(
                    "\(Self.rest)/search",
                    [
                        "f": "json", "q": "owner:owner AND type:\"Web Map\"", "num": "2", "start": "\(start)",
                        "sortField": "title", "sortOrder": "asc", "bbox": "",
                    ], as: "owner"
                ).json
            }
            var titles: [String] = []
            var next = 1
            while next > 0 {
                let json = try await page(next)
                #expect(json["total"] == 5 && json["start"]?.integerValue == Int64(next) && json["num"] == 2)
                titles += (json["results"]?.arrayValue ?? []).compactMap { $0["title"]?.stringValue }
                next = Int(try #require(json["nextStart"]?.integerValue))
            }
            #expect(titles == (1...5).map { "Map \($0)" })
            let refused = try await people.get(
                "\(Self.rest)/search", ["f": "json", "q": "a", "bbox": "0,0,1,1"], as: "owner")
            #expect(refused.errorCode == 400 && refused.text.contains("bbox"))
        }
    }

    @Test("An id that the client chooses adds an item once, and never touches what has it, seen or unseen")
    func chosenID() async throws {
        try await PeopleServer.with { people in
            let place = "\(Self.rest)/content/users/owner/addItem"
            func add(_ id: String, _ title: String, as name: String = "owner") async throws -> TestClient.Answer {
                let form: KeyValuePairs = [
                    "f": "json", "title": title, "type": "Web Map", "text": "{}", "itemIdToCreate": id,
                ]
                return try await people.post(
                    name == "owner" ? place : "\(Self.rest)/content/users/\(name)/addItem", form, as: name)
            }
            let id = "0123456789abcdef0123456789abcdef"
            #expect(try await add(id, "First").json["id"]?.stringValue == id)
            for name in ["owner", "administrator"] {
                let taken = try await add(id, "Second", as: name)
                #expect(taken.errorCode == 409 && taken.text.contains("already exists"), "\(taken.text)")
            }
            let item = try await people.get("\(Self.rest)/content/items/\(id)", as: "owner").json
            #expect(item["title"] == "First" && item["owner"] == "owner")
            for wrong in ["0123", id.uppercased(), id + "0", "../../../../../../../../../../../x"] {
                #expect(try await add(wrong, "Wrong").errorCode == 400, "\(wrong)")
            }
        }
    }

    @Test("A service is edited without a sign-in only where it is opened to it, and only while everyone sees it")
    func openEdits() async throws {
        try await PeopleServer.with { people in
            let id = try #require(try await people.portal.item(ofService: "Trees")?.id)
            let author = Author(name: "test", address: "")
            func share(_ everyone: Bool) async throws {
                _ = try await people.portal.share(
                    id, everyone: everyone, organisation: true, onlyGroups: true, for: .everybody, by: author)
            }
            func codes() async throws -> [Int?] {
                var codes: [Int?] = []
                for name in [nil, "viewer"] {
                    let path = "/arcgis/rest/services/Trees/FeatureServer/0/deleteFeatures"
                    codes.append(try await people.post(path, ["f": "json", "objectIds": "999"], as: name).errorCode)
                }
                return codes
            }
            await #expect(throws: PortalError.self) {
                try await people.portal.setOpenToEdits(true, id, for: .everybody, by: author)
            }
            try await share(true)
            #expect(try await codes() == [499, 403], "sharing does not open it")
            try await people.portal.setOpenToEdits(true, id, for: .everybody, by: author)
            #expect(try await codes() == [nil, nil])
            let rights = ItemRights(of: .nobody, on: try await people.portal.facts(ofItem: id))
            #expect(rights.edits && !rights.updates && !rights.administers && !rights.shares && !rights.deletes)
            #expect(rights.reasons.contains { $0.contains("open to edits by everyone") })
            let definition = try await people.get("/arcgis/rest/services/Trees/FeatureServer", as: nil).json
            #expect(definition["capabilities"]?.stringValue?.contains("Update") == true)
            try await share(false)
            #expect(try await codes() == [499, 403])
            try await share(true)
            #expect(try await codes() == [499, 403], "what was closed is not opened again by sharing")
        }
    }

    @Test("Folders hold items and go with them; a protected item or a service's keeps the whole folder")
    func folders() async throws {
        try await PeopleServer.with { people in
            let users = "\(Self.rest)/content/users/owner"
            let made = try await people.post("\(users)/createFolder", ["f": "json", "title": "Field"], as: "owner").json
            let folder = try #require(made["folder"]?["id"]?.stringValue)
            let id = try await Self.addMap(people, folder: "/\(folder)")
            let root = try await people.get(users, as: "owner").json
            #expect(root["folders"]?.arrayValue?.first?["title"] == "Field")
            #expect(root["items"]?.arrayValue?.contains { $0["id"]?.stringValue == id } == false)
            let inner = try await people.get("\(users)/\(folder)", as: "owner").json
            #expect(inner["items"]?.arrayValue?.first?["id"]?.stringValue == id && inner["nextStart"] == -1)
            func delete() async throws -> TestClient.Answer {
                try await people.post("\(users)/\(folder)/delete", ["f": "json"], as: "owner")
            }
            let other = try await Self.addMap(people, folder: "/\(folder)")
            _ = try await people.post("\(users)/items/\(other)/protect", ["f": "json"], as: "owner")
            #expect(try await delete().text.contains("protection"))
            _ = try await people.post("\(users)/items/\(other)/unprotect", ["f": "json"], as: "owner")
            let service = try #require(try await people.portal.item(ofService: "Trees")?.id)
            func move(_ place: String) async throws {
                let form: KeyValuePairs = ["f": "json", "folder": place]
                let moved = try await people.post("\(users)/items/\(service)/move", form, as: "owner")
                #expect(try moved.json["success"] == true)
            }
            try await move(folder)
            #expect(try await delete().text.contains("unpublish"))
            try await move("/")
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "owner").errorCode == nil)
            #expect(try await delete().json["success"] == true)
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "owner").errorCode == 400)
            #expect(try await people.portal.item(ofService: "Trees") != nil)
            #expect(
                try await people.post("\(users)/createFolder", ["f": "json", "title": "x"], as: "viewer").errorCode
                    == 403)
        }
    }

    @Test("A group shares an item with its members")
    func groups() async throws {
        try await PeopleServer.with { people in
            let id = try await Self.addMap(people)
            let made = try await people.post(
                "\(Self.rest)/community/createGroup",
                ["f": "json", "title": "Crew", "access": "private", "tags": "trees"], as: "owner"
            ).json
            let group = try #require(made["group"]?["id"]?.stringValue)
            let place = "\(Self.rest)/community/groups/\(group)"
            #expect(try await people.get(place, as: "viewer").errorCode == 400)
            let added = try await people.post("\(place)/addUsers", ["f": "json", "users": "viewer,zoe"], as: "owner")
            #expect(try added.json["notAdded"] == ["zoe"])
            #expect(try await people.get("\(place)/users", as: "viewer").json["users"] == ["viewer"])
            let shared = try await people.post(
                "\(Self.rest)/content/users/owner/shareItems",
                ["f": "json", "items": id, "groups": group, "everyone": "false", "org": "false"], as: "owner"
            ).json
            #expect(shared["results"]?.arrayValue?.first?["success"] == true)
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "viewer").json["access"] == "shared")
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "editor").errorCode == 400)
            let content = try await people.get("\(Self.rest)/content/groups/\(group)", as: "viewer").json
            #expect(content["items"]?.arrayValue?.count == 1)
            let found = try await people.get(
                "\(Self.rest)/search", ["f": "json", "q": "id: \(id) AND group: \(group)"], as: "viewer")
            #expect(try found.json["total"] == 1, "\(found.text)")
            #expect(try await people.post("\(place)/delete", ["f": "json"], as: "viewer").errorCode == 403)
            _ = try await people.post("\(place)/leave", ["f": "json"], as: "viewer")
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: "viewer").errorCode == 400)
        }
    }

    @Test("Who reads an item through a group changes nothing of it, without shared update")
    func readersOfAGroup() async throws {
        try await PeopleServer.with { people in
            // With a role that may change items of its own.
            try await people.portal.setRole(.publisher, of: "editor", by: .commandLine)
            let id = try await Self.addMap(people)
            let made = try await people.post(
                "\(Self.rest)/community/createGroup",
                ["f": "json", "title": "Crew", "access": "private", "tags": "trees"], as: "owner"
            ).json
            let group = try #require(made["group"]?["id"]?.stringValue)
            _ = try await people.post(
                "\(Self.rest)/community/groups/\(group)/addUsers", ["f": "json", "users": "editor"], as: "owner")
            let place = "\(Self.rest)/content/users/owner/items/\(id)"
            _ = try await people.post("\(place)/share", ["f": "json", "groups": group], as: "owner")
            let item = "\(Self.rest)/content/items/\(id)"
            #expect(try await people.get(item, as: "editor").json["title"] == "Trees")
            let changed = try await people.post("\(place)/update", ["f": "json", "title": "Worse"], as: "editor")
            #expect(changed.errorCode == 403)
            #expect(try await people.get(item, as: "owner").json["title"] == "Trees")
        }
    }

    @Test("An item is shared with no group of others, and with everyone only by who has the right to")
    func limitsOfSharing() async throws {
        try await PeopleServer.with { people in
            let made = try await people.post(
                "\(Self.rest)/community/createGroup",
                ["f": "json", "title": "Office", "access": "public", "tags": "a"], as: "administrator"
            ).json
            let group = try #require(made["group"]?["id"]?.stringValue)
            let id = try await Self.addMap(people)
            let place = "\(Self.rest)/content/users/owner/items/\(id)/share"
            let refused = try await people.post(place, ["f": "json", "groups": group], as: "owner").json
            #expect(refused["notSharedWith"] == [.string(group)])
            let content = "\(Self.rest)/content/groups/\(group)"
            #expect(try await people.get(content, as: "administrator").json["items"] == [])

            let role = try await people.portal.setRole(
                id: nil, name: "Crew lead", description: "",
                privileges: [.createItem, .shareToGroup, .shareToOrganisation],
                by: .commandLine)
            try await people.portal.setRole(role, of: "owner", by: .commandLine)
            let everyone = try await people.post(place, ["f": "json", "everyone": "true"], as: "owner")
            #expect(everyone.errorCode == 403)
            #expect(try await people.get("\(Self.rest)/content/items/\(id)", as: nil).errorCode == 400)
        }
    }

    @Test("Thumbnails and resources are files of an item")
    func files() async throws {
        try await PeopleServer.with { people in
            let id = try await Self.addMap(people)
            let place = "\(Self.rest)/content/users/owner/items/\(id)"
            let added = try await people.post(
                "\(place)/addResources", ["f": "json", "fileName": "notes.json", "text": "{\"a\":1}"], as: "owner")
            #expect(try added.json["success"] == true, "\(added.text)")
            let twice = try await people.post(
                "\(place)/addResources", ["f": "json", "fileName": "notes.json", "text": "{}"], as: "owner")
            #expect(twice.errorCode == 409)
            let resource = "\(Self.rest)/content/items/\(id)/resources"
            #expect(try await people.get("\(resource)/notes.json", as: "owner").json["a"] == 1)
            #expect(try await people.get("\(resource)/notes.json", as: "viewer").errorCode == 400)
            let list = try await people.get(resource, as: "owner").json
            #expect(list["resources"]?.arrayValue?.first?["resource"] == "notes.json")
            let evil = try await people.post(
                "\(place)/addResources", ["f": "json", "fileName": "../x", "text": "{}"], as: "owner")
            #expect(evil.errorCode == 400)
            _ = try await people.post("\(place)/removeResources", ["f": "json", "resource": "notes.json"], as: "owner")
            #expect(try await people.get("\(resource)/notes.json", as: "owner").errorCode == 404)
        }
    }

    @Test("The data of an item comes in parts, in any order and some of them twice, and is whole after the commit")
    func parts() async throws {
        try await PeopleServer.with { people in
            let added = try await people.post(
                "\(Self.rest)/content/users/owner/addItem",
                ["f": "json", "title": "Table", "type": "CSV", "multipart": "true", "fileName": "t.csv"], as: "owner")
            let id = try #require(try added.json["id"]?.stringValue, "\(added.text)")
            let place = "\(Self.rest)/content/users/owner/items/\(id)"
            #expect(
                try await people.post("\(place)/commit", ["f": "json"], as: "owner").errorCode == 400, "no part yet")
            for (number, text) in [(2, "c,d\n"), (10, "e,f\n"), (1, "wrong"), (1, "a,b\n")] {
                let sent = try await people.postFile(
                    "\(place)/addPart?f=json&partNum=\(number)", name: "file", Array(text.utf8), as: "owner")
                #expect(try sent.json["success"] == true, "\(sent.text)")
            }
            for caller in ["viewer", "editor"] {
                let refused = try await people.postFile(
                    "\(place)/addPart?f=json&partNum=3", name: "file", [65], as: caller)
                #expect([400, 403].contains(refused.errorCode ?? 0), "\(caller): \(refused.text)")
            }
            let none = try await people.postFile("\(place)/addPart?f=json&partNum=0", name: "file", [65], as: "owner")
            #expect(none.errorCode == 400)
            let whole = try await people.post("\(place)/commit", ["f": "json", "type": "CSV"], as: "owner")
            #expect(try whole.json["success"] == true, "\(whole.text)")
            #expect(try await people.get("\(place)/status", as: "owner").json["status"] == "completed")
            let data = try await people.get("\(Self.rest)/content/items/\(id)/data", as: "owner")
            #expect(data.text == "a,b\nc,d\ne,f\n")
        }
    }

    @Test("Whoever manages people gives nobody more than the own rights, and has no power over those who have more")
    func escalation() async throws {
        try await PeopleServer.with { people in
            let role = try await people.post(
                "\(Self.rest)/portals/self/createRole",
                [
                    "f": "json", "name": "Helper",
                    "privileges": """
                    ["portal:admin:updateUsers","portal:admin:deleteUsers","portal:admin:disableUsers",\
                    "portal:admin:changeUserRoles","portal:admin:manageRoles","portal:admin:inviteUsers"]
                    """,
                ], as: "administrator")
            let id = try #require(try role.json["id"]?.stringValue, "\(role.text)")
            let given = try await people.post(
                "\(Self.rest)/portals/self/updateUserRole", ["f": "json", "user": "editor", "role": id],
                as: "administrator")
            #expect(try given.json["success"] == true, "\(given.text)")
            let attempts: [(String, KeyValuePairs<String, String>)] = [
                ("community/users/administrator/update", ["f": "json", "password": "taken over 1"]),
                ("community/users/administrator/delete", ["f": "json"]),
                ("community/users/owner/update", ["f": "json", "password": "taken over 1"]),
                ("portals/self/disableUsers", ["f": "json", "users": "administrator"]),
                ("portals/self/updateUserRole", ["f": "json", "user": "editor", "role": "org_admin"]),
                ("portals/self/updateUserRole", ["f": "json", "user": "administrator", "role": id]),
                (
                    "portals/self/createUser",
                    ["f": "json", "username": "eve", "password": "correct horse", "role": "org_admin"]
                ),
                (
                    "portals/self/roles/\(id)/setPrivileges",
                    ["f": "json", "privileges": "[\"portal:admin:manageServers\"]"]
                ),
                (
                    "portals/self/createRole",
                    ["f": "json", "name": "All", "privileges": "[\"portal:admin:manageServers\"]"]
                ),
            ]
            for (path, form) in attempts {
                let answer = try await people.post("\(Self.rest)/\(path)", form, as: "editor")
                #expect(answer.errorCode == 403, "\(path): \(answer.text)")
            }
            let own = try await people.post(
                "\(Self.rest)/portals/self/createUser",
                ["f": "json", "username": "bob", "password": "correct horse", "role": id], as: "editor")
            #expect(try own.json["success"] == true, "\(own.text)")
        }
    }

    @Test("A server without people gets its first one from nobody who only reaches it")
    func open() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-open-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let portal = try await Portal(try RecordDatabase(file: Portal.file(in: folder)), passwordCost: 4)
        let configuration = ServerConfiguration(port: 0, portal: portal)
        try await TemporaryStore.serve(trees: 1, configuration: configuration) { server, _ in
            let form: KeyValuePairs = [
                "f": "json", "username": "eve", "password": "correct horse", "role": "org_admin", "name": "x",
                "privileges": "[]",
            ]
            for path in [
                "portals/self/createUser", "portals/self/createRole", "portals/self/updateUserRole",
                "portals/self/disableUsers", "community/users/eve/update", "community/users/eve/delete",
            ] {
                let answer = try await server.client.post("\(Self.rest)/\(path)", form)
                #expect(answer.errorCode == 403, "\(path): \(answer.text)")
            }
            let administration = try await server.client.post(
                "/arcgis/portaladmin/security/users/createUser", form)
            #expect(administration.errorCode == 403)
            let hasPeople = try await portal.hasPeople()
            #expect(!hasPeople)
            let trees = try await server.client.get("Trees/FeatureServer/0", ["f": "json"])
            #expect(trees.errorCode == nil)
        }
        await portal.close()
    }

    @Test("A page that begins anywhere is answered", arguments: ["-9223372036854775808", "0", "9223372036854775807"])
    func pages(start: String) async throws {
        try await PeopleServer.with { people in
            for path in ["search", "community/groups"] {
                let answer = try await people.client.get("\(Self.rest)/\(path)", ["f": "json", "start": start])
                #expect(answer.status == 200 && answer.errorCode == nil, "\(answer.text)")
            }
        }
    }

    @Test("Clients of today make people at the address of the portal's administration")
    func portalAdministration() async throws {
        try await PeopleServer.with { people in
            let form: KeyValuePairs = [
                "f": "json", "username": "bob", "password": "correct horse", "firstname": "Bob", "lastname": "B",
                "role": "org_user", "provider": "arcgis", "userLicenseTypeId": "creatorUT",
            ]
            let path = "/arcgis/portaladmin/security/users/createUser"
            let refused = try await people.post(path, form, as: "owner")
            #expect(refused.errorCode == 403)
            let made = try await people.post(path, form, as: "administrator").json
            #expect(made["status"] == "success")
            let bob = try await people.portal.person(named: "bob")
            #expect(bob?.fullName == "Bob B")
        }
    }

    @Test("Items are related to each other")
    func relations() async throws {
        try await PeopleServer.with { people in
            let (map, area) = (try await Self.addMap(people), try await Self.addMap(people, title: "Area"))
            let form: KeyValuePairs = [
                "f": "json", "originItemId": map, "destinationItemId": area, "relationshipType": "Map2Area",
            ]
            let users = "\(Self.rest)/content/users/owner"
            #expect(try await people.post("\(users)/addRelationship", form, as: "owner").json["success"] == true)
            func related(_ id: String, _ direction: String) async throws -> Int? {
                try await people.get(
                    "\(Self.rest)/content/items/\(id)/relatedItems",
                    ["f": "json", "relationshipType": "Map2Area", "direction": direction], as: "owner"
                ).json["relatedItems"]?.arrayValue?.count
            }
            #expect(try await related(map, "forward") == 1)
            #expect(try await related(area, "reverse") == 1)
            #expect(try await related(area, "forward") == 0)
            _ = try await people.post("\(users)/deleteRelationship", form, as: "owner")
            #expect(try await related(map, "forward") == 0)
        }
    }

    @Test("Administrators manage people, and nobody else does")
    func administration() async throws {
        try await PeopleServer.with { people in
            let form: KeyValuePairs = [
                "f": "json", "username": "zoe", "password": "correct horse", "role": "iBBBBBBBBBBBBBBB",
                "fullname": "Zoë Q", "email": "zoe@example.org",
            ]
            for caller in ["viewer", "owner"] {
                #expect(
                    try await people.post("\(Self.rest)/portals/self/createUser", form, as: caller).errorCode == 403)
            }
            #expect(
                try await people.post("\(Self.rest)/portals/self/createUser", form, as: "administrator").json["success"]
                    == true)
            let zoe = try await people.get("\(Self.rest)/community/users/ZOE", as: "administrator").json
            #expect(zoe["fullName"] == "Zoë Q" && zoe["roleId"] == "iBBBBBBBBBBBBBBB")
            let seen = try await people.get("\(Self.rest)/community/users/zoe", as: "viewer").json
            #expect(seen["email"] == nil, "others do not learn the address")
            let role = try await people.post(
                "\(Self.rest)/portals/self/createRole",
                ["f": "json", "name": "Reader", "privileges": "[\"portal:user:viewOrgItems\"]"], as: "administrator"
            ).json
            let id = try #require(role["id"]?.stringValue)
            let set = try await people.post(
                "\(Self.rest)/portals/self/updateUserRole", ["f": "json", "user": "zoe", "role": id],
                as: "administrator")
            #expect(try set.json["success"] == true)
            #expect(try await people.portal.principal(named: "zoe")?.privileges == [.viewOrganisationItems])
            let history = try await people.get("\(Self.rest)/portals/self/history", as: "administrator").json
            #expect(history["items"]?.arrayValue?.first?["action"] == "user.role")
            #expect(try await people.get("\(Self.rest)/portals/self/history", as: "owner").errorCode == 403)
            let disabled = try await people.post(
                "\(Self.rest)/portals/self/disableUsers", ["f": "json", "users": "zoe,administrator"],
                as: "administrator"
            ).json
            #expect(disabled["results"]?.arrayValue?.map { $0["status"] } == [true, false], "the last one stays")
        }
    }

    @Test("Who is signed in changes the own password only with the former one")
    func password() async throws {
        try await PeopleServer.with { people in
            let path = "\(Self.rest)/community/users/viewer/update"
            let without = try await people.post(path, ["f": "json", "password": "another horse"], as: "viewer")
            #expect(without.errorCode == 400)
            let wrong = try await people.post(
                path, ["f": "json", "password": "another horse", "oldPassword": "wrong"], as: "viewer")
            #expect(wrong.errorCode == 400)
            let right = try await people.post(
                path, ["f": "json", "password": "another horse", "oldPassword": PeopleServer.password], as: "viewer")
            #expect(try right.json["success"] == true)
            _ = try await people.portal.signIn("viewer", password: "another horse", from: "")
            #expect(
                try await people.post(path, ["f": "json", "password": "evil horse"], as: "editor").errorCode == 403)
        }
    }
}
