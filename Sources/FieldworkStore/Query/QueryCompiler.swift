import FieldworkGeometry
import FieldworkREST
import Foundation

/// Compiles queries on one layer for one connection, which it asks for what decides between ways to the same answer:
/// how many rows there are, whether ids have gaps, what share of the layer an extent covers.
struct QueryCompiler {
    let layer: StoredLayer
    let connection: StoreConnection
    /// Milliseconds since 1970.
    let now: Int64
    /// How the place of each feature is asked for, where all are points of two coordinates; nil for geometries of any kind.
    var plainPoint: (@Sendable (_ column: String) -> String)?

    static let alias = "t"
    /// Above this share of the layer a walk along the table is faster than one through the R-tree, since it needs no list
    /// of candidates and can stop at the limit.
    private static let largestShareByIndex = 0.2

    /// The features as they are now.
    var table: String { "\(quoted(layer.tableName)) AS \(Self.alias)" }

    /// Where the rows of a query come from: the table, or what it was at another moment.
    func source(_ query: FeatureQuery) throws -> (sql: String, arguments: [QueryPlan.Argument]) {
        guard let past = try PastState(at: query.moment, of: layer, on: connection) else {
            return (table, [])
        }
        let rows = past.source(layer)
        return ("\(rows.sql) AS \(Self.alias)", rows.arguments)
    }

    private var key: String { column(layer.objectIDColumn) }
    func column(_ name: String) -> String { "\(Self.alias).\(quoted(name))" }

    // MARK: The four questions

    /// The features themselves.
    func features(_ query: FeatureQuery) throws -> QueryPlan {
        let columns = try outColumns(query)
        let comesByID = query.isInObjectIDOrder(layer) && !query.returnsDistinctValues
        var parts = try conditions(of: query, takesCandidates: comesByID)
        var (table, sources) = try source(query)
        let order: String
        if let candidates = parts.candidates {
            (table, sources) = (candidates.joined(to: table, by: key), [candidates.list] + sources)
            order = candidates.order
        } else {
            order = try orderClause(query, distinct: query.returnsDistinctValues, &parts)
        }
        let limit = limitClause(query, &parts)
        let distinct = query.returnsDistinctValues ? "DISTINCT " : ""
        var plan = QueryPlan(
            sql: "SELECT \(distinct)\(selected(columns, query)) FROM \(table)\(parts.whereClause)\(order)\(limit)",
            arguments: sources + parts.arguments, columns: columns,
            hasGeometry: query.readsGeometry && layer.geometryColumn != nil, limit: query.limit)
        plan.unsorted = try unsorted(columns, of: query)
        return plan
    }

    /// Rows that are found by their place come in no order: a page of them is asked for as it comes.
    private func unsorted(_ columns: [StoredColumn], of query: FeatureQuery) throws -> QueryPlan.Unsorted? {
        guard !connection.dialect.isSQLite, query.spatialFilter != nil, query.order.isEmpty,
            !query.returnsDistinctValues, query.offset == 0,
            let key = columns.firstIndex(where: { $0.name == layer.objectIDColumn })
        else { return nil }
        var compiler = self
        compiler.plainPoint = layer.holdsPlainPoints ? connection.dialect.plainPoint : nil
        var parts = try compiler.conditions(of: query)
        let (table, sources) = try source(query)
        let limit = limitClause(query, &parts)
        return QueryPlan.Unsorted(
            sql: "SELECT \(compiler.selected(columns, query)) FROM \(table)\(parts.whereClause)\(limit)",
            arguments: sources + parts.arguments, key: key)
    }

    /// What stands between SELECT and FROM: the columns, and the geometry after them if it is asked for.
    private func selected(_ columns: [StoredColumn], _ query: FeatureQuery) -> String {
        var selected = columns.map { $0.isStored ? column($0.name) : "NULL" }
        if query.readsGeometry, let geometry = layer.geometryColumn.map(column) {
            selected.append(plainPoint?(geometry) ?? geometry)
        }
        return selected.isEmpty ? "NULL" : selected.joined(separator: ", ")
    }

