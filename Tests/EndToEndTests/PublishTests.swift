import Foundation
import Testing

/// What becomes a service, and what leaves nothing behind.
@Suite("Publishing", .serialized)
struct PublishTests {
    private static func contents(_ folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    private static let feature =
        #"{"type":"Feature","properties":{"zip":"97201","n":5},"geometry":{"type":"Point","coordinates":[5,6]}}"#

    @Test("GeoJSON, packed or not, a GeoPackage and a foreign format are published and read again by name")
    func formats() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        func publish(_ file: URL, _ service: String) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["publish", file.path, "--service", service, "--data", data.path])
        }
        let json = folder.url.appending(path: "one.geojson")
        try Data(#"{"type":"FeatureCollection","features":[\#(Self.feature)]}"#.utf8).write(to: json)
        #expect(try await publish(json, "Plain").text == "Published Plain: 1 features\n")

        let packed = folder.url.appending(path: "two.geojson.gz")
        try #require(try await Shell.run("gzip -c '\(json.path)' > '\(packed.path)'") == 0)
        #expect(try await publish(packed, "City/Packed").text == "Published City/Packed: 1 features\n")

        let file = folder.url.appending(path: "three.gpkg")
        let exported = try await FieldworkProcess.run([
            "export", "City/Packed/0", "--to", file.path, "--data", data.path,
        ])
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try await publish(file, "Copied").text == "Published Copied: 1 features\n")

        // Digits in quotes are text, and stay so on every way.
        for service in ["Plain", "City/Packed", "Copied"] {
            let rows = try await FieldworkProcess.run([
                "query", service, "--format", "csv", "--out-fields", "zip,n", "--where", "zip = '97201'",
                "--data", data.path,
            ])
            #expect(rows.text == "zip,n,x,y\r\n97201,5,5,6\r\n", "\(service): \(rows.errors)")
        }
        let missing = try await FieldworkProcess.run([
            "export", "Nothing", "--to", "\(folder.url.path)/x.csv", "--data", data.path,
        ])
        #expect(missing.status == 66)
        #expect(missing.errors.contains("fieldwork services"))
        let wrongLayer = try await FieldworkProcess.run(["query", "Plain/7", "--data", data.path])
        #expect(wrongLayer.status == 66)
        #expect(wrongLayer.errors.contains("Plain/0"))
    }

    private static let track = """
        <?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>here</name>
        <Point><coordinates>5,6</coordinates></Point></Placemark></Document></kml>
        """

    @Test(
        "Another format is converted",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func converted() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "place.kml")
        try Data(Self.track.utf8).write(to: file)
        let published = try await FieldworkProcess.run([
            "publish", file.path, "--service", "Places", "--data", folder.url.path,
        ])
        #expect(published.text == "Published Places: 1 features\n", "\(published.errors)")
        let broken = folder.url.appending(path: "broken.kml")
        try Data("no".utf8).write(to: broken)
        let refused = try await FieldworkProcess.run([
            "publish", broken.path, "--service", "Broken", "--data", folder.url.path,
        ])
        #expect(refused.status == 65)
        #expect(Self.contents(folder.url).sorted() == ["Places.gpkg", "broken.kml", "place.kml"])
    }

    @Test("Without the converter another format is refused with what to install")
    func noConverter() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "place.kml")
        try Data(Self.track.utf8).write(to: file)
        let refused = try await FieldworkProcess.run(
            ["publish", file.path, "--service", "Places", "--data", folder.url.path],
            environment: ["PATH": "/nowhere"])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("gdal-bin"))
    }

    @Test("A reference that is not known publishes nothing")
    func unknownReference() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "far.geojson")
        let data = folder.url.appending(path: "data")
        for crs in [#"{"type":"name","properties":{"name":"urn:x:y"}}"#, #""EPSG:3857""#, #"{"type":"link"}"#] {
            try Data(#"{"crs":\#(crs),"features":[\#(Self.feature)]}"#.utf8).write(to: file)
            let refused = try await FieldworkProcess.run([
                "publish", file.path, "--service", "Far", "--data", data.path,
            ])
            #expect(refused.status == 65, "\(crs)")
            #expect(Self.contents(data).isEmpty)
        }
    }

    @Test("A file with nothing but bad rows publishes nothing, also when rows may be skipped")
    func onlyBadRows() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "bad.csv")
        let data = folder.url.appending(path: "data")
        try Data("x,y\neast,1\nwest,2\n".utf8).write(to: file)
        let refused = try await FieldworkProcess.run([
            "publish", file.path, "--service", "Bad", "--x", "x", "--y", "y", "--skip-bad-rows", "--data", data.path,
        ])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("line 2") && refused.errors.contains("line 3"))
        #expect(Self.contents(data).isEmpty)
    }

    @Test("Ctrl-C in the middle of a publish leaves nothing")
    func interrupted() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        // The file is a pipe that gives its rows to the first reading and nothing to the second: the load has begun, and
        // does not end by itself.
        let file = folder.url.appending(path: "endless.csv")
        try #require(mkfifo(file.path, 0o600) == 0)
        let publish = try FieldworkProcess.start([
            "publish", file.path, "--service", "Endless", "--x", "x", "--y", "y", "--data", data.path,
        ])
        #expect(try await Shell.run("printf 'x,y\\n1,2\\n' > '\(file.path)'") == 0)
        while Self.contents(data).isEmpty, publish.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(!Self.contents(data).isEmpty, "the load has begun")
        #expect(await publish.interrupt() == 130)
        #expect(try publish.errors().contains("Interrupted"))
        #expect(Self.contents(data).isEmpty, "left behind: \(Self.contents(data))")
        #expect(try publish.text().isEmpty)
    }
}
