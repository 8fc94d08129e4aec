import Foundation
import Testing

/// A GeoPackage that `fieldwork export` wrote, in the hands of somebody else.
@Suite("Exported GeoPackages", .serialized)
struct ExportedFileTests {
    private static func fieldwork(_ arguments: String...) async throws -> String {
        let output = try await FieldworkProcess.run(arguments)
        try #require(output.status == 0, "\(arguments): \(output.text)\(output.errors)")
        return output.text
    }

    /// Publishes a layer with a list of values and an edit in its history, and exports it.
    private static func exported(in folder: URL) async throws -> (data: String, file: String) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let data = folder.appending(path: "data").path
        let table = folder.appending(path: "trees.csv")
        try Data("number,code,condition,lon,lat\n1,007,G,13.4,52.5\n2,08,P,13.5,52.6\n".utf8).write(to: table)
        _ = try await fieldwork("publish", table.path, "--service", "Trees", "--sync", "--data", data)
        let form = folder.appending(path: "form.json")
        let field =
            #"{"name":"condition","alias":"State","domain":{"type":"codedValue","name":"States","codedValues":[{"name":"good","code":"G"},{"name":"poor","code":"P"}]}}"#
        try Data(#"{"layers":[{"id":0,"fields":[\#(field)]}]}"#.utf8).write(to: form)
        _ = try await fieldwork("service", "edit", "Trees", "--merge", "--file", form.path, "--data", data)
        _ = try await fieldwork(
            "calculate", "Trees", "condition", "'P'", "--where", "number = 1", "--data", data)
        let file = folder.appending(path: "out.gpkg").path
        _ = try await fieldwork("export", "Trees", "--to", file, "--data", data)
        return (data, file)
    }

    @Test(
        "It has the features alone, no bookkeeping, and GDAL opens it without a word",
        .enabled(if: Shell.has("ogrinfo") && Shell.has("sqlite3"), "needs ogrinfo (gdal-bin) and sqlite3"))
    func plain() async throws {
        let folder = try TemporaryFolder()
        let (_, file) = try await Self.exported(in: folder.url)
        let log = folder.url.appending(path: "log")
        let sql = "SELECT type || ' ' || name FROM sqlite_master WHERE name LIKE 'fieldwork%'"
        try #require(await Shell.run("sqlite3 '\(file)' \"\(sql)\" > '\(log.path)'") == 0)
        #expect(try String(contentsOf: log, encoding: .utf8).isEmpty)
        let mode = "PRAGMA journal_mode; SELECT count(*) FROM gpkg_extensions WHERE extension_name LIKE 'fieldwork%'"
        try #require(await Shell.run("sqlite3 '\(file)' \"\(mode)\" > '\(log.path)'") == 0)
        #expect(try String(contentsOf: log, encoding: .utf8) == "delete\n0\n")
        try #require(await Shell.run("ogrinfo -ro -al '\(file)' > '\(log.path)' 2> '\(log.path).errors'") == 0)
        #expect(try String(contentsOf: URL(filePath: "\(log.path).errors"), encoding: .utf8).isEmpty)
        let told = try String(contentsOf: log, encoding: .utf8)
        #expect(told.contains("Feature Count: 2") && told.contains("code (String) = 007"), "\(told)")
        try #require(await Shell.run("ogrinfo -ro -q '\(file)' > '\(log.path)'") == 0)
        #expect(try String(contentsOf: log, encoding: .utf8).split(separator: "\n").count == 1, "one layer")
    }

    @Test("It comes back in with its types, lists of values, ids and global ids, and under another name")
    func comesBack() async throws {
        let folder = try TemporaryFolder()
        let (data, file) = try await Self.exported(in: folder.url)
        _ = try await Self.fieldwork(
            "publish", file, "--service", "Again", "--layer", "Street trees", "--data", data)
        var texts: [String] = []
        for name in ["Trees", "Again"] {
            texts.append(try await Self.fieldwork("query", name, "--format", "json", "--data", data))
        }
        #expect(texts[0] == texts[1] && texts[0].contains(#""code":"007""#))
        let shown = try await Self.fieldwork("service", "show", "Again", "--data", data)
        #expect(shown.contains("\"States\"") && shown.contains("\"State\"") && shown.contains("\"Street trees\""))
        #expect(shown.contains("esriFieldTypeGlobalID") && shown.contains("\"renderer\""))
        // The history stays where it was made.
        let id = try #require(texts[1].firstMatch(of: /"OBJECTID":(\d+)/)).1
        let history = try await Self.fieldwork("history", "Again", String(id), "--data", data)
        #expect(history.isEmpty)
        _ = try await Self.fieldwork("doctor", "--data", data)
    }

    @Test(
        "A file that another program has changed since is taken as it is now",
        .enabled(if: Shell.has("sqlite3"), "sqlite3 is not installed"))
    func changedSince() async throws {
        let folder = try TemporaryFolder()
        let (data, file) = try await Self.exported(in: folder.url)
        try #require(await Shell.run("sqlite3 '\(file)' \"ALTER TABLE Trees ADD COLUMN crown DOUBLE\"") == 0)
        _ = try await Self.fieldwork("publish", file, "--service", "Again", "--data", data)
        let rows = try await Self.fieldwork("query", "Again", "--format", "csv", "--data", data)
        #expect(rows.contains("crown") && rows.split(separator: "\r\n").count == 3)
        // A definition that can't be read is passed over.
        for change in [
            "substr(metadata, 1, 900)", "replace(metadata, 'esriFieldTypeOID', 'esriFieldTypeString')", "x'00'",
        ] {
            let (_, other) = try await Self.exported(in: folder.url.appending(path: UUID().uuidString))
            try #require(
                await Shell.run("sqlite3 '\(other)' \"UPDATE gpkg_metadata SET metadata = \(change)\"") == 0)
            let name = "S\(change.utf8.count)"
            _ = try await Self.fieldwork("publish", other, "--service", name, "--data", data)
            let same = try await Self.fieldwork("query", name, "--format", "csv", "--data", data)
            #expect(same.contains("007") && same.split(separator: "\r\n").count == 3)
        }
    }

    @Test("It is edited in place, and keeps the log from then on")
    func inPlace() async throws {
        let folder = try TemporaryFolder()
        let (data, file) = try await Self.exported(in: folder.url)
        _ = try await Self.fieldwork("publish", file, "--service", "Own", "--in-place", "--data", data)
        _ = try await Self.fieldwork("calculate", "Own", "condition", "'G'", "--data", data)
        let rows = try await Self.fieldwork("query", "Own", "--format", "json", "--data", data)
        let id = try #require(rows.firstMatch(of: /"OBJECTID":(\d+)/)).1
        let history = try await Self.fieldwork("history", "Own", String(id), "--data", data)
        #expect(history.contains(#"condition = "P" became "G""#), "\(history)")
    }
}