    /// Object id and, after it, the global id of the features.
    func identifiers(_ query: FeatureQuery) throws -> QueryPlan {
        var parts = try conditions(of: query)
        let (table, sources) = try source(query)
        let order = try orderClause(query, distinct: false, &parts)
        let limit = limitClause(query, &parts)
        let globalID = layer.globalIDColumn.map(column) ?? "NULL"
        return QueryPlan(
            sql: "SELECT \(key), \(globalID) FROM \(table)\(parts.whereClause)\(order)\(limit)",
            arguments: sources + parts.arguments, columns: [], hasGeometry: false, limit: query.limit)
    }

    func count(_ query: FeatureQuery) throws -> QueryPlan {
        if query.asksForAll {
            return QueryPlan(
                sql: "SELECT row_count FROM fieldwork_counts WHERE layer_id = ?",
                arguments: [.value(.integer(Int64(layer.definition.id)))], columns: [], hasGeometry: false)
        }
        var parts = try conditions(of: query, takesTexts: true)
        var (table, sources) = try source(query)
        if let candidates = parts.candidates {
            (table, sources) = (candidates.joined(to: table, by: key), [candidates.list] + sources)
        }
        var counted = "SELECT count(*) FROM \(table)\(parts.whereClause)"
        if query.returnsDistinctValues {
            var columns = try outColumns(query).filter(\.isStored).map { column($0.name) }
            if query.readsGeometry, let geometryColumn = layer.geometryColumn { columns.append(column(geometryColumn)) }
            if columns.isEmpty { columns = ["NULL"] }
            let distinct = columns.joined(separator: ", ")
            counted = "SELECT count(*) FROM (SELECT DISTINCT \(distinct) FROM \(table)\(parts.whereClause)) AS d"
        } else if query.offset > 0 || query.limit != nil {
            // A page is counted as it would be given.
            var page = query
            page.limit = query.limit.map { $0 - 1 }
            let limit = limitClause(page, &parts)
            counted = "SELECT count(*) FROM (SELECT 1 FROM \(table)\(parts.whereClause)\(limit)) AS p"
        }
        return QueryPlan(sql: counted, arguments: sources + parts.arguments, columns: [], hasGeometry: false)
    }

    /// The geometries alone.
    func geometries(_ query: FeatureQuery) throws -> QueryPlan {
        var parts = try conditions(of: query)
        let (table, sources) = try source(query)
        let order = query.limit == nil && query.offset == 0 ? "" : try orderClause(query, distinct: false, &parts)
        var page = query
        page.limit = query.limit.map { $0 - 1 }
        let limit = limitClause(page, &parts)
        let geometry = layer.geometryColumn.map(column) ?? "NULL"
        return QueryPlan(
            sql: "SELECT \(geometry) FROM \(table)\(parts.whereClause)\(order)\(limit)",
            arguments: sources + parts.arguments, columns: [], hasGeometry: false)
    }

    // MARK: Parts of a statement

    /// Conditions that all must hold, and the arguments in the order of their question marks.
    struct Parts {
        var conditions: [String] = []
        var arguments: [QueryPlan.Argument] = []
        /// Where the rows must be looked for, in place of a condition.
        var candidates: Candidates?
        /// An index finds the rows already.
        var isNarrow = false
        /// The page was found by id: no OFFSET is needed.
        var startsAtOffset = false

        var whereClause: String { conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ") }
    }

    private func outColumns(_ query: FeatureQuery) throws -> [StoredColumn] {
        guard let names = query.outFields else { return layer.columns }
        var wanted: Set<Int> = []
        for name in names {
            guard let index = layer.index(of: name) else { throw StoreError(.invalidQuery, "Invalid field: \(name).") }
            wanted.insert(index)
        }
        return layer.columns.indices.filter(wanted.contains).map { layer.columns[$0] }
    }

