import Foundation
import Testing

/// The verbs of the command line, as a script uses them.
@Suite("Command line", .serialized)
struct CommandTests {
    private static let trees = """
        species,planted,height,lon,lat
        "Maple, red",2001-04-02,12.5,-122.6,45.5
        Oak,2011-11-30,7,-122.61,45.51
        Elm,,3.25,-122.62,45.52

        """

    private static func publish(_ text: String, in folder: URL, _ more: [String] = []) async throws
        -> FieldworkProcess.Output
    {
        let csv = folder.appending(path: "trees.csv")
        try Data(text.utf8).write(to: csv)
        return try await FieldworkProcess.run(
            ["publish", csv.path, "--service", "Trees", "--x", "lon", "--y", "lat"] + more
                + ["--data", folder.appending(path: "data").path])
    }

    @Test("Who may use a server is checked before it starts")
    func accessOptions() async throws {
        let wrong = [
            ["--allow-host", "a b"], ["--allow-origin", "maps.example"], ["--allow-origin-edits", "*"],
            ["--public-address", "maps.example"], ["--trusted-proxy", "proxy.example"], ["--head-seconds", "0"],
            ["--metrics-key-file", "/nowhere/key"],
        ]
        for verb in ["serve", "demo"] {
            for options in wrong {
                let output = try await FieldworkProcess.run([verb, "--data", "/nowhere", "--port", "0"] + options)
                #expect(output.status != 0 && output.errors.contains(options[1]), "\(options): \(output.errors)")
            }
        }
        let folder = try TemporaryFolder()
        let published = try await Self.publish(Self.trees, in: folder.url)
        #expect(published.status == 0, "\(published.errors)")
        let server = try FieldworkProcess.start([
            "serve", "--data", folder.url.appending(path: "data").path, "--port", "0", "--allow-host", "gis.example",
            "--allow-origin", "https://maps.example", "--allow-origin-edits", "https://forms.example",
            "--public-address", "https://gis.example/field", "--trusted-proxy", "10.0.0.0/8", "--max-connections",
            "100", "--connections-per-address", "50", "--head-seconds", "10", "--slowest-body", "100",
            "--body-grace-seconds", "10",
        ])
        _ = try await server.readyLine()
        let page = try await PlainRequest.page("\(server.services)?f=html")
        #expect(String(decoding: page, as: UTF8.self).contains("/field/arcgis/rest/services/Trees/FeatureServer"))
        #expect(await server.interrupt() == 0)
    }

    @Test("A table is published, served, queried and exported")
    func publishToExport() async throws {
        let folder = try TemporaryFolder()
        let published = try await Self.publish(Self.trees, in: folder.url)
        #expect(published.status == 0, "\(published.errors)")
        #expect(published.text.contains("Published Trees: 3 features"))

        let server = try await FieldworkProcess.serve(data: folder.url.appending(path: "data"))
        let layer = "\(server.services)/Trees/FeatureServer/0"
        let csv = try await FieldworkProcess.run([
            "query", layer, "--where", "height > 5", "--out-fields", "species,planted,height", "--format", "csv",
        ])
        // Bulk loads order features by place, so the lines are compared as a set.
        #expect(
            csv.text.components(separatedBy: "\r\n").sorted() == [
                "", "\"Maple, red\",2001-04-02T00:00:00Z,12.5,-122.6,45.5", "Oak,2011-11-30T00:00:00Z,7,-122.61,45.51",
                "species,planted,height,x,y",
            ])
        let bad = try await FieldworkProcess.run(["query", layer, "--where", "height >"])
        #expect(bad.status == 65)
        #expect(bad.errors.contains("where"))

