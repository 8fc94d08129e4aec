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
    /// The sides when the filter is a rectangle: most extents are decided by them alone.
    private let rectangle: Envelope?

    /// - Parameter geometry: G of the protocol's table: `contains` holds when G contains the feature, `within` when G
    ///   lies within it. In the features' spatial reference.
    package init(_ geometry: Geometry, relation: Relation) throws(GeometryError) {
        let context = GEOSContext()
        let shape = try context.shape(geometry)
        guard let prepared = GEOSPrepare_r(context.handle, shape.pointer) else {
            throw .nonSimpleGeometry(details: "The geometry can't be compared with others.")
        }
        GEOSAccounting.made()
        self.relation = relation
        self.context = context
        self.shape = shape
        self.prepared = prepared
        rectangle = geometry as? Envelope
    }

    deinit {
        GEOSPreparedGeom_destroy_r(context.handle, prepared)
        GEOSAccounting.freed()
    }

    /// Whether the relation holds for a feature's GeoPackage blob. What GEOS can't tell counts as not holding. Throws when the
    /// computation was ended: there is no answer then, neither yes nor no.
    package func holds(blob: UnsafeRawBufferPointer) throws(AllowanceError) -> Bool {
        guard let header = try? GeoPackageBinary.header(of: blob), !header.isEmpty else { return false }
        if let rectangle, let answer = decided(by: rectangle, header, blob) { return answer }
        return try holds(wkb: UnsafeRawBufferPointer(rebasing: blob[header.bodyOffset...]))
    }

    /// Whether the relation holds for a feature's well-known binary.
    package func holds(wkb: UnsafeRawBufferPointer) throws(AllowanceError) -> Bool {
        // GEOS reads nested collections without a limit on its stack: what comes from a file is walked first.
        var walker = WKBWalker(bytes: wkb)
        var check = FiniteCheck()
        guard (try? walker.walk(&check)) != nil, check.isFinite else { return false }
        guard let feature = try? context.shape(wkb: wkb) else { return false }
        let answer = try GEOSInterrupts.run { () -> CChar? in
            let answer = compare(feature.pointer)
            return answer == 2 ? nil : answer
        }
        return answer == 1
    }

    private func compare(_ other: OpaquePointer) -> CChar {
        let handle = context.handle
        return switch relation {
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
    }

    /// The answer where the sides of the rectangle decide it: a point, or an envelope wholly inside or outside.
    private func decided(by rectangle: Envelope, _ header: GeoPackageBinary.Header, _ blob: UnsafeRawBufferPointer)
        -> Bool?
    {
        let isIntersects: Bool
        switch relation {
        case .intersects: isIntersects = true
        case .disjoint: isIntersects = false
        default: return nil
        }
        guard let box = header.envelope ?? Self.position(blob, header) else { return nil }
        if box.xMin > rectangle.xMax || box.xMax < rectangle.xMin || box.yMin > rectangle.yMax
            || box.yMax < rectangle.yMin
        {
            return !isIntersects
        }
        let isInside =
            box.xMin >= rectangle.xMin && box.xMax <= rectangle.xMax && box.yMin >= rectangle.yMin
            && box.yMax <= rectangle.yMax
        return isInside ? isIntersects : nil
    }

    /// A little-endian point as an envelope without size; nil for anything else.
    private static func position(
        _ blob: UnsafeRawBufferPointer, _ header: GeoPackageBinary.Header
    ) -> (xMin: Double, xMax: Double, yMin: Double, yMax: Double)? {
        let offset = header.bodyOffset
        guard blob.count >= offset + 21, blob[offset] == 1 else { return nil }
        let code = UInt32(littleEndian: blob.loadUnaligned(fromByteOffset: offset + 1, as: UInt32.self))
        guard code < 4_000, code % 1_000 == 1 else { return nil }
        func double(_ offset: Int) -> Double {
            Double(bitPattern: UInt64(littleEndian: blob.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        let (x, y) = (double(offset + 5), double(offset + 13))
        return x.isFinite && y.isFinite ? (x, x, y, y) : nil
    }

    /// Looks whether all positions are numbers, as GEOS wants them.
    private struct FiniteCheck: WKBVisitor {
        var isFinite = true

        mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) {}
        mutating func beginPolygon() {}
        mutating func beginPart(count: Int) {}
        mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
            if !x.isFinite || !y.isFinite { isFinite = false }
        }
    }
}
