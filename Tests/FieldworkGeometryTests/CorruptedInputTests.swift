import TestSupport
import Testing

@testable import FieldworkGeometry

@Suite("Corrupted input is refused without harm")
struct CorruptedInputTests {
    /// Changes, cuts or doubles some bytes.
    private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.removeSubrange(index...)
            case 1: bytes[index] = .random(in: 0...255, using: &generator)
            case 2: bytes[index] ^= 1 << Int.random(in: 0..<8, using: &generator)
            case 3: bytes.insert(contentsOf: bytes[index...].prefix(12), at: index)
            default: bytes[index] = 0xFF
            }
        }
        return bytes
    }

    @Test("Ten thousand mutated blobs are read, or refused with a typed error", arguments: 0..<10)
    func blobs(seed: Int) {
        var maker = GeometryMaker(seed: UInt64(seed))
        var generator = SeededGenerator(seed: UInt64(seed) &+ 77)
        let filter = try? PreparedFilter(Envelope(xMin: -50, yMin: -50, xMax: 50, yMax: 50), relation: .intersects)
        var (read, refused) = (0, 0)
        for _ in 0..<1_000 {
            let blob = mutated(GeoPackageBinary.blob(for: maker.geometry(), srsID: 1), &generator)
            blob.withUnsafeBytes { buffer in
                do throws(GeometryError) {
                    let geometry = try GeoPackageBinary.geometry(from: buffer, spatialReference: nil)
                    read += 1
                    _ = geometry.map { ($0.extent, WellKnownText.text(of: $0), $0.toJSON()) }
                } catch {
                    refused += 1
                }
                _ = try? filter?.holds(blob: buffer)
            }
        }
        #expect(read + refused == 1_000)
        #expect(read > 0 && refused > 0)
    }

    @Test("Thousands of mutated texts are read, or refused with a typed error", arguments: 0..<10)
    func texts(seed: Int) {
        var maker = GeometryMaker(seed: UInt64(seed) &+ 5)
        var generator = SeededGenerator(seed: UInt64(seed) &+ 78)
        var (read, refused) = (0, 0)
        for _ in 0..<300 {
            let geometry = maker.geometry()
            let json = mutated(Array(geometry.toJSON()), &generator)
            let text = String(
                decoding: mutated(Array(WellKnownText.text(of: geometry).utf8), &generator), as: UTF8.self)
            if let value = try? JSONParser.parse(json) {
                let fromJSON = Result { try GeoServicesJSON.geometry(from: value) }
                if case .success = fromJSON { read += 1 } else { refused += 1 }
                _ = try? GeoJSONCodec.geometry(from: value)
            } else {
                refused += 1
            }
            if (try? WellKnownText.geometry(from: text)) != nil { read += 1 } else { refused += 1 }
        }
        #expect(read + refused == 600)
        #expect(read > 0 && refused > 0)
    }

    @Test("A count that the bytes can't hold is refused before memory is taken for it")
    func hugeCounts() {
        for hex in ["0102000000FFFFFFFF", "0106000000FFFFFFFF", "0103000000FFFFFF7F", "0104000000000000F0"] {
            #expect(throws: GeometryError.self) { try wkb(hex) }
        }
    }

    @Test("Deeply nested collections are refused, by the reader and before GEOS sees them")
    func nesting() throws {
        let level: [UInt8] = [1, 7, 0, 0, 0, 1, 0, 0, 0]
        let header: [UInt8] = [0x47, 0x50, 0, 1, 0, 0, 0, 0]
        let blob = header + Array(repeatElement(level, count: 200_000).joined())
        #expect(throws: GeometryError.self) {
            try blob.withUnsafeBytes { try GeoPackageBinary.geometry(from: $0, spatialReference: nil) }
        }
        let filter = try PreparedFilter(
            Polygon(points: [Point(x: 0, y: 0), Point(x: 0, y: 1), Point(x: 1, y: 0)]), relation: .intersects)
        #expect(try blob.withUnsafeBytes { try filter.holds(blob: $0) } == false)
    }

    @Test("A part of a wrong kind inside a multi-geometry is refused")
    func wrongParts() {
        // A multipolygon that holds a point.
        #expect(throws: GeometryError.self) {
            try wkb("0106000000010000000101000000000000000000F03F0000000000000040")
        }
    }

    @Test(
        "Malformed protocol JSON is refused",
        arguments: [
            "[]", "7", #""POINT""#, #"{"a":1}"#, #"{"x":1}"#, #"{"x":1,"y":"two"}"#, #"{"points":[[1]]}"#,
            #"{"points":[[1,null]]}"#, #"{"paths":[1]}"#, #"{"paths":{"0":1}}"#, #"{"rings":[[["a","b"]]]}"#,
            #"{"xmin":1,"ymin":2}"#, #"{"curvePaths":[[{"c":[[1,1],[2,2]]}]]}"#,
            #"{"curvePaths":[[[0,0],{"b":[[1,1]]}]]}"#,
            #"{"x":1,"y":2,"spatialReference":{"wkid":999999}}"#, #"{"x":"inf","y":2}"#, #"{"x":"1e999","y":2}"#,
        ])
    func malformed(text: String) throws {
        let json = try JSONParser.parse(text)
        #expect(throws: GeometryError.self) { try GeoServicesJSON.geometry(from: json) }
    }

    @Test("An unclosed ring is closed, or refused where the caller says so")
    func openRings() throws {
        let json = try JSONParser.parse(#"{"rings":[[[0,0],[0,1],[1,1]]]}"#)
        let polygon = try #require(try GeoServicesJSON.geometry(from: json) as? Polygon)
        #expect(polygon.parts.first?.points.count == 3)
        #expect(throws: GeometryError.self) { try GeoServicesJSON.geometry(from: json, openRings: .reject) }
    }
}
