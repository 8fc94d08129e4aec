import Fieldwork
import FieldworkGeometry
import Foundation
import TestSupport
import Testing

/// Kills the download and the updates of a whole map again and again. After each kill the package is whole or not there, the next run
/// continues, and the finished package equals one whose download was never interrupted.
@Suite(
    "Crash of a whole map", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: Shell.has("sqlite3") && Shell.has("ogr2ogr"), "needs ogr2ogr (gdal-bin) and sqlite3"))
final class MapCrashTests {
    /// `FIELDWORK_MAP_CRASH_ROUNDS` sets how often each is killed; the full proof is 300.
    private static let rounds =
        ProcessInfo.processInfo.environment["FIELDWORK_MAP_CRASH_ROUNDS"].flatMap(Int.init) ?? 8
    private static let trees = 1_000
    private static let photos = 20

    private let folder: TemporaryFolder
    private let server: FieldworkProcess
    private var service: String { "\(server.services)/Trees/FeatureServer" }

    /// Trees with photos, and a basemap of streets.
    init() async throws {
        folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data").path
        let (table, streets) = (folder.url.appending(path: "trees.csv"), folder.url.appending(path: "streets.geojson"))
        let rows = (0..<Self.trees).map {
            "Tree \($0),\(-122.65 + Double($0 % 50) / 1_000),\(45.55 + Double($0 / 50) / 1_000)"
        }
        try Data(("name,x,y\n" + rows.joined(separator: "\n") + "\n").utf8).write(to: table)
        let lines = (0..<200).map { number in
            let (x, y) = (-122.65 + Double(number % 20) * 0.002, 45.55 + Double(number / 20) * 0.002)
            return """
                {"type":"Feature","properties":{"highway":"residential","name":"Street \(number)"},\
                "geometry":{"type":"LineString","coordinates":[[\(x),\(y)],[\(x + 0.004),\(y + 0.003)]]}}
                """
        }
        try Data(#"{"type":"FeatureCollection","features":[\#(lines.joined(separator: ","))]}"#.utf8).write(to: streets)
        let definition = folder.url.appending(path: "definition.json")
        try Data(#"{"layers":[{"id":0,"hasAttachments":true}]}"#.utf8).write(to: definition)
        for arguments in [
            ["publish", table.path, "--service", "Trees", "--x", "x", "--y", "y", "--sync"],
            ["service", "edit", "Trees", "--merge", "--file", definition.path],
            ["basemap", "make", streets.path, "--name", "Streets"],
        ] {
            let done = try await FieldworkProcess.run(arguments + ["--data", data])
            try #require(done.status == 0, "\(done.errors)")
        }
        server = try await FieldworkProcess.serve(data: URL(filePath: data))
        for number in 0..<Self.photos { try await addPhoto(number, of: number) }
    }

    // MARK: The server

    private func served() async throws -> ServiceFeatureTable {
        let table = ServiceFeatureTable(url: try #require(URL(string: "\(service)/0")))
        try await table.load()
        return table
    }

    private func tree(_ number: Int, of table: ServiceFeatureTable) async throws -> ArcGISFeature {
        let parameters = QueryParameters()
        parameters.whereClause = "name = 'Tree \(number)'"
        let found = try await table.queryFeatures(using: parameters, queryFeatureFields: .loadAll).features()
        return try #require(found.first { _ in true } as? ArcGISFeature)
    }

    private func addPhoto(_ number: Int, of tree: Int) async throws {
        let table = try await served()
        let feature = try await self.tree(tree, of: table)
        var content = Data("photo \(number) ".utf8)
        while content.count < 40_000 { content += content.prefix(20_000) }
        try await feature.addAttachment(named: "photo\(number).jpg", contentType: "image/jpeg", data: content)
        _ = try await table.applyEdits()
    }

    private func rename(_ tree: Int) async throws {
        let table = try await served()
        let feature = try await self.tree(tree, of: table)
        feature.setAttributeValue("Tree \(tree) renamed", forKey: "name")
        try await table.update(feature)
        _ = try await table.applyEdits()
    }

    // MARK: Packages

    private func create(_ package: String) -> [String] {
        [
            "offline", "create", service, "--area", "-122.66,45.54,-122.59,45.58", "--basemap",
            "\(server.services)/Streets/VectorTileServer", "--out", package,
        ]
    }

    /// Runs a verb and kills it at some moment, until it has come to its end.
    /// - Parameter check: what holds after each death.
    /// - Returns: how often it was killed.
    private func runWithKills(
        _ arguments: [String], within milliseconds: Int, atMost: Int, _ check: () async throws -> Void
    ) async throws -> Int {
        var (kills, tries) = (0, 0)
        while kills < atMost, tries < 50 {
            tries += 1
            let process = try FieldworkProcess.start(arguments)
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...milliseconds)))
            if !process.isRunning, await process.status() == 0 { return kills }
            await process.kill()
            kills += 1
            try await check()
        }
        let last = try await FieldworkProcess.run(arguments)
        // It may have been killed after all was done.
        let isThere = last.errors.contains("is there already")
        #expect(last.status == 0 || isThere, "\(last.text)\(last.errors)")
        return kills
    }

