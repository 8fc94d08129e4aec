internal import CGEOS

extension GeometryEngine {
    /// Runs an operation on one geometry; nil when it failed or its result is empty.
    static func result(
        of geometry: Geometry, _ operation: (GEOSContextHandle_t, OpaquePointer) -> OpaquePointer?
    ) -> Geometry? {
        (try? made(of: geometry, operation)) ?? nil
    }

    /// The same. Throws when the task has no more time for it.
    static func made(
        of geometry: Geometry, _ operation: (GEOSContextHandle_t, OpaquePointer) -> OpaquePointer?
    ) throws(AllowanceError) -> Geometry? {
        try GEOSInterrupts.run {
            let context = GEOSContext()
            guard let shape = try? context.shape(geometry),
                let made = try? context.owned(operation(context.handle, shape.pointer))
            else { return nil }
            return (try? made.geometry(spatialReference: geometry.spatialReference)) ?? nil
        }
    }

    /// Runs an operation on two geometries and reads its result. Geometries that cross themselves are repaired and
    /// tried once more; nil when the operation failed.
    private static func read<Answer>(
        of one: Geometry, _ other: Geometry,
        _ operation: (GEOSContextHandle_t, OpaquePointer, OpaquePointer) -> OpaquePointer?,
        _ answer: (borrowing GEOSShape) throws(GeometryError) -> Answer
    ) -> Answer? {
        guard let other = try? aligned(other, with: one) else { return nil }
        func attempt(_ one: Geometry, _ other: Geometry) -> Answer? {
            let answer = try? GEOSInterrupts.run { () -> Answer? in
                let context = GEOSContext()
                guard let first = try? context.shape(one), let second = try? context.shape(other),
                    let made = try? context.owned(operation(context.handle, first.pointer, second.pointer))
                else { return nil }
                return try? answer(made)
            }
            return answer ?? nil
        }
        if let answer = attempt(one, other) { return answer }
        guard let repairedOne = simplify(one), let repairedOther = simplify(other) else { return nil }
        return attempt(repairedOne, repairedOther)
    }

    /// Runs an operation on two geometries; nil when it failed or its result is empty.
    static func result(
        of one: Geometry, _ other: Geometry,
        _ operation: (GEOSContextHandle_t, OpaquePointer, OpaquePointer) -> OpaquePointer?
    ) -> Geometry? {
        let reference = one.spatialReference
        return read(of: one, other, operation) { (shape) throws(GeometryError) in
            try shape.geometry(spatialReference: reference)
        } ?? nil
    }

    /// What belongs to either geometry; nil when both are empty.
    public static func union(_ geometry: Geometry, _ other: Geometry) -> Geometry? {
        if geometry.isEmpty { return other.isEmpty ? nil : other }
        return result(of: geometry, other, GEOSUnion_r)
    }

    /// What belongs to any of the geometries, the members of the highest dimension, in the spatial reference of the
    /// first; nil when all are empty or one has no place there.
    public static func union(of geometries: [Geometry]) -> Geometry? {
        let filled = geometries.filter { !$0.isEmpty }
        guard let first = filled.first else { return nil }
        let context = GEOSContext()
        var members: [OpaquePointer?] = []
        func free() { for member in members { GEOSGeom_destroy_r(context.handle, member) } }
        for geometry in filled {
            guard let aligned = try? aligned(geometry, with: first), let shape = try? context.shape(aligned),
                let clone = GEOSGeom_clone_r(context.handle, shape.pointer)
            else {
                free()
                return nil
            }
            members.append(clone)
        }
        // The collection takes the members over, also when it can't be made.
        let kind = Int32(GEOS_GEOMETRYCOLLECTION.rawValue)
        guard
            let all = try? context.owned(
                GEOSGeom_createCollection_r(context.handle, kind, &members, UInt32(members.count))),
            let sum = try? context.owned(GEOSUnaryUnion_r(context.handle, all.pointer))
        else {
            // Some member crosses itself: pairs are repaired one by one.
            return filled.dropFirst().reduce(first) { sum, geometry in sum.flatMap { union($0, geometry) } }
        }
        return (try? sum.geometry(spatialReference: first.spatialReference)) ?? nil
    }

