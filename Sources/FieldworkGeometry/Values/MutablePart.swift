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
