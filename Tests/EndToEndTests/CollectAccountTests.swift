import Foundation
import Testing

/// People who share a device sign in to the app, work, lose the network, and sign out: each one's edits go under their own name.
@Suite("Signing in to the app", .serialized, .timeLimit(.minutes(4)))
struct CollectAccountTests {
    private static let password = "correct horse battery"

    /// A service of two points that is shared with the organisation, and its people.
    private static func publish(in data: URL) async throws {
        try await CrewService.publish("5,5,here,1\n6,6,there,1\n", in: data)
        for (name, role) in [
            ("root", "administrator"), ("jo", "editor"), ("ann", "editor"), ("vera", "viewer"),
        ] {
            let added = try await FieldworkProcess.run(
                ["-c", "printf '%s\\n' \"$LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                    + ["users", "add", name, "--role", role, "--data", data.path],
                environment: ["LINE": password], program: URL(filePath: "/bin/bash"))
            try #require(added.status == 0, "\(added.errors)")
        }
    }

    private static func signIn(_ name: String, _ app: CollectVisitor, _ map: String, password: String = password)
        async throws -> String
    {
        let form = ["server": map, "user": name, "password": password, "stay": "yes", "map": map, "back": "/map"]
        return try await app.post("/account/sign-in", form)
    }

    /// The form of the point that is called `here`, looked at.
    private static func form(_ app: CollectVisitor) async throws -> String {
        let list = try await app.page("/list/0?scope=all")
        for row in list.matches(of: /href="(\/f\/0\/[^"]+\/edit)"/) {
            let address = String(row.1)
            if try await app.page(address).contains(#"value="here""#) { return address }
        }
        throw FieldworkProcess.Failure(description: "No row is called here: \(list)")
    }

    /// Sets the counter of the point.
    private static func edit(_ app: CollectVisitor, _ form: String, _ counter: Int) async throws {
        try await app.post(
            form, ["session": UUID().uuidString, "field.name": "here", "field.counter": "\(counter)"])
    }

    private static func counters(_ server: FieldworkProcess) async throws -> [Int] {
        let root = server.services.replacing("/rest/services", with: "")
        let form = [("username", "root"), ("password", password), ("f", "json")]
        let token = try await PlainRequest.post("\(root)/tokens/generateToken", form)["token"] as? String
        let page = try await PlainRequest.post(
            "\(server.services)/Crews/FeatureServer/0/query",
            [
                ("f", "json"), ("where", "name = 'here'"), ("outFields", "*"), ("returnGeometry", "false"),
                ("token", try #require(token)),
            ])
        return try #require(page["features"] as? [[String: Any]], "\(page)").compactMap {
            ($0["attributes"] as? [String: Any])?["counter"] as? Int
        }
    }

