import Foundation
import Testing

/// Files of the formats that people have, each compared with what GDAL reads of it, row by row and value by value.
@Suite("Matrix of formats", .serialized)
struct FormatMatrixTests {
    /// A file of a format: how GDAL makes it of the features below, and what to say to publish it.
    struct Format: Sendable, CustomTestStringConvertible {
        var name: String
        var making: String
        var options: [String] = []
        /// Columns that are the format's own, or that the place is made of.
        var ignored: Set<String> = []

        var testDescription: String { name }
    }

    /// `$F` is the file, `$IN` has the features as GeoJSON, `$CSV` as a table, `$D` is their folder.
    private static let formats = [
        Format(name: "f.csv", making: #"-f CSV "$F" "$IN" -lco GEOMETRY=AS_XY"#, ignored: ["x", "y"]),
        Format(name: "wkt.csv", making: #"-f CSV "$F" "$IN" -lco GEOMETRY=AS_WKT"#, ignored: ["wkt"]),
        Format(
            name: "f.tsv",
            making: #"-f CSV "$D/t.csv" "$IN" -lco GEOMETRY=AS_XY -lco SEPARATOR=TAB && mv "$D/t.csv" "$F""#,
            ignored: ["x", "y"]),
        Format(
            name: "semicolon.csv", making: #"-f CSV "$F" "$IN" -lco GEOMETRY=AS_XY -lco SEPARATOR=SEMICOLON"#,
            ignored: ["x", "y"]),
        Format(name: "f.gpkg", making: #"-f GPKG "$F" "$IN""#),
        Format(name: "f.geojson", making: #"-f GeoJSON "$F" "$IN""#),
        Format(name: "f.geojsonl", making: #"-f GeoJSONSeq "$F" "$IN""#),
        Format(name: "lines.geojson", making: #"-f GeoJSONSeq "$D/l" "$IN" && mv "$D/l" "$F""#),
        Format(name: "f.shp", making: #"-f 'ESRI Shapefile' "$F" "$IN" -lco ENCODING=UTF-8"#),
        Format(
            name: "shape.zip",
            making:
                #"-f 'ESRI Shapefile' "$D/shape.shp" "$IN" -lco ENCODING=UTF-8 && (cd "$D" && python3 -m zipfile -c "$F" shape.*)"#
        ),
        Format(name: "f.fgb", making: #"-f FlatGeobuf "$F" "$IN""#),
        Format(name: "f.kml", making: #"-f KML "$F" "$IN" -dsco NameField=name"#, ignored: ["name", "description"]),
        Format(
            name: "f.gpx", making: #"-f GPX "$F" "$IN" -nlt POINT -dsco GPX_USE_EXTENSIONS=YES"#, ignored: ["name"]),
        Format(name: "f.xlsx", making: #"-f XLSX "$F" "$CSV" -oo AUTODETECT_TYPE=YES"#, ignored: ["x", "y"]),
        Format(name: "f.ods", making: #"-f ODS "$F" "$CSV" -oo AUTODETECT_TYPE=YES"#, ignored: ["x", "y"]),
    ]

    private static let source: String = {
        let rows = [
            #"{"name":"Straße, \"alt\"","code":"007","height":12.5,"count":3,"planted":"2020/01/31"}|13.4,52.5"#,
            #"{"name":"東京","code":"97201","height":-0.25,"count":-7,"planted":"2021/12/01"}|139.75,35.5"#,
            #"{"name":null,"code":"A 1","height":null,"count":2147483647,"planted":null}|-122.5,45.25"#,
        ]
        let features = rows.map { row in
            let parts = row.split(separator: "|")
            return
                #"{"type":"Feature","properties":\#(parts[0]),"geometry":{"type":"Point","coordinates":[\#(parts[1])]}}"#
        }
        return #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    }()

    @Test(
        "Every row and value is what GDAL reads",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"),
        arguments: formats)
    func matrix(_ format: Format) async throws {
        let folder = try TemporaryFolder()
        let input = folder.url.appending(path: "IN.geojson")
        try Data(Self.source.utf8).write(to: input)
        let file = folder.url.appending(path: format.name)
        let table = folder.url.appending(path: "IN.csv")
        let names = "D='\(folder.url.path)'; IN='\(input.path)'; F='\(file.path)'; CSV='\(table.path)'"
        let making = "\(names); ogr2ogr -q -f CSV \"$CSV\" \"$IN\" -lco GEOMETRY=AS_XY && ogr2ogr \(format.making)"
        try #require(await Shell.run("{ \(making); } 2>/dev/null") == 0)

        let data = folder.url.appending(path: "data").path
        let published = try await FieldworkProcess.run(
            ["publish", file.path, "--service", "S", "--data", data] + format.options)
        try #require(published.status == 0, "\(published.errors)")
        let listed = try await FieldworkProcess.run(["services", "--data", data, "--format", "json"])
        let services = try JSONSerialization.jsonObject(with: Data(listed.text.utf8)) as? [[String: Any]]
        let layers = try #require(services?.first?["layers"] as? [[String: Any]])
        let layer = try #require(layers.first { $0["features"] as? Int == 3 }, "\(listed.text)")
        let out = folder.url.appending(path: "out.geojson")
        let exported = try await FieldworkProcess.run([
            "export", "S/\(layer["id"] as? Int ?? 0)", "--to", out.path, "--data", data,
        ])
        try #require(exported.status == 0, "\(exported.errors)")

        let expected = folder.url.appending(path: "expected.geojson")
        let opened = format.name.hasSuffix(".zip") ? "/vsizip/\(file.path)" : file.path
        // GDAL takes no coordinates out of a sheet, and none out of a table unless it is told.
        let places = "-oo X_POSSIBLE_NAMES=X -oo Y_POSSIBLE_NAMES=Y -oo AUTODETECT_TYPE=YES"
        let isTable = format.name.hasSuffix("csv") || format.name.hasSuffix("tsv")
        let reading =
            "OGR_XLSX_HEADERS=FORCE OGR_ODS_HEADERS=FORCE ogr2ogr -q -f GeoJSON '\(expected.path)' '\(opened)'"
        let only = format.name.hasSuffix("gpx") ? " waypoints" : ""
        try #require(await Shell.run("\(reading)\(only) \(isTable ? places : "") 2>/dev/null") == 0)
        let (ours, theirs) = (try Self.rows(out, format), try Self.rows(expected, format))
        #expect(ours == theirs)
        #expect(ours.count == 3)
        let positions = try Self.positions(out)
        #expect(positions == ["-122.5,45.25", "13.4,52.5", "139.75,35.5"])
    }

    /// The values of the features, as sorted lines of text.
    private static func rows(_ file: URL, _ format: Format) throws -> [String] {
        try features(file).map { feature in
            let properties = feature["properties"] as? [String: Any] ?? [:]
            let own: Set<String> = ["objectid", "globalid", "fid"]
            return properties.filter {
                !own.contains($0.key.lowercased()) && !format.ignored.contains($0.key.lowercased())
            }
            .compactMap { key, value in text(value).map { "\(key.lowercased())=\($0)" } }.sorted().joined(
                separator: "; ")
        }.sorted()
    }

    /// nil for no value: some formats have no difference between an empty text and none.
    private static func text(_ value: Any) -> String? {
        if let number = value as? NSNumber { return "\(number.doubleValue)" }
        guard let text = value as? String, !text.isEmpty else { return nil }
        // A code of digits may be a number to one and text to the other; a date has three forms.
        if let number = Double(text), !text.hasPrefix("0") { return "\(number)" }
        return text.replacingOccurrences(of: "/", with: "-")
            .replacingOccurrences(of: "[T ]00:00:00Z?$", with: "", options: .regularExpression)
    }

    private static func positions(_ file: URL) throws -> [String] {
        try features(file).compactMap { feature in
            let coordinates = (feature["geometry"] as? [String: Any])?["coordinates"] as? [Double]
            return coordinates.map { "\($0[0]),\($0[1])" }
        }.sorted()
    }

    private static func features(_ file: URL) throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return json?["features"] as? [[String: Any]] ?? []
    }

    @Test(
        "What export writes is published again with its types, dates and ids, and exported alike",
        arguments: ["csv", "geojson", "gpkg"])
    func roundTrip(_ format: String) async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data").path
        func fieldwork(_ arguments: String...) async throws -> String {
            let output = try await FieldworkProcess.run(arguments + ["--data", data])
            try #require(output.status == 0, "\(arguments): \(output.errors)")
            return output.text
        }
        let table = folder.url.appending(path: "trees.csv")
        try Data(
            "zip;note;dbh;planted;lon;lat\n\"097\";a;1,5;31.01.2020 10:00:00.5;13,4;52,5\n98;\"b; c\";2;;13,5;52,6\n"
                .utf8
        )
        .write(to: table)
        _ = try await fieldwork("publish", table.path, "--service", "Trees")
        let first = folder.url.appending(path: "first.\(format)").path
        _ = try await fieldwork("export", "Trees", "--to", first)
        _ = try await fieldwork("publish", first, "--service", "Again")
        let fields = "OBJECTID,GlobalID,zip,note,dbh,planted,lon,lat"
        let queries = try await ["Trees", "Again"].asyncMap {
            try await fieldwork("query", $0, "--format", "json", "--out-fields", fields)
        }
        #expect(queries[0] == queries[1])
        #expect(queries[0].contains("1580464800500") && queries[0].contains(#""zip":"097""#))
    }

    @Test("Lines and areas come back from a table as they were, in their reference")
    func shapesInTables() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data").path
        let file = folder.url.appending(path: "areas.csv")
        try Data("name\twkt_3857\nA\tPOLYGON((0 0,10 0,10 10,0 0))\n".utf8).write(to: file)
        for arguments in [
            ["publish", file.path, "--service", "A"], ["export", "A", "--to", "\(folder.url.path)/b.csv"],
            ["publish", "\(folder.url.path)/b.csv", "--service", "B"],
            ["export", "B", "--to", "\(folder.url.path)/c.csv"],
        ] {
            let output = try await FieldworkProcess.run(arguments + ["--data", data])
            try #require(output.status == 0, "\(output.errors)")
        }
        let texts = try ["b", "c"].map {
            try String(contentsOf: folder.url.appending(path: "\($0).csv"), encoding: .utf8)
        }
        #expect(texts[0] == texts[1] && texts[0].contains("wkt_3857") && texts[0].contains("POLYGON"))
    }

    private static func publish(_ text: String, _ service: String, in folder: URL) async throws
        -> FieldworkProcess.Output
    {
        let file = folder.appending(path: "\(service).json")
        try Data(text.utf8).write(to: file)
        return try await FieldworkProcess.run([
            "publish", file.path, "--service", service, "--data", folder.path,
        ])
    }

    @Test("A single feature is published with its id; JSON of something else is named as that")
    func single() async throws {
        let folder = try TemporaryFolder()
        let single =
            #"{"type":"Feature","id":"k7","properties":{"t":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        #expect(try await Self.publish(single, "One", in: folder.url).text == "Published One: 1 feature\n")
        let rows = try await FieldworkProcess.run([
            "query", "One", "--format", "csv", "--out-fields", "id", "--data", folder.url.path,
        ])
        #expect(rows.text == "id,x,y\r\nk7,1,2\r\n")
        let none = try await Self.publish(#"{"hello":1}"#, "None", in: folder.url)
        #expect(none.status == 65 && none.errors.contains("no features of GeoJSON"))
    }

    @Test(
        "JSON of the protocol and TopoJSON are converted",
        .enabled(if: Shell.has("ogr2ogr"), "ogr2ogr (gdal-bin) is not installed"))
    func dialects() async throws {
        let folder = try TemporaryFolder()
        let esri = #"""
            {"geometryType":"esriGeometryPoint","spatialReference":{"wkid":4326},"fields":[{"name":"t","type":"esriFieldTypeInteger"}],
            "features":[{"attributes":{"t":5},"geometry":{"x":1,"y":2}}]}
            """#
        let published = try await Self.publish(esri, "Esri", in: folder.url)
        #expect(published.text == "Published Esri: 1 feature\n", "\(published.errors)")
        let topology = #"""
            {"type":"Topology","objects":{"places":{"type":"GeometryCollection","geometries":[
            {"type":"Point","coordinates":[1,2],"properties":{"n":7}}]}},"arcs":[]}
            """#
        let converted = try await Self.publish(topology, "Topo", in: folder.url)
        #expect(converted.text == "Published Topo: 1 feature\n", "\(converted.errors)")
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
