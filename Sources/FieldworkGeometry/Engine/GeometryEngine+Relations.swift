internal import CGEOS

extension GeometryEngine {
    typealias Predicate = (GEOSContextHandle_t, OpaquePointer, OpaquePointer) -> CChar

    /// Brings the second geometry into the first's spatial reference where both are known and differ.
    static func aligned(_ second: Geometry, with first: Geometry) throws(GeometryError) -> Geometry {
        guard let reference = first.spatialReference, second.spatialReference != nil else { return second }
        return try projected(second, into: reference)
    }

    static func holds(_ one: Geometry, _ other: Geometry, _ predicate: Predicate) throws(GeometryError) -> Bool {
        let context = GEOSContext()
        let first = try context.shape(one)
        let second = try context.shape(try aligned(other, with: one))
        let answer = try? GEOSInterrupts.run { () -> CChar? in
            let answer = predicate(context.handle, first.pointer, second.pointer)
            return answer == 2 ? nil : answer
        }
        return try context.truth((answer ?? nil) ?? 2)
    }

    /// Whether the first geometry contains the second. False when the relation can't be told.
    public static func doesGeometry(_ geometry: Geometry, contain other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSContains_r)) ?? false
    }

    /// Whether the first geometry lies within the second. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, within other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSWithin_r)) ?? false
    }

    /// Whether the geometries share a point. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, intersecting other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSIntersects_r)) ?? false
    }

    /// Whether the geometries share boundary points only. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, touching other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSTouches_r)) ?? false
    }

    /// Whether the geometries cross. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, crossing other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSCrosses_r)) ?? false
    }

    /// Whether the geometries, of one dimension, overlap in part. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, overlapping other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSOverlaps_r)) ?? false
    }

    /// Whether the geometries share no point. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, disjointWith other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSDisjoint_r)) ?? false
    }

    /// Whether the geometries cover the same points. False when the relation can't be told.
    public static func isGeometry(_ geometry: Geometry, equivalentTo other: Geometry) -> Bool {
        (try? holds(geometry, other, GEOSEquals_r)) ?? false
    }

    /// Whether a nine-intersection pattern (DE-9IM, such as `T*F**FFF*`) holds. False when it can't be told or is not a
    /// pattern.
    public static func isGeometry(_ geometry: Geometry, relatedTo other: Geometry, byRelation relation: String) -> Bool
    {
        guard isRelationPattern(relation) else { return false }
        return (try? holds(geometry, other) { GEOSRelatePattern_r($0, $1, $2, relation) }) ?? false
    }

    /// Nine characters out of `0`, `1`, `2`, `T`, `F` and `*`.
    package static func isRelationPattern(_ text: String) -> Bool {
        text.utf8.count == 9 && text.utf8.allSatisfy { "012TF*".utf8.contains($0) }
    }

    /// The nine-intersection matrix of two geometries.
    package static func relate(_ one: Geometry, _ other: Geometry) throws(GeometryError) -> String {
        let context = GEOSContext()
        let first = try context.shape(one)
        let second = try context.shape(try aligned(other, with: one))
        let found = try? GEOSInterrupts.run { GEOSRelate_r(context.handle, first.pointer, second.pointer) }
        guard let text = found ?? nil else {
            throw .nonSimpleGeometry(details: "The relation can't be told for this geometry.")
        }
        defer { GEOSFree_r(context.handle, text) }
        return String(cString: text)
    }
}