    /// - Parameters:
    ///   - takesCandidates: whether the caller joins `candidates`, which is faster than a condition on the id.
    ///   - takesTexts: whether it joins at least those that a text index finds.
    func conditions(
        of query: FeatureQuery, takesCandidates: Bool = false, takesTexts: Bool = false
    ) throws -> Parts {
        if let top = query.top { return try topCondition(top, of: query) }
        var parts = Parts()
        if let ids = query.objectIDs {
            addIDs(ids, key, connection.dialect, &parts)
        }
        if let ids = query.globalIDs {
            guard let globalID = layer.globalIDColumn else {
                throw StoreError(.invalidQuery, "\(layer.definition.name) has no global ids.")
            }
            addIDs(ids, column(globalID), connection.dialect, &parts)
        }
        if let filter = query.spatialFilter { try addFilter(filter, query, takesCandidates, &parts) }
        if let condition = query.condition {
            try addTexts(condition, query, takesCandidates || takesTexts, &parts)
            var compiler = ExpressionCompiler(layer: layer, dialect: connection.dialect, alias: Self.alias, now: now)
            parts.conditions.append(try compiler.condition(condition))
            parts.arguments += compiler.arguments.map { .value($0) }
        }
        if query.offset > 0, query.isUnfiltered, query.isInObjectIDOrder(layer),
            let start = try denseStart(query.offset)
        {
            parts.conditions.append("\(key) >= ?")
            parts.arguments.append(.value(.integer(start)))
            parts.startsAtOffset = true
        }
        return parts
    }

    /// One id as a plain comparison, many as one argument: two texts for all lengths, so that statements are reused.
    private func addIDs(_ ids: [Int64], _ column: String, _ dialect: SQLDialect, _ parts: inout Parts) {
        if ids.count == 1, let id = ids.first {
            parts.conditions.append("\(column) = ?")
            parts.arguments.append(.value(.integer(id)))
        } else {
            parts.conditions.append("\(column) IN (\(dialect.listedIDs))")
            parts.arguments.append(dialect.idList(ids))
        }
    }

    private func addIDs(_ ids: [UUID], _ column: String, _ dialect: SQLDialect, _ parts: inout Parts) {
        let texts = ids.map { AttributeValue.text(GUID.normalForm($0)) }
        if texts.count == 1, let id = texts.first {
            parts.conditions.append("\(column) = ?")
            parts.arguments.append(.value(id))
        } else {
            parts.conditions.append("\(column) IN (\(dialect.textsOfArray))")
            parts.arguments.append(.value(.text(JSONValue.array(texts.map(\.json)).text)))
        }
    }

    private func addFilter(
        _ filter: SpatialFilter, _ query: FeatureQuery, _ takesCandidates: Bool, _ parts: inout Parts
    ) throws {
        guard let geometryColumn = layer.geometryColumn else {
            throw StoreError(.invalidQuery, "\(layer.definition.name) is a table: it has no geometry to query.")
        }
        guard connection.dialect.isSQLite else {
            let filter = try PostgresFilter(filter, layer: layer)
            let column = column(geometryColumn)
            if let plainPoint, filter.add(toPlain: plainPoint(column), of: column, &parts) { return }
            return filter.add(to: &parts, column: column)
        }
        // The R-tree knows where features are, not where they were.
        if filter.needsBoxesToMeet, query.moment == nil, query.objectIDs == nil, query.globalIDs == nil,
            let index = SpatialIndex(layer: layer)
        {
            let box = SpatialMatcher.box(of: filter)
            if try box.isNothing || share(of: box, in: index) <= Self.largestShareByIndex {
                add(Candidates(index: index, box: box), takesCandidates, &parts)
            }
        }
        parts.conditions.append("fieldwork_matches(\(column(geometryColumn)), ?)")
        parts.arguments.append(.filter(filter))
    }

    private func add(_ candidates: Candidates, _ takesCandidates: Bool, _ parts: inout Parts) {
        parts.isNarrow = true
        if takesCandidates {
            parts.candidates = candidates
        } else {
            parts.conditions.append("\(key) IN (\(candidates.sql))")
            parts.arguments += candidates.arguments
        }
    }

    /// What the text index knows of a condition. The condition itself follows: the index may find too much.
    private func addTexts(
        _ condition: SQLExpression, _ query: FeatureQuery, _ takesCandidates: Bool, _ parts: inout Parts
    ) throws {
        // It knows texts as they are, not as they were, and would find again what ids or places have found.
        guard query.moment == nil, query.objectIDs == nil, query.globalIDs == nil, !parts.isNarrow,
            layer.definition.declaredIndexes.contains(where: \.isFullText), let need = TextNeed(condition, of: layer)
        else { return }
        switch try connection.dialect.textIndex.filter(need, layer, on: connection) {
        case .candidates(let candidates): add(candidates, takesCandidates, &parts)
        case .condition(let sql, let arguments):
            parts.conditions.append(sql)
            parts.arguments += arguments
        case nil: break
        }
    }

