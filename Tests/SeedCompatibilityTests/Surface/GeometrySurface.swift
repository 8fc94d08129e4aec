import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of geometries, in the types that they expect.
@Suite("The names of geometries", .fewAtATime)
struct GeometrySurface {
    private static let square = ArcGIS.Polygon(points: [
        Point(x: 0, y: 0, spatialReference: .webMercator), Point(x: 10, y: 0, spatialReference: .webMercator),
        Point(x: 10, y: 10, spatialReference: .webMercator), Point(x: 0, y: 10, spatialReference: .webMercator),
    ])

    @Test("Values are made, compared and taken apart")
    func values() throws {
        let point = Point(x: 1, y: 2, z: 3, m: 4, spatialReference: .wgs84)
        let place = Point(latitude: 45, longitude: -122)
        let kinds: [Geometry.Type] = [Point.self, Multipoint.self, Polyline.self, Polygon.self, Envelope.self]
        #expect(kinds.contains { $0 == type(of: place) } && place.y == 45 && point.z == 3 && point.m == 4)
        let geometry: Geometry = Self.square
        #expect(geometry.extent.width == 10 && !geometry.isEmpty && !geometry.hasZ && !geometry.hasM)
        #expect(!geometry.hasCurves && geometry.sketchIsValid && geometry.spatialReference == .webMercator)
        let multipart = try #require(geometry as? Multipart)
        let part = try #require(multipart.parts.first)
        let segment: Segment = try #require(part.first)
        #expect(segment.startPoint == part.points.first && !segment.isCurve && !segment.isClosed)
        let line = Polyline(points: [point, place])
        #expect(line.parts.count == 1 && Multipoint(points: [point, place]).points.count == 2)
        let ring = MutablePart(points: Array(part.points), spatialReference: .webMercator)
        #expect(Polygon(parts: [ring]) == Self.square)
        let drawn = MutablePart(segments: Array(part), spatialReference: .webMercator)
        #expect(drawn.points.first == ring.points.first && drawn.points.count == part.count + 1)
        let extents = [
            Envelope(xMin: 0, yMin: 0, xMax: 4, yMax: 2), Envelope(xRange: 0...4, yRange: 0...2),
            Envelope(min: Point(x: 0, y: 0), max: Point(x: 4, y: 2)),
            Envelope(center: Point(x: 2, y: 1), width: 4, height: 2),
        ]
        #expect(extents.allSatisfy { $0 == extents[0] && $0.center == Point(x: 2, y: 1) && $0.zMin == nil })
        let curve = CubicBezierSegment(
            startPoint: Point(x: 0, y: 0), controlPoint1: Point(x: 0, y: 1), controlPoint2: Point(x: 1, y: 1),
            endPoint: Point(x: 1, y: 0))
        let arc = EllipticArcSegment.makeCircular(
            centerPoint: Point(x: 0, y: 0), radius: 1, startAngle: 0, centralAngle: .pi)
        #expect(curve.isCurve && arc.isCurve)
        let wkid: WKID = try #require(WKID(26_910))
        let reference: SpatialReference = try #require(SpatialReference(wkid: wkid))
        #expect(Set([reference, .webMercator, .wgs84]).count == 3 && WKID(rawValue: 26_915) != nil)
    }

    @Test("Builders change vertex by vertex and part by part")
    func builders() {
        let points = MultipointBuilder(spatialReference: .webMercator)
        points.points.add(Point(x: 1, y: 1, spatialReference: .webMercator))
        points.points.add(x: 2, y: 2)
        points.points.insert(Point(x: 0, y: 0, spatialReference: .webMercator), at: 0)
        points.points.remove(at: 9)
        points.points.remove(at: 1)
        #expect(points.points.map(\.x) == [0, 2] && points.toGeometry().points.count == 2)
        points.points.removeAll()
        #expect(points.isEmpty)
        let line = PolylineBuilder(spatialReference: .webMercator)
        line.add(Point(x: 0, y: 0, spatialReference: .webMercator))
        line.add(Point(x: 1, y: 0, spatialReference: .webMercator))
        line.parts.add(MutablePart(points: [Point(x: 5, y: 5), Point(x: 6, y: 6)]))
        line.parts.insert(MutablePart(points: [Point(x: 8, y: 8), Point(x: 9, y: 9)]), at: 0)
        #expect(line.parts.count == 3 && line.parts[0].points.first?.x == 8)
        line.parts.remove(at: 0)
        line.add(Point(x: 7, y: 7, spatialReference: .webMercator))
        let made: Polyline = line.toGeometry()
        #expect(made.parts.map { $0.points.count } == [2, 3] && line.sketchIsValid && line.extent?.xMax == 7)
        let polygon = PolygonBuilder(polygon: Self.square)
        polygon.add(Point(x: -5, y: 5, spatialReference: .webMercator))
        let ring: Polygon = polygon.toGeometry()
        #expect(ring.extent.xMin == -5 && !polygon.hasCurves && !polygon.hasZ && !polygon.hasM)
        let box = EnvelopeBuilder(envelope: Self.square.extent)
        box.expand(by: 2)
        #expect(box.toGeometry().width == 20)
    }