        for format in ["gpkg", "geojson", "csv"] {
            let file = folder.url.appending(path: "out.\(format)")
            let exported = try await FieldworkProcess.run(["export", layer, "--to", file.path])
            #expect(exported.status == 0, "\(exported.errors)")
            #expect(exported.text.contains("Wrote 3 features"))
            #expect(FileManager.default.fileExists(atPath: file.path))
            let again = try await FieldworkProcess.run(["export", layer, "--to", file.path])
            #expect(again.status == 73, "a file that is there is not written over")
        }
        #expect(await server.interrupt() == 0)
        let gone = try await FieldworkProcess.run(["query", layer])
        #expect(gone.status == 69)
    }

    @Test("A bad row publishes nothing, unless it may be skipped")
    func badRows() async throws {
        let folder = try TemporaryFolder()
        let text = Self.trees + "Ash,2000-01-01,4,east,45\n"
        let refused = try await Self.publish(text, in: folder.url)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("line 5"))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "data").path)
        #expect(left.isEmpty, "left behind: \(left)")
        let skipped = try await Self.publish(text, in: folder.url, ["--skip-bad-rows"])
        #expect(skipped.status == 0)
        #expect(skipped.text == "Published Trees: 3 features, skipped 1\n")
        #expect(skipped.errors.contains("Skipped line 5"))
        let twice = try await Self.publish(text, in: folder.url)
        #expect(twice.status == 73, "a service that is there is not replaced")
    }

    @Test("Wrong use and missing input have their own exit codes")
    func exitCodes() async throws {
        #expect(try await FieldworkProcess.run(["publish", "/nowhere.csv", "--service", "A"]).status == 66)
        #expect(try await FieldworkProcess.run(["publish"]).status == 64)
        for name in ["../x", "a/b/c", ".hidden", "a/../b", "/x", ""] {
            let refused = try await FieldworkProcess.run(["publish", "/nowhere.csv", "--service", name])
            #expect(refused.status == 64, "\(name) is not a name")
        }
        #expect(try await FieldworkProcess.run(["doctor", "--data", "/nowhere"]).status == 66)
        let help = try await FieldworkProcess.run(["--help"])
        #expect(help.status == 0)
        #expect(help.text.contains("EXAMPLES"))
    }

    @Test(
        "The help of each verb names its options and shows examples",
        arguments: [
            ("demo", ["--data", "--port", "--host", "--instance"]),
            ("serve", ["--data", "--port", "--host", "--instance", "--admin-key-file"]),
            (
                "publish",
                [
                    "--service", "--layer", "--x", "--y", "--wkid", "--skip-bad-rows", "--in-place", "--definition",
                    "--data",
                ]
            ),
            ("unpublish", ["--restore", "--data"]),
            ("services", ["--data"]),
            ("query", ["--where", "--out-fields", "--format", "--limit", "--data"]),
            ("export", ["--to", "--where", "--overwrite", "--data"]),
            ("doctor", ["--remove-leftovers", "--data"]),
            ("backup", ["--to", "--overwrite", "--data"]),
            ("restore-backup", ["--service", "--data"]),
        ])
    func help(_ verb: String, _ options: [String]) async throws {
        let help = try await FieldworkProcess.run([verb, "--help"])
        #expect(help.status == 0)
        #expect(help.text.contains("EXAMPLES"))
        for option in options { #expect(help.text.contains("  \(option)"), "\(verb) --help lacks \(option)") }
        #expect(try await FieldworkProcess.run([verb, "--no-such-option"]).status == 64)
    }

    @Test("A result that can't be written whole ends with a code, and an export with no file")
    func brokenOutput() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let rows = (0..<5_000).map { "\($0),a name that takes some room,1,2\n" }.joined()
        let file = folder.url.appending(path: "many.csv")
        try Data("n,name,x,y\n\(rows)".utf8).write(to: file)
        try #require(
            try await FieldworkProcess.run([
                "publish", file.path, "--service", "Many", "--x", "x", "--y", "y", "--data", data.path,
            ]).status == 0)
        let query = "'\(FieldworkProcess.executable.path)' query Many --format csv --data '\(data.path)'"
        #expect(try await Shell.run("\(query) > /dev/full") == 74)
        // Either the signal of the broken pipe or the failed write ends it.
        let reader = try await Shell.run("\(query) | head -1 > /dev/null; exit ${PIPESTATUS[0]}")
        #expect(reader == 141 || reader == 74)

        let exports = folder.url.appending(path: "exports")
        try FileManager.default.createDirectory(at: exports, withIntermediateDirectories: true)
        // A limit to the size of files stands for a full disk.
        let export = "'\(FieldworkProcess.executable.path)' export Many --data '\(data.path)' --to '\(exports.path)/"
        for format in ["csv", "geojson", "gpkg"] {
            let code = try await Shell.run("trap '' XFSZ; ulimit -f 100; \(export)out.\(format)'")
            #expect(code != 0, "\(format)")
            let left = try FileManager.default.contentsOfDirectory(atPath: exports.path)
            #expect(left.isEmpty, "left behind: \(left)")
        }
        #expect(try await Shell.run("\(export)out.csv'") == 0)
        let lines = try String(contentsOf: exports.appending(path: "out.csv"), encoding: .utf8)
        #expect(lines.components(separatedBy: "\r\n").count == 5_002)
    }
}
