import FieldworkGeometry
import FieldworkREST

/// Decides exactly whether a stored geometry relates to a filter as asked. It is handed to SQL as an argument of
/// `fieldwork_matches`, so that limits, counts and orders are SQLite's business alone. Belongs to one statement.
final class SpatialMatcher {
    static let pointerType: StaticString = "fieldwork_filter"

    private let filter: SpatialFilter
    private let watch: WorkWatch
    let box: GeometryBlob.Box
    /// The filter is its own box, so that boxes decide most cases.
    private let isBox: Bool
    /// Made at once where a geometry could be unfit for it; of a box when the first geometry needs it, since most
    /// queries by extent never do.
    private var prepared: PreparedFilter?
    /// The last geometry was compared as such, not by its box.
    private var wasExact = false
    /// The last geometry could not be compared to the end.
    private var wasEnded = false

    /// Throws `StoreError.invalidQuery` when the filter's geometry can't be compared.
    init(_ filter: SpatialFilter, watch: WorkWatch) throws {
        self.filter = filter
        self.watch = watch
        box = Self.box(of: filter)
        isBox = filter.geometry is Envelope
        if filter.relation == .relation, filter.pattern.map(GeometryEngine.isRelationPattern) != true {
            throw StoreError(.invalidQuery, "A relation needs a pattern of nine characters out of 0, 1, 2, T, F and *.")
        }
        if !isBox, filter.relation.needsExactTest, !filter.geometry.isEmpty { prepared = try Self.prepare(filter) }
    }

    static func box(of filter: SpatialFilter) -> GeometryBlob.Box {
        guard !filter.geometry.isEmpty else { return .nothing }
        let extent = filter.geometry.extent
        return GeometryBlob.Box(xMin: extent.xMin, yMin: extent.yMin, xMax: extent.xMax, yMax: extent.yMax)
    }

    private static func prepare(_ filter: SpatialFilter) throws -> PreparedFilter {
        do {
            return try PreparedFilter(filter.geometry, relation: filter.relation.exact(pattern: filter.pattern))
        } catch {
            throw StoreError(.invalidQuery, "The query's geometry can't be compared with features: \(error).")
        }
    }

    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        wasExact = false
        guard let blob = GeometryBlob(bytes), let candidate = blob.box else { return false }
        switch filter.relation {
        case .envelopeIntersects, .indexIntersects: return candidate.intersects(box)
        case .intersects: return intersects(candidate, bytes)
        case .disjoint: return !intersects(candidate, bytes)
        case .contains:
            guard box.contains(candidate) else { return false }
            if isBox, candidate.isStrictlyInside(box) { return true }
        case .within:
            guard candidate.contains(box) else { return false }
        case .equals:
            guard candidate == box else { return false }
        case .crosses, .touches, .overlaps:
            guard candidate.intersects(box) else { return false }
        case .relation: break
        }
        return exactly(bytes)
    }

    private func intersects(_ candidate: GeometryBlob.Box, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard candidate.intersects(box) else { return false }
        // A box inside a box lies inside it with all that is in it; a box that is a point is a point.
        if isBox, box.contains(candidate) { return true }
        return exactly(bytes)
    }

    /// Whether the statement must end: a few steps of one can take long when each compares large geometries.
    var isOver: Bool { wasEnded || wasExact && watch.isOver }

    private func exactly(_ bytes: UnsafeRawBufferPointer) -> Bool {
        wasExact = true
        if prepared == nil, !filter.geometry.isEmpty { prepared = try? Self.prepare(filter) }
        do throws(AllowanceError) {
            return try prepared?.holds(blob: bytes) ?? false
        } catch {
            wasEnded = true
            watch.end(for: error)
            return false
        }
    }
}

extension SpatialFilter.Relation {
    /// Whether boxes alone don't decide.
    var needsExactTest: Bool { self != .envelopeIntersects && self != .indexIntersects }

    func exact(pattern: String?) -> PreparedFilter.Relation {
        switch self {
        // `disjoint` is the opposite of `intersects`, which the caller turns round.
        case .intersects, .disjoint, .envelopeIntersects, .indexIntersects: .intersects
        case .contains: .contains
        case .within: .within
        case .crosses: .crosses
        case .touches: .touches
        case .overlaps: .overlaps
        case .equals: .equals
        case .relation: .matches(pattern: pattern ?? "")
        }
    }
}

extension GeometryBlob.Box {
    func isStrictlyInside(_ other: GeometryBlob.Box) -> Bool {
        xMin > other.xMin && xMax < other.xMax && yMin > other.yMin && yMax < other.yMax
    }
}

extension SpatialFilter {
    /// Whether only features whose box meets the filter's box can match, so that the R-tree finds all candidates.
    var needsBoxesToMeet: Bool {
        switch relation {
        case .disjoint: return false
        case .relation:
            guard let pattern, pattern.utf8.count == 9 else { return false }
            // Interiors and boundaries meet when one of their four cells must not be empty.
            let cells = Array(pattern.utf8)
            return [0, 1, 3, 4].contains { cells[$0] != UInt8(ascii: "F") && cells[$0] != UInt8(ascii: "*") }
        default: return true
        }
    }
}
