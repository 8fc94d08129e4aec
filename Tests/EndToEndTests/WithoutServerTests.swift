import Foundation
import Testing

/// What is read, and looked after, where the services lie: in a folder or in a database, without a server.
@Suite("Verbs without a server", .serialized)
struct WithoutServerTests {
    private static let table = "number,species,lon,lat\n1,Oak,-122.5,45.5\n2,Elm,-122.6,45.6\n3,Yew,-122.7,45.7\n"

    private final class Office: Sendable {
        let folder: TemporaryFolder
        let home: ServiceHome

        init(_ kind: ServiceHome.Kind) async throws {
            folder = try TemporaryFolder()
            home = try await ServiceHome(kind, in: folder.url)
            let file = folder.url.appending(path: "trees.csv")
            try Data(WithoutServerTests.table.utf8).write(to: file)
            let published = try await FieldworkProcess.run(
                ["publish", file.path, "--service", "City/Trees", "--sync"] + home.arguments)
            try #require(published.status == 0, "\(published.errors)")
        }

        func run(_ arguments: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(arguments + home.arguments)
        }

        /// The JSON that a verb prints.
        func json(_ arguments: String...) async throws -> Any {
            let output = try await FieldworkProcess.run(arguments + ["--format", "json"] + home.arguments)
            try #require(output.status == 0, "\(arguments): \(output.errors)")
            return try JSONSerialization.jsonObject(with: Data(output.text.utf8))
        }
    }

    @Test(
        "Features are queried, exported, calculated, looked back at and restored; conflicts and replicas are listed",
        arguments: ServiceHome.Kind.installed)
    func everyVerb(_ kind: ServiceHome.Kind) async throws {
        let office = try await Office(kind)
        let rows = try await office.run(
            "query", "City/Trees", "--where", "number = 2", "--out-fields", "number,species", "--format", "csv")
        #expect(rows.text == "number,species,x,y\r\n2,Elm,-122.6,45.6\r\n", "\(rows.errors)")
        let out = office.folder.url.appending(path: "out.csv")
        let exported = try await office.run("export", "City/Trees/0", "--to", out.path, "--where", "number > 1")
        #expect(exported.text.hasPrefix("Wrote 2 features"), "\(exported.errors)")
        let calculated = try await office.run(
            "calculate", "City/Trees", "species", "Upper($feature.species)", "--where", "number = 2")
        #expect(calculated.text == "Changed 1 of 1 feature.\n", "\(calculated.errors)")

        let elm = try #require(
            (try await office.json("query", "City/Trees", "--where", "number = 2") as? [String: Any])?["features"]
                as? [[String: Any]])
        let id = try #require((elm.first?["attributes"] as? [String: Any])?["OBJECTID"] as? Int)
        let history = try await office.run("history", "City/Trees", "\(id)")
        #expect(history.text.contains(#"species = "Elm" became "ELM""#), "\(history.errors)")
        let versions = try await office.json("history", "City/Trees/0", "\(id)") as? [[String: Any]]
        #expect(versions?.count == 1)
        let restored = try await office.run("restore", "City/Trees", "\(id)")
        #expect(restored.text == "Feature \(id) is what it was\n", "\(restored.errors)")
        #expect(try await office.run("query", "City/Trees", "--format", "csv").text.contains("Elm"))

