internal import CGEOS
import Foundation

extension GeometryEngine {
    /// A buffer around each geometry, or one around all of them. Distances are in units of the spatial reference; the
    /// last counts for all that follow.
    public static func buffer(around geometries: [Geometry], distances: [Double], shouldUnion: Bool) -> [Polygon] {
        let buffers = geometries.enumerated().compactMap { index, geometry -> Polygon? in
            guard let distance = index < distances.count ? distances[index] : distances.last else { return nil }
            return buffer(around: geometry, distance: distance)
        }
        guard shouldUnion else { return buffers }
        return (union(of: buffers) as? Polygon).map { [$0] } ?? []
    }

    /// A geometry that does not cross itself, rings wound and joined by the rules; nil when nothing is left.
    public static func simplify(_ geometry: Geometry) -> Geometry? {
        switch geometry {
        case is Polygon:
            guard let repaired = result(of: geometry, GEOSMakeValid_r) else { return nil }
            return repaired is Polygon ? repaired : nil
        case is Polyline: return result(of: geometry, GEOSUnaryUnion_r)
        default: return geometry.isEmpty ? nil : geometry
        }
    }

    /// Whether a geometry keeps the rules of its kind: no crossing of itself, rings that close without touching more
    /// than at points.
    public static func isSimple(_ geometry: Geometry) -> Bool {
        let context = GEOSContext()
        guard let shape = try? context.shape(geometry) else { return false }
        let isPolygon = geometry is Polygon
        let answer = try? GEOSInterrupts.run { () -> CChar? in
            let answer =
                isPolygon
                ? GEOSisValid_r(context.handle, shape.pointer) : GEOSisSimple_r(context.handle, shape.pointer)
            // 2: it failed.
            return answer == 2 ? nil : answer
        }
        return answer == 1
    }

    /// Fewer vertices, none moved: by the rule of Douglas and Peucker, no further off than a distance in units of the
    /// spatial reference.
    public static func generalize(
        _ geometry: Geometry, maxDeviation: Double, removeDegenerateParts: Bool
    ) -> Geometry? {
        guard maxDeviation > 0, maxDeviation.isFinite else { return geometry }
        if removeDegenerateParts { return result(of: geometry) { GEOSSimplify_r($0, $1, maxDeviation) } }
        return result(of: geometry) { GEOSTopologyPreserveSimplify_r($0, $1, maxDeviation) }
    }

    /// More vertices: no segment longer than a length in units of the spatial reference.
    public static func densify(_ geometry: Geometry, maxSegmentLength: Double) -> Geometry? {
        guard maxSegmentLength > 0, maxSegmentLength.isFinite else { return nil }
        // A length that would make more vertices than a geometry may have is refused, not tried.
        guard length(of: geometry) / maxSegmentLength < Double(GeometryLimits.verticesMax) else { return nil }
        return result(of: geometry) { GEOSDensify_r($0, $1, maxSegmentLength) }
    }

    /// The smallest convex geometry around one: a polygon, a line or a point.
    public static func convexHull(for geometry: Geometry) -> Geometry? { result(of: geometry, GEOSConvexHull_r) }

    /// A convex hull a geometry, or one around all.
    public static func convexHull(for geometries: [Geometry], shouldMerge: Bool) -> [Geometry] {
        guard shouldMerge else { return geometries.compactMap { convexHull(for: $0) } }
        let hulls = geometries.compactMap { convexHull(for: $0) }
        guard let all = union(of: hulls), let hull = convexHull(for: all) else { return [] }
        return [hull]
    }

    /// The boundary: of a polygon its rings, of a line its end points; nil when there is none.
    public static func boundary(of geometry: Geometry) -> Geometry? { result(of: geometry, GEOSBoundary_r) }

    /// The centre of gravity; nil for an empty geometry.
    public static func centroid(of geometry: Geometry) -> Point? { result(of: geometry, GEOSGetCentroid_r) as? Point }

    /// A point that lies well inside a polygon, for its label.
    public static func labelPoint(for polygon: Polygon) -> Point? {
        result(of: polygon, GEOSPointOnSurface_r) as? Point
    }

    /// How the corners of an offset line are made.
    public enum OffsetType: Sendable {
        /// Drawn out to a point, cut off, round, or cut off square.
        case mitered, beveled, rounded, squared
    }

    /// A line beside a line, at a distance in units of the spatial reference: to the right when positive. For a polygon
    /// the polygon shrunk (positive) or grown.
    public static func offset(
        of geometry: Geometry, distance: Double, offsetType: OffsetType = .mitered, bevelRatio: Double = 10,
        flattenError: Double = 0
    ) -> Geometry? {
        guard distance.isFinite, bevelRatio.isFinite else { return nil }
        if geometry is Polygon { return buffer(around: geometry, distance: -distance) }
        let join: GEOSBufJoinStyles =
            switch offsetType {
            case .mitered: GEOSBUF_JOIN_MITRE
            case .beveled, .squared: GEOSBUF_JOIN_BEVEL
            case .rounded: GEOSBUF_JOIN_ROUND
            }
        return result(of: geometry) {
            GEOSOffsetCurve_r($0, $1, -distance, 16, Int32(join.rawValue), max(bevelRatio, 1))
        }
    }

    /// The geometry within one turn of the world: what lies beyond the 180th meridian comes back on the other side, cut
    /// there. nil when its spatial reference has no such meridian or is not known.
    public static func normalizeCentralMeridian(of geometry: Geometry) -> Geometry? {
        guard let reference = geometry.spatialReference, !geometry.isEmpty else { return nil }
        let half: Double
        if reference.isGeographic {
            half = 180
        } else if reference == .webMercator {
            half = 20_037_508.342789244
        } else {
            return nil
        }
        let extent = geometry.extent
        if extent.xMin >= -half, extent.xMax <= half { return geometry }
        let world = 2 * half
        if let point = geometry as? Point {
            let x = point.x - world * ((point.x + half) / world).rounded(.down)
            return Point(x: x, y: point.y, z: point.z, m: point.m, spatialReference: reference)
        }
        guard let first = Int(exactly: ((extent.xMin + half) / world).rounded(.down)),
            let last = Int(exactly: ((extent.xMax + half) / world).rounded(.down))
        else { return nil }
        // More turns than this are no data but an attack on the loop.
        guard last - first < GeometryLimits.worldTurnsMax else { return nil }
        let pieces = (first...last).compactMap { turn -> Geometry? in
            let shift = Double(turn) * world
            let strip = Envelope(
                xMin: -half + shift, yMin: extent.yMin - 1, xMax: half + shift, yMax: extent.yMax + 1,
                spatialReference: reference)
            return clip(geometry, to: strip)?.movedBy(x: -shift)
        }
        return union(of: pieces)
    }
}

extension Geometry {
    fileprivate func movedBy(x: Double) -> Geometry {
        let xs = (0..<vertices.count).map { vertices.x($0) + x }
        return rebuilt(
            vertices: vertices.replacingPositions(xs: xs, ys: (0..<vertices.count).map(vertices.y)),
            spatialReference: spatialReference)
    }
}
