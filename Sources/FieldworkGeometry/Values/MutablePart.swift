internal import Synchronization

/// A path or ring that is being made. It may be shared between tasks: its state is behind a lock.
public final class MutablePart: Sendable {
    /// The reference of the coordinates.
    public let spatialReference: SpatialReference?
    private let state: Mutex<[Point]>

    /// By its vertices.
    public init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.spatialReference = spatialReference ?? points.first?.spatialReference
        state = Mutex(points)
    }

    /// By its segments, each starting where the one before ends. Curves are densified.
    public convenience init(segments: [Segment], spatialReference: SpatialReference? = nil) {
        self.init(points: segments.first.map { [$0.startPoint] } ?? [], spatialReference: spatialReference)
        for segment in segments { add(segment) }
    }

    /// Adds a segment: its start too when the part is empty or ends elsewhere. Curves are densified.
    public func add(_ segment: Segment) {
        state.withLock { points in
            if points.last.map({ $0.x != segment.startPoint.x || $0.y != segment.startPoint.y }) ?? true {
                points.append(segment.startPoint)
            }
            points += segment.pointsBehindStart
        }
    }

    /// The vertices as they stand.
    public var points: [Point] { state.withLock { $0 } }
    /// The first vertex.
    public var startPoint: Point? { state.withLock(\.first) }
    /// The last vertex.
    public var endPoint: Point? { state.withLock(\.last) }

    /// Adds a vertex at the end.
    public func addPoint(_ point: Point) { state.withLock { $0.append(point) } }

    /// Adds a vertex before another; beyond the end, at the end.
    public func insertPoint(_ point: Point, at index: Int) {
        state.withLock { $0.insert(point, at: max(0, min(index, $0.count))) }
    }

    /// Removes a vertex; nothing happens when there is none of that number.
    public func removePoint(at index: Int) {
        state.withLock { points in
            if points.indices.contains(index) { points.remove(at: index) }
        }
    }

    /// Replaces a vertex; nothing happens when there is none of that number.
    public func setPoint(_ point: Point, at index: Int) {
        state.withLock { points in
            if points.indices.contains(index) { points[index] = point }
        }
    }

    /// Removes all vertices.
    public func removeAll() { state.withLock { $0.removeAll() } }
}
