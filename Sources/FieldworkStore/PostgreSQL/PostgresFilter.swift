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
            parts.conditions.append("\(column) && ?::geometry")
            parts.arguments.append(argument(Self.outline(of: box)))
        }
        switch filter.relation {
        case .envelopeIntersects, .indexIntersects:
            addUnlessInside(
                """
                (ST_XMin(\(column)) <= \(Self.reals(1)) AND ST_XMax(\(column)) >= \(Self.reals(1)) \
                AND ST_YMin(\(column)) <= \(Self.reals(1)) AND ST_YMax(\(column)) >= \(Self.reals(1)))
                """, [box.xMax, box.xMin, box.yMax, box.yMin].map { .value(.real($0)) }, column, &parts)
        case .intersects: addUnlessInside("ST_Intersects(?::geometry, \(column))", [shape], column, &parts)
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
            parts.conditions.append("ST_Relate(?::geometry, \(column), ?::text)")
            parts.arguments += [shape, .value(.text(filter.pattern ?? ""))]
        }
    }

    /// A box and points of two coordinates: they are compared as PostgreSQL's own point and box, side by side and to the last bit, for
    /// less than PostGIS takes.
    /// - Returns: false, and nothing added, for any other filter.
    func add(toPlain point: String, of column: String, _ parts: inout QueryCompiler.Parts) -> Bool {
        let sides = [box.xMax, box.yMax, box.xMin, box.yMin]
        guard filter.geometry is Envelope, !box.isNothing, sides.allSatisfy(\.isFinite),
            [.intersects, .envelopeIntersects, .indexIntersects].contains(filter.relation)
        else { return false }
        parts.conditions += ["\(column) && ?::geometry", "\(point) <@ ?::box"]
        let corners = "(\(sides[0]),\(sides[1])),(\(sides[2]),\(sides[3]))"
        parts.arguments += [argument(Self.outline(of: box)), .value(.text(corners))]
        return true
    }

    /// The filter's geometry comes first: it contains the features, or lies within them.
    private func add(_ test: String, _ column: String, _ parts: inout QueryCompiler.Parts) {
        parts.conditions.append("\(test)(?::geometry, \(column))")
        parts.arguments.append(shape)
    }

    /// What lies in a box with all its sides meets it, and most of what is found does. PostGIS has the box of each geometry at hand,
    /// in 32 bits and rounded outwards: one that lies in our box, rounded inwards, is in it for certain, and the test is spared.
    private func addUnlessInside(
        _ test: String, _ arguments: [QueryPlan.Argument], _ column: String, _ parts: inout QueryCompiler.Parts
    ) {
        guard filter.geometry is Envelope, let inner else {
            parts.conditions.append(test)
            parts.arguments += arguments
            return
        }
        parts.conditions.append("(\(column) @ ?::geometry OR \(test))")
        parts.arguments += [argument(Self.outline(of: inner))] + arguments
    }

    /// The box with sides of 32 bits, within the filter's; nil when there is none with an area.
    private var inner: GeometryBlob.Box? {
        func up(_ value: Double) -> Double {
            let near = Float(value)
            return Double(Double(near) >= value ? near : near.nextUp)
        }
        func down(_ value: Double) -> Double { -up(-value) }
        let inner = GeometryBlob.Box(
            xMin: up(box.xMin), yMin: up(box.yMin), xMax: down(box.xMax), yMax: down(box.yMax))
        let sides = [inner.xMin, inner.yMin, inner.xMax, inner.yMax]
        return inner.xMin < inner.xMax && inner.yMin < inner.yMax && sides.allSatisfy(\.isFinite) ? inner : nil
    }

    private static func reals(_ count: Int) -> String {
        Array(repeating: "?::double precision", count: count).joined(separator: ", ")
    }

    private var shape: QueryPlan.Argument {
        argument(filter.geometry is Envelope ? Self.outline(of: box) : filter.geometry)
    }

    /// A box without width or height is no polygon.
    private static func outline(of box: GeometryBlob.Box) -> Geometry {
        let (start, end) = (Point(x: box.xMin, y: box.yMin), Point(x: box.xMax, y: box.yMax))
        if box.xMin < box.xMax, box.yMin < box.yMax {
            return Polygon(points: [start, Point(x: box.xMin, y: box.yMax), end, Point(x: box.xMax, y: box.yMin)])
        }
        return box.xMin == box.xMax && box.yMin == box.yMax ? start : Polyline(points: [start, end])
    }

    /// A geometry goes as an argument: what a function made of its corners would be made anew for each row.
    private func argument(_ geometry: Geometry) -> QueryPlan.Argument {
        .value(.data(Data(GeoPackageBinary.blob(for: geometry, srsID: srsID))))
    }
}
