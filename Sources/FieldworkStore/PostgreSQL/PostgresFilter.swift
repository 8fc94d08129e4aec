import FieldworkGeometry
import FieldworkREST
import Foundation

/// A spatial filter in PostGIS's words: by boxes where an index serves, then exactly. It chooses what `SpatialMatcher` chooses.
struct PostgresFilter {
    private let filter: SpatialFilter
    private let box: GeometryBlob.Box
    private let srsID: Int32

    /// Throws `StoreError.invalidQuery` when the filter's geometry can't be compared.
    init(_ filter: SpatialFilter, layer: StoredLayer) throws {
        if filter.relation == .relation, filter.pattern.map(GeometryEngine.isRelationPattern) != true {
            throw StoreError(.invalidQuery, "A relation needs a pattern of nine characters out of 0, 1, 2, T, F and *.")
        }
        self.filter = filter
        box = SpatialMatcher.box(of: filter)
        srsID = layer.srsID
    }

    func add(to parts: inout QueryCompiler.Parts, column: String) {
        guard !box.isNothing else {
            // Everything that is somewhere is disjoint from nothing.
            parts.conditions.append(filter.relation == .disjoint ? "NOT ST_IsEmpty(\(column))" : "false")
            return
        }
        if filter.needsBoxesToMeet {
            // The index knows boxes to 32 bits, rounded outwards.
            parts.conditions.append("\(column) && ST_MakeEnvelope(\(Self.reals(4)), \(srsID))")
            parts.arguments += [box.xMin, box.yMin, box.xMax, box.yMax].map { .value(.real($0)) }
        }
        switch filter.relation {
        case .envelopeIntersects, .indexIntersects:
            parts.conditions.append(
                """
                (ST_XMin(\(column)) <= \(Self.reals(1)) AND ST_XMax(\(column)) >= \(Self.reals(1)) \
                AND ST_YMin(\(column)) <= \(Self.reals(1)) AND ST_YMax(\(column)) >= \(Self.reals(1)))
                """)
            parts.arguments += [box.xMax, box.xMin, box.yMax, box.yMin].map { .value(.real($0)) }
        case .intersects: add("ST_Intersects", column, &parts)
        case .disjoint:
            add("NOT ST_Intersects", column, &parts)
            parts.conditions.append("NOT ST_IsEmpty(\(column))")
        case .contains: add("ST_Contains", column, &parts)
        case .within: add("ST_Within", column, &parts)
        case .equals: add("ST_Equals", column, &parts)
        case .crosses: add("ST_Crosses", column, &parts)
        case .touches: add("ST_Touches", column, &parts)
        case .overlaps: add("ST_Overlaps", column, &parts)
        case .relation:
            let (shape, arguments) = shape
            parts.conditions.append("ST_Relate(\(shape), \(column), ?::text)")
            parts.arguments += arguments + [.value(.text(filter.pattern ?? ""))]
        }
    }

    /// The filter's geometry comes first: it contains the features, or lies within them.
    private func add(_ test: String, _ column: String, _ parts: inout QueryCompiler.Parts) {
        let (shape, arguments) = shape
        parts.conditions.append("\(test)(\(shape), \(column))")
        parts.arguments += arguments
    }

    private static func reals(_ count: Int) -> String {
        Array(repeating: "?::double precision", count: count).joined(separator: ", ")
    }

    /// The filter's geometry. A box without width or height is no polygon.
    private var shape: (sql: String, arguments: [QueryPlan.Argument]) {
        let corners = [box.xMin, box.yMin, box.xMax, box.yMax].map { QueryPlan.Argument.value(.real($0)) }
        guard filter.geometry is Envelope else {
            return ("?::geometry", [.value(.data(Data(GeoPackageBinary.blob(for: filter.geometry, srsID: srsID))))])
        }
        if box.xMin < box.xMax, box.yMin < box.yMax {
            return ("ST_MakeEnvelope(\(Self.reals(4)), \(srsID))", corners)
        }
        let start = "ST_MakePoint(\(Self.reals(2)))"
        if box.xMin == box.xMax, box.yMin == box.yMax {
            return ("ST_SetSRID(\(start), \(srsID))", Array(corners.prefix(2)))
        }
        return ("ST_SetSRID(ST_MakeLine(\(start), \(start)), \(srsID))", corners)
    }
}
