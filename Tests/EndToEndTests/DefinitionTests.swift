import FieldworkGeometry
import Foundation
import Testing

/// Definitions as documents, and GeoPackages that are served where they are.
@Suite("Definitions on the command line", .serialized)
struct DefinitionTests {
    private static let table = "species,height,lon,lat\nOak,7,-122.6,45.5\nElm,3,-122.61,45.51\n"

    private static func publish(in folder: URL, _ more: [String] = []) async throws -> FieldworkProcess.Output {
        let csv = folder.appending(path: "trees.csv")
        try Data(table.utf8).write(to: csv)
        return try await FieldworkProcess.run(
            ["publish", csv.path, "--service", "Trees", "--x", "lon", "--y", "lat", "--data", data(folder)] + more)
    }

    private static func data(_ folder: URL) -> String { folder.appending(path: "data").path }

    private static func write(_ document: JSONValue, in folder: URL) throws -> String {
        let file = folder.appending(path: "definition.json")
        try Data(document.text.utf8).write(to: file)
        return file.path
    }

    @Test("A definition is shown, changed, checked and written back, while the service is served")
    func roundTrip() async throws {
        let folder = try TemporaryFolder()
        try #require(try await Self.publish(in: folder.url).status == 0)
        let data = Self.data(folder.url)
        let server = try await FieldworkProcess.serve(data: folder.url.appending(path: "data"))
        let shown = try await FieldworkProcess.run(["service", "show", "Trees", "--data", data])
        var document = try #require(try JSONParser.parse(shown.text).objectValue)
        var layer = try #require(document["layers"]?.arrayValue?.first?.objectValue)
        layer["definitionExpression"] = "height > 5"
        layer["fields"] = .array(
            (layer["fields"]?.arrayValue ?? []) + [["name": "note", "type": "esriFieldTypeString", "length": 20]])
        document["layers"] = .array([.object(layer)])
        let file = try Self.write(.object(document), in: folder.url)
        #expect(try await FieldworkProcess.run(["service", "validate", file]).status == 0)
        let edited = try await FieldworkProcess.run(["service", "edit", "Trees", "--file", file, "--data", data])
        #expect(edited.status == 0, "\(edited.errors)")
        // What the document was made from is gone: the same change again would overwrite the one just made.
        let twice = try await FieldworkProcess.run(["service", "edit", "Trees", "--file", file, "--data", data])
        #expect(twice.status == 75, "\(twice.errors)")

        // The server looks once in a while; the loop ends with the answer, or fails with the last one.
        var seen = ""
        for _ in 0..<100 {
            seen = try await FieldworkProcess.run([
                "query", "\(server.services)/Trees/FeatureServer/0", "--out-fields", "species,note", "--format", "csv",
            ]).text
            if seen.contains("note") { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(seen.contains("Oak"))
        #expect(!seen.contains("Elm"))
        #expect(await server.interrupt() == 0)
    }

    @Test("Every problem is told with its place, and nothing is changed")
    func problems() async throws {
        let folder = try TemporaryFolder()
        try #require(try await Self.publish(in: folder.url).status == 0)
        let data = Self.data(folder.url)
        let file = try Self.write(
            [
                "layers": [
                    [
                        "id": 0, "displayField": "nothing", "minScale": "far",
                        "fields": [["name": "height", "domain": ["type": "x"]]],
                    ]
                ]
            ],
            in: folder.url)
        let before = try await FieldworkProcess.run(["service", "show", "Trees", "--data", data]).text
        let refused = try await FieldworkProcess.run(
            ["service", "edit", "Trees", "--merge", "--file", file, "--data", data])
        #expect(refused.status == 65)
        for place in ["layers[0].displayField: ", "layers[0].minScale: ", "layers[0].fields["] {
            #expect(refused.errors.contains(place), "\(refused.errors)")
        }
        #expect(try await FieldworkProcess.run(["service", "validate", file]).status == 65)
        let empty = try Self.write(["layers": []], in: folder.url)
        let removal = try await FieldworkProcess.run(["service", "edit", "Trees", "--file", empty, "--data", data])
        #expect(removal.status == 65)
        #expect(try await FieldworkProcess.run(["service", "show", "Trees", "--data", data]).text == before)
        #expect(try await FieldworkProcess.run(["service", "show", "None", "--data", data]).status == 66)
    }

    @Test("A service is published with its definition, or not at all")
    func publishWithDefinition() async throws {
        let folder = try TemporaryFolder()
        let data = Self.data(folder.url)
        let bad = try Self.write(["layers": [["id": 0, "displayField": "nothing"]]], in: folder.url)
        #expect(try await Self.publish(in: folder.url, ["--definition", bad]).status == 65)
        #expect(try await FieldworkProcess.run(["services", "--data", data]).text == "")
        let good = try Self.write(
            [
                "description": "Trees of the town",
                "layers": [["id": 0, "fields": [["name": "height", "alias": "Height (m)"]]]],
            ],
            in: folder.url)
        let published = try await Self.publish(in: folder.url, ["--definition", good])
        #expect(published.status == 0, "\(published.errors)")
        let shown = try await FieldworkProcess.run(["service", "show", "Trees", "--data", data]).text
        #expect(shown.contains("Height (m)"))
        #expect(shown.contains("Trees of the town"))
    }

    @Test("Nothing of an unpublished service is deleted, and its name is not taken by another")
    func unpublish() async throws {
        let folder = try TemporaryFolder()
        let data = Self.data(folder.url)
        try #require(try await Self.publish(in: folder.url).status == 0)
        #expect(try await FieldworkProcess.run(["unpublish", "Trees", "--data", data]).status == 0)
        #expect(try await FieldworkProcess.run(["services", "--data", data]).text == "")
        #expect(try await Self.publish(in: folder.url).status == 73)
        #expect(try await FieldworkProcess.run(["unpublish", "Trees", "--data", data]).status == 66)
        #expect(try await FieldworkProcess.run(["unpublish", "Trees", "--restore", "--data", data]).status == 0)
        #expect(try await FieldworkProcess.run(["services", "--data", data]).text.contains("point  2"))
    }

    private static let hasTools = ["ogr2ogr", "ogrinfo", "sqlite3"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    @Test(
        "Edits of other programs in a GeoPackage that is served in place get global ids and reach the change log",
        .enabled(if: hasTools, "needs ogr2ogr (gdal-bin) and sqlite3"))
    func inPlace() async throws {
        let folder = try TemporaryFolder()
        let data = Self.data(folder.url)
        let csv = folder.url.appending(path: "more.csv")
        try Data("species,height,lon,lat\nAsh,9,-122.6,45.5\n".utf8).write(to: csv)
        let file = folder.url.appending(path: "survey.gpkg")
        let convert = "ogr2ogr -f GPKG -nln trees -oo X_POSSIBLE_NAMES=lon -oo Y_POSSIBLE_NAMES=lat -a_srs EPSG:4326"
        try #require(try await Shell.run("\(convert) '\(file.path)' '\(csv.path)'") == 0)
        let table = "ogr2ogr -f GPKG -update -nln notes -nlt NONE"
        try #require(try await Shell.run("\(table) '\(file.path)' '\(csv.path)'") == 0)
        let published = try await FieldworkProcess.run(
            ["publish", file.path, "--service", "Survey", "--in-place", "--data", data])
        #expect(published.status == 0, "\(published.errors)")
        let server = try await FieldworkProcess.serve(data: folder.url.appending(path: "data"))
        let layer = "\(server.services)/Survey/FeatureServer/0"

        // GDAL reads before it writes, and gives up at once where the server has written in between.
        var status: Int32 = -1
        for _ in 0..<5 where status != 0 {
            status = try await Shell.run("\(convert) -update -append '\(file.path)' '\(csv.path)'")
        }
        #expect(status == 0)
        // The R-tree of a layer needs functions that GDAL has and plain sqlite3 has not: that edits the table.
        #expect(
            try await Shell.run("ogrinfo '\(file.path)' -sql \"UPDATE trees SET species = 'Yew' WHERE fid = 2\"") == 0)
        #expect(try await Shell.run("sqlite3 '\(file.path)' \"INSERT INTO notes (species) VALUES ('Fir')\"") == 0)
        let seen = try await FieldworkProcess.run([
            "query", layer, "--out-fields", "species,GlobalID", "--format", "csv",
        ]).text
        for species in ["Ash", "Yew"] { #expect(seen.contains("\(species),{"), "\(seen)") }

        let notes = try await FieldworkProcess.run([
            "query", "\(server.services)/Survey/FeatureServer/1", "--out-fields", "species,GlobalID", "--format", "csv",
        ]).text
        #expect(notes.contains("Fir,{"), "\(notes)")

        let log = """
            SELECT group_concat(layer_id || ':' || object_id || ':' || operation, ' ') FROM
            (SELECT * FROM fieldwork_changes ORDER BY generation, object_id, operation)
            """
        let output = folder.url.appending(path: "log.txt")
        #expect(try await Shell.run("sqlite3 '\(file.path)' \"\(log)\" > '\(output.path)'") == 0)
        #expect(try String(contentsOf: output, encoding: .utf8) == "0:2:0 0:2:1 1:2:0\n")
        #expect(try await FieldworkProcess.run(["doctor", "--data", data]).status == 0)

        let gone = try await FieldworkProcess.run(["unpublish", "Survey", "--data", data])
        #expect(gone.status == 0)
        #expect(gone.text.contains("survey.gpkg"))
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(await server.interrupt() == 0)
    }
}
