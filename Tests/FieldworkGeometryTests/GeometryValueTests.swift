import Testing

@testable import FieldworkGeometry

@Suite("Geometry values")
struct GeometryValueTests {
    @Test("Geometries are equal by kind, reference and coordinates")
    func equality() {
        #expect(Point(x: 1, y: 2, spatialReference: .wgs84) == Point(latitude: 2, longitude: 1))
        #expect(Point(x: 1, y: 2) != Point(x: 1, y: 2, spatialReference: .wgs84))
        #expect(Point(x: 1, y: 2) as Geometry != Multipoint(points: [Point(x: 1, y: 2)]))
        #expect(Point(x: 1, y: 2, z: 3) != Point(x: 1, y: 2))
        #expect(Point(x: 1, y: 2).isEqual(to: Point(x: 1.05, y: 2), tolerance: 0.1))
        #expect(Set([Point(x: 0.0, y: 1), Point(x: -0.0, y: 1)] as [Geometry]).count == 1)
        let measured = Point(x: 1, y: 2, z: nil, m: .nan)
        #expect(measured == Point(x: 1, y: 2, z: nil, m: .nan))
    }

    @Test("A builder starts from a geometry and gives its kind back")
    func builders() throws {
        for geometry in [
            Point(latitude: 1, longitude: 2), Multipoint(points: [Point(latitude: 1, longitude: 2)]),
            GeometryEngineTests.line, GeometryEngineTests.square, GeometryEngineTests.square.extent,
        ] as [Geometry] {
            #expect(GeometryBuilder.makeBuilder(geometry: geometry).toGeometry() == geometry)
        }
        let builder = PolylineBuilder(spatialReference: .webMercator)
        #expect(builder.isEmpty && !builder.sketchIsValid && builder.extent == nil)
        builder.addPoint(x: 0, y: 0)
        builder.add(Point(x: 3, y: 4))
        #expect(builder.sketchIsValid)
        #expect(GeometryEngine.length(of: builder.toGeometry()) == 5)
        let envelope = EnvelopeBuilder(envelope: Envelope(xMin: 0, yMin: 0, xMax: 2, yMax: 2))
        envelope.expand(by: 2)
        #expect(envelope.toGeometry() == Envelope(xMin: -1, yMin: -1, xMax: 3, yMax: 3))
        let point = PointBuilder(point: Point(x: 1, y: 2, spatialReference: .wgs84))
        point.x = 9
        #expect(point.toGeometry() == Point(x: 9, y: 2, spatialReference: .wgs84))
    }

    @Test("A ring's closing vertex is not repeated, and its closing segment is there")
    func rings() {
        let closed = Polygon(points: [(0.0, 0.0), (0, 1), (1, 1), (0, 0)].map { Point(x: $0.0, y: $0.1) })
        #expect(closed.parts[0].points.count == 3)
        #expect(closed.parts[0].count == 3)
        #expect(closed.toPolyline().parts[0].points.count == 4)
        #expect(Polygon(points: []).isEmpty && Polygon(points: []).parts.isEmpty)
    }

    @Test("Extents cover heights and measures")
    func extents() {
        let line = Polyline(points: [Point(x: 1, y: 5, z: 9, m: 2), Point(x: 4, y: 2, z: 3, m: 8)])
        #expect(line.extent.xMin == 1 && line.extent.yMax == 5)
        #expect(line.extent.zMin == 3 && line.extent.zMax == 9 && line.extent.mMin == 2 && line.extent.mMax == 8)
        #expect(Polygon(points: []).extent.isEmpty)
    }
}