    /// The share of a layer that a box covers, estimated from the R-tree's root: 0 to 1.
    private func share(of box: GeometryBlob.Box, in index: SpatialIndex) throws -> Double {
        let cells = try index.rootBoxes(on: connection)
        guard cells.count > 1 else { return 0 }
        let covered = cells.reduce(0) { $0 + $1.coveredShare(by: box) }
        return covered / Double(cells.count)
    }

    private func orderClause(_ query: FeatureQuery, distinct: Bool, _ parts: inout Parts) throws -> String {
        var compiler = ExpressionCompiler(layer: layer, dialect: connection.dialect, alias: Self.alias, now: now)
        var terms = try query.order.map { term in
            connection.dialect.order(try compiler.orderTerm(term.expression), term.isDescending)
        }
        parts.arguments += compiler.arguments.map { .value($0) }
        // The object id makes every order total, so that no page repeats or misses a feature.
        if !distinct { terms.append(key) }
        return terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
    }

    func limitClause(_ query: FeatureQuery, _ parts: inout Parts) -> String {
        let offset = parts.startsAtOffset ? 0 : query.offset
        guard query.limit != nil || offset > 0 else { return "" }
        // One more than asked for tells whether there are more.
        let limit = query.limit.map { AttributeValue.integer($0 < Int.max ? Int64($0) + 1 : Int64($0)) }
        parts.arguments.append(.value(limit ?? connection.dialect.noLimit))
        guard offset > 0 else { return " LIMIT ?" }
        parts.arguments.append(.value(.integer(Int64(offset))))
        return " LIMIT ? OFFSET ?"
    }

    /// The object id at an offset when ids have no gaps: the last page is found as fast as the first.
    private func denseStart(_ offset: Int) throws -> Int64? {
        let table = quoted(layer.tableName)
        let key = quoted(layer.objectIDColumn)
        guard let first = try connection.integer("SELECT min(\(key)) FROM \(table)"),
            let last = try connection.integer("SELECT max(\(key)) FROM \(table)"),
            let count = try connection.integer(
                "SELECT row_count FROM fieldwork_counts WHERE layer_id = ?",
                bind: { try $0.bind(Int64(layer.definition.id), at: 1) }),
            last - first + 1 == count
        else { return nil }
        let (start, overflow) = first.addingReportingOverflow(Int64(offset))
        return overflow ? nil : start
    }
}

extension FeatureQuery {
    /// Nothing narrows the layer down.
    var isUnfiltered: Bool {
        condition == nil && objectIDs == nil && globalIDs == nil && spatialFilter == nil && !returnsDistinctValues
            && moment == nil && top == nil
    }

    /// Whether the answer is probably found and written in less time than it takes to hand the question to another thread: a few features
    /// by id, with geometries that cost nothing.
    func isGlance(at layer: StoredLayer) -> Bool {
        guard let objectIDs, objectIDs.count <= Limits.glancedFeatures else { return false }
        var rest = self
        rest.objectIDs = nil
        return rest.isUnfiltered && order.isEmpty
            && (layer.geometryColumn == nil || !readsGeometry || layer.holdsPlainPoints)
    }

    /// The whole layer, no page of it.
    var asksForAll: Bool { isUnfiltered && offset == 0 && limit == nil }

    func isInObjectIDOrder(_ layer: StoredLayer) -> Bool {
        guard let first = order.first else { return true }
        guard case .field(let name) = first.expression, !first.isDescending else { return false }
        return layer.index(of: name) == layer.objectIDIndex
    }
}

extension GeometryBlob.Box {
    /// Which share of this box another one covers; a box without area counts as a whole when it is touched.
    func coveredShare(by other: GeometryBlob.Box) -> Double {
        guard intersects(other) else { return 0 }
        func share(_ low: Double, _ high: Double, _ otherLow: Double, _ otherHigh: Double) -> Double {
            high > low ? (min(high, otherHigh) - max(low, otherLow)) / (high - low) : 1
        }
        return share(xMin, xMax, other.xMin, other.xMax) * share(yMin, yMax, other.yMin, other.yMax)
    }
}
