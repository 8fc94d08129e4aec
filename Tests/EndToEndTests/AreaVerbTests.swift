import Foundation
import Testing

/// `fieldwork areas` and packages in one file, as the author of a map and its crews use them.
@Suite("Prepared areas on the command line", .serialized)
final class AreaVerbTests {
    private let folder: URL
    private let server: FieldworkProcess
    private let portal: String

    /// A portal whose map shows two trees within the area and one outside of it, for who has signed in.
    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-areas-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let data = folder.appending(path: "data").path
        for (name, role) in [("ana", "administrator"), ("ben", "editor"), ("vic", "viewer")] {
            let added = try await Self.run(
                ["users", "add", name, "--role", role, "--data", data], in: folder, as: name, input: "correct horse\n")
            try #require(added.status == 0, "\(added.errors)")
        }
        let table = folder.appending(path: "trees.csv")
        try Data("name,x,y\nOne,-122.64,45.56\nTwo,-122.61,45.57\nFar,-120,45\n".utf8).write(to: table)
        let published = try await FieldworkProcess.run([
            "publish", table.path, "--service", "Trees", "--x", "x", "--y", "y", "--sync", "--data", data,
        ])
        try #require(published.status == 0, "\(published.errors)")
        server = try FieldworkProcess.start(["serve", "--data", data, "--port", "0"])
        let address = try #require(try await server.readyLine().components(separatedBy: " ").last)
        let port = try #require(URL(string: address)?.port)
        portal = "http://127.0.0.1:\(port)/arcgis"
        let layer = #"{"id":"t","title":"Trees","url":"\#(portal)/rest/services/Trees/FeatureServer/0"}"#
        let map = folder.appending(path: "trees.webmap.json")
        try Data(#"{"operationalLayers":[\#(layer)],"version":"2.31"}"#.utf8).write(to: map)
        for arguments in [
            ["items", "add", map.path, "--title", "Trees of the town", "--owner", "ana", "--data", data],
            ["share", "Trees of the town", "--organisation", "--data", data],
        ] {
            let done = try await FieldworkProcess.run(arguments)
            try #require(done.status == 0, "\(done.errors)")
        }
        for name in ["ana", "ben", "vic"] {
            let signedIn = try await run(["sign-in", portal, "--user", name], as: name, input: "correct horse\n")
            try #require(signedIn.status == 0, "\(signedIn.errors)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a verb as the user of a device, whose sign-ins are no other's.
    private static func run(
        _ arguments: [String], in folder: URL, as user: String, input: String = ""
    ) async throws -> FieldworkProcess.Output {
        let entry = folder.appending(path: "input-\(user)")
        try Data(input.utf8).write(to: entry)
        return try await FieldworkProcess.run(
            ["-c", "exec \"$0\" \"$@\" < '\(entry.path)'", FieldworkProcess.executable.path] + arguments,
            environment: [
                "XDG_DATA_HOME": folder.appending(path: "home-\(user)").path, "DBUS_SESSION_BUS_ADDRESS": "",
            ],
            program: URL(filePath: "/bin/bash"))
    }

    private func run(_ arguments: [String], as user: String, input: String = "") async throws -> FieldworkProcess.Output
    {
        try await Self.run(arguments, in: folder, as: user, input: input)
    }

    private func areas(_ arguments: [String], as user: String) async throws -> FieldworkProcess.Output {
        try await run(["areas"] + arguments + ["--to", portal], as: user)
    }

    private func place(_ name: String) -> String { folder.appending(path: name).path }

    @Test("An area is prepared once, downloaded by two people, kept in step, prepared anew and deleted")
    func story() async throws {
        let (map, area) = ("Trees of the town", "-122.65,45.55,-122.60,45.58")
        let refused = try await areas(["create", map, "--area", area, "--title", "Ben's"], as: "vic")
        #expect(refused.status == 77, "\(refused.errors)")
        let made = try await areas(["create", map, "--area", area, "--title", "Concordia"], as: "ana")
        #expect(made.status == 0 && made.text.contains("Prepared Concordia"), "\(made.errors)")
        let list = try await areas(["list", map, "--format", "json"], as: "ben")
        #expect(
            list.text.contains(#""title":"Concordia""#) && list.text.contains(#""state":"complete""#), "\(list.text)")
        #expect(try await areas(["list", map], as: "nobody").status == 66)

        for user in ["ana", "ben"] {
            let taken = try await areas(["download", "Concordia", "--out", place(user)], as: user)
            #expect(taken.status == 0 && taken.text.contains("with 2 features"), "\(taken.errors)")
        }
        let replicas = try await FieldworkProcess.run(["replicas", "Trees", "--data", place("data")])
        #expect(replicas.text.components(separatedBy: "  ben  ").count == 2, "\(replicas.text)")

        #expect(try await areas(["update", "Concordia"], as: "ben").status == 77)
        let anew = try await areas(["update", "Concordia"], as: "ana")
        #expect(anew.status == 0, "\(anew.errors)")
        #expect(try await areas(["delete", "Concordia"], as: "ben").status == 77)
        let deleted = try await areas(["delete", "Concordia"], as: "ana")
        #expect(deleted.status == 0, "\(deleted.errors)")
        #expect(try await areas(["download", "Concordia", "--out", place("late")], as: "ben").status == 66)
        // Who has the area goes on.
        for user in ["ana", "ben"] {
            let synchronised = try await run(["offline", "update", place(user)], as: user)
            #expect(synchronised.status == 0, "\(synchronised.errors)")
        }
        #expect(await server.interrupt() == 0)
    }

    @Test("An area with scheduled updates takes over what its author has prepared last, and takes no edits")
    func scheduledUpdates() async throws {
        let (map, area) = ("Trees of the town", "-122.65,45.55,-122.60,45.58")
        let made = try await areas(["create", map, "--area", area, "--title", "Concordia"], as: "ana")
        try #require(made.status == 0, "\(made.errors)")
        let both = ["download", "Concordia", "--out", place("look"), "--scheduled-updates", "--no-updates"]
        #expect(try await areas(both, as: "ben").status == 64)
        let taken = try await areas(
            ["download", "Concordia", "--out", place("look"), "--scheduled-updates"], as: "ben")
        try #require(taken.status == 0 && taken.text.contains("with 2 features"), "\(taken.errors)")
        func update() async throws -> String {
            let done = try await run(["offline", "update", place("look")], as: "ben")
            #expect(done.status == 0, "\(done.errors)")
            return done.text
        }
        #expect(try await update().contains("has not been prepared anew since"))
        let trees = "\(portal)/rest/services/Trees/FeatureServer/0"
        let calculated = try await run(
            ["calculate", trees, "name", "'Yew'"], as: "ana")
        try #require(calculated.status == 0, "\(calculated.errors)")
        #expect(try await update().contains("has not been prepared anew since"))
        #expect(try await areas(["update", "Concordia"], as: "ana").status == 0)
        #expect(try await update().contains("Updated 1 layer"))
        let rows = try await FieldworkProcess.run(
            ["-f", "CSV", "/vsistdout/", "\(place("look"))/data.gpkg", "Trees"],
            program: URL(filePath: "/usr/bin/ogr2ogr"))
        #expect(rows.status == 0 && rows.text.components(separatedBy: "Yew").count == 3, "\(rows.text)\(rows.errors)")
        #expect(try await update().contains("has not been prepared anew since"))
        let list = try await run(["offline", "list", folder.path], as: "ben")
        #expect(list.text.contains("look") && list.text.contains("0 unsent edits"), "\(list.text)")
        #expect(try await run(["offline", "delete", place("look")], as: "ben").status == 0)
        #expect(await server.interrupt() == 0)
    }

    @Test("The app offers a prepared area by its name, and takes the file that is there")
    func inTheApp() async throws {
        let made = try await areas(
            ["create", "Trees of the town", "--area", "-122.65,45.55,-122.60,45.58", "--title", "Concordia"], as: "ana")
        try #require(made.status == 0, "\(made.errors)")
        let app = try await CollectVisitor.start([], data: folder.appending(path: "crew"))
        try await app.post(
            "/account/sign-in",
            ["server": portal, "user": "ben", "password": "correct horse", "stay": "yes", "back": "/start"])
        let start = try await app.page("/start")
        let form = try #require(
            start.components(separatedBy: "<form ").first { $0.contains("Trees of the town") }, "\(start)")
        let address = try #require(form.firstMatch(of: /name="service" value="([^"]+)"/)?.1)
        try await app.post("/start", ["service": String(address).replacing("&amp;", with: "&")])

        let choice = try await app.page("/offline/new")
        #expect(choice.contains("Prepared area"), "\(choice)")
        let link = try #require(choice.firstMatch(of: /href="(\/offline\/new\?[^"]*prepared=[^"]+)"/)?.1)
        let chosen = try await app.page(String(link).replacing("&amp;", with: "&"))
        func value(_ name: String) throws -> String {
            let field = try #require(
                chosen.components(separatedBy: "<input ").first { $0.contains("name=\"\(name)\"") }, "\(name)")
            return String(try #require(field.firstMatch(of: /value="([^"]*)"/)?.1))
        }
        var answer = ["name": try value("name")]
        for name in ["west", "south", "east", "north", "prepared"] { answer[name] = try value(name) }
        #expect(answer["name"] == "Concordia" && answer["prepared"]?.count == 32)
        // A frame that was moved is another area: the service makes its file.
        for (isMoved, others) in [(false, 0), (true, 1)] {
            if isMoved { answer["east"] = "-122.605" }
            let id = UUID().uuidString.lowercased()
            answer["session"] = id
            try await app.post("/offline/new", answer)
            try await app.wait("/jobs/\(id)", for: "Work offline in")
            #expect(try madeFiles() == others, "\(isMoved) \(answer)")
        }
        let replicas = try await FieldworkProcess.run(["replicas", "Trees", "--data", place("data")])
        #expect(replicas.text.components(separatedBy: "  ben  ").count == 3, "\(replicas.text)")
        await app.process.kill()
        #expect(await server.interrupt() == 0)
    }

    /// How many files the server has made for one crew alone.
    private func madeFiles() throws -> Int {
        let data = URL(filePath: place("data"), directoryHint: .isDirectory)
        return try FileManager.default.subpathsOfDirectory(atPath: data.path).count {
            $0.contains("/results/") && $0.hasSuffix(".gpkg")
        }
    }

    @Test("A package without updates is packed into one file and unpacked; one that is synchronised is not copied")
    func packing() async throws {
        let layer = "\(portal)/rest/services/Trees/FeatureServer"
        func take(_ name: String, _ more: [String]) async throws {
            let taken = try await run(
                ["offline", "create", layer, "--area", "-122.65,45.55,-122.60,45.58", "--out", place(name)] + more,
                as: "ben")
            try #require(taken.status == 0, "\(taken.errors)")
        }
        try await take("kept", [])
        try await take("copied", ["--no-updates"])
        let refused = try await run(["offline", "pack", place("kept"), "--out", place("kept.zip")], as: "ben")
        #expect(refused.status == 65 && refused.errors.contains("second device"), "\(refused.errors)")
        let packed = try await run(["offline", "pack", place("copied"), "--out", place("copied.zip")], as: "ben")
        #expect(packed.status == 0, "\(packed.errors)")
        let again = try await run(["offline", "pack", place("copied"), "--out", place("copied.zip")], as: "ben")
        #expect(again.status == 73, "\(again.errors)")
        let unpacked = try await run(["offline", "unpack", place("copied.zip"), "--out", place("other")], as: "ben")
        #expect(unpacked.status == 0, "\(unpacked.errors)")
        #expect(try await run(["doctor", place("other")], as: "ben").status == 0)
        let list = try await run(["offline", "list", folder.path, "--format", "json"], as: "ben")
        #expect(list.text.contains(#""name":"other""#), "\(list.text)")
        #expect(try await run(["offline", "unpack", place("trees.csv"), "--out", place("no")], as: "ben").status == 65)
        #expect(try await run(["offline", "unpack", place("missing"), "--out", place("no")], as: "ben").status == 66)
        #expect(!FileManager.default.fileExists(atPath: place("no")))
        #expect(await server.interrupt() == 0)
    }
}
