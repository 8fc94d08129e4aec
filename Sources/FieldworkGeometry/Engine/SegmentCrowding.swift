/// How often a geometry's segments cross each other and how often their boxes meet, estimated from pairs that are drawn at random:
/// what GEOS takes for a buffer, a relation or an overlay grows with both, and is unbounded in the number of vertices.
struct SegmentCrowding {
    /// Pairs of segments whose boxes meet.
    private(set) var meetings = 0.0
    /// Pairs of segments that cross within both.
    private(set) var crossings = 0.0

    /// So many pairs are drawn; where there are fewer, all are looked at.
    private static let draws = 100_000

    init(_ geometry: Geometry) {
        let (vertices, closes) = (geometry.vertices, geometry is Polygon)
        var starts: [(from: Int, to: Int)] = []
        guard geometry.dimension != .point, !(geometry is Envelope) else { return }
        starts.reserveCapacity(vertices.count)
        for part in vertices.parts where part.count > 1 {
            for index in part.dropFirst() { starts.append((index - 1, index)) }
            if closes { starts.append((part.upperBound - 1, part.lowerBound)) }
        }
        guard starts.count > 2 else { return }
        let all = Double(starts.count) * Double(starts.count - 1) / 2
        if all <= Double(Self.draws) {
            for one in starts.indices {
                for other in starts.indices[..<one] { look(starts[one], starts[other], vertices) }
            }
            return
        }
        // The same draws for the same geometry: a request that is sent again is answered alike.
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func draw() -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(starts.count))
        }
        for _ in 0..<Self.draws {
            let (one, other) = (draw(), draw())
            if one != other { look(starts[one], starts[other], vertices) }
        }
        meetings *= all / Double(Self.draws)
        crossings *= all / Double(Self.draws)
    }

    private mutating func look(_ one: (from: Int, to: Int), _ other: (from: Int, to: Int), _ vertices: Vertices) {
        // Neighbours share a vertex.
        guard one.from != other.to, one.to != other.from, one.from != other.from else { return }
        let (ax, ay, bx, by) = (vertices.x(one.from), vertices.y(one.from), vertices.x(one.to), vertices.y(one.to))
        let (cx, cy, dx, dy) = (
            vertices.x(other.from), vertices.y(other.from), vertices.x(other.to), vertices.y(other.to)
        )
        guard min(ax, bx) <= max(cx, dx), min(cx, dx) <= max(ax, bx), min(ay, by) <= max(cy, dy),
            min(cy, dy) <= max(ay, by)
        else { return }
        meetings += 1
        func side(_ px: Double, _ py: Double, _ qx: Double, _ qy: Double, _ x: Double, _ y: Double) -> Bool {
            (qx - px) * (y - py) - (qy - py) * (x - px) > 0
        }
        if side(ax, ay, bx, by, cx, cy) != side(ax, ay, bx, by, dx, dy),
            side(cx, cy, dx, dy, ax, ay) != side(cx, cy, dx, dy, bx, by)
        {
            crossings += 1
        }
    }
}

extension Geometry {
    /// Throws when GEOS would take too long to tell the relation of this geometry to a feature's, whichever that is. Whether geometries
    /// intersect is told fast whatever they are; all other relations cut the geometry at each crossing, for each feature anew.
    package func checkRelationCost() throws(AllowanceError) {
        let crowding = SegmentCrowding(self)
        guard crowding.crossings <= Double(GeometryLimits.relatedCrossings) else {
            throw .tooMuchWork(
                """
                The geometry crosses itself about \(Int(crowding.crossings)) times, of which a relation other than intersects takes \
                \(GeometryLimits.relatedCrossings). Ask with a geometry that doesn't cross itself, or in parts.
                """)
        }
        guard crowding.meetings <= Double(GeometryLimits.relatedMeetings) else {
            throw .tooMuchWork(
                """
                The segments of the geometry lie so close that their boxes meet about \(Int(crowding.meetings)) times, of which a \
                relation other than intersects takes \(GeometryLimits.relatedMeetings). Ask with fewer vertices, or in parts.
                """)
        }
    }

    /// Throws when GEOS would take too long, or too much memory, to widen this geometry.
    func checkBufferCost() throws(AllowanceError) {
        guard vertices.count <= GeometryLimits.bufferedVertices else {
            throw .tooMuchWork(
                """
                The geometry has \(vertices.count) vertices, of which one that is widened may have \
                \(GeometryLimits.bufferedVertices). Ask with fewer, or in parts.
                """)
        }
        let crowding = SegmentCrowding(self)
        guard crowding.crossings <= Double(GeometryLimits.bufferedCrossings),
            crowding.meetings <= Double(GeometryLimits.bufferedMeetings)
        else {
            throw .tooMuchWork(
                """
                The geometry crosses itself or folds upon itself about \(Int(max(crowding.crossings, crowding.meetings))) times, which \
                is too much to widen it (\(GeometryLimits.bufferedCrossings) crossings, \(GeometryLimits.bufferedMeetings) segments \
                beside each other). Ask with a simpler geometry, or in parts.
                """)
        }
    }
}
