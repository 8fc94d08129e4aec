internal import CGEOS

/// The convex hull of geometries that stream past. It holds the corners of the hull of what came before and one batch of
/// positions, however many geometries there are.
package final class ConvexHullFold {
    private let context = GEOSContext()
    private var collector = PositionCollector()
    /// How many of the positions, the first ones, are corners of the hull so far.
    private var corners = 0
    private let batch: Int
    private let cornersMax: Int

    /// Positions that are held at present.
    package var count: Int { collector.count }

    /// - Parameters:
    ///   - batch: positions that are collected before the hull is made anew.
    ///   - cornersMax: corners of the hull beyond which it is refused.
    package init(batch: Int = GeometryLimits.hullBatch, cornersMax: Int = GeometryLimits.hullCornersMax) {
        self.batch = batch
        self.cornersMax = cornersMax
    }

    /// Adds the positions of a GeoPackage blob. One that is malformed or empty adds nothing.
    ///
    /// Throws when the hull itself has more corners than are kept.
    package func add(blob: UnsafeRawBufferPointer) throws(GeometryError) {
        let before = collector.positions.count
        do {
            try GeoPackageBinary.walk(blob, &collector)
        } catch {
            collector.positions.removeLast(collector.positions.count - before)
        }
        // Batches as long as the hull: a hull of many corners is not made anew for each few positions.
        guard collector.count - corners >= max(batch, corners) else { return }
        try reduce()
        guard corners <= cornersMax else {
            throw .nonSimpleGeometry(details: "The convex hull has more than \(cornersMax) corners.")
        }
    }

    /// The hull: a polygon, a line where all positions lie on one, a point where they are one; nil without any.
    package func hull(spatialReference: SpatialReference?) throws(GeometryError) -> Geometry? {
        guard collector.count > 0 else { return nil }
        return try shape().geometry(spatialReference: spatialReference)
    }

    /// Replaces the positions by the corners of their hull.
    private func reduce() throws(GeometryError) {
        let hull = try shape()
        let (handle, outline) = (context.handle, GEOSGetExteriorRing_r(context.handle, hull.pointer))
        let isArea = GEOSGeomTypeId_r(handle, hull.pointer) == Int32(GEOS_POLYGON.rawValue)
        guard let sequence = GEOSGeom_getCoordSeq_r(handle, isArea ? outline : hull.pointer) else {
            throw .nonSimpleGeometry(details: "The convex hull can't be read.")
        }
        var count: UInt32 = 0
        _ = GEOSCoordSeq_getSize_r(handle, sequence, &count)
        var positions = [Double](repeating: 0, count: Int(count) * 2)
        guard GEOSCoordSeq_copyToBuffer_r(handle, sequence, &positions, 0, 0) == 1 else {
            throw .nonSimpleGeometry(details: "The convex hull can't be read.")
        }
        collector.positions = positions
        corners = collector.count
    }

    /// The hull of all positions at hand, of which there is at least one.
    private func shape() throws(GeometryError) -> GEOSShape {
        let handle = context.handle
        var positions = collector.positions
        // A line has two positions.
        if positions.count == 2 { positions += positions }
        guard let sequence = GEOSCoordSeq_copyFromBuffer_r(handle, positions, UInt32(positions.count / 2), 0, 0) else {
            throw .nonSimpleGeometry(details: "The convex hull can't be made.")
        }
        let line = try context.owned(GEOSGeom_createLineString_r(handle, sequence))
        // The caller looks at the allowance of its task; here only what was stopped for another's sake is done again.
        let hull = try? GEOSInterrupts.run { GEOSConvexHull_r(handle, line.pointer) }
        return try context.owned(hull)
    }
}

/// Takes the places of all vertices; what is not a number is no place.
struct PositionCollector: WKBVisitor {
    /// x and y in turn.
    var positions: [Double] = []

    var count: Int { positions.count / 2 }

    mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) {}
    mutating func beginPolygon() {}
    mutating func beginPart(count: Int) {}
    mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
        guard x.isFinite, y.isFinite else { return }
        positions.append(x)
        positions.append(y)
    }
}
