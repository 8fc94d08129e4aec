/// One or more paths.
public final class Polyline: Multipart, @unchecked Sendable {
    /// A polyline of one path.
    public convenience init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil)
    where S.Element == Point {
        let points = Array(points)
        self.init(
            vertices: Vertices(points: points),
            spatialReference: spatialReference ?? points.first?.spatialReference)
    }

    /// A polyline of several paths.
    public convenience init(parts: [MutablePart], spatialReference: SpatialReference? = nil) {
        self.init(
            vertices: Self.vertices(of: parts.map(\.points)),
            spatialReference: spatialReference ?? parts.first?.spatialReference)
    }

    public override var dimension: Dimension { .curve }
    public override var sketchIsValid: Bool { vertices.parts.contains { $0.count >= 2 } }
}
