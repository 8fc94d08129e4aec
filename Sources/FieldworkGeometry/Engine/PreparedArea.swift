internal import CGEOS

/// An area made ready to be asked about many rectangles, such as the tiles of a map. It belongs to one owner at a time.
package final class PreparedArea {
    /// Where a rectangle lies.
    package enum Position: Sendable {
        case outside
        /// A part of it is in the area; also one that touches its edge from outside.
        case partlyInside
        case inside
    }

    private let context: GEOSContext
    private let shape: GEOSShape
    private let prepared: OpaquePointer

    package init(_ area: Geometry) throws(GeometryError) {
        let context = GEOSContext()
        let shape = try context.shape(area)
        guard let prepared = GEOSPrepare_r(context.handle, shape.pointer) else {
            throw .nonSimpleGeometry(details: "The area can't be compared with others.")
        }
        GEOSAccounting.made()
        self.context = context
        self.shape = shape
        self.prepared = prepared
    }

    deinit {
        GEOSPreparedGeom_destroy_r(context.handle, prepared)
        GEOSAccounting.freed()
    }

    /// - Parameter rectangle: in the area's spatial reference.
    /// - Returns: outside, when it can't be told.
    package func position(of rectangle: Envelope) -> Position {
        guard let other = try? context.shape(rectangle) else { return .outside }
        let position = try? GEOSInterrupts.run { () -> Position? in
            switch GEOSPreparedIntersects_r(context.handle, prepared, other.pointer) {
            case 0: return .outside
            case 1: break
            default: return nil
            }
            switch GEOSPreparedContains_r(context.handle, prepared, other.pointer) {
            case 0: return .partlyInside
            case 1: return .inside
            default: return nil
            }
        }
        return position ?? .outside
    }
}
