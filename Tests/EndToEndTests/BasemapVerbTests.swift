import Foundation
import TestSupport
import Testing

/// `fieldwork basemap make`, as a person uses it.
@Suite("Basemaps on the command line", .serialized)
struct BasemapVerbTests {
    /// The middle of San Francisco, where the shared data lies beside the repository.
    private static let sanFrancisco: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "../shared/data/osm/sf-downtown.osm.pbf").standardized
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }()

    private static func names(_ folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    @Test("A basemap is made of an extract, listed, served with its styles, replaced only when it is said, and removed")
    func make() async throws {
        let folder = try TemporaryFolder()
        let (data, extract) = (folder.url.appending(path: "data"), folder.url.appending(path: "village.osm.pbf"))
        try Data(TinyExtract.village.bytes).write(to: extract)
        // What a process that was killed has left behind.
        let basemaps = data.appending(path: "basemaps")
        try FileManager.default.createDirectory(at: basemaps, withIntermediateDirectories: true)
        try Data().write(to: basemaps.appending(path: ".Old.4194399.making.parts"))
        let made = try await FieldworkProcess.run([
            "basemap", "make", extract.path, "--name", "Haven", "--data", data.path,
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.text.hasPrefix("Made Haven: "), "\(made.text)")
        #expect(made.errors.contains("The extract lacks 2 nodes"), "\(made.errors)")
        #expect(Self.names(basemaps) == ["Haven.tiles"])

        let again = try await FieldworkProcess.run([
            "basemap", "make", extract.path, "--name", "haven", "--data", data.path,
        ])
        #expect(again.status == 65 && again.errors.contains("--replace"), "\(again.errors)")
        let replaced = try await FieldworkProcess.run([
            "basemap", "make", extract.path, "--name", "Haven", "--data", data.path, "--replace", "--levels", "12-14",
        ])
        #expect(replaced.status == 0 && replaced.text.contains("levels 12 to 14"), "\(replaced.errors)")

        let server = try await FieldworkProcess.serve(data: data)
        let root = "\(server.services)/Haven/VectorTileServer"
        for (path, expected) in [
            ("", "\"maxLOD\":14"), ("/resources/styles/root.json", "../fonts/"),
            ("/resources/styles/dark.json?lang=de", "name:de"), ("/resources/styles/sunlight.json", "#6fb7ea"),
            ("/resources/styles/root.json?style=dark", "#1f2226"),
        ] {
            let body = try await PlainRequest.page(root + path + (path.contains("?") ? "&" : "?") + "f=json")
            let text = String(decoding: body, as: UTF8.self)
            #expect(text.contains(expected), "\(path): \(text.prefix(300))")
        }
        _ = await server.interrupt()
        let removed = try await FieldworkProcess.run(["basemap", "remove", "Haven", "--data", data.path])
        #expect(removed.status == 0 && Self.names(basemaps).isEmpty)
    }

    @Test("A part of a basemap is exported from the folder, from a file and from a server, and can be served again")
    func export() async throws {
        let folder = try TemporaryFolder()
        let (data, extract) = (folder.url.appending(path: "data"), folder.url.appending(path: "village.osm.pbf"))
        try Data(TinyExtract.village.bytes).write(to: extract)
        let made = try await FieldworkProcess.run([
            "basemap", "make", extract.path, "--name", "Haven", "--data", data.path,
        ])
        try #require(made.status == 0, "\(made.errors)")
        let area = ["--area", "10.0,50.0,10.02,50.02", "--data", data.path]
        func file(_ name: String) -> URL { folder.url.appending(path: name) }
        let size = try await FieldworkProcess.run(["basemap", "export", "Haven", "--estimate"] + area)
        #expect(size.status == 0 && size.text.contains("tiles, about"), "\(size.text)\(size.errors)")
        let whole = try await FieldworkProcess.run(["basemap", "export", "haven", "--out", file("a.vtpk").path] + area)
        #expect(whole.status == 0 && whole.text.hasPrefix("Wrote "), "\(whole.errors)")
        let taken = try await FieldworkProcess.run(["basemap", "export", "haven", "--out", file("a.vtpk").path] + area)
        #expect(taken.status == 73 || taken.status == 65, "\(taken.status) \(taken.errors)")
        let deep = try await FieldworkProcess.run(
            ["basemap", "export", file("a.vtpk").path, "--levels", "13-14", "--out", file("b.vtpk").path] + area)
        #expect(deep.status == 0, "\(deep.errors)")

        let server = try await FieldworkProcess.serve(data: data)
        let address = "\(server.services)/Haven/VectorTileServer"
        let remote = try await FieldworkProcess.run(
            ["basemap", "export", address, "--out", file("c.vtpk").path] + area)
        #expect(remote.status == 0, "\(remote.errors)")
        let estimate = try await FieldworkProcess.run(["basemap", "export", address, "--estimate"] + area)
        #expect(estimate.status == 0 && estimate.text == size.text, "\(estimate.text)\(estimate.errors)")
        _ = await server.interrupt()
        #expect(
            Self.names(folder.url).filter { $0.hasPrefix("a.") || $0.hasPrefix("b.") || $0.hasPrefix("c.") }
                == ["a.vtpk", "b.vtpk", "c.vtpk"])
        for name in ["a", "b", "c"] {
            let added = try await FieldworkProcess.run([
                "basemap", "add", file("\(name).vtpk").path, "--name", name, "--data", data.path,
            ])
            #expect(added.status == 0 && added.text.contains("VectorTileServer  pbf"), "\(added.errors)")
            #expect(added.text.contains(name == "b" ? "levels 13 to 14" : "levels 7 to 14"), "\(added.text)")
        }
        for arguments in [
            ["Haven"], ["Haven", "--estimate", "--area", "1,2,3"], ["Haven", "--estimate", "--levels", "9-3"],
        ] {
            let wrong = try await FieldworkProcess.run(["basemap", "export"] + arguments + ["--data", data.path])
            #expect(wrong.status == 64, "\(arguments): \(wrong.errors)")
        }
        let none = try await FieldworkProcess.run(["basemap", "export", "Nowhere", "--estimate", "--data", data.path])
        #expect(none.status == 66, "\(none.errors)")
    }

    @Test("Files that are broken, foreign or not there are told by name, and leave nothing")
    func broken() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let bytes = TinyExtract.village.bytes
        for (name, content, code) in [
            ("cut.osm.pbf", Array(bytes.prefix(bytes.count - 5)), 65), ("foreign.osm.pbf", Array("PK".utf8), 65),
            ("bad.geojson", Array("{".utf8), 65),
        ] as [(String, [UInt8], Int32)] {
            let file = folder.url.appending(path: name)
            try Data(content).write(to: file)
            let output = try await FieldworkProcess.run([
                "basemap", "make", file.path, "--name", "A", "--data", data.path,
            ])
            #expect(output.status == code && output.errors.contains(name), "\(name): \(output.status) \(output.errors)")
        }
        let missing = try await FieldworkProcess.run(["basemap", "make", "/no/such.osm.pbf", "--data", data.path])
        #expect(missing.status == 66, "\(missing.errors)")
        let levels = try await FieldworkProcess.run(["basemap", "make", "x.osm.pbf", "--levels", "9-3"])
        #expect(levels.status == 64, "\(levels.errors)")
        #expect(Self.names(data.appending(path: "basemaps")).isEmpty)
    }

    @Test("An interruption leaves nothing, neither a basemap nor a part of one")
    func interrupted() async throws {
        let folder = try TemporaryFolder()
        let (data, file) = (folder.url.appending(path: "data"), folder.url.appending(path: "town.osm.pbf"))
        var town = TinyExtract()
        town.bounds = [10, 50, 10.4, 50.4]
        for street in 0..<30_000 {
            let (x, y) = (10 + 0.002 * Double(street % 200), 50 + 0.002 * Double(street / 200))
            let first = Int64(street * 3 + 1)
            for step in 0..<3 {
                town.node(first + Int64(step), x + 0.0006 * Double(step), y + 0.0003 * Double(step % 2))
            }
            town.way(
                first, [first, first + 1, first + 2], ["highway": "residential", "name": "Street \(street % 500)"])
        }
        try Data(town.bytes).write(to: file)
        let making = try FieldworkProcess.start(["basemap", "make", file.path, "--name", "Town", "--data", data.path])
        let basemaps = data.appending(path: "basemaps")
        // It has begun when the folder is there.
        while !FileManager.default.fileExists(atPath: basemaps.path) {
            try #require(making.isRunning)
            try await Task.sleep(for: .milliseconds(2))
        }
        let status = await making.interrupt()
        let told = try making.errors()
        #expect(status == 130, "\(told)")
        #expect(Self.names(basemaps).isEmpty, "\(Self.names(basemaps))")
    }

    @Test("GeoJSON becomes a layer with the name of its file")
    func geoJSON() async throws {
        let folder = try TemporaryFolder()
        let (data, file) = (folder.url.appending(path: "data"), folder.url.appending(path: "parks.geojson"))
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Green","size":3},"geometry":
            {"type":"Polygon","coordinates":[[[10,50],[10.01,50],[10.01,50.01],[10,50.01],[10,50]]]}}]}
            """
        try Data(text.utf8).write(to: file)
        let made = try await FieldworkProcess.run([
            "basemap", "make", file.path, "--name", "Parks", "--levels", "10-12", "--data", data.path,
        ])
        // Four: one of them has only the margin.
        #expect(made.status == 0 && made.text.contains("1 features in 4 tiles"), "\(made.text) \(made.errors)")
    }

    @Test(
        "The middle of San Francisco becomes a basemap and a locator in one run",
        .enabled(if: sanFrancisco != nil, "there is no ../shared/data/osm"))
    func city() async throws {
        let extract = try #require(Self.sanFrancisco)
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let made = try await FieldworkProcess.run([
            "basemap", "make", extract.path, "--name", "SF", "--locator", "SFAddresses", "--levels", "8-14", "--data",
            data.path,
        ])
        #expect(made.status == 0, "\(made.errors)")
        let size = try #require(made.text.firstMatch(of: /([0-9]+) KB, the largest ([0-9]+) KB/))
        #expect(try #require(Int(size.1)) <= 820 && #require(Int(size.2)) < 488, "\(made.text)")
        #expect(Self.names(data).contains("SFAddresses.locator"), "\(Self.names(data))")
    }
}
