import Foundation
import Testing

@testable import FieldworkGeometry

@Suite("Geometry engine")
struct GeometryEngineTests {
    static let square = Polygon(
        points: [Point(x: 0, y: 0), Point(x: 0, y: 10), Point(x: 10, y: 10), Point(x: 10, y: 0)],
        spatialReference: .webMercator)
    static let line = Polyline(
        points: [Point(x: -5, y: 5), Point(x: 15, y: 5)], spatialReference: .webMercator)

    private func area(of geometry: Geometry?) -> Double? { geometry.map(GeometryEngine.area) }
    private func length(of geometry: Geometry?) -> Double? { geometry.map(GeometryEngine.length) }
    private func point(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y, spatialReference: .webMercator) }

    @Test("Relations hold as their names say")
    func relations() {
        let (square, line) = (Self.square, Self.line)
        #expect(GeometryEngine.doesGeometry(square, contain: point(5, 5)))
        #expect(!GeometryEngine.doesGeometry(square, contain: point(0, 5)))
        #expect(GeometryEngine.isGeometry(point(5, 5), within: square))
        #expect(GeometryEngine.isGeometry(point(0, 5), touching: square))
        #expect(GeometryEngine.isGeometry(line, crossing: square))
        #expect(GeometryEngine.isGeometry(line, intersecting: square))
        #expect(GeometryEngine.isGeometry(point(20, 20), disjointWith: square))
        #expect(GeometryEngine.isGeometry(square, equivalentTo: square.extent))
        let shifted = Envelope(xMin: 5, yMin: 5, xMax: 15, yMax: 15, spatialReference: .webMercator)
        #expect(GeometryEngine.isGeometry(square, overlapping: shifted))
        #expect(GeometryEngine.isGeometry(line, relatedTo: square, byRelation: "T*T******"))
        #expect(!GeometryEngine.isGeometry(line, relatedTo: square, byRelation: "nonsense"))
    }

    @Test("Geometries in different references are compared where they are")
    func mixedReferences() throws {
        let degrees = try #require(GeometryEngine.project(point(5, 5), into: .wgs84))
        #expect(GeometryEngine.doesGeometry(Self.square, contain: degrees))
        #expect(GeometryEngine.distance(from: Self.square, to: degrees) == 0)
    }

    @Test("An envelope without width or height is compared as the line or point that it is")
    func flatEnvelopes() {
        let dot = Envelope(xMin: 5, yMin: 5, xMax: 5, yMax: 5, spatialReference: .webMercator)
        let flat = Envelope(xMin: -5, yMin: 5, xMax: 15, yMax: 5, spatialReference: .webMercator)
        #expect(GeometryEngine.isGeometry(dot, intersecting: Self.square))
        #expect(GeometryEngine.isGeometry(flat, crossing: Self.square))
    }

    @Test("Union, intersection and difference add up")
    func overlay() throws {
        let other = Envelope(xMin: 5, yMin: 0, xMax: 15, yMax: 10, spatialReference: .webMercator)
        #expect(area(of: GeometryEngine.union(Self.square, other)) == 150)
        #expect(area(of: GeometryEngine.intersection(Self.square, other)) == 50)
        #expect(area(of: GeometryEngine.difference(Self.square, other)) == 50)
        #expect(area(of: GeometryEngine.symmetricDifference(Self.square, other)) == 100)
        #expect(area(of: GeometryEngine.clip(Self.square, to: other)) == 50)
        let many = (0..<50).map { number in
            Envelope(xMin: Double(number), yMin: 0, xMax: Double(number) + 2, yMax: 1, spatialReference: .webMercator)
        }
        #expect(area(of: GeometryEngine.union(of: many)) == 51)
        #expect(GeometryEngine.intersection(Self.square, point(99, 99)) == nil)
    }

    @Test("Intersections come one for each dimension")
    func intersections() throws {
        let polygon = try #require(
            try WellKnownText.geometry(from: "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"))
        let other = try #require(
            try WellKnownText.geometry(
                from: "POLYGON ((10 2, 15 2, 15 10, 8 10, 8 8, 12 8, 12 6, 10 6, 10 2))"))
        let pieces = GeometryEngine.intersections(polygon, other)
        #expect(pieces.map(\.dimension) == [.curve, .area])
    }

    @Test("A cutter through a polygon or line gives its pieces; one that misses, none")
    func cut() {
        let pieces = GeometryEngine.cut(Self.square, usingCutter: Self.line)
        #expect(pieces.map(GeometryEngine.area(of:)) == [50, 50])
        let cutter = Polyline(points: [point(5, 0), point(5, 9)])
        #expect(GeometryEngine.cut(Self.line, usingCutter: cutter).map(GeometryEngine.length(of:)) == [10, 10])
        #expect(GeometryEngine.cut(Self.square, usingCutter: Polyline(points: [point(50, 0), point(50, 9)])).isEmpty)
    }

    @Test("A buffer has the area of its circle")
    func buffers() throws {
        let disc = try #require(GeometryEngine.buffer(around: point(0, 0), distance: 10))
        #expect(abs(GeometryEngine.area(of: disc) - 100 * .pi) < 2)
        #expect(GeometryEngine.buffer(around: point(0, 0), distance: .nan) == nil)
        let two = GeometryEngine.buffer(around: [point(0, 0), point(5, 0)], distances: [10], shouldUnion: true)
        #expect(two.count == 1)
        let geodetic = try #require(
            GeometryEngine.geodeticBuffer(
                around: Point(latitude: 60, longitude: 10), distance: 1, distanceUnit: .kilometers, maxDeviation: .nan,
                curveType: .geodesic))
        #expect(abs(GeometryEngine.geodeticArea(of: geodetic, unit: .squareKilometers) - .pi) < 0.01)
    }

    @Test("Simplify repairs a bow tie; isSimple tells it from a clean polygon")
    func simplify() throws {
        let bow = Polygon(points: [point(0, 0), point(10, 10), point(10, 0), point(0, 10)])
        #expect(!GeometryEngine.isSimple(bow))
        let repaired = try #require(GeometryEngine.simplify(bow) as? Polygon)
        #expect(GeometryEngine.isSimple(repaired))
        #expect(GeometryEngine.area(of: repaired) == 50)
        #expect(GeometryEngine.isSimple(Self.square))
    }

    @Test("Generalize takes vertices away and densify adds them, within what they promise")
    func vertices() throws {
        let wavy = Polyline(points: (0...100).map { point(Double($0), $0 % 2 == 0 ? 0 : 0.1) })
        let fewer = try #require(
            GeometryEngine.generalize(wavy, maxDeviation: 0.2, removeDegenerateParts: true) as? Polyline)
        #expect(fewer.parts[0].points.count == 2)
        let more = try #require(GeometryEngine.densify(Self.line, maxSegmentLength: 1) as? Polyline)
        #expect(more.parts[0].points.count == 21)
        #expect(GeometryEngine.densify(Self.line, maxSegmentLength: 1e-12) == nil)
        #expect(GeometryEngine.densify(Self.line, maxSegmentLength: 0) == nil)
    }

    @Test("Hull, centre, label point and boundary")
    func shapes() throws {
        let angle = try #require(
            try WellKnownText.geometry(from: "POLYGON ((0 0, 10 0, 10 1, 1 1, 1 10, 0 10, 0 0))") as? Polygon)
        #expect(area(of: GeometryEngine.convexHull(for: angle)) == 59.5)
        let label = try #require(GeometryEngine.labelPoint(for: angle))
        #expect(GeometryEngine.isGeometry(label, within: angle))
        #expect(GeometryEngine.centroid(of: Self.square) == point(5, 5))
        #expect(length(of: GeometryEngine.boundary(of: Self.square)) == 40)
        #expect(GeometryEngine.boundary(of: point(0, 0)) == nil)
    }

    @Test("An offset line lies to the right when the distance is positive")
    func offset() throws {
        let right = try #require(GeometryEngine.offset(of: Self.line, distance: 2))
        #expect(right.extent.yMin == 3 && right.extent.yMax == 3)
        let left = try #require(GeometryEngine.offset(of: Self.line, distance: -2))
        #expect(left.extent.yMin == 7)
    }

    @Test("Nearest place and nearest vertex, with their part and number")
    func nearest() throws {
        let place = try #require(GeometryEngine.nearestCoordinate(in: Self.line, to: point(3, 9)))
        #expect(place.coordinate.x == 3 && place.coordinate.y == 5 && place.distance == 4)
        let vertex = try #require(GeometryEngine.nearestVertex(in: Self.line, to: point(3, 9)))
        #expect(vertex.pointIndex == 0 && vertex.distance == 80.0.squareRoot())
    }

    @Test("Geodetic length, area and distance are those of the ellipsoid")
    func geodetic() throws {
        // A degree of the equator, and of the meridian there.
        let east = try #require(
            GeometryEngine.geodeticDistance(
                from: Point(latitude: 0, longitude: 0), to: Point(latitude: 0, longitude: 1), distanceUnit: .meters,
                azimuthUnit: .degrees, curveType: .geodesic))
        #expect(abs(east.distance - 111_319.4908) < 1e-3 && east.azimuth1 == 90)
        // New York to Paris by Karney's own example.
        let flight = try #require(
            GeometryEngine.geodeticDistance(
                from: Point(latitude: 40.6, longitude: -73.8), to: Point(latitude: 49.01666667, longitude: 2.55)))
        #expect(abs(flight.distance - 5_853_226) < 1)
        let box = Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .wgs84)
        #expect(abs(GeometryEngine.geodeticArea(of: box, unit: .squareKilometers) - 12_308.778) < 0.01)
        let away = GeometryEngine.geodeticMove(
            [Point(latitude: 0, longitude: 0)], distance: 111_319.4908, azimuth: 90)
        #expect(abs((away.first?.x ?? 0) - 1) < 1e-8)
        #expect(GeometryEngine.geodeticLength(of: box.toPolygon(), lengthUnit: .kilometers) > 440)
    }

    @Test("What lies beyond the 180th meridian comes back on the other side, cut there")
    func centralMeridian() throws {
        let point = try #require(
            GeometryEngine.normalizeCentralMeridian(of: Point(x: 190, y: 5, spatialReference: .wgs84)) as? Point)
        #expect(point.x == -170)
        let box = Envelope(xMin: 170, yMin: 0, xMax: 190, yMax: 10, spatialReference: .wgs84)
        let parts = try #require(GeometryEngine.normalizeCentralMeridian(of: box) as? Polygon)
        #expect(parts.parts.count == 2)
        #expect(parts.extent.xMin == -180 && parts.extent.xMax == 180)
        #expect(GeometryEngine.area(of: parts) == 200)
        let far = Polyline(points: [Point(x: -1e300, y: 0), Point(x: 1e300, y: 0)], spatialReference: .wgs84)
        #expect(GeometryEngine.normalizeCentralMeridian(of: far) == nil)
    }

    @Test("Coordinates that are not finite give no result instead of an endless computation")
    func notFinite() {
        for value in [Double.infinity, -.infinity, .nan] {
            let line = Polyline(points: [point(0, 0), point(value, 1)])
            #expect(GeometryEngine.buffer(around: line, distance: 1) == nil)
            #expect(GeometryEngine.union(line, Self.square) == nil)
            #expect(!GeometryEngine.isGeometry(line, intersecting: Self.square))
        }
    }

    @Test("A place along a line, and how far along a place is")
    func along() throws {
        let line = Polyline(
            points: [Point(x: 0, y: 0, z: 0), Point(x: 10, y: 0, z: 10), Point(x: 10, y: 10, z: 20)],
            spatialReference: .webMercator)
        #expect(
            GeometryEngine.point(along: line, distance: 5) == Point(x: 5, y: 0, z: 5, spatialReference: .webMercator))
        #expect(GeometryEngine.point(along: line, distance: 99)?.y == 10)
        #expect(GeometryEngine.point(along: line, distance: -1)?.x == 0)
        #expect(GeometryEngine.polyline(line, fractionalLengthClosestTo: point(11, 5), tolerance: 2) == 0.75)
        #expect(GeometryEngine.polyline(line, fractionalLengthClosestTo: point(19, 5), tolerance: 2) == -1)
    }

    @Test("Geodetic densify follows the geodesic, which bulges towards the pole")
    func geodeticDensify() throws {
        let flight = Polyline(points: [Point(latitude: 50, longitude: -60), Point(latitude: 50, longitude: 0)])
        let dense = try #require(
            GeometryEngine.geodeticDensify(flight, maxSegmentLength: 100, lengthUnit: .kilometers) as? Polyline)
        #expect(dense.parts[0].points.count > 40)
        #expect(dense.extent.yMax > 53)
        #expect(
            abs(GeometryEngine.geodeticLength(of: dense) - GeometryEngine.geodeticLength(of: flight)) < 1e-3)
        let box = Envelope(xMin: 0, yMin: 0, xMax: 10, yMax: 10, spatialReference: .wgs84).toPolygon()
        let denseBox = try #require(GeometryEngine.geodeticDensify(box, maxSegmentLength: 100_000))
        #expect(abs(GeometryEngine.geodeticArea(of: denseBox) / GeometryEngine.geodeticArea(of: box) - 1) < 1e-9)
    }

    @Test("Heights and measures are given and taken; shapes are moved, turned and scaled")
    func making() throws {
        let high = GeometryEngine.makeGeometry(from: Self.line, z: 7)
        #expect(high.hasZ && high.extent.zMin == 7)
        #expect(GeometryEngine.makeGeometry(from: high, z: nil) == Self.line)
        #expect(GeometryEngine.makeGeometry(from: high, m: 3).extent.mMax == 3)
        #expect(GeometryEngine.move(Self.square, deltaX: 5, deltaY: -5).extent.xMin == 5)
        let turned = GeometryEngine.rotate(Self.line, angle: 90)
        #expect(abs(turned.extent.height - 20) < 1e-12 && turned.extent.width < 1e-12)
        #expect(GeometryEngine.area(of: GeometryEngine.scale(Self.square, scaleX: 2, scaleY: 3)) == 600)
        #expect(GeometryEngine.scale(Self.square.extent, scaleX: -1, scaleY: 1).extent == Self.square.extent)
    }

    @Test("Segments make a part; an arc through three points is on their circle")
    func segments() throws {
        let arc = try #require(
            EllipticArcSegment.makeCircular(
                startPoint: point(1, 0), endPoint: point(-1, 0), interiorPoint: point(0, 1)))
        #expect(abs(arc.semiMajorAxis - 1) < 1e-12 && arc.isCounterClockwise)
        let part = MutablePart(segments: [LineSegment(startPoint: point(5, 0), endPoint: point(1, 0)), arc])
        let line = Polyline(parts: [part])
        #expect(abs(GeometryEngine.length(of: line) - 4 - .pi) < 0.01)
        #expect(
            EllipticArcSegment.makeCircular(
                startPoint: point(0, 0), endPoint: point(2, 2), interiorPoint: point(1, 1)) == nil)
    }
}
