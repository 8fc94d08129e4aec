import Testing

@testable import FieldworkGeometry

@Suite("The engine leaks nothing and races with nobody")
struct EngineSafetyTests {
    private static func everyOperation(_ one: Geometry, _ other: Geometry) {
        _ = GeometryEngine.union(one, other)
        _ = GeometryEngine.intersection(one, other)
        _ = GeometryEngine.difference(one, other)
        _ = GeometryEngine.symmetricDifference(one, other)
        _ = GeometryEngine.union(of: [one, other, one])
        _ = GeometryEngine.isGeometry(one, intersecting: other)
        _ = try? GeometryEngine.relate(one, other)
        _ = GeometryEngine.buffer(around: one, distance: 3)
        _ = GeometryEngine.convexHull(for: one)
        _ = GeometryEngine.simplify(one)
        _ = GeometryEngine.isSimple(one)
        _ = GeometryEngine.generalize(one, maxDeviation: 1, removeDegenerateParts: true)
        _ = GeometryEngine.boundary(of: one)
        _ = GeometryEngine.centroid(of: one)
        _ = GeometryEngine.distance(from: one, to: other)
        _ = GeometryEngine.area(of: one) + GeometryEngine.length(of: one)
        if let line = other as? Polyline { _ = GeometryEngine.cut(one, usingCutter: line) }
        if !other.isEmpty { _ = GeometryEngine.nearestCoordinate(in: one, to: other.extent.center) }
        _ = GeometryEngine.normalizeCentralMeridian(of: one)
    }

    @Test("Every operation frees all GEOS objects that it made, with good and with bad geometries")
    func leaks() throws {
        let bow = Polygon(points: [(0.0, 0.0), (10, 10), (10, 0), (0, 10)].map { Point(x: $0.0, y: $0.1) })
        let broken = Polyline(points: [Point(x: 0, y: 0), Point(x: .infinity, y: 1)])
        let count = try GEOSAccounting.counting {
            for seed in 0..<40 {
                var maker = GeometryMaker(seed: UInt64(seed))
                let (one, other) = (maker.geometry(), maker.geometry())
                for first in [one, bow, broken, Polygon(points: [])] { Self.everyOperation(first, other) }
                let filter = try PreparedFilter(one, relation: .intersects)
                let blob = GeoPackageBinary.blob(for: other, srsID: 0)
                _ = try blob.withUnsafeBytes { try filter.holds(blob: $0) }
                _ = try [1, 2, 3].withUnsafeBytes { try filter.holds(blob: $0) }
            }
        }
        #expect(count.made > 5_000)
        #expect(count.made == count.freed)
    }

    @Test("Operations in many tasks at once give what they give alone")
    func concurrency() async {
        func results(_ seed: Int) -> [String] {
            var maker = GeometryMaker(seed: UInt64(seed))
            let (one, other) = (maker.polygon(hasZ: false, hasM: false), maker.polygon(hasZ: false, hasM: false))
            return [
                GeometryEngine.union(one, other), GeometryEngine.intersection(one, other),
                GeometryEngine.buffer(around: one, distance: 7), GeometryEngine.convexHull(for: other),
            ].map { $0.map(WellKnownText.text) ?? "none" }
        }
        let alone = (0..<8).map(results)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<8).filter { results($0) != alone[$0] }.count }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
