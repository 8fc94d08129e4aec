import Foundation
import Testing

/// The way of somebody who begins: the tutorial as it stands, and the shortest way to two devices.
@Suite("The whole way", .serialized, .timeLimit(.minutes(5)))
struct WholeWayTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The commands of a page, in their order.
    private static func commands(of page: String) throws -> String {
        let text = try String(contentsOf: repository.appending(path: "Documentation/\(page)"), encoding: .utf8)
        var lines: [String] = []
        var isCode = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isCode = line == "```sh"
            } else if isCode {
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test(
        "Every command of the tutorial does what the page says",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func tutorial() async throws {
        let folder = try TemporaryFolder()
        let bin = folder.url.appending(path: "bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: bin.appending(path: "fieldwork"), withDestinationURL: FieldworkProcess.executable)
        let free = try await FieldworkProcess.run(
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"],
            program: URL(filePath: "/usr/bin/python3"))
        let port = free.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let commands = try Self.commands(of: "tutorial.md").replacing("8090", with: port)
        #expect(commands.split(separator: "\n").count { $0.contains("fieldwork ") } > 15)
        let work = folder.url.appending(path: "work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        let script = """
            set -eu
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            cd '\(work.path)'
            \(commands)
            """
        let ran = try await FieldworkProcess.run(
            ["-c", script], environment: ["PATH": "\(bin.path):/usr/local/bin:/usr/bin:/bin", "HOME": folder.url.path],
            program: URL(filePath: "/bin/bash"))
        try #require(ran.status == 0, "\(ran.text)\n\(ran.errors)")
        // What the page promises: the edit of the device, its history, and the state that was put back.
        #expect(ran.text.contains("Published Trees: 4 features"))
        #expect(ran.text.contains(#"condition = "Good" became "Poor""#), "\(ran.text)")
        #expect(ran.text.contains("3,Poor") && ran.text.contains("Put Trees back"))
        #expect(ran.text.contains("Updated Trees: 1 added, 1 changed, 3 as they were"), "\(ran.text)")
        #expect(ran.text.contains("1 service is sound"))
    }

    @Test("Three commands lead from a spreadsheet to two devices that share an edit, in a minute")
    func threeCommands() async throws {
        let begun = ContinuousClock.now
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "trees.csv")
        try Data("Nr;Art;lon;lat\n1;Eiche;5,1;5,1\n2;Ulme;5,2;5,2\n".utf8).write(to: table)
        let data = folder.url.appending(path: "office")

        // 1. The office publishes its table.
        let published = try await FieldworkProcess.run([
            "publish", table.path, "--service", "Trees", "--sync", "--data", data.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
        // 2. It serves it.
        let server = try await FieldworkProcess.serve(data: data)
        // 3. Each device opens it.
        let service = "\(server.services)/Trees/FeatureServer"
        let first = try await CollectVisitor.start(map: service, data: folder.url.appending(path: "first"))
        let second = try await CollectVisitor.start(map: service, data: folder.url.appending(path: "second"))
        #expect(try await second.page("/list/0?scope=all").contains("Eiche"))

        let list = try await first.page("/list/0?scope=all")
        let form = try #require(list.firstMatch(of: /href="(\/f\/0\/[^"]+\/edit)"/)).1
        try await first.post(String(form), ["session": "s1", "field.Art": "Linde"])
        try await first.post("/sync")
        try await first.wait("/changes", for: "Everything is sent")
        try await second.wait("/list/0?scope=all", for: "Linde")
        let taken = begun.duration(to: .now)
        #expect(taken < .seconds(60), "\(taken)")
        for app in [first, second] { await app.process.kill() }
        await server.kill()
    }
}