        #expect((try await office.json("conflicts", "list", "City/Trees") as? [Any])?.isEmpty == true)
        #expect((try await office.json("replicas", "City/Trees") as? [Any])?.isEmpty == true)
        let services = try await office.json("services") as? [[String: Any]]
        #expect(services?.first?["name"] as? String == "City/Trees")
        let missing = try await office.run("query", "City/Trees/7")
        #expect(missing.status == 66 && missing.errors.contains("City/Trees has no layer 7. It has City/Trees/0"))
        let none = try await office.run("query", "City/Shrubs")
        #expect(none.status == 66 && none.errors.contains("City/Shrubs"))
        let layer = try await office.run("conflicts", "list", "City/Trees/0")
        #expect(layer.status == 66 && layer.errors.contains("the service is City/Trees"))
        try await office.home.settle()
        try await office.home.expectSound()
    }

    @Test("A folder and a database at once are refused: one of them would be ignored")
    func both() async throws {
        let database = ["--data", "here", "--store", "postgres://localhost/field"]
        for verb in [["services"], ["query", "Trees"], ["history", "Trees", "1"], ["replicas", "Trees"]] {
            let refused = try await FieldworkProcess.run(verb + database)
            #expect(refused.status == 64 && refused.errors.contains("not both"), "\(verb): \(refused.errors)")
        }
        let connections = try await FieldworkProcess.run(["serve", "--connections", "9", "--port", "0"])
        #expect(connections.status == 64 && connections.errors.contains("at least 10"))
    }

    @Test("A question to a folder leaves the jobs and the replicas of its server alone")
    func background() async throws {
        let office = try await Office(.folder)
        let server = try await office.home.serve()
        let taken = try await FieldworkProcess.run([
            "offline", "create", "\(server.services)/City/Trees/FeatureServer", "--extent=-123,45,-122,46", "--out",
            office.folder.url.appending(path: "crew.gpkg").path,
        ])
        try #require(taken.status == 0, "\(taken.errors)")
        for _ in 1...3 { #expect(try await office.run("query", "City/Trees", "--limit", "1").status == 0) }
        #expect((try await office.json("replicas", "City/Trees") as? [Any])?.count == 1)
        #expect(await server.interrupt() == 0)
    }

    @Test("Every verb that lists prints JSON as well")
    func lists() async throws {
        let office = try await Office(.folder)
        let place = office.home.arguments
        for name in ["ana", "ben"] {
            let line = "printf 'correct horse\\n' | \"$0\" \"$@\""
            let added = try await FieldworkProcess.run(
                ["-c", line, FieldworkProcess.executable.path, "users", "add", name, "--role", "administrator"] + place,
                program: URL(filePath: "/bin/bash"))
            try #require(added.status == 0, "\(added.errors)")
        }
        #expect(try await office.run("groups", "add", "Crew", "--owner", "ana").status == 0)
        #expect(try await office.run("groups", "join", "Crew", "ben").status == 0)
        let users = try await office.json("users", "list") as? [[String: Any]]
        #expect(users?.map { $0["username"] as? String } == ["ana", "ben"])
        #expect(users?.first?["role"] as? String == "administrator" && users?.first?["disabled"] as? Bool == false)
        let groups = try await office.json("groups", "list") as? [[String: Any]]
        #expect(groups?.first?["owner"] as? String == "ana" && groups?.first?["members"] as? [String] == ["ben"])
        let items = try await office.json("items", "list") as? [[String: Any]]
        #expect(items?.contains { $0["type"] as? String == "Feature Service" } == true)
        #expect((try await office.json("apps", "list") as? [Any])?.isEmpty == true)
        let rights = try await office.json("rights", "ana", "City/Trees") as? [String: Any]
        let rightsItems = rights?["items"] as? [[String: Any]]
        #expect(rightsItems?.count == 1 && (rightsItems?.first?["rights"] as? [String])?.isEmpty == false)
        let audit = try await office.json("users", "audit") as? [[String: Any]]
        #expect((audit?.count ?? 0) >= 4 && audit?.first?["action"] is String)
        #expect((try await office.json("users", "audit", "--count", "1") as? [Any])?.count == 1)
        #expect((try await office.json("basemap", "list") as? [Any])?.isEmpty == true)
        #expect((try await office.json("locator", "list") as? [Any])?.isEmpty == true)
        let doctor = try await office.json("doctor") as? [String: Any]
        #expect(doctor?["checked"] as? Int == 1)
        let limits = try await FieldworkProcess.run(["limits", "--format", "json"])
        let list = try JSONSerialization.jsonObject(with: Data(limits.text.utf8)) as? [[String: Any]]
        #expect((list?.count ?? 0) > 100 && list?.allSatisfy { $0["amount"] != nil && $0["meaning"] is String } == true)
    }

    @Test(
        "What a check of a database found is told as JSON too",
        .enabled(if: ServiceHome.Kind.installed.contains(.database), "PostgreSQL is not installed"))
    func databaseCheck() async throws {
        let office = try await Office(.database)
        let check = try await office.json("store", "check") as? [String: Any]
        #expect(check?["checked"] as? Int == 1 && (check?["findings"] as? [Any])?.isEmpty == true)
    }

    @Test("What publish did is told as JSON")
    func publications() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "trees.csv")
        try Data("number,lon,lat\n1,-122.5,45.5\n2,east,45.5\n".utf8).write(to: file)
        let options = ["--data", folder.url.path, "--format", "json"]
        let published = try await FieldworkProcess.run(
            ["publish", file.path, "--service", "Trees", "--skip-bad-rows"] + options)
        let answer = try JSONSerialization.jsonObject(with: Data(published.text.utf8)) as? [String: Any]
        #expect(answer?["features"] as? Int == 1 && answer?["skipped"] as? Int == 1, "\(published.errors)")
        try Data("number,lon,lat\n1,-122.5,45.5\n2,-122.6,45.5\n".utf8).write(to: file)
        let updated = try await FieldworkProcess.run(
            ["publish", file.path, "--service", "Trees", "--append", "--new-rows"] + options)
        let change = try JSONSerialization.jsonObject(with: Data(updated.text.utf8)) as? [String: Any]
        #expect(change?["added"] as? Int == 1 && change?["known"] as? Int == 1, "\(updated.errors)")
    }
}
