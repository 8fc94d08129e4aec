/// A geometry of parts: the paths of a polyline, the rings of a polygon.
public class Multipart: Geometry, @unchecked Sendable {
    /// The curves as the protocol's JSON wrote them (`curvePaths`, `curveRings`), kept so that they leave as they came;
    /// nil without curves. The vertices hold them densified.
    package let curves: JSONValue?

    package init(vertices: Vertices, spatialReference: SpatialReference?, curves: JSONValue? = nil) {
        self.curves = curves
        super.init(vertices: vertices, spatialReference: spatialReference)
    }

    /// The parts in order.
    public var parts: PartCollection { PartCollection(geometry: self) }

    public override var hasCurves: Bool { curves != nil }

    /// The same lines without their curves: as they are for a service that stores no curves.
    package var densified: Geometry {
        guard curves != nil else { return self }
        return self is Polygon
            ? Polygon(vertices: vertices, spatialReference: spatialReference)
            : Polyline(vertices: vertices, spatialReference: spatialReference)
    }

    override func hasSameContent(as other: Geometry) -> Bool {
        super.hasSameContent(as: other) && curves == (other as? Multipart)?.curves
    }

    static func vertices(of parts: [[Point]]) -> Vertices {
        var starts: [Int] = []
        var count = 0
        for part in parts where !part.isEmpty {
            starts.append(count)
            count += part.count
        }
        return Vertices(points: Array(parts.joined()), partStarts: starts.isEmpty ? [0] : starts)
    }
}

/// The parts of a polyline or polygon.
public struct PartCollection: RandomAccessCollection, Sendable {
    let geometry: Multipart

    /// Always 0.
    public var startIndex: Int { 0 }
    /// One behind the last.
    public var endIndex: Int { geometry.isEmpty ? 0 : geometry.vertices.partStarts.count }
    /// The element at a position.
    public subscript(position: Int) -> Part {
        let starts = geometry.vertices.partStarts
        let end = position + 1 < starts.count ? starts[position + 1] : geometry.vertices.count
        return Part(
            points: PointCollection(
                vertices: geometry.vertices, range: starts[position]..<end, spatialReference: geometry.spatialReference),
            closes: geometry is Polygon)
    }
}

/// One path or ring, as a collection of its segments. The segment that closes a ring is among them.
public final class Part: RandomAccessCollection, Sendable {
    /// The vertices of the part; a ring does not repeat its first.
    public let points: PointCollection
    private let closes: Bool

    init(points: PointCollection, closes: Bool) {
        self.points = points
        self.closes = closes
    }

    /// The first vertex.
    public var startPoint: Point? { points.first }
    /// The last vertex; of a ring, the first.
    public var endPoint: Point? { closes ? points.first : points.last }
    /// The reference of the coordinates.
    public var spatialReference: SpatialReference? { points.spatialReference }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// One behind the last.
    public var endIndex: Int { points.count < 2 ? 0 : (closes ? points.count : points.count - 1) }
    /// The element at a position.
    public subscript(position: Int) -> Segment {
        LineSegment(
            startPoint: points[position], endPoint: points[(position + 1) % points.count],
            spatialReference: spatialReference)
    }
}
