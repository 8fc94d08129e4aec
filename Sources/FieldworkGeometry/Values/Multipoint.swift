/// Several positions that are one feature.
public final class Multipoint: Geometry, @unchecked Sendable {
    /// The points in order. A height or measure that any of them has is given to all.
    public convenience init<S: Sequence>(points: S, spatialReference: SpatialReference? = nil)
    where S.Element == Point {
        let points = Array(points)
        self.init(
            vertices: Vertices(points: points),
            spatialReference: spatialReference ?? points.first?.spatialReference)
    }

    package override init(vertices: Vertices, spatialReference: SpatialReference?) {
        super.init(vertices: vertices, spatialReference: spatialReference)
    }

    /// The points in order.
    public var points: PointCollection {
        PointCollection(vertices: vertices, range: 0..<vertices.count, spatialReference: spatialReference)
    }
}

/// The points of a geometry or of one of its parts, made when they are asked for.
public struct PointCollection: RandomAccessCollection, Sendable {
    let vertices: Vertices
    let range: Range<Int>
    let spatialReference: SpatialReference?

    /// Always 0.
    public var startIndex: Int { 0 }
    /// One behind the last.
    public var endIndex: Int { range.count }
    /// The element at a position.
    public subscript(position: Int) -> Point {
        vertices.point(range.lowerBound + position, spatialReference: spatialReference)
    }
}
