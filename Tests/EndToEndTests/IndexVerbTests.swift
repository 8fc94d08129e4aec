import Foundation
import Testing

/// `fieldwork index`, on a folder, on a database and at the address of a server.
@Suite("Indexes on the command line", .serialized)
struct IndexVerbTests {
    /// A layer of three trees.
    private static func home(_ kind: ServiceHome.Kind, in folder: borrowing TemporaryFolder) async throws -> ServiceHome
    {
        let table = folder.url.appending(path: "trees.csv")
        try Data("species,dbh,lon,lat\nred oak,10,1,2\nelm,20,1,3\nash,30,1,4\n".utf8).write(to: table)
        let home = try await ServiceHome(kind, in: folder.url)
        let published = try await FieldworkProcess.run(
            ["publish", table.path, "--service", "Trees", "--x", "lon", "--y", "lat", "--wkid", "4326"]
                + home.arguments)
        try #require(published.status == 0, "\(published.errors)")
        return home
    }

    @Test(
        "Indexes are made, listed, used and dropped, and the service stays sound", arguments: ServiceHome.Kind.installed
    )
    func life(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await Self.home(kind, in: folder)
        func index(_ options: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["index", "Trees/0"] + options + home.arguments)
        }
        let before = try await index()
        #expect(before.status == 0 && !before.text.contains("dbh"), "\(before.text)\(before.errors)")
        let made = try await index("--add", "dbh")
        #expect(made.status == 0 && made.text.contains("by_dbh"), "\(made.text)\(made.errors)")
        let text = try await index("--text", "species")
        #expect(text.status == 0 && text.text.contains("text_species"), "\(text.text)\(text.errors)")
        let listed = try await index()
        #expect(listed.text.contains("by_dbh") && listed.text.contains("text_species"), "\(listed.text)")
        let found = try await FieldworkProcess.run(
            ["query", "Trees/0", "--where", "species LIKE '%d oa%'", "--format", "csv"] + home.arguments)
        #expect(found.text.contains("red oak") && !found.text.contains("elm"), "\(found.text)\(found.errors)")
        try await home.expectSound()
        let dropped = try await index("--drop", "text_species")
        #expect(dropped.status == 0, "\(dropped.errors)")
        #expect(try await index("--drop", "by_dbh").status == 0)
        let after = try await index()
        #expect(after.text == before.text, "\(after.text)")
        try await home.expectSound()
    }

    @Test("What can't be is refused with a reason, and changes nothing")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let home = try await Self.home(.folder, in: folder)
        for (options, status, reason) in [
            (["--add", "nosuch"], 65, "no field nosuch"), (["--text", "dbh"], 65, "dbh holds no texts"),
            (["--drop", "nosuch"], 66, "no index nosuch"), (["--add", "dbh", "--text", "species"], 64, "one of"),
            (["--name", "a"], 64, "--name"), (["--add", ""], 65, "Name the fields"),
            (["--add", "dbh,DBH"], 65, "named twice"), (["--text", "species,dbh"], 65, "one field"),
        ] {
            let output = try await FieldworkProcess.run(["index", "Trees/0"] + options + home.arguments)
            #expect(output.status == Int32(status) && output.errors.contains(reason), "\(options): \(output.errors)")
        }
        let listed = try await FieldworkProcess.run(["index", "Trees/0", "--format", "json"] + home.arguments)
        #expect(!listed.text.contains("the definition"), "\(listed.text)")
    }

    @Test(
        "An index that the database does not make is refused, and the definition stays as it was",
        .enabled(if: ServiceHome.Kind.installed.contains(.database)))
    func unmade() async throws {
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "notes.csv")
        let long = String(repeating: "long ", count: 200)
        try Data("note,lon,lat\n\(long),1,2\n".utf8).write(to: table)
        let home = try await ServiceHome(.database, in: folder.url)
        let published = try await FieldworkProcess.run(
            ["publish", table.path, "--service", "Notes", "--x", "lon", "--y", "lat", "--wkid", "4326"]
                + home.arguments)
        try #require(published.status == 0, "\(published.errors)")
        func index(_ options: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["index", "Notes/0", "--format", "json"] + options + home.arguments)
        }
        let before = try await index()
        let refused = try await index("--add", "note")
        #expect(refused.status == 65 && refused.errors.contains("makes no such index"), "\(refused.errors)")
        #expect(try await index().text == before.text)
        let again = try await index("--add", "note")
        #expect(again.errors.contains("makes no such index"), "the definition has none: \(again.errors)")
        let texts = try await index("--text", "note")
        #expect(texts.status == 0, "\(texts.errors)")
        try await home.expectSound()
    }

    @Test("At the address of a server an administrator makes and drops an index while it is served, nobody else")
    func served() async throws {
        let folder = try TemporaryFolder()
        let home = try await Self.home(.folder, in: folder)
        let place = folder.url.path
        func fieldwork(_ words: [String], input: String = "") async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(
                ["-c", "printf '%s' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                    + words,
                environment: [
                    "FIELDWORK_TEST_LINE": input, "XDG_DATA_HOME": place, "DBUS_SESSION_BUS_ADDRESS": "",
                ], program: URL(filePath: "/bin/bash"))
        }
        let added = try await fieldwork(
            ["users", "add", "ana", "--role", "administrator"] + home.arguments, input: "correct horse\n")
        try #require(added.status == 0, "\(added.errors)")
        let server = try await home.serve()
        let layer = "\(server.services)/Trees/FeatureServer/0"
        let refused = try await fieldwork(["index", layer, "--text", "species"])
        #expect(refused.status == 77, "\(refused.text)\(refused.errors)")
        let signedIn = try await fieldwork(["sign-in", layer, "--user", "ana"], input: "correct horse\n")
        try #require(signedIn.status == 0, "\(signedIn.errors)")
        let made = try await fieldwork(["index", layer, "--text", "species"])
        #expect(made.status == 0, "\(made.text)\(made.errors)")
        let listed = try await fieldwork(["index", layer])
        #expect(listed.text.contains("text_species"), "\(listed.text)\(listed.errors)")
        let found = try await fieldwork(["query", layer, "--where", "UPPER(species) LIKE UPPER('%d OA%')"])
        #expect(found.text.contains("red oak") && !found.text.contains("elm"), "\(found.text)\(found.errors)")
        let dropped = try await fieldwork(["index", layer, "--drop", "text_species"])
        #expect(dropped.status == 0, "\(dropped.errors)")
        #expect(await server.interrupt() == 0)
        try await home.expectSound()
    }
}
