/// One or more rings: outer ones clockwise, holes counter-clockwise. A ring does not repeat its first vertex here; the
/// codecs close it where their format wants that.
public final class Polygon: Multipart, @unchecked Sendable {
    /// A polygon of one ring.
    public convenience init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil)
    where S.Element == Point {
        let points = Array(points)
        self.init(
            vertices: Self.vertices(of: [Self.open(points)]),
            spatialReference: spatialReference ?? points.first?.spatialReference)
    }

    /// A polygon of several rings.
    public convenience init(parts: [MutablePart]) {
        self.init(
            vertices: Self.vertices(of: parts.map { Self.open($0.points) }),
            spatialReference: parts.first?.spatialReference)
    }

    public override var dimension: Dimension { .area }
    public override var sketchIsValid: Bool { vertices.parts.contains { $0.count >= 3 } }

    /// The rings as closed paths.
    public func toPolyline() -> Polyline {
        Polyline(
            parts: parts.map { part in
                MutablePart(points: Array(part.points) + part.points.prefix(1), spatialReference: spatialReference)
            }, spatialReference: spatialReference)
    }

    private static func open(_ ring: [Point]) -> [Point] {
        guard ring.count > 1, let first = ring.first, let last = ring.last, first.x == last.x, first.y == last.y else {
            return ring
        }
        return Array(ring.dropLast())
    }
}
