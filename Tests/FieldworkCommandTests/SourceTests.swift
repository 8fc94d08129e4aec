import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand
@testable import FieldworkPublishing

@Suite("Sources of features", .fewAtATime)
struct SourceTests {
    private static func rows(_ text: String) throws -> [[String]] {
        let file = try TextFile(text, name: "table.csv")
        var reader = try CSVReader(file.url)
        defer { reader.close() }
        var rows: [[String]] = []
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    @Test("Quotes, doubled quotes, line ends in quotes, either line end and a byte-order mark are read")
    func quoting() throws {
        let text = "\u{FEFF}a,b\r\n\"x, y\",\"say \"\"no\"\"\"\r\n\"two\nlines\",\r\n\n,last"
        #expect(
            try Self.rows(text) == [["a", "b"], ["x, y", "say \"no\""], ["two\nlines", ""], ["", "last"]])
    }

    @Test("A quote that is not closed is an error that names its line")
    func openQuote() throws {
        let failure = #expect(throws: PublishingError.self) { try Self.rows("a,b\n1,2\n3,\"4\n5,6\n") }
        #expect(failure?.kind == .badData)
        #expect(failure?.message.contains("line 3") == true)
    }

    @Test("A row's place is the line where it begins")
    func lines() throws {
        let file = try TextFile("x,y,note\n1,2,\"two\nlines\"\nfar,2,bad\n", name: "table.csv")
        let source = try CSVSource(url: file.url, SourceOptions(coordinates: ("X", "y")))
        let schema = try source.schema { _ in }
        #expect(schema.featureCount == 2)
        var places: [Int] = []
        var refused: [String] = []
        try source.forEach(schema) { row, place in
            places.append(place)
            if case .failure(let bad) = row { refused.append("\(source.name(of: place)): \(bad.reason)") }
        }
        #expect(places == [2, 4])
        #expect(refused.count == 1)
        #expect(refused.first?.hasPrefix("line 4: The coordinates 'far'") == true)
    }

    private static func features(_ text: String) throws -> (schema: SourceSchema, features: [FeatureEdit]) {
        let file = try TextFile(text, name: "features.geojson")
        let source = GeoJSONSource(url: file.url)
        let schema = try source.schema { _ in }
        var features: [FeatureEdit] = []
        try source.forEach(schema) { row, _ in features.append(try row.get()) }
        return (schema, features)
    }

    @Test("Features are cut out of a collection, whatever stands in their texts")
    func cutting() throws {
        let (schema, features) = try Self.features(
            #"""
            {"type":"FeatureCollection","note":"\"features\":[{","features":[
            {"type":"Feature","properties":{"name":"a \"}]} b","features":[1]},"geometry":{"type":"Point","coordinates":[1,2]}},
            {"type":"Feature","properties":null,"geometry":null}],"more":[{"x":1}]}
            """#)
        #expect(schema.kinds == [.point])
        #expect(schema.featureCount == 2)
        #expect(features[0].attributes.first?.value == .text(#"a "}]} b"#))
        guard case .geometry(let geometry) = features[0].geometry, let point = geometry as? Point else {
            Issue.record("the first feature has no point")
            return
        }
        #expect((point.x, point.y) == (1, 2))
        guard case .null = features[1].geometry else {
            Issue.record("the second feature has a geometry")
            return
        }
    }

    @Test(
        "The reference that a file of the older form names is taken, wherever it stands",
        arguments: [
            ("urn:ogc:def:crs:OGC:1.3:CRS84", 4_326), ("urn:ogc:def:crs:EPSG::3857", 3_857), ("EPSG:2913", 2_913),
        ])
    func olderReference(_ name: String, _ wkid: Int) throws {
        let crs = #""crs":{"type":"name","properties":{"name":"\#(name)"}}"#
        let feature = #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[5,6]}}"#
        for text in [
            #"{"type":"FeatureCollection",\#(crs),"features":[\#(feature)]}"#,
            #"{"type":"FeatureCollection","features":[\#(feature)],\#(crs)}"#,
        ] {
            let (schema, features) = try Self.features(text)
            #expect(schema.spatialReference?.latestWKID == wkid)
            guard case .geometry(let geometry) = features[0].geometry else {
                Issue.record("no geometry")
                continue
            }
            #expect(geometry.spatialReference?.latestWKID == wkid)
        }
    }

    @Test(
        "What is no whole collection is refused",
        arguments: [
            "", "{}", "[1,2]", #"{"type":"Topology"}"#, #"{"features":[{"type":"Feature""#, #"{"features":[}}"#,
            #"{"features":[{"a":nope}]}"#, #"{"crs":{"properties":{"name":"EPSG:99999999"}},"features":[]}"#,
        ])
    func broken(_ text: String) throws {
        let failure = #expect(throws: PublishingError.self) { _ = try Self.features(text) }
        #expect(failure?.kind == .badData)
    }

    @Test("Kinds of geometry that no layer holds together are layers of their own; a file of collections is refused")
    func mixedKinds() throws {
        let text = #"""
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[5,6]}},
            {"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[5,6],[7,8]]}}]}
            """#
        let (schema, features) = try Self.features(text)
        #expect(schema.kinds == [.point, .polyline] && features.count == 2)
        let collection = #"""
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":{},
            "geometry":{"type":"GeometryCollection","geometries":[]}}]}
            """#
        #expect(throws: PublishingError.self) { _ = try Self.features(collection) }
    }

    @Test("Coordinates outside of their reference are bad rows, and those that look swapped are told so")
    func outside() throws {
        let file = try TextFile("x,y\n-122.6,45.5\n45.5,-122.6\n-1226,455\n", name: "table.csv")
        func reasons(_ source: some FeatureSource) throws -> [String] {
            var reasons: [String] = []
            try source.forEach(source.schema { _ in }) { row, place in
                if case .failure(let bad) = row { reasons.append("\(source.name(of: place)): \(bad.reason)") }
            }
            return reasons
        }
        let bad = try reasons(CSVSource(url: file.url, SourceOptions(coordinates: ("x", "y"))))
        #expect(bad.count == 2)
        #expect(bad.first?.hasPrefix("line 3: ") == true && bad.first?.contains("Are --x and --y swapped?") == true)
        #expect(bad.last?.hasPrefix("line 4: ") == true && bad.last?.contains("swapped") == false)
        #expect(
            try reasons(
                CSVSource(url: file.url, SourceOptions(coordinates: ("x", "y"), reference: .webMercator))
            ).isEmpty)
        let json = try TextFile(
            #"{"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[45.5,-122.6]},"properties":{}}]}"#,
            name: "swapped.geojson")
        #expect(try reasons(GeoJSONSource(url: json.url)).first?.contains("Are they swapped?") == true)
    }
}
