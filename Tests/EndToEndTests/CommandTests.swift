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
        #expect(skipped.text.contains("3 features"))
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
}
