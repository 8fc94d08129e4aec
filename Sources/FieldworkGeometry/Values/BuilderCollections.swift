internal import Synchronization

/// The points of a builder. What is changed in the collection is changed in the builder, and the other way round.
public final class MutablePointCollection: RandomAccessCollection, Sendable {
    private let builder: GeometryBuilder

    init(_ builder: GeometryBuilder) { self.builder = builder }

    /// The position of the first point.
    public var startIndex: Int { 0 }
    /// The position after the last point.
    public var endIndex: Int { builder.vertices.count }
    /// The point at a position.
    public subscript(position: Int) -> Point { builder.vertices[position] }

    /// Adds a point at the end.
    public func add(_ point: Point) { builder.append(point) }

    /// Adds a point at the end, in units of the builder's spatial reference.
    public func add(x: Double, y: Double) { add(Point(x: x, y: y, spatialReference: builder.spatialReference)) }

    /// Adds a point before the one at a position; at the end for a position behind it.
    public func insert(_ point: Point, at index: Int) {
        change { points in points.insert(point, at: Swift.min(Swift.max(0, index), points.count)) }
    }

    /// Takes a point away. Does nothing at a position that has none.
    public func remove(at index: Int) {
        change { points in
            if points.indices.contains(index) { points.remove(at: index) }
        }
    }

    /// Takes all points away.
    public func removeAll() { change { $0 = [] } }

    private func change(_ body: (inout [Point]) -> Void) {
        builder.partPoints.withLock { parts in
            var points = Array(parts.joined())
            body(&points)
            parts = [points]
        }
    }
}

/// The parts of a builder: each is a copy, and the builder changes when parts are added to the collection or taken away.
public final class MutablePartCollection: RandomAccessCollection, Sendable {
    private let builder: GeometryBuilder

    init(_ builder: GeometryBuilder) { self.builder = builder }

    /// The position of the first part.
    public var startIndex: Int { 0 }
    /// The position after the last part.
    public var endIndex: Int { builder.partPoints.withLock { $0.count } }
    /// A copy of the part at a position.
    public subscript(position: Int) -> MutablePart {
        MutablePart(points: builder.partPoints.withLock { $0[position] }, spatialReference: builder.spatialReference)
    }

    /// Adds a part at the end; later vertices join it.
    public func add(_ part: MutablePart) {
        let points = part.points
        builder.partPoints.withLock { $0.append(points) }
    }

    /// Adds a part before the one at a position; at the end for a position behind it.
    public func insert(_ part: MutablePart, at index: Int) {
        let points = part.points
        builder.partPoints.withLock { parts in
            parts.insert(points, at: Swift.min(Swift.max(0, index), parts.count))
        }
    }

    /// Takes a part away. Does nothing at a position that has none.
    public func remove(at index: Int) {
        builder.partPoints.withLock { parts in
            if parts.indices.contains(index) { parts.remove(at: index) }
        }
    }

    /// Takes all parts away.
    public func removeAll() { builder.partPoints.withLock { $0 = [] } }
}