    /// What a package says of its features and photos, whatever the ids of its replica are.
    private func contents(_ package: String) async throws -> String {
        let output = folder.url.appending(path: "contents.txt")
        let file = "\(package)/data.gpkg"
        let statements = [
            "SELECT name, globalid, hex(geom) FROM Trees ORDER BY globalid",
            """
            SELECT a.globalid, t.name, att_name, m.sha256, length(m.data) FROM fieldwork_attachments_0 AS a
            JOIN Trees AS t ON t.OBJECTID = a.base_id JOIN fieldwork_media AS m ON m.id = a.related_id ORDER BY 1
            """,
            "PRAGMA integrity_check",
        ]
        let sql = statements.joined(separator: "; ").replacing("\n", with: " ")
        try #require(await Shell.run("sqlite3 '\(file)' \"\(sql)\" > '\(output.path)'") == 0)
        return try String(contentsOf: output, encoding: .utf8)
    }

    private func basemap(_ package: String) throws -> Data {
        try Data(contentsOf: URL(filePath: package).appending(path: "basemap.vtpk"))
    }

    private func expectSound(_ package: String) async throws {
        let checked = try await FieldworkProcess.run(["doctor", package])
        #expect(checked.status == 0, "\(checked.text)\(checked.errors)")
    }

    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix("crew.") }
    }

    @Test("A download that is killed is whole or not there, goes on, and ends like one that nobody interrupted")
    func downloads() async throws {
        let (reference, crew) = (folder.url.appending(path: "reference").path, folder.url.appending(path: "crew").path)
        let begin = ContinuousClock.now
        let made = try await FieldworkProcess.run(create(reference))
        try #require(made.status == 0, "\(made.errors)")
        let duration = max(Int((ContinuousClock.now - begin) / .milliseconds(1)), 20)
        let (whole, tiles) = (try await contents(reference), try basemap(reference))
        #expect(whole.contains("photo19.jpg") && whole.hasSuffix("ok\n"))
        var kills = 0
        while kills < Self.rounds {
            // A few deaths for each, so that some come while it goes on.
            kills += try await runWithKills(create(crew), within: duration, atMost: 4) {
                if FileManager.default.fileExists(atPath: crew) { try await expectSound(crew) }
            }
            try await expectSound(crew)
            #expect(try await contents(crew) == whole)
            #expect(try basemap(crew) == tiles)
            #expect(try left() == [])
            let deleted = try await FieldworkProcess.run(["offline", "delete", crew])
            #expect(deleted.status == 0, "\(deleted.errors)")
        }
        // A replica for each package and no more: what was begun and killed is not begun again.
        let replicas = try await FieldworkProcess.run(["replicas", service]).text.split(separator: "\n")
        #expect(replicas.count == 1, "\(replicas)")
        #expect(await server.interrupt() == 0)
    }

    @Test("An update that is killed is taken or not, goes on, and ends with what the service has, each edit once")
    func updates() async throws {
        let crew = folder.url.appending(path: "crew").path
        let made = try await FieldworkProcess.run(create(crew))
        try #require(made.status == 0, "\(made.errors)")
        let file = "\(crew)/data.gpkg"
        var (kills, round, duration) = (0, 0, 150)
        while kills < Self.rounds {
            round += 1
            try #require(round < 4 * Self.rounds, "killed too rarely")
            // Others rename a tree and take a photo of it; another program changes a tree of the package.
            try await rename(100 + round % 400)
            try await addPhoto(Self.photos + round, of: round % 50)
            let edit = "UPDATE Trees SET name = 'Own \(round)' WHERE name = 'Tree \(600 + round % 300)'"
            try #require(await Shell.run("ogr2ogr -update -sql \"\(edit)\" '\(file)' '\(file)' 2>&1") == 0)
            let begin = ContinuousClock.now
            let died = try await runWithKills(["offline", "update", crew], within: duration, atMost: 3) {
                try await expectSound(crew)
            }
            if died == 0 { duration = max(Int((ContinuousClock.now - begin) / .milliseconds(1)), 20) }
            kills += died
            try await expectSound(crew)
            let rows = try await FieldworkProcess.run([
                "query", "\(service)/0", "--out-fields", "name", "--format", "csv",
            ])
            let lines = rows.text.split(whereSeparator: \.isNewline).dropFirst()
            let names = lines.compactMap { $0.split(separator: ",").first }.sorted()
            #expect(names.count == Self.trees)
            #expect(Set(names).count == Self.trees)
            let here = try await contents(crew)
            let own = here.split(separator: "\n").filter { $0.split(separator: "|").count == 3 }
            let isEqual = own.compactMap { $0.split(separator: "|").first }.sorted() == names
            #expect(isEqual)
            let (isServed, isFetched) = (
                names.contains("Own \(round)"), here.contains("photo\(Self.photos + round).jpg")
            )
            #expect(isServed && isFetched)
        }
        #expect(await server.interrupt() == 0)
    }

    @Test(
        "A command that was killed when all was made says so when it is given again; another file is not taken for it")
    func killedAtTheEnd() async throws {
        let crew = folder.url.appending(path: "crew").path
        let file = folder.url.appending(path: "crew.gpkg").path
        let extent = ["offline", "create", service, "--extent", "-122.66,45.54,-122.59,45.58", "--out", file]
        for (target, verb) in [(crew, create(crew)), (file, extent)] {
            let process = try FieldworkProcess.start(verb)
            var state = Data()
            while state.isEmpty || !FileManager.default.fileExists(atPath: target) {
                if let bytes = try? Data(contentsOf: URL(filePath: "\(target).job")) { state = bytes }
                if !process.isRunning { break }
            }
            #expect(await process.status() == 0)
            try #require(!state.isEmpty)
            // As the process left it in the moment before its end.
            try state.write(to: URL(filePath: "\(target).job"))
            let again = try await FieldworkProcess.run(verb)
            #expect(again.status == 0 && again.text.contains("with 1000 features"), "\(again.text)\(again.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(target).job"))
            #expect(try await FieldworkProcess.run(verb).status == 73)
            try FileManager.default.removeItem(atPath: target)
            try state.write(to: URL(filePath: "\(target).job"))
            try Data("another".utf8).write(to: URL(filePath: target))
            #expect(try await FieldworkProcess.run(verb).status != 0)
            #expect(try Data(contentsOf: URL(filePath: target)) == Data("another".utf8))
        }
        #expect(await server.interrupt() == 0)
    }
}
