import Foundation
import Testing

/// Backups of services, put back by hand and by the verb, while real servers run or after they were killed.
@Suite("Backups", .serialized)
final class BackupTests: Sendable {
    private let folder: TemporaryFolder
    private var data: URL { folder.url.appending(path: "data", directoryHint: .isDirectory) }
    private var file: URL { data.appending(path: "Trees.gpkg") }

    init() async throws {
        folder = try TemporaryFolder()
        let csv = folder.url.appending(path: "trees.csv")
        try Data("x,y,name\n1,1,seed\n".utf8).write(to: csv)
        try await run("publish", csv.path, "--service", "Trees", "--x", "x", "--y", "y", "--wkid", "4326")
    }

    @discardableResult
    private func run(_ arguments: String..., status: Int32 = 0) async throws -> FieldworkProcess.Output {
        let output = try await FieldworkProcess.run(arguments + ["--data", data.path])
        #expect(output.status == status, "\(arguments): \(output.text)\(output.errors)")
        return output
    }

    /// - Returns: the names whose edits were acknowledged.
    @discardableResult
    private func add(_ names: [String], to server: FieldworkProcess) async throws -> [String] {
        var acknowledged: [String] = []
        for name in names {
            let adds = #"[{"attributes":{"name":"\#(name)"},"geometry":{"x":2,"y":2}}]"#
            let answer = try? await PlainRequest.post(
                "\(server.services)/Trees/FeatureServer/0/applyEdits", [("f", "json"), ("adds", adds)])
            let results = answer?["addResults"] as? [[String: Any]] ?? []
            if results.first?["success"] as? Bool == true { acknowledged.append(name) }
        }
        return acknowledged
    }

    private func names(_ server: FieldworkProcess) async throws -> Set<String> {
        let page = try await PlainRequest.post(
            "\(server.services)/Trees/FeatureServer/0/query",
            [("f", "json"), ("where", "1=1"), ("outFields", "name"), ("returnGeometry", "false")])
        let features = try #require(page["features"] as? [[String: Any]], "\(page)")
        return Set(features.compactMap { ($0["attributes"] as? [String: Any])?["name"] as? String })
    }

    private func named(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }

