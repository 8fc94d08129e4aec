import FieldworkGeometry
import FieldworkREST

/// Decides exactly whether a stored geometry relates to a filter as asked. It is handed to SQL as an argument of
/// `fieldwork_matches`, so that limits, counts and orders are SQLite's business alone. Belongs to one statement.
final class SpatialMatcher {
    static let pointerType: StaticString = "fieldwork_filter"

    private let filter: SpatialFilter
    private let reference: SpatialReference?
    let box: GeometryBlob.Box
    /// The filter is its own box, so that boxes decide most cases.
    private let isBox: Bool
    /// Made when the first geometry needs it: most queries by extent never do.
    private var prepared: PreparedFilter?

    init(_ filter: SpatialFilter, reference: SpatialReference?) {
        self.filter = filter
        self.reference = reference
        let extent = filter.geometry.extent
        box =
            filter.geometry.isEmpty
            ? .nothing
            : GeometryBlob.Box(xMin: extent.xMin, yMin: extent.yMin, xMax: extent.xMax, yMax: extent.yMax)
        isBox = filter.geometry is Envelope
    }

    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
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

    private func exactly(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if prepared == nil { prepared = try? PreparedFilter(filter.geometry) }
        guard let prepared else { return false }
        return prepared.matches(bytes, filter.relation, pattern: filter.pattern, reference: reference)
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
            return [0, 1, 3, 4].contains { cells[$0] != UInt8(ascii: "F") && cells[$0] != UInt8(ascii: "*") && cells[$0] != UInt8(ascii: "f") }
        default: return true
        }
    }
}