    @Test("A closed map leads to the sign-in and back; edits that wait at the sign-out are sent by nobody else")
    func twoPeople() async throws {
        let folder = try TemporaryFolder()
        let (data, crew) = (folder.url.appending(path: "data"), folder.url.appending(path: "crew"))
        try await Self.publish(in: data)
        var server = try await FieldworkProcess.serve(data: data)
        let port = try #require(URL(string: server.services)?.port)
        let map = "\(server.services)/Crews/FeatureServer"
        var app = try await CollectVisitor.start([], data: crew)

        let asked = try await app.post("/start", ["service": map])
        #expect(asked.contains("Opening this map needs an account.") && asked.contains("Sign in</h1>"), "\(asked)")
        let wrong = try await Self.signIn("jo", app, map, password: "guess guess")
        #expect(
            wrong.contains("The user name or the password is not right.") && wrong.contains(#"value="jo""#), "\(wrong)")
        let opened = try await Self.signIn("jo", app, map)
        #expect(opened.contains("Sign out, jo") && opened.contains("Crews"), "\(opened)")
        let profile = try await app.page("/account")
        #expect(profile.contains("Edit features") && !profile.contains("Manage people"), "\(profile)")

        // Without a network the person stays signed in, and what is saved waits.
        await server.kill()
        let offline = try await app.page("/account")
        #expect(offline.contains("You stay signed in"), "\(offline)")
        server = try await CrewService.serve(data, port: port)
        _ = try await app.page("/map")
        let form = try await Self.form(app)
        await server.kill()
        try await Self.edit(app, form, 7)
        #expect(try await app.page("/changes").contains("1 edit<"))
        let question = try await app.post("/account/sign-out")
        #expect(question.contains("1 edit was not sent") && question.contains("signs in again"), "\(question)")
        await app.process.kill()
        app = try await CollectVisitor.start([], data: crew)
        #expect(try await app.page("/account").contains("1 edit waits to be sent"))
        let out = try await app.post("/account/sign-out", ["certain": "yes"])
        #expect(out.contains("You are signed out") && out.contains("1 edit waits for jo"), "\(out)")

        server = try await CrewService.serve(data, port: port)
        let other = try await Self.signIn("ann", app, map)
        #expect(other.contains("Sign out, ann"), "\(other)")
        #expect(try await app.page("/changes").contains("Everything is sent"))
        #expect(try await app.page("/account").contains("1 edit waits for jo"))
        try await Task.sleep(for: .seconds(2))
        #expect(try await Self.counters(server) == [1])

        _ = try await app.post("/account/sign-out")
        _ = try await Self.signIn("jo", app, map)
        try await app.wait("/changes", for: "Everything is sent")
        #expect(try await Self.counters(server) == [7])
        try Self.expectNoSecret(in: crew)
        #expect(try !app.process.errors().contains(Self.password))
        await app.process.kill()
        _ = await server.interrupt()
    }

    @Test("Who may only look is offered no edits; who loses the right keeps the edits, and is told")
    func rights() async throws {
        let folder = try TemporaryFolder()
        let (data, crew) = (folder.url.appending(path: "data"), folder.url.appending(path: "crew"))
        try await Self.publish(in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let map = "\(server.services)/Crews/FeatureServer"
        let app = try await CollectVisitor.start([], data: crew)
        let looks = try await Self.signIn("vera", app, map)
        #expect(looks.contains("Sign out, vera") && !looks.contains(#"href="/add""#), "\(looks)")
        _ = try await app.post("/account/sign-out")

        let edits = try await Self.signIn("jo", app, map)
        #expect(edits.contains(#"href="/add""#), "\(edits)")
        let form = try await Self.form(app)
        let taken = try await FieldworkProcess.run(["users", "role", "jo", "viewer", "--data", data.path])
        try #require(taken.status == 0, "\(taken.errors)")
        try await Task.sleep(for: .milliseconds(600))
        try await Self.edit(app, form, 9)
        try await app.wait("/changes", for: "The server did not take the edits of jo")
        #expect(try await app.page("/changes").contains("1 edit<"))
        #expect(try await Self.counters(server) == [1])
        await app.process.kill()
        _ = await server.interrupt()
    }

    @Test("The portal's maps are offered with picture, owner and search, and opened by the address of their page")
    func portalMaps() async throws {
        let folder = try TemporaryFolder()
        let (data, crew) = (folder.url.appending(path: "data"), folder.url.appending(path: "crew"))
        try await Self.publish(in: data)
        let server = try await FieldworkProcess.serve(data: data)
        let id = try await Self.addMap(to: server, data: data, folder: folder.url)
        let root = server.services.replacing("/rest/services", with: "")
        let app = try await CollectVisitor.start([], data: crew)

        let open = try await app.post("/start", ["service": root])
        #expect(open.contains("No map of this server is shared with you."), "\(open)")
        // The page of an item that nobody sees without signing in leads there, and opens afterwards.
        let page = "\(root)/home/item.html?id=\(id)"
        let asked = try await app.post("/start", ["service": page])
        #expect(asked.contains("Opening this map needs an account."), "\(asked)")
        let map = try await Self.signIn("jo", app, page)
        #expect(map.contains("Crews of the town") && map.contains("Sign out, jo"), "\(map)")

        let start = try await app.page("/start")
        #expect(start.contains("Crews of the town") && start.contains("root ·"), "\(start)")
        let picture = try #require(start.firstMatch(of: /src="(\/start\/picture[^"]+)"/)).1
        let address = String(picture).replacing("&amp;", with: "&")
        #expect(try await app.bytes(address) == Self.pixel)
        #expect(!start.contains("token="))
        let server64 = root.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let found = try await app.page("/start/portal?server=\(server64)&q=town%22%20OR")
        #expect(found.contains("No map has these words."), "what is typed is words alone: \(found)")
        #expect(try await app.page("/start/portal?server=\(server64)&q=tow").contains("1 map, the newest first"))
        for opened in ["\(root)/sharing/rest/content/items/\(id)", page] {
            let shown = try await app.post("/start", ["service": opened])
            #expect(shown.contains("Map of Crews of the town"), "\(opened): \(shown)")
        }
        await app.process.kill()
        _ = await server.interrupt()
    }

    private static let pixel =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
        ?? Data()

    /// A web map of the service, shared with the organisation.
    private static func addMap(to server: FieldworkProcess, data: URL, folder: URL) async throws -> String {
        let (file, picture) = (folder.appending(path: "crews.webmap.json"), folder.appending(path: "crews.png"))
        let popup = #""popupInfo":{"title":"{name}","fieldInfos":[],"popupElements":[]}"#
        let url = #""url":"\#(server.services)/Crews/FeatureServer/0""#
        let layer = #"{"id":"c","title":"Crews","layerType":"ArcGISFeatureLayer",\#(url),\#(popup)}"#
        try Data(#"{"operationalLayers":[\#(layer)],"version":"2.31"}"#.utf8).write(to: file)
        try pixel.write(to: picture)
        let place = ["--data", data.path]
        let added = try await FieldworkProcess.run(
            [
                "items", "add", file.path, "--title", "Crews of the town", "--owner", "root", "--thumbnail",
                picture.path,
            ] + place)
        try #require(added.status == 0, "\(added.errors)")
        let shared = try await FieldworkProcess.run(["share", "Crews of the town", "--organisation"] + place)
        try #require(shared.status == 0, "\(shared.errors)")
        try await Task.sleep(for: .milliseconds(600))
        return String(added.text.prefix(32))
    }

    /// No file of the app holds a password.
    private static func expectNoSecret(in folder: URL) throws {
        let files = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let name as String in files {
            guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { continue }
            #expect(bytes.range(of: Data(password.utf8)) == nil, "\(name)")
        }
    }
}
