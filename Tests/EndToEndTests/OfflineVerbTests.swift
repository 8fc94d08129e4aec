import Foundation
import Testing

/// Two crews on the command line: an area taken along, edited by another program, brought back.
@Suite(
    "Offline on the command line", .serialized,
    .enabled(if: Shell.has("ogr2ogr"), "GDAL, which plays the other program, is not installed."))
final class OfflineVerbTests {
    private let folder: URL
    private let server: FieldworkProcess
    private var service: String { "\(server.services)/Trees/FeatureServer" }

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-crews-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (csv, data) = (folder.appending(path: "trees.csv"), folder.appending(path: "data"))
        try Data("species,height,lon,lat\nOak,7,-122.6,45.5\nElm,3,-122.61,45.51\nFir,9,-100,40\n".utf8).write(to: csv)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Trees", "--x", "lon", "--y", "lat", "--data", data.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
        let document = folder.appending(path: "sync.json")
        try Data(#"{"capabilities":"Query,Create,Update,Delete,Editing,Sync"}"#.utf8).write(to: document)
        let edited = try await FieldworkProcess.run([
            "service", "edit", "Trees", "--merge", "--file", document.path, "--data", data.path,
        ])
        try #require(edited.status == 0, "\(edited.errors)")
        server = try await FieldworkProcess.serve(data: data)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ crew: String) -> String { folder.appending(path: "\(crew).gpkg").path }

    @discardableResult
    private func run(_ arguments: String..., status: Int32 = 0) async throws -> String {
        let output = try await FieldworkProcess.run(arguments)
        #expect(output.status == status, "\(arguments): \(output.text)\(output.errors)")
        return output.text
    }

    private func edit(_ crew: String, _ statement: String) async throws {
        try #require(await Shell.run("ogr2ogr -update -sql \"\(statement)\" \(file(crew)) \(file(crew)) 2>&1") == 0)
    }

    private func served() async throws -> String {
        try await run("query", "\(service)/0", "--out-fields", "species,height", "--format", "csv")
    }

    @Test("Edits that another program made arrive, different fields merge, and what lost can be brought back")
    func crews() async throws {
        for crew in ["north", "south"] {
            let text = try await run(
                "offline", "create", service, "--extent", "-122.7,45.4,-122.5,45.6", "--out", file(crew))
            #expect(text.contains("with 2 features"))
        }
        #expect(try await run("replicas", service).split(separator: "\n").count == 2)
        try await edit("north", "UPDATE Trees SET species = 'Ash' WHERE height = 7")
        try await edit("south", "UPDATE Trees SET height = 8 WHERE species = 'Oak'")
        try await edit("south", "UPDATE Trees SET species = 'Yew' WHERE species = 'Oak'")
        #expect(try await run("diff", file("north")).contains("Ash"))
        try await run("sync", file("north"))
        #expect(try await run("diff", file("north")).isEmpty)
        try await run("sync", file("south"))
        // The height merges; of the species the last one stands.
        #expect(try await served().contains("Yew,8"))
        let list = try await run("conflicts", "list", service)
        #expect(list.split(separator: "\n").count == 1 && list.contains("Ash"))
        let number = try #require(list.split(separator: " ").first.map(String.init))
        let both = try await run("conflicts", "show", service, number)
        #expect(both.contains("Ash") && both.contains("Yew"))
        try await run("conflicts", "restore", service, number)
        #expect(try await served().contains("Ash,8"))
        let history = try await run("history", "\(service)/0", "1")
        #expect(history.split(separator: "\n").count >= 3 && history.contains("species = \"Yew\""))
        try await run("restore", "\(service)/0", "1")
        #expect(try await served().contains("Yew,8"))
        try await run("restore", "\(service)/0", "nobody", status: 64)
        try await run("sync", file("south"))
        #expect(try await run("diff", file("south")).isEmpty)
        #expect(try await run("query", file("south"), "--format", "csv", status: 66).isEmpty)
    }

    @Test("A replica that was ended still hands its edits in")
    func endedReplica() async throws {
        try await run("offline", "create", service, "--extent", "-122.7,45.4,-122.5,45.6", "--out", file("north"))
        let id = try #require(try await run("replicas", service).split(separator: " ").first.map(String.init))
        try await run("replicas", service, "--end", id)
        #expect(try await run("replicas", service).isEmpty)
        try await edit("north", "UPDATE Trees SET height = 11 WHERE species = 'Elm'")
        try await run("sync", file("north"))
        #expect(try await served().contains("Elm,11"))
    }

    @Test("What can't be done is told, and leaves no file")
    func refusals() async throws {
        try await run("offline", "create", service, "--extent", "1,2,3", "--out", file("none"), status: 65)
        try await run("offline", "create", "\(service)x", "--extent", "1,2,3,4", "--out", file("none"), status: 65)
        #expect(!FileManager.default.fileExists(atPath: file("none")))
    }
}