    /// What belongs to both geometries, the members of the highest dimension; nil when nothing does.
    public static func intersection(_ geometry: Geometry, _ other: Geometry) -> Geometry? {
        result(of: geometry, other, GEOSIntersection_r)
    }

    /// What belongs to both geometries, one geometry a dimension: points, then lines, then areas.
    public static func intersections(_ geometry: Geometry, _ other: Geometry) -> [Geometry] {
        let reference = geometry.spatialReference
        return read(of: geometry, other, GEOSIntersection_r) { (shape) throws(GeometryError) in
            if shape.isCollection { return try shape.members(spatialReference: reference) }
            return try shape.geometry(spatialReference: reference).map { [$0] } ?? []
        } ?? []
    }

    /// What belongs to the first geometry and not to the second; nil when nothing is left.
    public static func difference(_ geometry: Geometry, _ other: Geometry) -> Geometry? {
        result(of: geometry, other, GEOSDifference_r)
    }

    /// What belongs to one of the geometries only; nil when nothing does.
    public static func symmetricDifference(_ geometry: Geometry, _ other: Geometry) -> Geometry? {
        result(of: geometry, other, GEOSSymDifference_r)
    }

    /// The part of a geometry inside an envelope; nil when there is none.
    public static func clip(_ geometry: Geometry, to envelope: Envelope) -> Geometry? {
        intersection(geometry, envelope.toPolygon())
    }

    /// The pieces that a line cuts a polyline or polygon into; empty when it does not cut.
    public static func cut(_ geometry: Geometry, usingCutter cutter: Polyline) -> [Geometry] {
        guard let cutter = try? aligned(cutter, with: geometry) as? Polyline else { return [] }
        switch geometry {
        case is Polyline:
            let pieces = (difference(geometry, cutter) as? Polyline).map(partsAsPolylines) ?? []
            return pieces.count > 1 ? pieces : []
        case is Polygon, is Envelope:
            let polygon = geometry as? Polygon ?? geometry.extent.toPolygon()
            return cutPolygon(polygon, cutter)
        default: return []
        }
    }

    private static func partsAsPolylines(_ polyline: Polyline) -> [Polyline] {
        polyline.parts.map { Polyline(points: $0.points, spatialReference: polyline.spatialReference) }
    }

    /// Boundary and cutter are noded together; the faces that lie in the polygon are its pieces.
    private static func cutPolygon(_ polygon: Polygon, _ cutter: Polyline) -> [Geometry] {
        guard let lines = union(polygon.toPolyline(), cutter) else { return [] }
        let context = GEOSContext()
        guard let noded = try? context.shape(lines) else { return [] }
        var inputs: [OpaquePointer?] = [noded.pointer]
        let polygonized = try? GEOSInterrupts.run { GEOSPolygonize_r(context.handle, &inputs, 1) }
        guard let faces = try? context.owned(polygonized) else { return [] }
        var pieces: [Geometry] = []
        for index in 0..<GEOSGetNumGeometries_r(context.handle, faces.pointer) {
            guard let member = GEOSGetGeometryN_r(context.handle, faces.pointer, index),
                let clone = GEOSGeom_clone_r(context.handle, member)
            else { continue }
            let shape = GEOSShape(pointer: clone, handle: context.handle)
            guard let piece = (try? shape.geometry(spatialReference: polygon.spatialReference)) ?? nil as Geometry?,
                let inside = labelPoint(of: piece), isGeometry(inside, within: polygon)
            else { continue }
            pieces.append(piece)
        }
        return pieces.count > 1 ? pieces : []
    }

    private static func labelPoint(of geometry: Geometry) -> Point? {
        result(of: geometry, GEOSPointOnSurface_r) as? Point
    }
}
