import Foundation
import Testing

/// What cannot be done is said with its name, before any long work, and with what to do next.
@Suite("Refusals on the command line", .serialized, .timeLimit(.minutes(5)))
struct RefusalTests {
    private static func run(_ arguments: String..., status: Int32) async throws -> String {
        let output = try await FieldworkProcess.run(arguments)
        #expect(output.status == status, "\(arguments): \(output.status) \(output.text)\(output.errors)")
        return output.errors
    }

    private static func published(in folder: URL) async throws -> (table: String, data: String) {
        let table = folder.appending(path: "trees.csv")
        try Data("number,lon,lat\n1,-122.5,45.5\n".utf8).write(to: table)
        let data = folder.appending(path: "data").path
        let output = try await FieldworkProcess.run(["publish", table.path, "--service", "Trees", "--data", data])
        try #require(output.status == 0, "\(output.errors)")
        return (table.path, data)
    }

    @Test("The name of an unpublished service is said to be that")
    func unpublished() async throws {
        let folder = try TemporaryFolder()
        let (table, data) = try await Self.published(in: folder.url)
        _ = try await Self.run("unpublish", "Trees", "--data", data, status: 0)
        let taken = try await Self.run("publish", table, "--service", "Trees", "--data", data, status: 73)
        #expect(
            taken.contains("an unpublished service Trees") && taken.contains("--restore") && taken.contains("--delete"))
        #expect(try await Self.run("unpublish", "Trees", "--data", data, status: 66).contains("unpublished already"))
        #expect(try await Self.run("unpublish", "Shrubs", "--data", data, status: 66).contains("no service Shrubs"))
        _ = try await Self.run("unpublish", "Trees", "--restore", "--data", data, status: 0)
    }

    @Test("Files that are something else are named before anything is begun")
    func otherFiles() async throws {
        let folder = try TemporaryFolder()
        let (_, data) = try await Self.published(in: folder.url)
        let junk = folder.url.appending(path: "junk.csv")
        try Data("no map\n".utf8).write(to: junk)
        #expect(
            try await Self.run("collect", junk.path, "--port", "0", status: 65).contains("junk.csv is no GeoPackage"))
        let empty = folder.url.appending(path: "empty.gpkg")
        try Data().write(to: empty)
        let refused = try await Self.run("publish", empty.path, "--service", "Zero", "--data", data, status: 65)
        #expect(refused.contains("empty.gpkg") && !refused.contains("Zero.gpkg"), "\(refused)")
        let service = "http://127.0.0.1:9/arcgis/rest/services/Trees/FeatureServer"
        let area = "--extent=-123,45,-122,46"
        // None of these asks the service, which is not there.
        let ending = try await Self.run("offline", "create", service, area, "--out", "/tmp/area.txt", status: 64)
        #expect(ending.contains(".gpkg"))
        let nowhere = try await Self.run("offline", "create", service, area, "--out", "/nowhere/a.gpkg", status: 73)
        #expect(nowhere.contains("/nowhere is not there"))
        _ = try await Self.run("offline", "create", service, "--extent", "1,2,x,4", "--out", "/tmp/a.gpkg", status: 64)
        let away = try await Self.run(
            "offline", "create", service, area, "--out", folder.url.appending(path: "a.gpkg").path, status: 69)
        #expect(away.contains("127.0.0.1 can't be reached: Connection refused"), "\(away)")
    }

    @Test("A service in the place of a layer is answered with its layers, and a limit below zero with its rule")
    func layers() async throws {
        let folder = try TemporaryFolder()
        let (_, data) = try await Self.published(in: folder.url)
        let server = try await FieldworkProcess.serve(data: URL(filePath: data))
        let service = "\(server.services)/Trees/FeatureServer"
        let refused = try await Self.run("query", service, status: 66)
        #expect(refused.contains("\(service)/0 (Trees)"), "\(refused)")
        _ = try await Self.run("services", service, status: 66)
        #expect(try await Self.run("query", "\(service)/0", "--limit", "-3", status: 64).contains("not negative"))
        let none = try await Self.run("history", "\(service)/0", "1", status: 0)
        #expect(none.contains("no earlier version"))
        let out = folder.url.appending(path: "area.gpkg").path
        let closed = try await Self.run(
            "offline", "create", service, "--extent=-123,45,-122,46", "--out", out, status: 65)
        #expect(closed.contains("without Sync") && !closed.contains("Taken offline"), "\(closed)")
        // What it says to do is what helps.
        let advice = try #require(closed.firstMatch(of: /echo '(.*)' \|/)).1
        let document = folder.url.appending(path: "sync.json")
        try Data(advice.utf8).write(to: document)
        _ = try await Self.run(
            "service", "edit", "Trees", "--merge", "--file", document.path, "--data", data, status: 0)
        // A running server looks at most a second later whether a definition has changed.
        while try await (PlainRequest.post(service, [("f", "json")])["capabilities"] as? String)?.contains("Sync")
            != true
        {
            try await Task.sleep(for: .milliseconds(100))
        }
        _ = try await Self.run("offline", "create", service, "--extent=-123,45,-122,46", "--out", out, status: 0)
        await server.kill()
    }

    @Test("A table that was cut says how many features there are, with the noun for so many")
    func cutTable() async throws {
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "many.csv")
        try Data("n,lon,lat\n\((0..<60).map { "\($0),1,2\n" }.joined())".utf8).write(to: table)
        let data = folder.url.appending(path: "data").path
        _ = try await Self.run("publish", table.path, "--service", "Many", "--data", data, status: 0)
        let cut = try await Self.run("query", "Many", "--data", data, status: 0)
        #expect(cut.contains("50 of 60 features; --limit shows more"), "\(cut)")
        #expect(try await Self.run("query", "Many", "--where", "n < 50", "--data", data, status: 0).isEmpty)
        let one = try await FieldworkProcess.run(
            ["calculate", "Many", "n", "$feature.n + 100", "--where", "n = 5", "--data", data])
        #expect(one.text == "Changed 1 of 1 feature.\n", "\(one.errors)")
    }

    @Test("A database that can't be reached is not available, and its password is not repeated")
    func database() async throws {
        let address = "postgres://field:secret@127.0.0.1:1/field"
        for verb in [["services"], ["store", "check"], ["query", "Trees"], ["serve", "--port", "0"]] {
            let output = try await FieldworkProcess.run(verb + ["--store", address])
            #expect(output.status == 69 && output.errors.contains("can't be reached"), "\(verb): \(output.errors)")
            #expect(!output.errors.contains("secret") && !output.errors.contains("\t"))
        }
        #expect(try await !Self.run("services", address, status: 64).contains("secret"))
    }

    @Test(
        "A terminal without escapes gets none",
        .enabled(if: Shell.has("script"), "script is not installed"))
    func plainTerminal() async throws {
        let folder = try TemporaryFolder()
        let (_, data) = try await Self.published(in: folder.url)
        let log = folder.url.appending(path: "log")
        let out = folder.url.appending(path: "out.csv").path
        let line = "'\(FieldworkProcess.executable.path)' export Trees --to '\(out)' --overwrite --data '\(data)'"
        for (terminal, hasEscapes) in [("dumb", false), ("xterm", true)] {
            try #require(
                await Shell.run("TERM=\(terminal) script -qec \"\(line)\" /dev/null > '\(log.path)'") == 0)
            let text = try String(contentsOf: log, encoding: .utf8)
            #expect(
                text.contains("Wrote 1 feature to") && text.contains("\u{1B}") == hasEscapes, "\(terminal): \(text)")
        }
    }

    @Test("Ctrl-C in the middle of an export ends it with its code, and leaves nothing")
    func interruptedExport() async throws {
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "many.csv")
        try Data("n,lon,lat\n\((0..<60_000).map { "\($0),1,2\n" }.joined())".utf8).write(to: table)
        let data = folder.url.appending(path: "data").path
        _ = try await Self.run("publish", table.path, "--service", "Many", "--data", data, status: 0)
        let exports = folder.url.appending(path: "exports")
        try FileManager.default.createDirectory(at: exports, withIntermediateDirectories: true)
        for (number, pause) in [0, 20, 60, 150, 300].enumerated() {
            let target = exports.appending(path: "\(number).geojson")
            let export = try FieldworkProcess.start(["export", "Many", "--to", target.path, "--data", data])
            while try FileManager.default.contentsOfDirectory(atPath: exports.path).isEmpty, export.isRunning {
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .milliseconds(pause))
            let code = await export.interrupt()
            let words = try export.errors()
            #expect(code == 130 && words.contains("Interrupted"), "\(pause): \(code) \(words)")
            let left = try FileManager.default.contentsOfDirectory(atPath: exports.path)
            #expect(left.isEmpty, "\(left)")
        }
    }
}
