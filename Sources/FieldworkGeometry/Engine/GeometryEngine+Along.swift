internal import CPROJ

extension GeometryEngine {
    /// The place on a polyline at a distance from its start, in units of the spatial reference, heights and measures in
    /// proportion. Before the start it is the first vertex, behind the end the last; nil for an empty polyline.
    public static func point(along polyline: Polyline, distance: Double) -> Point? {
        guard let first = polyline.parts.first?.startPoint, !distance.isNaN else { return nil }
        var rest = distance
        if rest <= 0 { return first }
        var last = first
        for segment in polyline.parts.joined() {
            let length = length(of: segment)
            if rest <= length, length > 0 {
                return place(on: segment, fraction: rest / length, reference: polyline.spatialReference)
            }
            rest -= length
            last = segment.endPoint
        }
        return last
    }

    /// How far along a polyline, as a fraction of its length, the place nearest to a point is; -1 when it is further
    /// away than the tolerance (in units of the spatial reference; negative for any distance).
    public static func polyline(
        _ polyline: Polyline, fractionalLengthClosestTo point: Point, tolerance: Double
    ) -> Double {
        guard let point = try? aligned(point, with: polyline) as? Point else { return -1 }
        var (walked, best, bestAlong) = (0.0, Double.infinity, 0.0)
        for segment in polyline.parts.joined() {
            let length = length(of: segment)
            let (start, end) = (segment.startPoint, segment.endPoint)
            let (dx, dy) = (end.x - start.x, end.y - start.y)
            let along = length > 0 ? ((point.x - start.x) * dx + (point.y - start.y) * dy) / (length * length) : 0
            let fraction = min(1, max(0, along))
            let (ex, ey) = (point.x - start.x - fraction * dx, point.y - start.y - fraction * dy)
            let distance = (ex * ex + ey * ey).squareRoot()
            if distance < best { (best, bestAlong) = (distance, walked + fraction * length) }
            walked += length
        }
        guard walked > 0, tolerance < 0 || best <= tolerance else { return -1 }
        return bestAlong / walked
    }

    /// More vertices along the geodesics of the WGS 84 ellipsoid: no segment longer than a length. nil for points, for
    /// what can't be placed, and for a length that would make too many vertices.
    public static func geodeticDensify(
        _ geometry: Geometry, maxSegmentLength: Double, lengthUnit: LinearUnit = .meters,
        curveType: GeodeticCurveType = .geodesic
    ) -> Geometry? {
        let limit = maxSegmentLength * lengthUnit.metersPerUnit
        guard limit > 0, limit.isFinite, let reference = geometry.spatialReference,
            let multipart = geometry as? Multipart, let placed = project(multipart, into: .wgs84),
            geodeticLength(of: placed) / limit < Double(GeometryLimits.verticesMax)
        else { return nil }
        var geodesic = ellipsoid
        let parts = placed.parts.map { part in
            var points = part.startPoint.map { [$0] } ?? []
            for segment in part { points += dense(segment, limit, &geodesic) }
            if placed is Polygon { points.removeLast(points.count > 1 ? 1 : 0) }
            return MutablePart(points: points, spatialReference: .wgs84)
        }
        let made: Geometry = placed is Polygon ? Polygon(parts: parts) : Polyline(parts: parts)
        return project(made, into: reference)
    }

    private static func dense(_ segment: Segment, _ limit: Double, _ geodesic: inout geod_geodesic) -> [Point] {
        let (start, end) = (segment.startPoint, segment.endPoint)
        var line = geod_geodesicline()
        geod_inverseline(&line, &geodesic, start.y, start.x, end.y, end.x, 0)
        let pieces = max(1, (line.s13 / limit).rounded(.up))
        return stride(from: 1.0, to: pieces, by: 1).map { step in
            var (latitude, longitude) = (0.0, 0.0)
            geod_position(&line, line.s13 * step / pieces, &latitude, &longitude, nil)
            let between = place(on: segment, fraction: step / pieces, reference: .wgs84)
            return Point(x: longitude, y: latitude, z: between.z, m: between.m, spatialReference: .wgs84)
        } + [end]
    }

    private static func length(of segment: Segment) -> Double {
        let (dx, dy) = (segment.endPoint.x - segment.startPoint.x, segment.endPoint.y - segment.startPoint.y)
        return (dx * dx + dy * dy).squareRoot()
    }

    private static func place(on segment: Segment, fraction: Double, reference: SpatialReference?) -> Point {
        let (start, end) = (segment.startPoint, segment.endPoint)
        func between(_ from: Double, _ to: Double) -> Double { from + (to - from) * fraction }
        func between(_ from: Double?, _ to: Double?) -> Double? {
            from.flatMap { from in to.map { between(from, $0) } }
        }
        return Point(
            x: between(start.x, end.x), y: between(start.y, end.y), z: between(start.z, end.z),
            m: between(start.m, end.m), spatialReference: reference)
    }
}
