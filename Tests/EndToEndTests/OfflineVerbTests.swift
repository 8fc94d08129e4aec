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
        let second = try await run("sync", file("south"))
        #expect(
            second.contains("kept     ~ Trees 1 ") && second.contains("species = \"Yew\"; replaced species = \"Ash\""))
        #expect(second.contains("have the same"))
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

    @Test("A command whose service could not be reached gives way to one with the right address or area")
    func corrected() async throws {
        let file = folder.appending(path: "north.gpkg").path
        let extent = "-122.7,45.4,-122.5,45.6"
        let wrong = "http://127.0.0.1:1/arcgis/rest/services/Trees/FeatureServer"
        let refused = try await FieldworkProcess.run(["offline", "create", wrong, "--extent", extent, "--out", file])
        #expect(refused.status != 0)
        #expect(try await run("offline", "create", service, "--extent", extent, "--out", file).contains("2 features"))
        #expect(!FileManager.default.fileExists(atPath: "\(file).job"))
    }

    @Test("A whole map is taken offline, listed, edited by another program, updated, checked and deleted")
    func wholeMap() async throws {
        let package = folder.appending(path: "crew").path
        let made = try await run("offline", "create", service, "--area", "-122.7,45.4,-122.5,45.6", "--out", package)
        #expect(made.contains("with 2 features"), "\(made)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: package).contains("data.gpkg"))
        #expect(try await run("offline", "list", folder.path).contains("0 unsent edits"))
        #expect(try await run("doctor", package).contains("1 file is sound"))
        let file = "\(package)/data.gpkg"
        try #require(
            await Shell.run(
                "ogr2ogr -update -sql \"UPDATE Trees SET species = 'Ash' WHERE height = 7\" \(file) \(file) 2>&1")
                == 0)
        #expect(try await run("offline", "list", folder.path).contains("1 unsent edit"))
        let list = try JSONSerialization.jsonObject(
            with: Data(try await run("offline", "list", folder.path, "--format", "json").utf8))
        let packages = try #require(list as? [[String: Any]])
        #expect(packages.map { $0["name"] as? String } == ["crew"] && packages[0]["unsentEdits"] as? Int == 1)
        try await run("offline", "delete", package, status: 73)
        #expect(FileManager.default.fileExists(atPath: file))
        try await run("offline", "update", package)
        #expect(try await served().contains("Ash,7"))
        #expect(try await run("offline", "list", folder.path).contains("0 unsent edits"))
        try await run("offline", "create", service, "--area", "-122.7,45.4,-122.5,45.6", "--out", package, status: 73)
        let map = URL(filePath: package).appending(path: "map.json")
        let bytes = try Data(contentsOf: map)
        try (bytes + Data(" ".utf8)).write(to: map)
        #expect(try await run("doctor", package, status: 65).contains("map.json has"))
        try bytes.write(to: map)
        try await run("offline", "delete", package)
        #expect(!FileManager.default.fileExists(atPath: package))
        #expect(try await run("replicas", service).isEmpty)
        try await run("offline", "create", service, "--out", package, status: 64)
    }

    @Test(
        "A map that is never synchronised is deleted with its edits only where that is said, and not while it is open")
    func withoutUpdates() async throws {
        let package = folder.appending(path: "copy").path
        try await run(
            "offline", "create", service, "--area", Self.area, "--no-updates", "--out", package)
        #expect(try await run("replicas", service).isEmpty)
        let file = "\(package)/data.gpkg"
        try #require(
            await Shell.run(
                "ogr2ogr -update -sql \"UPDATE Trees SET species = 'Ash' WHERE height = 7\" \(file) \(file) 2>&1")
                == 0)
        #expect(try await run("offline", "list", folder.path).contains("1 unsent edit\n"))
        try await run("offline", "update", package, status: 65)
        try await run("offline", "delete", package, status: 73)
        do {
            // As the app has it open.
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            defer { close(descriptor) }
            try await run("offline", "delete", package, "--lose-edits", status: 75)
            try await run("offline", "update", package, status: 75)
        }
        #expect(FileManager.default.fileExists(atPath: file))
        try await run("offline", "delete", package, "--lose-edits")
        #expect(!FileManager.default.fileExists(atPath: package))
    }

    @Test("A replica that was ended still hands its edits in")
    func endedReplica() async throws {
        try await run("offline", "create", service, "--extent", "-122.7,45.4,-122.5,45.6", "--out", file("north"))
        let id = try #require(try await run("replicas", service).split(separator: " ").first.map(String.init))
        try await run("replicas", service, "--end", id)
        #expect(try await run("replicas", service).isEmpty)
        try await edit("north", "UPDATE Trees SET height = 11 WHERE species = 'Elm'")
        let text = try await run("sync", file("north"), status: 4)
        #expect(text.contains("Sent 1 edit (1 changed): all taken") && text.contains("gets no changes any more"))
        #expect(!text.contains("have the same"))
        #expect(try await served().contains("Elm,11"))
        // There is nothing more to send: the file still does not get what others change.
        #expect(try await run("sync", file("north"), status: 4).contains("was ended"))
    }

    private func define(_ json: String) async throws {
        let document = folder.appending(path: "definition.json")
        try Data(json.utf8).write(to: document)
        try await run(
            "service", "edit", "Trees", "--merge", "--file", document.path, "--data",
            folder.appending(path: "data").path)
    }

    private static let area = "-122.7,45.4,-122.5,45.6"

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("An edit that lost to the service's rule is told with its field, and gives an exit code of its own")
    func lost() async throws {
        try await define(#"{"conflictRule":"holdForReview"}"#)
        for crew in ["north", "south", "east"] {
            try await run("offline", "create", service, "--extent", Self.area, "--out", file(crew))
        }
        try await edit("north", "UPDATE Trees SET species = 'Ash' WHERE height = 7")
        try await edit("south", "UPDATE Trees SET species = 'Yew' WHERE height = 7")
        try await edit("east", "UPDATE Trees SET species = 'Ivy' WHERE height = 7")
        #expect(try await run("sync", file("north")).contains("Sent 1 edit (1 changed): all taken; received 0 changes"))
        let text = try await run("sync", file("south"), status: 3)
        let line = try #require(text.split(separator: "\n").first)
        #expect(
            line.hasPrefix("lost     ~ Trees ") && line.contains("species = \"Yew\"; the service has species = \"Ash\"")
        )
        #expect(line.contains("waits for review") && text.contains("1 lost to the service's rule"))
        #expect(text.contains("fieldwork conflicts restore"))
        let outcome = try json(try await run("sync", file("east"), "--format", "json", status: 3))
        #expect(outcome["outcome"] as? String == "lost" && outcome["lost"] as? Int == 1)
        let conflicts = try #require(outcome["conflicts"] as? [[String: Any]])
        #expect(conflicts.count == 1 && conflicts[0]["winner"] as? String == "service")
        // It lost once: the file has the service's value, and the next sync is like any other.
        #expect(try await run("sync", file("south")).contains("have the same"))
    }

    @Test("A refused edit is shown with its reason by sync and by diff, until the service takes it")
    func refused() async throws {
        try await run("offline", "create", service, "--extent", Self.area, "--out", file("north"))
        let codes = ["Oak", "Elm", "Fir"].map { #"{"name":"\#($0)","code":"\#($0)"}"# }.joined(separator: ",")
        try await define(
            """
            {"layers":[{"id":0,"fields":[{"name":"species","domain":{"type":"codedValue","name":"kinds",\
            "codedValues":[\(codes)]}}]}]}
            """)
        try await edit("north", "UPDATE Trees SET species = 'Weird' WHERE height = 7")
        let text = try await run("sync", file("north"), status: 65)
        #expect(text.hasPrefix("refused  ~ Trees ") && text.contains("species = \"Weird\": "))
        #expect(text.contains("1 refused") && !text.contains("have the same"))
        let shown = try await run("diff", file("north"))
        #expect(shown.contains("species: \"Oak\" → \"Weird\"") && shown.contains("refused by the service: "))
        let list = try JSONSerialization.jsonObject(
            with: Data(try await run("diff", file("north"), "--format", "json").utf8))
        let edits = try #require(list as? [[String: Any]])
        #expect(edits.count == 1 && (edits[0]["refused"] as? String)?.isEmpty == false)
        let outcome = try json(try await run("sync", file("north"), "--format", "json", status: 65))
        #expect(outcome["outcome"] as? String == "refused")
        #expect((outcome["refused"] as? [[String: Any]])?.count == 1)
        try await edit("north", "UPDATE Trees SET species = 'Elm' WHERE height = 7")
        #expect(try await run("sync", file("north")).contains("have the same"))
        #expect(try await run("diff", file("north")).isEmpty)
    }

    @Test("A sync in one direction says what it left out")
    func oneDirection() async throws {
        try await run("offline", "create", service, "--extent", Self.area, "--out", file("north"))
        try await edit("north", "UPDATE Trees SET height = 12 WHERE species = 'Oak'")
        let down = try await run("sync", file("north"), "--direction", "download")
        #expect(down.contains("but for 1 edit not sent") && !down.contains("have the same"))
        let up = try await run("sync", file("north"), "--direction", "upload")
        #expect(up.contains("what others changed was not fetched") && !up.contains("have the same"))
        #expect(try await served().contains("Oak,12"))
    }

    @Test("Neither diff nor sync changes a GeoPackage that another program made")
    func foreignFile() async throws {
        let source = folder.appending(path: "trees.csv").path
        try #require(await Shell.run("ogr2ogr -f GPKG \(file("foreign")) \(source) 2>&1") == 0)
        let before = try Data(contentsOf: URL(filePath: file("foreign")))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for verb in ["diff", "sync"] {
            let output = try await FieldworkProcess.run([verb, file("foreign")])
            #expect(output.status == 65 && output.text.isEmpty && output.errors.contains("Nothing was changed"))
        }
        #expect(try Data(contentsOf: URL(filePath: file("foreign"))) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == files.sorted())
        for verb in ["diff", "sync"] {
            try await run(verb, file("gone"), status: 66)
            try await run(verb, source, status: 65)
        }
        // Not even one of Fieldwork's own: a file that can't be written can be looked at.
        try await run("offline", "create", service, "--extent", Self.area, "--out", file("north"))
        try await edit("north", "UPDATE Trees SET height = 12 WHERE species = 'Oak'")
        let own = try Data(contentsOf: URL(filePath: file("north")))
        #expect(try await run("diff", file("north")).contains("height: 7 → 12"))
        #expect(try Data(contentsOf: URL(filePath: file("north"))) == own)
    }

    @Test("What can't be done is told, and leaves no file")
    func refusals() async throws {
        try await run("offline", "create", service, "--extent", "1,2,3", "--out", file("none"), status: 64)
        try await run("offline", "create", "\(service)x", "--extent", "1,2,3,4", "--out", file("none"), status: 66)
        #expect(!FileManager.default.fileExists(atPath: file("none")))
    }
}
