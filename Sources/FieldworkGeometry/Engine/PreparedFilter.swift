internal import CGEOS

/// A geometry made ready to be compared with many others: the exact second step of a spatial query. It belongs to one
/// owner at a time.
package final class PreparedFilter {
    package enum Relation: Sendable {
        case intersects, contains, within, crosses, touches, overlaps, disjoint, equals
        case matches(pattern: String)
    }

    private let relation: Relation
    private let context: GEOSContext
    private let shape: GEOSShape
    private let prepared: OpaquePointer

    /// - Parameter geometry: G of the protocol's table: `contains` holds when G contains the feature, `within` when G
    ///   lies within it. In the features' spatial reference.
    package init(_ geometry: Geometry, relation: Relation) throws(GeometryError) {
        let context = GEOSContext()
        let shape = try context.shape(geometry)
        guard let prepared = GEOSPrepare_r(context.handle, shape.pointer) else {
            throw .nonSimpleGeometry(details: "The geometry can't be compared with others.")
        }
        self.relation = relation
        self.context = context
        self.shape = shape
        self.prepared = prepared
    }

    deinit { GEOSPreparedGeom_destroy_r(context.handle, prepared) }

    /// Whether the relation holds for a feature's GeoPackage blob. What GEOS can't tell counts as not holding.
    package func holds(blob: UnsafeRawBufferPointer) -> Bool {
        guard let header = try? GeoPackageBinary.header(of: blob), !header.isEmpty else { return false }
        return holds(wkb: UnsafeRawBufferPointer(rebasing: blob[header.bodyOffset...]))
    }

    /// Whether the relation holds for a feature's well-known binary.
    package func holds(wkb: UnsafeRawBufferPointer) -> Bool {
        guard let feature = try? context.shape(wkb: wkb) else { return false }
        let (handle, other) = (context.handle, feature.pointer)
        let answer =
            switch relation {
            case .intersects: GEOSPreparedIntersects_r(handle, prepared, other)
            case .contains: GEOSPreparedContains_r(handle, prepared, other)
            case .within: GEOSPreparedWithin_r(handle, prepared, other)
            case .crosses: GEOSPreparedCrosses_r(handle, prepared, other)
            case .touches: GEOSPreparedTouches_r(handle, prepared, other)
            case .overlaps: GEOSPreparedOverlaps_r(handle, prepared, other)
            case .disjoint: GEOSPreparedDisjoint_r(handle, prepared, other)
            case .equals: GEOSEquals_r(handle, shape.pointer, other)
            case .matches(let pattern): GEOSRelatePattern_r(handle, shape.pointer, other, pattern)
            }
        return answer == 1
    }
}
