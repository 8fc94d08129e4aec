import Foundation
import Testing

/// People on the command line, and the server that asks them to sign in.
@Suite("People on the command line", .serialized)
struct PeopleVerbTests {
    private static let table = "species,height,lon,lat\nOak,7,-122.6,45.5\nElm,3,-122.61,45.51\n"

    /// Runs a verb with a line on its standard input.
    private static func run(_ arguments: [String], line: String) async throws -> FieldworkProcess.Output {
        try await FieldworkProcess.run(
            ["-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                + arguments,
            environment: ["FIELDWORK_TEST_LINE": line], program: URL(filePath: "/bin/bash"))
    }

    private static func code(_ answer: [String: Any]) -> Int? { (answer["error"] as? [String: Any])?["code"] as? Int }

    @Test("People are added, a service is shared, and what rights prints is what the server does")
    func story() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let csv = folder.url.appending(path: "trees.csv")
        try Data(Self.table.utf8).write(to: csv)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Trees", "--x", "lon", "--y", "lat", "--data", data.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
        let server = try await FieldworkProcess.serve(data: data)
        let layer = "\(server.services)/Trees/FeatureServer/0"
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json")])) == nil, "nobody has to sign in")

        let place = ["--data", data.path]
        for (name, role) in [("ana", "administrator"), ("ben", "viewer")] {
            let added = try await Self.run(["users", "add", name, "--role", role] + place, line: "correct horse")
            #expect(added.status == 0, "\(added.errors)")
        }
        let short = try await Self.run(["users", "add", "zoe"] + place, line: "short")
        #expect(short.status == 65 && short.errors.contains("8 characters"))
        let twice = try await Self.run(["users", "add", "ANA"] + place, line: "correct horse")
        #expect(twice.status == 73)
        let list = try await FieldworkProcess.run(["users", "list"] + place)
        #expect(list.text.contains("ana  administrator") && list.text.contains("ben  viewer"))

        // The server that runs takes the people within a moment.
        try await Task.sleep(for: .milliseconds(600))
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json")])) == 499)
        let root = server.services.replacing("/rest/services", with: "")
        let token = try await PlainRequest.post(
            "\(root)/tokens/generateToken", [("username", "ben"), ("password", "correct horse"), ("f", "json")])
        let text = try #require(token["token"] as? String, "\(token)")
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json"), ("token", text)])) == nil)

        let shown = try await FieldworkProcess.run(["rights", "ben", "Trees"] + place)
        #expect(shown.text.contains("sees") && !shown.text.contains("edits features,"), "\(shown.text)\(shown.errors)")
        #expect(shown.text.contains("shared with the organisation"))
        let hidden = try await FieldworkProcess.run(["share", "Trees", "--private"] + place)
        #expect(hidden.status == 0, "\(hidden.errors)")
        try await Task.sleep(for: .milliseconds(600))
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json"), ("token", text)])) == 403)
        #expect(try await FieldworkProcess.run(["share", "Trees", "--everyone"] + place).status == 0)
        try await Task.sleep(for: .milliseconds(600))
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json")])) == nil)
        let edit = try await PlainRequest.post(
            "\(layer)/deleteFeatures", [("f", "json"), ("objectIds", "1"), ("token", text)])
        #expect(Self.code(edit) == 403)

        let disabled = try await FieldworkProcess.run(["users", "disable", "ben"] + place)
        #expect(disabled.status == 0)
        try await Task.sleep(for: .milliseconds(600))
        #expect(Self.code(try await PlainRequest.post(layer, [("f", "json"), ("token", text)])) == 498)
        let last = try await FieldworkProcess.run(["users", "disable", "ana"] + place)
        #expect(last.status == 65 && last.errors.contains("only administrator"))
        let audit = try await FieldworkProcess.run(["users", "audit"] + place)
        #expect(audit.text.contains("user.disable\tben") && audit.text.contains("signIn\tben"))
        #expect(!audit.text.contains("correct horse"))
        #expect(await server.interrupt() == 0)
    }

