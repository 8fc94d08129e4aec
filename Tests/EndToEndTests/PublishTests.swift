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
        #expect(try await publish(json, "Plain").text == "Published Plain: 1 feature\n")

        let packed = folder.url.appending(path: "two.geojson.gz")
        try #require(try await Shell.run("gzip -c '\(json.path)' > '\(packed.path)'") == 0)
        #expect(try await publish(packed, "City/Packed").text == "Published City/Packed: 1 feature\n")

        let file = folder.url.appending(path: "three.gpkg")
        let exported = try await FieldworkProcess.run([
            "export", "City/Packed/0", "--to", file.path, "--data", data.path,
        ])
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try await publish(file, "Copied").text == "Published Copied: 1 feature\n")

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
        #expect(published.text == "Published Places: 1 feature\n", "\(published.errors)")
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

    private static func point(_ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","properties":{"kind":"p"},"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]}}"#
    }

    private static let mixed: String = {
        let line = #"{"type":"LineString","coordinates":[[10,10],[12,13]]}"#
        let area = #"{"type":"Polygon","coordinates":[[[20,20],[24,20],[24,24],[20,20]]]}"#
        let others = [("l", line), ("a", area)].map {
            #"{"type":"Feature","properties":{"kind":"\#($0.0)"},"geometry":\#($0.1)}"#
        }
        return #"{"type":"FeatureCollection","features":[\#(([point(5, 6)] + others).joined(separator: ","))]}"#
    }()

    private static func publish(_ file: URL, _ service: String, _ more: String..., in data: URL) async throws
        -> FieldworkProcess.Output
    {
        try await FieldworkProcess.run(
            ["publish", file.path, "--service", service, "--data", data.path] + more)
    }

    private static func rows(_ layer: String, in data: URL) async throws -> String {
        let output = try await FieldworkProcess.run(["query", layer, "--format", "geojson", "--data", data.path])
        #expect(output.status == 0, "\(layer): \(output.errors)")
        return output.text
    }

    @Test(
        "A file of several kinds of geometry gives a layer of each, with every feature in its place",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func mixedKinds() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let (json, gpkg) = (folder.url.appending(path: "mixed.geojson"), folder.url.appending(path: "mixed.gpkg"))
        try Data(Self.mixed.utf8).write(to: json)
        try #require(await Shell.run("ogr2ogr -f GPKG \(gpkg.path) \(json.path) 2>&1") == 0)
        for (file, service, base) in [(json, "FromJSON", "FromJSON"), (gpkg, "FromPackage", "mixed")] {
            let output = try await Self.publish(file, service, in: data)
            #expect(output.text == "Published \(service): 3 features\n", "\(output.errors)")
            #expect(output.errors.contains("\(base)_points, \(base)_lines, \(base)_polygons"))
            #expect(try await Self.rows("\(service)/\(base)_points", in: data).contains("[5,6]"))
            #expect(try await Self.rows("\(service)/\(base)_lines", in: data).contains("[12,13]"))
            let areas = try await Self.rows("\(service)/\(base)_polygons", in: data)
            #expect(areas.contains("[24,24]") && areas.contains(#""kind":"a""#))
        }
        // The file of another program is not rewritten behind its back.
        let before = try Data(contentsOf: gpkg)
        let inPlace = try await Self.publish(gpkg, "InPlace", "--in-place", in: data)
        #expect(inPlace.status == 65 && inPlace.errors.contains("without --in-place"))
        #expect(try Data(contentsOf: gpkg) == before)
    }

    @Test(
        "Curves become straight pieces, and the file of another program keeps them",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func curves() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let (csv, gpkg) = (folder.url.appending(path: "curves.csv"), folder.url.appending(path: "curves.gpkg"))
        try Data("name,WKT\nhalf,\"CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0,1 1,2 0),(2 0,0 0)))\"\n".utf8)
            .write(to: csv)
        try #require(
            await Shell.run("ogr2ogr -f GPKG -a_srs EPSG:4326 -nlt CURVEPOLYGON \(gpkg.path) \(csv.path) 2>&1") == 0)
        let output = try await Self.publish(gpkg, "Curves", in: data)
        #expect(output.text == "Published Curves: 1 feature\n", "\(output.errors)")
        #expect(output.errors.contains("straight pieces"))
        let rows = try await Self.rows("Curves", in: data)
        #expect(rows.contains("Polygon") && rows.split(separator: "[").count > 30, "\(rows)")
        let before = try Data(contentsOf: gpkg)
        let inPlace = try await Self.publish(gpkg, "InPlace", "--in-place", in: data)
        #expect(inPlace.status == 65 && inPlace.errors.contains("CONVERT_TO_LINEAR"))
        #expect(try Data(contentsOf: gpkg) == before)
    }

    @Test(
        "Options of coordinates and names are kept to, or refused, whatever the format",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func options() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let tabs = folder.url.appending(path: "trees.tsv")
        try Data("name\tlon\tlat\nOak\t-122.6\t45.5\n".utf8).write(to: tabs)
        let table = try await Self.publish(tabs, "Tabs", "--x", "lon", "--y", "lat", in: data)
        #expect(table.status == 0, "\(table.errors)")
        #expect(try await Self.rows("Tabs", in: data).contains("[-122.6,45.5]"))

        let json = folder.url.appending(path: "one.geojson")
        try Data(#"{"type":"FeatureCollection","features":[\#(Self.point(5, 6))]}"#.utf8).write(to: json)
        for options in [["--x", "a", "--y", "b"], ["--wkid", "3857"]] {
            let refused = try await FieldworkProcess.run(
                ["publish", json.path, "--service", "Json", "--data", data.path] + options)
            #expect(refused.status == 65 && refused.errors.contains(options[0]), "\(refused.errors)")
        }
        #expect(try await Self.publish(json, "Json", "--wkid", "4326", in: data).status == 0)

        // A shapefile without its .prj names no reference.
        let shapes = folder.url.appending(path: "shapes.shp")
        try #require(await Shell.run("ogr2ogr \(shapes.path) \(json.path) && rm \(folder.url.path)/shapes.prj") == 0)
        let unknown = try await Self.publish(shapes, "Shapes", in: data)
        #expect(unknown.status == 65 && unknown.errors.contains("--wkid"))
        let given = try await Self.publish(shapes, "Shapes", "--wkid", "2913", "--layer", "Corners", in: data)
        #expect(given.status == 0, "\(given.errors)")
        let layer = try await FieldworkProcess.run(["services", "--data", data.path])
        #expect(layer.text.contains("Corners"))
        #expect(try await Self.rows("Shapes/Corners", in: data).contains(#""coordinates":["#))
        let moved = try await FieldworkProcess.run([
            "publish", shapes.path, "--service", "InPlace", "--in-place", "--wkid", "2913", "--data", data.path,
        ])
        #expect(moved.status == 64)
    }

    @Test(
        "A table that can't be a layer is named, and coordinates outside of their reference are bad rows",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func leftOut() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let gpkg = folder.url.appending(path: "all.gpkg")
        let (good, bad) = (folder.url.appending(path: "good.geojson"), folder.url.appending(path: "bag.geojson"))
        try Data(#"{"type":"FeatureCollection","features":[\#(Self.point(5, 6)),\#(Self.point(45.5, -122.6))]}"#.utf8)
            .write(to: good)
        let bag = #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#
        try Data(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":\#(bag)}]}"#.utf8
        ).write(to: bad)
        let make = "ogr2ogr -f GPKG \(gpkg.path) \(good.path) && ogr2ogr -update \(gpkg.path) \(bad.path) 2>&1"
        try #require(await Shell.run(make) == 0)
        let refused = try await Self.publish(gpkg, "All", in: data)
        #expect(refused.status == 65 && refused.errors.contains("swapped?"), "\(refused.errors)")
        #expect(Self.contents(data).isEmpty)
        let output = try await Self.publish(gpkg, "All", "--skip-bad-rows", in: data)
        #expect(output.text == "Published All: 1 feature, skipped 1\n", "\(output.errors)")
        #expect(output.errors.contains("Left out bag"))

        let table = folder.url.appending(path: "swapped.csv")
        try Data("x,y\n45.5,-122.6\n45.6,-122.7\n".utf8).write(to: table)
        let swapped = try await Self.publish(table, "Swapped", "--x", "x", "--y", "y", in: data)
        #expect(swapped.status == 65)
        #expect(swapped.errors.contains("line 2: ") && swapped.errors.contains("Are --x and --y swapped?"))
        #expect(swapped.errors.contains("There is 1 more bad row."))
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
        // The file is a pipe that gives its rows to the look at its beginning and to the first reading, and nothing to the
        // second: the load has begun, and does not end by itself.
        let file = folder.url.appending(path: "endless.csv")
        try #require(mkfifo(file.path, 0o600) == 0)
        let publish = try FieldworkProcess.start([
            "publish", file.path, "--service", "Endless", "--x", "x", "--y", "y", "--data", data.path,
        ])
        for _ in 1...2 { #expect(try await Shell.run("printf 'x,y\\n1,2\\n' > '\(file.path)'") == 0) }
        while Self.contents(data).isEmpty, publish.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(!Self.contents(data).isEmpty, "the load has begun")
        #expect(await publish.interrupt() == 130)
        #expect(try publish.errors().contains("Interrupted"))
        #expect(Self.contents(data).isEmpty, "left behind: \(Self.contents(data))")
        #expect(try publish.text().isEmpty)
    }
}