    @Test("The engine answers under the names of its calls")
    func engine() throws {
        let square = Self.square
        let inside = Point(x: 5, y: 5, spatialReference: .webMercator)
        let far = Point(x: 50, y: 5, spatialReference: .webMercator)
        let projected: Point = try #require(GeometryEngine.project(inside, into: .wgs84))
        #expect(projected.spatialReference == .wgs84)
        #expect(GeometryEngine.normalizeCentralMeridian(of: inside) as? Point == inside)
        let circle: Polygon = try #require(GeometryEngine.buffer(around: inside, distance: 2))
        #expect(GeometryEngine.doesGeometry(square, contain: circle))
        let geodetic = GeometryEngine.geodeticBuffer(
            around: inside, distance: 2, distanceUnit: .meters, maxDeviation: .nan, curveType: .geodesic)
        #expect(geodetic?.isEmpty == false)
        let results: [Geometry?] = [
            GeometryEngine.union(square, circle), GeometryEngine.union(of: [square, circle]),
            GeometryEngine.intersection(square, circle), GeometryEngine.difference(square, circle),
            GeometryEngine.symmetricDifference(square, circle), GeometryEngine.clip(square, to: circle.extent),
            GeometryEngine.convexHull(for: square), GeometryEngine.simplify(square),
            GeometryEngine.generalize(circle, maxDeviation: 0.1, removeDegenerateParts: true),
            GeometryEngine.densify(square, maxSegmentLength: 1),
            GeometryEngine.geodeticDensify(square, maxSegmentLength: 1, lengthUnit: .meters, curveType: .geodesic),
        ]
        #expect(results.allSatisfy { $0?.isEmpty == false })
        let cutter = Polyline(points: [
            Point(x: 5, y: -1, spatialReference: .webMercator), Point(x: 5, y: 11, spatialReference: .webMercator),
        ])
        #expect(GeometryEngine.cut(square, usingCutter: cutter).count == 2)
        #expect(GeometryEngine.convexHull(for: [square, circle], shouldMerge: true).count == 1)
        #expect(GeometryEngine.isSimple(square) && GeometryEngine.length(of: cutter) == 12)
        #expect(GeometryEngine.geodeticLength(of: cutter, lengthUnit: .meters, curveType: .geodesic) > 11)
        #expect(GeometryEngine.distance(from: square, to: far) == 40)
        let geodeticDistance: GeodeticDistanceResult? = GeometryEngine.geodeticDistance(
            from: inside, to: far, distanceUnit: .meters, azimuthUnit: .degrees, curveType: .geodesic)
        #expect((geodeticDistance?.distance ?? 0) > 40)
        let moved = GeometryEngine.geodeticMove(
            [projected], distance: 5, distanceUnit: .meters, azimuth: 90, azimuthUnit: .degrees, curveType: .geodesic)
        #expect(moved.count == 1)
        let nearest: ProximityResult? = GeometryEngine.nearestCoordinate(in: square, to: far)
        #expect(nearest?.coordinate.x == 10 && GeometryEngine.nearestVertex(in: square, to: far)?.distance ?? 0 > 40)
        #expect(GeometryEngine.polyline(cutter, fractionalLengthClosestTo: inside, tolerance: 1) == 0.5)
        #expect(GeometryEngine.point(along: cutter, distance: 6)?.y == 5)
        #expect(
            GeometryEngine.isGeometry(inside, within: square) && GeometryEngine.isGeometry(cutter, crossing: square))
        #expect(GeometryEngine.isGeometry(square, intersecting: circle))
        #expect(
            !GeometryEngine.isGeometry(square, touching: circle) && GeometryEngine.isGeometry(far, disjointWith: square)
        )
        #expect(!GeometryEngine.isGeometry(square, overlapping: circle))
        #expect(GeometryEngine.combineExtents(of: [square, far])?.xMax == 50)
        #expect(GeometryEngine.combineExtents(square, far)?.xMin == 0)
        #expect(GeometryEngine.makeGeometry(from: inside, z: 7).hasZ)
    }
}