    @Test("A view is made, shared, shown, changed and removed, and its service stays private")
    func views() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let place = ["--data", data.path]
        let csv = folder.url.appending(path: "trees.csv")
        try Data(Self.table.utf8).write(to: csv)
        let publish = ["publish", csv.path, "--x", "lon", "--y", "lat"] + place
        try #require(try await FieldworkProcess.run(publish + ["--service", "Trees"]).status == 0)
        func views(_ words: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["views"] + words + place)
        }
        let early = try await views("add", "Trees", "--name", "Oaks")
        #expect(early.status == 66 && early.errors.contains("users add"), "\(early.errors)")
        #expect(
            try await Self.run(["users", "add", "ana", "--role", "administrator"] + place, line: "correct horse").status
                == 0)
        let added = try await views(
            "add", "Trees", "--name", "Oaks", "--hide", "height", "--where", "species = 'Oak'", "--capabilities",
            "Query")
        #expect(added.status == 0 && added.text.contains("Oaks shows 1 layer of Trees"), "\(added.errors)")
        for (words, status) in [
            (["add", "Trees", "--name", "Oaks"], 73), (["add", "Trees", "--name", "Trees"], 73),
            (["add", "Nothing", "--name", "New"], 66), (["add", "Trees", "--name", "New", "--hide", "nothing"], 65),
            (["add", "Trees", "--name", "New", "--where", "nothing = 1"], 65),
            (["add", "Trees", "--name", "New", "--capabilities", "Fly"], 65), (["show", "Nothing"], 66),
            (["add", "Trees", "--name", "../New"], 65),
        ] as [([String], Int32)] {
            let refused = try await FieldworkProcess.run(["views"] + words + place)
            #expect(refused.status == status, "\(words): \(refused.status) \(refused.errors)")
        }
        let clash = try await FieldworkProcess.run(publish + ["--service", "Oaks"])
        #expect(clash.status == 73 && clash.errors.contains("is a view"), "\(clash.errors)")
        #expect(try await FieldworkProcess.run(["share", "Oaks", "--everyone"] + place).status == 0)
        let server = try await FieldworkProcess.serve(data: data)
        func features(_ service: String) async throws -> [String: Any] {
            try await PlainRequest.post(
                "\(server.services)/\(service)/FeatureServer/0/query",
                [("f", "json"), ("where", "1=1"), ("outFields", "*")])
        }
        #expect(Self.code(try await features("Trees")) == 499)
        let seen = "\(try await features("Oaks"))"
        #expect(seen.contains("Oak") && !seen.contains("Elm") && !seen.contains("height"), "\(seen)")
        #expect(try await views("change", "Oaks", "--where", "species = 'Elm'", "--fields", "all").status == 0)
        try await Task.sleep(for: .milliseconds(1_500))
        let changed = "\(try await features("Oaks"))"
        #expect(changed.contains("Elm") && changed.contains("height"), "\(changed)")
        let shown = try await views("show", "Oaks")
        #expect(shown.text.contains("species = 'Elm'") && shown.text.contains("Trees"), "\(shown.text)")
        #expect(try await views("list").text == "Oaks  Trees\n")
        #expect(try await views("remove", "Oaks").status == 0)
        try await Task.sleep(for: .milliseconds(1_500))
        #expect(Self.code(try await features("Oaks")) == 404)
        #expect(await server.interrupt() == 0)
    }

    @Test(
        "An application is registered, its secret is shown once and kept as a hash, and it is removed with its tokens")
    func apps() async throws {
        let folder = try TemporaryFolder()
        let place = ["--data", folder.url.path]
        let added = try await Self.run(
            ["users", "add", "ana", "--role", "administrator"] + place, line: "correct horse")
        #expect(added.status == 0, "\(added.errors)")
        let made = try await FieldworkProcess.run(
            [
                "apps", "add", "Reports", "--owner", "ana", "--redirect", "http://127.0.0.1", "--redirect",
                "org.example.app://auth",
            ] + place)
        #expect(made.status == 0 && made.errors.contains("not kept"), "\(made.errors)")
        let id = try #require(made.text.firstMatch(of: /id      (\w{16})\n/)?.1)
        let secret = try #require(made.text.firstMatch(of: /secret  ([\w-]{43})\n/)?.1)
        let list = try await FieldworkProcess.run(["apps", "list"] + place)
        #expect(list.text == "\(id)  Reports  ana\n  http://127.0.0.1\n  org.example.app://auth\n", "\(list.text)")
        let evil = try await FieldworkProcess.run(
            ["apps", "add", "Evil", "--owner", "ana", "--redirect", "http://evil.example/"] + place)
        #expect(evil.status == 65 && evil.errors.contains("http://evil.example/"), "\(evil.errors)")
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
        }

        let server = try await FieldworkProcess.serve(data: folder.url)
        let root = server.services.replacing("/rest/services", with: "")
        let form = [
            ("grant_type", "client_credentials"), ("client_id", String(id)), ("client_secret", String(secret)),
            ("f", "json"),
        ]
        let token = try await PlainRequest.post("\(root)/sharing/rest/oauth2/token", form)["access_token"] as? String
        let search = [("f", "json"), ("token", try #require(token))]
        #expect(Self.code(try await PlainRequest.post("\(root)/sharing/rest/search", search)) == nil)
        let removed = try await FieldworkProcess.run(["apps", "remove", "Reports"] + place)
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try await FieldworkProcess.run(["apps", "remove", "Reports"] + place).status == 66)
        try await Task.sleep(for: .milliseconds(600))
        #expect(Self.code(try await PlainRequest.post("\(root)/sharing/rest/search", search)) == 498)
        #expect(await server.interrupt() == 0)
        let audit = try await FieldworkProcess.run(["users", "audit"] + place)
        #expect(audit.text.contains("client.add\t\(id)") && !audit.text.contains(secret))
    }

    @Test("A web map becomes an item, which a group sees once it is shared with it")
    func items() async throws {
        let folder = try TemporaryFolder()
        let place = ["--data", folder.url.path]
        #expect(
            try await Self.run(["users", "add", "ana", "--role", "publisher"] + place, line: "correct horse").status
                == 0)
        let map = folder.url.appending(path: "trees.webmap.json")
        try Data("{\"operationalLayers\":[],\"version\":\"2.0\"}".utf8).write(to: map)
        let added = try await FieldworkProcess.run(
            ["items", "add", map.path, "--title", "Trees", "--owner", "ana"] + place)
        #expect(added.status == 0 && added.text.contains("(Web Map)"), "\(added.errors)")
        #expect(try await FieldworkProcess.run(["groups", "add", "Crew", "--owner", "ana"] + place).status == 0)
        let shared = try await FieldworkProcess.run(["share", "Trees", "--group", "Crew"] + place)
        #expect(shared.text.contains("the members of 1 group"), "\(shared.errors)")
        let list = try await FieldworkProcess.run(["items", "list", "type:\"Web Map\""] + place)
        #expect(list.text.contains("Trees  (Web Map)  ana  shared"), "\(list.text)")
        #expect(!shared.errors.contains("Fewer people"))
        // A map shows a service that fewer people may see.
        let table = folder.url.appending(path: "oaks.csv")
        try Data("name,x,y\nOne,1,1\n".utf8).write(to: table)
        let published = try await FieldworkProcess.run(
            ["publish", table.path, "--service", "Oaks", "--x", "x", "--y", "y"] + place)
        try #require(published.status == 0, "\(published.errors)")
        #expect(
            try await Self.run(["users", "add", "adi", "--role", "administrator"] + place, line: "correct horse").status
                == 0)
        let layer = #"{"url":"https://maps.example.org/arcgis/rest/services/Oaks/FeatureServer/0"}"#
        try Data(#"{"operationalLayers":[{"layerType":"GroupLayer","layers":[\#(layer)]}],"version":"2.0"}"#.utf8)
            .write(
                to: map)
        let other = try await FieldworkProcess.run(
            ["items", "add", map.path, "--title", "Map of oaks", "--owner", "ana"] + place)
        try #require(other.status == 0, "\(other.errors)")
        for (who, isTold) in [("--private", false), ("--organisation", false), ("--everyone", true)] {
            let told = try await FieldworkProcess.run(["share", "Map of oaks", who] + place)
            #expect(
                told.errors.contains("Fewer people may see Oaks: the others see the map without it.") == isTold,
                "\(who): \(told.errors)")
        }
        try Data("{}".utf8).write(to: map)
        let bad = try await FieldworkProcess.run(
            ["items", "add", map.path, "--title", "Bad", "--owner", "ana"] + place)
        #expect(bad.status == 65 && bad.errors.contains("operationalLayers"))
        let missing = try await FieldworkProcess.run(["share", "Nothing", "--everyone"] + place)
        #expect(missing.status == 66)
    }
}
