import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

/// Rows as a store hands them to an encoder.
struct Row {
    var values: [AttributeValue]
    var geometry: Geometry?

    static func encode(
        _ rows: [Row], with encoder: some FeatureEncoder, hasGeometry: Bool = true, exceeded: Bool = false
    ) throws -> [UInt8] {
        var encoder = encoder
        encoder.begin()
        for row in rows {
            encoder.beginFeature()
            for (column, value) in row.values.enumerated() {
                switch value {
                case .null: encoder.null(column: column)
                case .integer(let value): encoder.integer(value, column: column)
                case .real(let value): encoder.real(value, column: column)
                case .text(let value):
                    Array(value.utf8).withUnsafeBytes { encoder.text($0, column: column) }
                case .data(let value): Array(value).withUnsafeBytes { encoder.data($0, column: column) }
                }
            }
            if hasGeometry {
                if let geometry = row.geometry {
                    try GeoPackageBinary.blob(for: geometry, srsID: 4_326).withUnsafeBytes { try encoder.geometry($0) }
                } else {
                    try encoder.geometry(nil)
                }
            }
            encoder.endFeature()
        }
        encoder.end(exceededTransferLimit: exceeded)
        return encoder.bytes
    }
}

@Suite struct FeatureEncoderTests {
    private func layer(_ type: LayerGeometryType?, hasZ: Bool = false, hasM: Bool = false) -> LayerDefinition {
        LayerDefinition(
            id: 0, name: "Sample", geometryType: type, hasZ: hasZ, hasM: hasM, spatialReference: .wgs84,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "name \"x\"", type: .string),
                FieldDefinition(name: "size", type: .double),
            ])
    }

    /// A square with a hole, and a triangle.
    private var square: Polygon {
        get throws {
            let json = try JSONParser.parse(
                """
                {"rings":[[[0,0],[0,4],[4,4],[4,0],[0,0]],[[1,1],[2,1],[2,2],[1,2],[1,1]],
                [[10,10],[10,11],[11,11],[10,10]]]}
                """)
            let geometry = try GeoServicesJSON.geometry(from: json, defaultSpatialReference: .wgs84)
            return try #require(geometry as? Polygon)
        }
    }

    private func json(_ row: Row, _ layer: LayerDefinition, _ query: FeatureQuery = FeatureQuery()) throws -> JSONValue
    {
        let encoder = try JSONFeatureEncoder(layer: layer, query: query)
        let bytes = try Row.encode([row], with: encoder, hasGeometry: query.returnsGeometry && !layer.isTable)
        return try JSONParser.parse(bytes)
    }

    private func row(_ geometry: Geometry?) -> Row {
        Row(values: [.integer(7), .text("a\"b\\c\n\u{1F333}"), .real(0.1)], geometry: geometry)
    }

    @Test("A point is written in JSON")
    func aPointInJSON() throws {
        let answer = try json(row(Samples.point), layer(.point))
        #expect(answer["objectIdFieldName"] == "OBJECTID")
        #expect(answer["geometryType"] == "esriGeometryPoint")
        #expect(answer["spatialReference"]?["wkid"] == 4326)
        #expect(answer["fields"]?.arrayValue?.count == 3)
        #expect(
            answer["features"] == [
                [
                    "attributes": ["OBJECTID": 7, "name \"x\"": "a\"b\\c\n\u{1F333}", "size": 0.1],
                    "geometry": ["x": -122.5, "y": 45.25],
                ]
            ])
        #expect(answer["exceededTransferLimit"] == nil)
    }

    @Test("An answer that is cut says so")
    func manyFeaturesAndTheCutAnswer() throws {
        let encoder = try JSONFeatureEncoder(layer: layer(.point), query: FeatureQuery())
        let rows = (0..<50).map { Row(values: [.integer(Int64($0)), .null, .null], geometry: nil) }
        let answer = try JSONParser.parse(try Row.encode(rows, with: encoder, exceeded: true))
        #expect(answer["exceededTransferLimit"] == true)
        #expect(
            answer["features"]?.arrayValue?.compactMap { $0["attributes"]?["OBJECTID"]?.integerValue } == Array(0..<50))
        #expect(answer["features"]?.arrayValue?.allSatisfy { $0["geometry"].map(\.isNull) ?? true } == true)
    }

    @Test("Features of a table have attributes only")
    func aTableHasAttributesOnly() throws {
        let answer = try json(Row(values: [.integer(1), .null, .real(2)], geometry: nil), layer(nil))
        #expect(answer["geometryType"] == nil)
        #expect(answer["features"] == [["attributes": ["OBJECTID": 1, "name \"x\"": nil, "size": 2]]])
    }

    @Test("geometryPrecision rounds coordinates, and outSR projects them")
    func precisionRoundsAndAReferenceProjects() throws {
        var query = FeatureQuery(output: GeometryOutput(precision: 1))
        #expect(
            try json(row(Point(x: 1.26, y: -2.24, spatialReference: .wgs84)), layer(.point), query)["features"]?
                .arrayValue?.first?["geometry"] == ["x": 1.3, "y": -2.2])
        query.output = GeometryOutput(spatialReference: .webMercator)
        let answer = try json(row(Samples.point), layer(.point), query)
        let x = try #require(answer["features"]?.arrayValue?.first?["geometry"]?["x"]?.doubleValue)
        #expect(abs(x + 13_636_637.6) < 1)
        #expect(answer["spatialReference"]?["latestWkid"] == 3857)
    }

    @Test("Heights and measures are written when the query asks for them")
    func heightsAndMeasuresComeWhenAskedFor() throws {
        let line = Polyline(
            points: [Point(x: 1, y: 2, z: 3, m: 4), Point(x: 5, y: 6, z: 7, m: 8)], spatialReference: .wgs84)
        let both = FeatureQuery(output: GeometryOutput(returnsZ: true, returnsM: true))
        let layer = layer(.polyline, hasZ: true, hasM: true)
        #expect(
            try json(row(line), layer, both)["features"]?.arrayValue?.first?["geometry"]?["paths"]
                == [[[1, 2, 3, 4], [5, 6, 7, 8]]])
        #expect(
            try json(row(line), layer)["features"]?.arrayValue?.first?["geometry"]?["paths"] == [[[1, 2], [5, 6]]])
    }

    @Test("Quantization turns vertices into steps on the grid")
    func aGridTurnsVerticesIntoSteps() throws {
        let grid = Quantization(tolerance: 1, originX: 0, originY: 10)
        let line = Polyline(
            points: [Point(x: 1, y: 9), Point(x: 3, y: 9.2), Point(x: 3.1, y: 9), Point(x: 6, y: 5)],
            spatialReference: .wgs84)
        let query = FeatureQuery(output: GeometryOutput(quantization: grid))
        let answer = try json(row(line), layer(.polyline), query)
        #expect(answer["features"]?.arrayValue?.first?["geometry"]?["paths"] == [[[1, 1], [2, 0], [3, 4]]])
        #expect(answer["transform"]?["originPosition"] == "upperLeft")
    }

    @Test("Each format winds rings its own way")
    func ringsAreWoundAsEachFormatWants() throws {
        let layer = layer(.polygon)
        let esri = try json(row(try square), layer)["features"]?.arrayValue?.first?["geometry"]?["rings"]?.arrayValue
        #expect(try #require(esri).map { Self.area($0) > 0 } == [false, true, false])
        let bytes = try Row.encode(
            [row(try square)], with: try GeoJSONFeatureEncoder(layer: layer, query: FeatureQuery()))
        let geometry = try JSONParser.parse(bytes)["features"]?.arrayValue?.first?["geometry"]
        #expect(geometry?["type"] == "MultiPolygon")
        let polygons = try #require(geometry?["coordinates"]?.arrayValue)
        #expect(polygons.map { $0.arrayValue?.count } == [2, 1])
        #expect(polygons[0].arrayValue.map { $0.map { Self.area($0) > 0 } } == [true, false])
    }

    private static func area(_ ring: JSONValue) -> Double {
        let points = (ring.arrayValue ?? []).map { $0.arrayValue?.compactMap(\.doubleValue) ?? [] }
        return zip(points, points.dropFirst()).reduce(0) { $0 + $1.0[0] * $1.1[1] - $1.1[0] * $1.0[1] }
    }

    @Test("GeoJSON has ids and properties")
    func geoJSONHasIdsAndProperties() throws {
        let encoder = try GeoJSONFeatureEncoder(layer: layer(.point), query: FeatureQuery())
        let answer = try JSONParser.parse(
            try Row.encode([row(Samples.point), row(nil)], with: encoder, exceeded: true))
        let first = try #require(answer["features"]?.arrayValue?.first)
        #expect(answer["type"] == "FeatureCollection" && first["type"] == "Feature" && first["id"] == 7)
        #expect(first["geometry"] == ["type": "Point", "coordinates": [-122.5, 45.25]])
        #expect(answer["features"]?.arrayValue?.last?["geometry"] == .null)
        #expect(answer["properties"]?["exceededTransferLimit"] == true)
    }

    @Test(
        "Protocol buffers and JSON hold the same features",
        arguments: LayerGeometryType.allCases.filter { $0 != .envelope })
    func protocolBuffersAndJSONSayTheSame(_ type: LayerGeometryType) throws {
        let geometry: Geometry =
            switch type {
            case .point: Samples.point
            case .multipoint: Multipoint(points: [Samples.point, Point(x: 1, y: 2)], spatialReference: .wgs84)
            case .polyline:
                Polyline(
                    points: [Point(x: 1, y: 2), Point(x: 3.25, y: 4), Point(x: -5, y: 6)], spatialReference: .wgs84)
            default: try square
            }
        let layer = layer(type)
        let rows = [row(geometry), Row(values: [.integer(-1), .null, .null], geometry: nil)]
        let json = try Row.encode(
            rows, with: try JSONFeatureEncoder(layer: layer, query: FeatureQuery()), exceeded: true)
        let pbf = try Row.encode(rows, with: try PBFFeatureEncoder(layer: layer, query: FeatureQuery()), exceeded: true)
        let one = try FeatureSetReader.read(json: try JSONParser.parse(json))
        let other = try PBFFeatureSetReader.read(pbf)
        #expect(one.fields.map(\.name) == other.fields.map(\.name))
        #expect(one.fields.map(\.type) == other.fields.map(\.type))
        #expect(one.geometryType == other.geometryType && one.spatialReference == other.spatialReference)
        #expect(one.exceededTransferLimit && other.exceededTransferLimit)
        #expect(one.objectIDField == other.objectIDField)
        #expect(one.features.map(\.attributes) == other.features.map(\.attributes))
        #expect(one.features[1].geometry == nil && other.features[1].geometry == nil)
        let (first, second) = (try #require(one.features[0].geometry), try #require(other.features[0].geometry))
        #expect(first.isEqual(to: second, tolerance: 1e-8))
        #expect(other.records.map(\.objectID) == [7, -1])
    }

    /// Points of this store are read by a short way, those of other programs by the long one: both come out the same.
    @Test("A point is read the same, whichever program wrote its binary")
    func aPointOfAnyWriterComesOutTheSame() throws {
        let (x, y) = (-122.675, 45.52)
        func bytes(_ value: Double, isLittleEndian: Bool) -> [UInt8] {
            withUnsafeBytes(of: isLittleEndian ? value.bitPattern.littleEndian : value.bitPattern.bigEndian) {
                Array($0)
            }
        }
        let own: [UInt8] =
            [0x47, 0x50, 0, 1, 0xE6, 0x10, 0, 0, 1, 1, 0, 0, 0] + [x, y].flatMap { bytes($0, isLittleEndian: true) }
        let bigEndian: [UInt8] =
            [0x47, 0x50, 0, 0, 0, 0, 0x10, 0xE6, 0, 0, 0, 0, 1] + [x, y].flatMap { bytes($0, isLittleEndian: false) }
        let withEnvelope: [UInt8] =
            [0x47, 0x50, 0, 3, 0xE6, 0x10, 0, 0] + [x, x, y, y].flatMap { bytes($0, isLittleEndian: true) }
            + [1, 1, 0, 0, 0] + [x, y].flatMap { bytes($0, isLittleEndian: true) }
        #expect(GeoPackageBinary.blob(for: Point(x: x, y: y, spatialReference: .wgs84), srsID: 4_326) == own)
        func answers(_ blob: [UInt8]) throws -> [[UInt8]] {
            func answer(_ encoder: some FeatureEncoder) throws -> [UInt8] {
                var encoder = encoder
                encoder.begin()
                encoder.beginFeature()
                for column in 0..<3 { encoder.null(column: column) }
                try blob.withUnsafeBytes { try encoder.geometry($0) }
                encoder.endFeature()
                encoder.end(exceededTransferLimit: false)
                return encoder.bytes
            }
            let layer = layer(.point)
            return [
                try answer(JSONFeatureEncoder(layer: layer, query: FeatureQuery())),
                try answer(PBFFeatureEncoder(layer: layer, query: FeatureQuery())),
            ]
        }
        let expected = try answers(own)
        #expect(String(decoding: expected[0], as: UTF8.self).contains(#""geometry":{"x":-122.675,"y":45.52}"#))
        #expect(try answers(bigEndian) == expected)
        #expect(try answers(withEnvelope) == expected)
        let nowhere: [UInt8] =
            Array(own[..<13]) + [Double.nan, .nan].flatMap { bytes($0, isLittleEndian: true) }
        #expect(try !String(decoding: answers(nowhere)[0], as: UTF8.self).contains("geometry\":{"))
    }

    @Test(
        "A big integer is read as it was written", arguments: [-1, 0, 1, 9_007_199_254_740_993, .min, .max] as [Int64])
    func aBigIntegerComesThroughAsItIs(_ value: Int64) throws {
        let layer = LayerDefinition(
            id: 0, name: "Sample",
            fields: [FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "big", type: .bigInteger)])
        let row = Row(values: [.integer(1), .integer(value)])
        let pbf = try Row.encode(
            [row], with: try PBFFeatureEncoder(layer: layer, query: FeatureQuery()), hasGeometry: false)
        let json = try Row.encode(
            [row], with: try JSONFeatureEncoder(layer: layer, query: FeatureQuery()), hasGeometry: false)
        for set in [
            try PBFFeatureSetReader.read(pbf), try FeatureSetReader.read(json: try JSONParser.parse(json)),
        ] {
            #expect(set.features.map { $0.attributes["big"] } == [.integer(value)])
        }
    }

    /// The height and the measure of each vertex say where it is: they must say so in whichever direction a ring goes.
    @Test("A ring that is reversed keeps each vertex's height and measure", arguments: [false, true])
    func aRingThatIsTurnedTakesHeightsAndMeasuresAlong(isReversed: Bool) throws {
        let corners = [(0.0, 0.0), (0.0, 4.0), (4.0, 4.0), (4.0, 1.0)].map { x, y in
            Point(x: x, y: y, z: 100 + 10 * x + y, m: 10 * x + y)
        }
        let polygon = Polygon(points: isReversed ? corners.reversed() : corners, spatialReference: .wgs84)
        let query = FeatureQuery(output: GeometryOutput(returnsZ: true, returnsM: true))
        let layer = layer(.polygon, hasZ: true, hasM: true)
        let pbf = try Row.encode([row(polygon)], with: try PBFFeatureEncoder(layer: layer, query: query))
        let json = try Row.encode([row(polygon)], with: try JSONFeatureEncoder(layer: layer, query: query))
        for set in [
            try PBFFeatureSetReader.read(pbf), try FeatureSetReader.read(json: try JSONParser.parse(json)),
        ] {
            let vertices = try #require(set.features.first?.geometry).vertices
            #expect(vertices.count >= 4)
            for index in 0..<vertices.count {
                let place = 10 * vertices.x(index) + vertices.y(index)
                #expect(vertices.m(index).map { abs($0 - place) < 1e-5 } == true)
                #expect(vertices.z(index).map { abs($0 - 100 - place) < 1e-5 } == true)
            }
        }
    }

    @Test("A missing measure stays missing")
    func aMissingMeasureStaysMissing() throws {
        let line = Polyline(
            points: [Point(x: 1, y: 2, z: 3, m: 4), Point(x: 5, y: 6, z: 7, m: .nan)], spatialReference: .wgs84)
        let query = FeatureQuery(output: GeometryOutput(returnsZ: true, returnsM: true))
        let layer = layer(.polyline, hasZ: true, hasM: true)
        let pbf = try Row.encode([row(line)], with: try PBFFeatureEncoder(layer: layer, query: query))
        let json = try Row.encode([row(line)], with: try JSONFeatureEncoder(layer: layer, query: query))
        for set in [
            try PBFFeatureSetReader.read(pbf), try FeatureSetReader.read(json: try JSONParser.parse(json)),
        ] {
            let vertices = try #require(set.features.first?.geometry).vertices
            #expect(vertices.m(0).map { abs($0 - 4) < 1e-6 } == true)
            #expect(vertices.m(1)?.isNaN == true)
            #expect(vertices.z(1).map { abs($0 - 7) < 1e-6 } == true)
        }
    }

    @Test("A corrupt blob is an error, not a crash")
    func aCorruptBlobIsAnErrorAndNoCrash() throws {
        var generator = SeededGenerator(seed: 9)
        let blob = GeoPackageBinary.blob(for: try square, srsID: 4_326)
        for _ in 0..<2_000 {
            var encoder = try JSONFeatureEncoder(layer: layer(.polygon), query: FeatureQuery())
            encoder.begin()
            encoder.beginFeature()
            generator.mutated(blob).withUnsafeBytes { bytes in _ = try? encoder.geometry(bytes) }
            #expect(encoder.bytes.count > 0)
        }
    }
}
