import Foundation
import Testing

@testable import FieldworkGeometry

/// What a geometry costs before it is computed with, and that a computation ends when its work is over.
@Suite("The cost of geometries")
struct GeometryCostTests {
    private static func points(_ count: Int, within width: Double, seed: UInt64 = 7) -> Multipoint {
        var state = seed
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / Double(1 << 53) * width
        }
        return Multipoint(points: (0..<count).map { _ in Point(x: random(), y: random()) })
    }

    private static func tangle(_ count: Int) -> Polyline {
        Polyline(points: Array(points(count, within: 1_000).points))
    }

    private static func star(_ corners: Int) -> Polygon {
        Polygon(
            points: (0..<corners).map { number in
                let angle = Double(number) / Double(corners) * 2 * .pi
                let radius = number.isMultiple(of: 2) ? 1_000.0 : 100
                return Point(x: radius * cos(angle), y: radius * sin(angle))
            })
    }

    private static func coast(_ corners: Int) -> Polygon {
        Polygon(
            points: (0..<corners).map { number in
                let angle = Double(number) / Double(corners) * 2 * .pi
                let radius = 1_000 + Double(number % 7) / 100
                return Point(x: radius * cos(angle), y: radius * sin(angle))
            })
    }

    private static func isTooMuch(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch AllowanceError.tooMuchWork(let text) {
            return text.contains("Ask with")
        } catch {
            return false
        }
    }

    @Test(
        "Points are in one group exactly when circles around them meet, directly or through others", arguments: 0..<20)
    func groups(seed: Int) {
        let reach = 20.0
        let points = Self.points(150, within: Double(100 + seed * 20), seed: UInt64(seed + 1)).vertices
        var group = Array(0..<points.count)
        for one in 0..<points.count {
            for other in 0..<one {
                let (dx, dy) = (points.x(one) - points.x(other), points.y(one) - points.y(other))
                guard dx * dx + dy * dy <= reach * reach, group[one] != group[other] else { continue }
                let (kept, lost) = (group[one], group[other])
                for index in group.indices where group[index] == lost { group[index] = kept }
            }
        }
        let expected = Set(Dictionary(grouping: 0..<points.count) { group[$0] }.values.map { Set($0) })
        #expect(Set(PointGroups(points, reach: reach).groups.map { Set($0) }) == expected)
    }

    @Test("Points are widened to the area that GEOS makes of them all at once", arguments: [200.0, 1_000, 5_000])
    func circles(width: Double) throws {
        let points = Self.points(100, within: width)
        let whole = try #require(try GeometryEngine.widened(points, by: 50))
        let union = try #require(
            GeometryEngine.union(of: points.points.compactMap { GeometryEngine.buffer(around: $0, distance: 50) }))
        let difference = GeometryEngine.symmetricDifference(whole, union).map { GeometryEngine.area(of: $0) } ?? 0
        #expect(difference < 1e-6 * GeometryEngine.area(of: union))
        #expect(GeometryEngine.isSimple(whole))
    }

    @Test("A geometry of 10,000 vertices is widened, one of more is refused")
    func bufferedVertices() throws {
        let most = GeometryLimits.bufferedVertices
        #expect(try GeometryEngine.widened(Self.points(most, within: 100), by: 1_000) != nil)
        #expect(Self.isTooMuch { _ = try GeometryEngine.widened(Self.points(most + 1, within: 100), by: 1_000) })
        #expect(Self.isTooMuch { _ = try GeometryEngine.widenedOnEllipsoid(Self.points(most + 1, within: 1), by: 10) })
    }

    @Test("A line that crosses itself often is neither widened nor related to features, a long plain one is")
    func tangles() throws {
        // Of so many random segments each crosses almost a quarter of the others.
        #expect(Self.isTooMuch { _ = try GeometryEngine.widened(Self.tangle(700), by: 1) })
        #expect(Self.isTooMuch { try Self.tangle(300).checkRelationCost() })
        try Self.tangle(100).checkRelationCost()
        #expect(try GeometryEngine.widened(Self.tangle(50), by: 1) != nil)
        try Self.coast(100_000).checkRelationCost()
        #expect(try GeometryEngine.widened(Self.coast(5_000), by: 1) != nil)
    }

    @Test("A star of 100,000 corners is refused where its corners are compared with each other, and intersects at once")
    func stars() throws {
        #expect(Self.isTooMuch { try Self.star(100_000).checkRelationCost() })
        #expect(Self.isTooMuch { try Self.star(10_000).checkBufferCost() })
        let filter = try PreparedFilter(Self.star(100_000), relation: .intersects)
        let blob = GeoPackageBinary.blob(for: Point(x: 10, y: 10), srsID: 0)
        #expect(try blob.withUnsafeBytes { try filter.holds(blob: $0) })
    }

    @Test("Crossings are estimated: exactly for few segments, near enough for many")
    func estimate() {
        let bow = Polyline(points: [(0.0, 0.0), (10, 10), (10, 0), (0, 10)].map { Point(x: $0.0, y: $0.1) })
        #expect(SegmentCrowding(bow).crossings == 1)
        #expect(SegmentCrowding(Self.star(100)).crossings == 0)
        #expect(SegmentCrowding(Polygon(points: [])).meetings == 0)
        let few = SegmentCrowding(Self.tangle(400)).crossings / (400 * 400)
        let many = SegmentCrowding(Self.tangle(2_000)).crossings / (2_000 * 2_000)
        #expect(abs(few - many) < 0.03 && few > 0.08)
    }

    @Test(
        "A comparison that is stopped for others has no answer: it is done again, and then refused, never taken for no")
    func disturbed() throws {
        let filter = try PreparedFilter(Self.tangle(200), relation: .matches(pattern: "T********"))
        let blob = GeoPackageBinary.blob(for: Self.tangle(200), srsID: 0)
        func holds() throws -> Bool { try blob.withUnsafeBytes { try filter.holds(blob: $0) } }
        #expect(try holds())
        let allowance = WorkAllowance(time: .seconds(600))
        // Tests that run beside this one may be disturbed as well, and do their work again.
        try WorkAllowance.$current.withValue(allowance) {
            var runs = 0
            let stopped = try GEOSInterrupts.run { () -> Bool? in
                runs += 1
                guard runs < 5 else { return true }
                GEOSInterrupts.disturb()
                return nil
            }
            #expect(stopped == true && runs == 5)
            #expect(throws: AllowanceError.disturbed) {
                _ = try GEOSInterrupts.run { () -> Bool? in
                    GEOSInterrupts.disturb()
                    return nil
                }
            }
            #expect(try holds())
        }
    }

    @Test("Hulls, distances, cuts and looks at crossings that are stopped for others are done again")
    func doneAgain() throws {
        let square = Polygon(points: [(0.0, 0.0), (0, 500), (500, 500), (500, 0)].map { Point(x: $0.0, y: $0.1) })
        let far = Polygon(points: [(900.0, 0.0), (900, 500), (950, 500)].map { Point(x: $0.0, y: $0.1) })
        let line = Polyline(points: [Point(x: 250, y: -10), Point(x: 250, y: 510)])
        let blob = GeoPackageBinary.blob(for: Self.points(50, within: 100), srsID: 0)
        for _ in 0..<20 {
            let fold = ConvexHullFold(batch: 10_000)
            try blob.withUnsafeBytes { try fold.add(blob: $0) }
            GEOSInterrupts.disturb()
            #expect(try fold.hull(spatialReference: nil) is Polygon)
            GEOSInterrupts.disturb()
            #expect(GeometryEngine.isSimple(square) && !GeometryEngine.isSimple(Self.tangle(50)))
            GEOSInterrupts.disturb()
            #expect(GeometryEngine.distance(from: square, to: far) == 400)
            GEOSInterrupts.disturb()
            #expect(GeometryEngine.cut(square, usingCutter: line).count == 2)
        }
    }

    @Test("A computation ends when the time of its work is over, and others that run beside it are done all the same")
    func interrupted() async throws {
        let tangle = Self.tangle(300)
        let square = Polygon(points: [(0.0, 0.0), (0, 500), (500, 500), (500, 0)].map { Point(x: $0.0, y: $0.1) })
        let expected = try GeometryEngine.relate(tangle, square)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    guard number.isMultiple(of: 2) else {
                        return (0..<4).allSatisfy { _ in (try? GeometryEngine.relate(tangle, square)) == expected }
                    }
                    return WorkAllowance.$current.withValue(WorkAllowance(time: .milliseconds(2))) {
                        do {
                            for _ in 0..<1_000 { _ = try GeometryEngine.widened(tangle, by: 5) }
                            return false
                        } catch {
                            return true
                        }
                    }
                }
            }
            var answers = 0
            for await isAsExpected in group {
                answers += 1
                #expect(isAsExpected)
            }
            #expect(answers == 12)
        }
    }
}