    private func setAside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: data.path).filter { $0.contains("-wal.set-aside-") }
    }

    /// Asks until the server has noticed what was done to its file.
    private func settled(_ server: FieldworkProcess, _ wanted: Set<String>) async throws -> Set<String> {
        var found: Set<String> = []
        for _ in 0..<100 {
            found = (try? await names(server)) ?? []
            if found == wanted { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        return found
    }

    @Test(
        "A backup put over the file of a killed server is served as it is, and the log of the other file is set aside")
    func putBackAfterACrash() async throws {
        let backup = folder.url.appending(path: "backup.gpkg")
        try FileManager.default.copyItem(at: file, to: backup)
        // The log of the server goes through the file once, so that file and backup are two states.
        var server = try await FieldworkProcess.serve(data: data)
        try await add(named("a", 20), to: server)
        #expect(await server.interrupt() == 0)
        server = try await FieldworkProcess.serve(data: data)
        #expect(try await add(named("b", 20), to: server).count == 20)
        await server.kill()
        let bytes = try Data(contentsOf: backup)
        try bytes.write(to: file)
        let checked = try await run("doctor", status: 65)
        #expect(checked.text.contains("belongs to another file"))

        server = try await FieldworkProcess.serve(data: data)
        #expect(try await names(server) == ["seed"])
        #expect(try await add(named("c", 20), to: server).count == 20)
        #expect(try await names(server) == Set(["seed"] + named("c", 20)))
        #expect(try setAside().count == 1)
        #expect(try server.errors().contains("was set aside as Trees.gpkg-wal.set-aside-"))
        #expect(await server.interrupt() == 0)
        try await run("doctor")
    }

    @Test("A killed server's own log is never taken for another's")
    func ownLog() async throws {
        var all: Set<String> = ["seed"]
        for round in 0..<5 {
            let server = try await FieldworkProcess.serve(data: data)
            #expect(try await names(server) == all)
            all.formUnion(try await add(named("r\(round)-", 15), to: server))
            await server.kill()
        }
        let server = try await FieldworkProcess.serve(data: data)
        #expect(try await names(server) == all)
        #expect(all.count == 76)
        #expect(try setAside().isEmpty)
    }

    enum Way: String, CaseIterable { case renamed, copiedOver }

    @Test(
        "A backup put over a served file is served, and no edit is acknowledged that is in neither",
        arguments: Way.allCases)
    func putBackWhileServing(_ way: Way) async throws {
        let server = try await FieldworkProcess.serve(data: data)
        try await add(named("a", 5), to: server)
        let backup = folder.url.appending(path: "backup.gpkg")
        try await run("backup", "Trees", "--to", backup.path)
        try await add(named("b", 40), to: server)
        let bytes = try Data(contentsOf: backup)
        switch way {
        case .renamed:
            let other = data.appending(path: "other")
            try bytes.write(to: other)
            try #require(rename(other.path, file.path) == 0)
        case .copiedOver:
            // As cp does: the same file, emptied and written.
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
        let acknowledged = try await add(named("c", 30), to: server)
        let wanted = Set(["seed"] + named("a", 5) + acknowledged)
        #expect(try await settled(server, wanted) == wanted)
        // Afterwards it works as ever.
        #expect(try await add(named("d", 10), to: server).count == 10)
        #expect(try server.errors().contains("Trees.gpkg was replaced by another file"))
        await server.kill()
        let next = try await FieldworkProcess.serve(data: data)
        #expect(try await names(next) == wanted.union(named("d", 10)))
        #expect(await next.interrupt() == 0)
        try await run("doctor")
    }

    @Test("A backup of a running server is whole, and put back it is served with what was replaced beside it")
    func verbs() async throws {
        let server = try await FieldworkProcess.serve(data: data)
        try await add(named("a", 5), to: server)
        let place = folder.url.appending(path: "kept", directoryHint: .isDirectory)
        try await run("backup", "--to", place.path)
        try await run("backup", "--to", place.path, status: 73)
        try await add(named("b", 5), to: server)
        let backup = place.appending(path: "Trees.gpkg").path
        #expect(FileManager.default.fileExists(atPath: backup + "-wal") == false)
        let restored = try await run("restore-backup", backup)
        #expect(restored.text.contains("is kept as"))
        let wanted = Set(["seed"] + named("a", 5))
        #expect(try await settled(server, wanted) == wanted)
        #expect(try await add(named("c", 5), to: server).count == 5)
        // What was replaced is whole, and can be put back in its turn.
        let kept = try #require(
            try FileManager.default.contentsOfDirectory(atPath: data.path).first { $0.contains(".replaced-") })
        try await run("restore-backup", data.appending(path: kept).path, "--service", "Trees")
        let before = wanted.union(named("b", 5))
        #expect(try await settled(server, before) == before)
        #expect(await server.interrupt() == 0)
        try await run("doctor")
        // A database has its own tools.
        let refused = try await FieldworkProcess.run([
            "backup", "--to", place.path, "--store", "postgres://localhost/none",
        ])
        #expect(refused.status == 64 && refused.errors.contains("pg_dump"))
    }

    @Test("A damaged backup is refused, and the service stays as it is")
    func damagedBackup() async throws {
        let backup = folder.url.appending(path: "Trees.gpkg")
        try await run("backup", "Trees", "--to", backup.path)
        var bytes = try Data(contentsOf: backup)
        bytes.replaceSubrange(bytes.count / 2..<bytes.count, with: Data(count: bytes.count - bytes.count / 2))
        try bytes.write(to: backup)
        let refused = try await FieldworkProcess.run(["restore-backup", backup.path, "--data", data.path])
        #expect(refused.status != 0)
        let server = try await FieldworkProcess.serve(data: data)
        #expect(try await names(server) == ["seed"])
    }
}
