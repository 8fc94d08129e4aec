import Foundation
import TestSupport
import Testing

@testable import FieldworkGeometry

/// What is folded from geometries that stream past, against GEOS asked about all of them at once.
@Suite("Folds of many geometries")
struct GeometryFoldTests {
    private static func blob(_ geometry: Geometry) -> [UInt8] { GeoPackageBinary.blob(for: geometry, srsID: 0) }

    private static func hull(of geometries: [Geometry], batch: Int) throws -> Geometry? {
        let fold = ConvexHullFold(batch: batch)
        for geometry in geometries { try blob(geometry).withUnsafeBytes { try fold.add(blob: $0) } }
        return try fold.hull(spatialReference: nil)
    }

    private static func centroid(of geometries: [Geometry]) -> Point? {
        let fold = CentroidFold()
        for geometry in geometries { blob(geometry).withUnsafeBytes { fold.add(blob: $0) } }
        return fold.centroid(spatialReference: nil)
    }

    @Test("A hull in batches is the hull of everything", arguments: 0..<100)
    func hull(seed: Int) throws {
        var maker = GeometryMaker(seed: UInt64(seed))
        let geometries = (0..<40).map { _ in maker.geometry() }
        let points = geometries.flatMap { geometry in
            (0..<geometry.vertices.count).map { Point(x: geometry.vertices.x($0), y: geometry.vertices.y($0)) }
        }
        let expected = try #require(GeometryEngine.convexHull(for: Multipoint(points: points)))
        for batch in [1, 7, 10_000] {
            let hull = try #require(try Self.hull(of: geometries, batch: batch))
            #expect(GeometryEngine.isGeometry(hull, equivalentTo: expected), "batches of \(batch)")
        }
    }

    @Test("However many positions stream past, a batch and the corners are held")
    func memory() throws {
        let fold = ConvexHullFold(batch: 1_000)
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<50_000 {
            let point = Point(x: .random(in: 0...1, using: &generator), y: .random(in: 0...1, using: &generator))
            try Self.blob(point).withUnsafeBytes { try fold.add(blob: $0) }
            #expect(fold.count < 1_100)
        }
    }

    @Test("A hull of more corners than are kept is refused, one of as many is not")
    func corners() throws {
        func circle(_ corners: Int) throws {
            let fold = ConvexHullFold(batch: 10, cornersMax: 65)
            for corner in 0..<corners {
                let angle = 2 * Double.pi * Double(corner) / Double(corners)
                try Self.blob(Point(x: cos(angle), y: sin(angle))).withUnsafeBytes { try fold.add(blob: $0) }
            }
        }
        try circle(64)
        #expect(throws: GeometryError.nonSimpleGeometry(details: "The convex hull has more than 65 corners.")) {
            try circle(1_000)
        }
    }

    @Test("A hull of one place is a point, of a line a line, of nothing nothing")
    func degenerate() throws {
        let point = Point(x: 3, y: 4)
        for batch in [1, 100] {
            #expect(try Self.hull(of: [point], batch: batch) is Point)
            #expect(try Self.hull(of: [point, point, point, point], batch: batch) is Point)
            let line = try Self.hull(of: [point, Point(x: 5, y: 6), Point(x: 4, y: 5)], batch: batch)
            #expect((line as? Polyline)?.vertices.count == 2)
            #expect(try Self.hull(of: [], batch: batch) == nil)
        }
        #expect(Self.centroid(of: []) == nil)
    }

    @Test("A centre in a stream is that of the collection", arguments: ["POINT", "LINESTRING", "POLYGON"])
    func centroid(kind: String) throws {
        let texts =
            switch kind {
            case "POINT": ["POINT (0 0)", "POINT (10 0)", "MULTIPOINT ((5 5), (7 9))"]
            case "LINESTRING": ["LINESTRING (0 0, 10 0)", "LINESTRING (50 50, 50 51)", "LINESTRING (3 3, 3 3)"]
            default:
                [
                    "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (2 2, 2 4, 4 4, 4 2, 2 2))",
                    "POLYGON ((100 100, 101 100, 101 101, 100 100))",
                ]
            }
        let geometries = try texts.map { try #require(try WellKnownText.geometry(from: $0)) }
        let expected: Point? =
            switch kind {
            case "POINT": Point(x: 5.5, y: 3.5)
            // Weighed by 10 and by 1; the line without a length weighs nothing.
            case "LINESTRING": Point(x: 100.0 / 11, y: 50.5 / 11)
            default:
                Geometry.merged(geometries, spatialReference: nil).flatMap { GeometryEngine.centroid(of: $0) }
            }
        let centre = try #require(Self.centroid(of: geometries))
        let wanted = try #require(expected)
        #expect(abs(centre.x - wanted.x) < 1e-9 && abs(centre.y - wanted.y) < 1e-9)
    }

    @Test("What is no geometry adds nothing, and nothing is left behind")
    func malformed() throws {
        let good = Self.blob(Polygon(points: [Point(x: 0, y: 0), Point(x: 0, y: 4), Point(x: 4, y: 0)]))
        let count = try GEOSAccounting.counting {
            let hull = ConvexHullFold(batch: 2)
            let centre = CentroidFold()
            for bytes in [good, Array(good.dropLast(9)), [1, 2, 3], [], Self.blob(Point(x: .nan, y: .nan)), good] {
                try bytes.withUnsafeBytes {
                    try hull.add(blob: $0)
                    centre.add(blob: $0)
                }
            }
            #expect(try hull.hull(spatialReference: nil)?.vertices.count == 3)
            let point = try #require(centre.centroid(spatialReference: nil))
            #expect(abs(point.x - 4.0 / 3) < 1e-12 && abs(point.y - 4.0 / 3) < 1e-12)
        }
        #expect(count.made == count.freed && count.made > 0)
    }
}
