import Foundation
import Testing

@testable import FieldworkGeometry

@Suite("Codecs, there and back")
struct CodecRoundTripTests {
    @Test("GeoPackage binary keeps every kind of geometry exactly", arguments: 0..<200)
    func geoPackageBinary(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed))
        for isMulti in [false, true] {
            let geometry = maker.geometry()
            let blob = GeoPackageBinary.blob(for: geometry, srsID: 3_857, isMulti: isMulti)
            let read = try blob.withUnsafeBytes {
                try GeoPackageBinary.geometry(from: $0, spatialReference: .webMercator)
            }
            #expect(read == geometry)
            let header = try blob.withUnsafeBytes { try GeoPackageBinary.header(of: $0) }
            #expect(header.srsID == 3_857)
            if !(geometry is Point) {
                #expect(header.envelope?.xMin == geometry.extent.xMin)
                #expect(header.envelope?.yMax == geometry.extent.yMax)
            }
        }
    }

    @Test("The protocol's JSON keeps every kind of geometry exactly", arguments: 0..<200)
    func geoServicesJSON(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed) &+ 1_000)
        let geometry = maker.geometry()
        #expect(try Geometry.fromJSON(geometry.toJSON()) == geometry)
    }

    @Test("Well-known text keeps every kind of geometry exactly", arguments: 0..<200)
    func wellKnownText(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed) &+ 2_000)
        let geometry = maker.geometry()
        let text = WellKnownText.text(of: geometry)
        #expect(try WellKnownText.geometry(from: text, spatialReference: .webMercator) == geometry)
    }

    @Test("GeoJSON keeps positions and heights, and drops measures", arguments: 0..<200)
    func geoJSON(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed) &+ 3_000)
        let geometry = maker.geometry()
        var bytes: [UInt8] = []
        GeoJSONCodec.append(geometry, to: &bytes)
        let read = try #require(try GeoJSONCodec.geometry(from: JSONParser.parse(bytes)))
        #expect(read.spatialReference == .wgs84)
        #expect(read.vertices == geometry.withoutMeasures.vertices)
    }

    @Test("Big-endian and extended binary are read as the little-endian ISO form is")
    func foreignForms() throws {
        let forms = [
            "01010000A0E6100000000000000000F03F00000000000000400000000000000840",
            "00000003E93FF000000000000040000000000000004008000000000000",
            "01E9030000000000000000F03F00000000000000400000000000000840",
        ]
        for form in forms {
            let point = try #require(try wkb(form) as? Point)
            #expect(point.x == 1 && point.y == 2 && point.z == 3 && point.m == nil)
        }
    }

    @Test("Empty geometries are read as none, in every form")
    func empties() throws {
        #expect(try WellKnownText.geometry(from: "POLYGON EMPTY") == nil)
        #expect(try WellKnownText.geometry(from: "POINT EMPTY") == nil)
        #expect(try WellKnownText.geometry(from: "MULTIPOINT (EMPTY)") == nil)
        for text in [
            #"{"x":null}"#, #"{"rings":[]}"#, #"{"paths":[[]]}"#, #"{"points":[]}"#, #"{"xmin":null}"#, "null",
        ] {
            #expect(try GeoServicesJSON.geometry(from: JSONParser.parse(text)) == nil)
        }
        #expect(try GeoServicesJSON.geometry(from: JSONParser.parse(#"{"x":"NaN","y":"NaN"}"#)) == nil)
        for geometry in [Polygon(points: []), Polyline(points: []), Multipoint(points: [])] as [Geometry] {
            let blob = GeoPackageBinary.blob(for: geometry, srsID: 4_326)
            #expect(try blob.withUnsafeBytes { try GeoPackageBinary.geometry(from: $0, spatialReference: nil) } == nil)
        }
    }

    @Test("The walker gives polygons, parts and vertices in order")
    func walker() throws {
        struct Log: WKBVisitor {
            var entries: [String] = []
            mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) { entries.append("\(kind)") }
            mutating func beginPolygon() { entries.append("polygon") }
            mutating func beginPart(count: Int) { entries.append("part \(count)") }
            mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
                if entries.last != "…" { entries.append("…") }
            }
        }
        let text = "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0), (4 2, 5 3, 5 2, 4 2)), ((20 0, 29 0, 29 9, 20 0)))"
        let geometry = try #require(try WellKnownText.geometry(from: text))
        let blob = GeoPackageBinary.blob(for: geometry, srsID: 0)
        var log = Log()
        try blob.withUnsafeBytes { try GeoPackageBinary.walk($0, &log) }
        #expect(log.entries == ["multiPolygon", "polygon", "part 4", "…", "part 4", "…", "polygon", "part 4", "…"])
    }
}

/// The geometry of hexadecimal well-known binary.
func wkb(_ hex: String) throws -> Geometry? {
    let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    return try bytes.withUnsafeBytes { try WellKnownBinary.geometry(from: $0, spatialReference: nil) }
}
