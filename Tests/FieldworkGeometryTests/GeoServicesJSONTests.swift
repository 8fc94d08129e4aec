import Foundation
import Testing

@testable import FieldworkGeometry

@Suite("The protocol's geometry JSON")
struct GeoServicesJSONTests {
    private func geometry(_ text: String) throws -> Geometry? {
        try GeoServicesJSON.geometry(from: JSONParser.parse(text))
    }

    @Test("Flags say what the third number is")
    func flags() throws {
        let measured = try #require(try geometry(#"{"hasM":true,"points":[[1,2,3],[4,5,null],[6,7]]}"#) as? Multipoint)
        #expect(measured.hasM && !measured.hasZ)
        #expect(measured.points[0].m == 3)
        #expect(measured.points[1].m?.isNaN == true && measured.points[2].m?.isNaN == true)
        let both = try #require(
            try geometry(#"{"hasZ":true,"hasM":true,"paths":[[[1,2,3,4],[5,6,7,8]]]}"#) as? Polyline)
        #expect(both.parts[0].points[1].z == 7 && both.parts[0].points[1].m == 8)
        let plain = try #require(try geometry(#"{"paths":[[[1,2,3,4],[5,6,7,8]]]}"#))
        #expect(!plain.hasZ && !plain.hasM)
    }

    @Test("A missing measure leaves as null, never as a number that JSON does not have")
    func missingMeasure() throws {
        let measured = try #require(try geometry(#"{"hasM":true,"points":[[1,2,"NaN"]]}"#))
        #expect(String(decoding: measured.toJSON(), as: UTF8.self).contains("[1,2,null]"))
        #expect(try Geometry.fromJSON(measured.toJSON()) == measured)
    }

    @Test("Web Mercator is one reference under all of its numbers")
    func webMercator() throws {
        for number in [3_857, 102_100, 102_113, 900_913] {
            let point = try #require(try geometry(#"{"x":1,"y":2,"spatialReference":{"wkid":\#(number)}}"#))
            #expect(point.spatialReference == .webMercator)
        }
        let text = String(decoding: Point(x: 1, y: 2, spatialReference: .webMercator).toJSON(), as: UTF8.self)
        #expect(text == #"{"x":1,"y":2,"spatialReference":{"wkid":102100,"latestWkid":3857}}"#)
    }

    @Test("Degenerate parts are dropped")
    func degenerate() throws {
        let polygon = try #require(
            try geometry(#"{"rings":[[[0,0],[1,1],[0,0]],[[0,0],[0,9],[9,9],[0,0]],[[5,5]]]}"#) as? Polygon)
        #expect(polygon.parts.count == 1)
        #expect(try geometry(#"{"paths":[[[1,1]]]}"#) == nil)
    }

    @Test("Rings are written closed, and read whichever way they turn")
    func rings() throws {
        let text = #"{"rings":[[[0,0],[0,9],[9,9],[9,0],[0,0]]],"spatialReference":{"wkid":4326,"latestWkid":4326}}"#
        let polygon = try #require(try geometry(text))
        #expect(String(decoding: polygon.toJSON(), as: UTF8.self) == text)
    }

    @Test("Curves are densified, and leave exactly as they came")
    func curves() throws {
        let text = #"{"curvePaths":[[[0,0],{"c":[[3,3],[1,4]]}]]}"#
        let line = try #require(try geometry(text) as? Polyline)
        #expect(line.hasCurves)
        #expect(String(decoding: line.toJSON(), as: UTF8.self) == text)
        // All vertices lie on the circle through the three points.
        let (cx, cy) = circumcenter((0, 0), (1, 4), (3, 3))
        let radius = hypot(cx, cy)
        for point in line.parts[0].points { #expect(abs(hypot(point.x - cx, point.y - cy) - radius) < 1e-9) }
        #expect(line.parts[0].points.count == GeometryLimits.curvePieces + 1)
    }

    private func circumcenter(
        _ a: (Double, Double), _ b: (Double, Double), _ c: (Double, Double)
    ) -> (Double, Double) {
        let d = 2 * (a.0 * (b.1 - c.1) + b.0 * (c.1 - a.1) + c.0 * (a.1 - b.1))
        let (aa, bb, cc) = (a.0 * a.0 + a.1 * a.1, b.0 * b.0 + b.1 * b.1, c.0 * c.0 + c.1 * c.1)
        return (
            (aa * (b.1 - c.1) + bb * (c.1 - a.1) + cc * (a.1 - b.1)) / d,
            (aa * (c.0 - b.0) + bb * (a.0 - c.0) + cc * (b.0 - a.0)) / d
        )
    }

    @Test("Measures run evenly along a curve")
    func measuresOnCurves() throws {
        let line = try #require(
            try geometry(#"{"hasM":true,"curvePaths":[[[0,0,0],{"b":[[3,0,32],[1,1],[2,1]]}]]}"#) as? Polyline)
        #expect(line.parts[0].points.map { $0.m ?? -1 } == (0...32).map(Double.init))
    }

    @Test(
        "Public samples of true curves are read with the sizes they state",
        .enabled(if: SharedData.url("geometry/esri-json/true-curves.json") != nil, "the public test data is absent"))
    func publicSamples() throws {
        let url = try #require(SharedData.url("geometry/esri-json/true-curves.json"))
        let samples = try #require(try JSONParser.parse(Data(contentsOf: url))["geometries"]?.arrayValue)
        #expect(samples.count >= 8)
        for sample in samples {
            let json = try #require(sample["json"])
            let geometry = try #require(try GeoServicesJSON.geometry(from: json))
            #expect(geometry.hasCurves)
            let again = GeoServicesJSON.json(for: geometry, includingSpatialReference: false)
            let name = geometry is Polygon ? "curveRings" : "curvePaths"
            #expect(again[name]?.text == json[name]?.text)
            guard let expected = sample["expect"] else { continue }
            if let area = expected["area"]?.doubleValue {
                #expect(abs(GeometryEngine.area(of: geometry) - area) < 0.01)
            }
            if let length = expected["length"]?.doubleValue {
                #expect(abs(GeometryEngine.length(of: geometry) - length) < 0.01)
            }
        }
    }
}
