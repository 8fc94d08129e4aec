import FieldworkGeometry
import FieldworkREST

/// Compiles a question for related features: a join from the sources over the keys, in the order of the sources' object
/// ids. The first column is the source's object id.
struct RelatedCompiler {
    let source: StoredLayer
    let related: StoredLayer
    /// The table between both, for many-to-many.
    let through: StoredLayer?
    /// Milliseconds since 1970.
    let now: Int64

    private static let alias = "t"

    func plan(_ query: RelatedQuery, on connection: StoreConnection) throws -> QueryPlan {
        var arguments: [QueryPlan.Argument] = []
        let rows = Rows(moment: query.features.moment, connection: connection)
        let join = try join(query.path, rows, &arguments)
        let dialect = connection.dialect
        let conditions = try conditions(query, dialect, &arguments)
        let from = "FROM \(join) WHERE \(conditions.joined(separator: " AND "))"
        let sourceID = "s.\(quoted(source.objectIDColumn))"
        let relatedID = "\(Self.alias).\(quoted(related.objectIDColumn))"
        let sourceColumn = source.columns[source.objectIDIndex]
        if query.countsOnly {
            let counted = StoredColumn(FieldDefinition(name: "count", type: .bigInteger))
            return QueryPlan(
                sql:
                    "SELECT \(sourceID), count(DISTINCT \(relatedID)) \(from) GROUP BY \(sourceID) ORDER BY \(sourceID)",
                arguments: arguments, columns: [sourceColumn, counted], hasGeometry: false)
        }
        let columns = try outColumns(query.features)
        var selected = [sourceID] + columns.map { $0.isStored ? "\(Self.alias).\(quoted($0.name))" : "NULL" }
        let geometryColumn = query.features.returnsGeometry ? related.geometryColumn : nil
        if let geometryColumn { selected.append("\(Self.alias).\(quoted(geometryColumn))") }
        // Two rows of the table between them that name the same pair relate it once.
        let group = through == nil ? "" : " GROUP BY \(sourceID), \(relatedID)"
        let order = try order(query.features, sourceID, relatedID, dialect, &arguments)
        let limit = limit(query.features, dialect, &arguments)
        return QueryPlan(
            sql: "SELECT \(selected.joined(separator: ", ")) \(from)\(group)\(order)\(limit)", arguments: arguments,
            columns: [sourceColumn] + columns, hasGeometry: geometryColumn != nil, limit: query.features.limit)
    }

    /// From the sources outwards: few of them are named, and the keys on the way are indexed.
    private func join(
        _ path: RelationshipPath, _ rows: Rows, _ arguments: inout [QueryPlan.Argument]
    ) throws -> String {
        func key(_ alias: String, _ name: String, of layer: StoredLayer) throws -> String {
            guard let index = layer.index(of: name), layer.columns[index].isStored else {
                throw StoreError(.invalidQuery, "\(layer.definition.name) has no key field \(name).")
            }
            return "\(alias).\(quoted(layer.columns[index].name))"
        }
        let sourceKey = try key("s", path.sourceKey, of: source)
        let relatedKey = try key(Self.alias, path.relatedKey, of: related)
        let first = try rows.sql(source, "s", &arguments)
        guard let way = path.through, let through else {
            let last = try rows.sql(related, Self.alias, &arguments)
            return "\(first) \(rows.inOrder) \(last) ON \(relatedKey) = \(sourceKey)"
        }
        let near = try key("r", way.sourceKey, of: through)
        let far = try key("r", way.relatedKey, of: through)
        let between = try rows.sql(through, "r", &arguments)
        let last = try rows.sql(related, Self.alias, &arguments)
        return """
            \(first) \(rows.inOrder) \(between) ON \(near) = \(sourceKey) \
            \(rows.inOrder) \(last) ON \(relatedKey) = \(far)
            """
    }

    /// The tables of the join, now or at another moment.
    private struct Rows {
        let moment: Int64?
        let connection: StoreConnection

        /// SQLite walks a cross join as it is written; others choose by themselves.
        var inOrder: String { connection.dialect.isSQLite ? "CROSS JOIN" : "JOIN" }

        func sql(
            _ layer: StoredLayer, _ alias: String, _ arguments: inout [QueryPlan.Argument]
        ) throws -> String {
            guard let past = try PastState(at: moment, of: layer, on: connection) else {
                return "\(quoted(layer.tableName)) AS \(alias)"
            }
            let rows = past.source(layer)
            arguments += rows.arguments
            return "\(rows.sql) AS \(alias)"
        }
    }

    private func conditions(
        _ query: RelatedQuery, _ dialect: SQLDialect, _ arguments: inout [QueryPlan.Argument]
    ) throws -> [String] {
        var conditions: [String] = []
        switch query.sources {
        case .objectIDs(let ids):
            conditions.append("s.\(quoted(source.objectIDColumn)) IN (\(dialect.listedIDs))")
            arguments.append(dialect.idList(ids))
        case .globalIDs(let ids):
            guard let globalID = source.globalIDColumn else {
                throw StoreError(.invalidQuery, "\(source.definition.name) has no global ids.")
            }
            conditions.append("s.\(quoted(globalID)) IN (\(dialect.textsOfArray))")
            let texts = ids.map { JSONValue.string(GUID.normalForm($0)) }
            arguments.append(.value(.text(JSONValue.array(texts).text)))
        }
        for (condition, layer, alias) in [
            (query.sourceCondition, source, "s"), (query.features.condition, related, Self.alias),
        ] {
            guard let condition else { continue }
            var compiler = ExpressionCompiler(layer: layer, dialect: dialect, alias: alias, now: now)
            conditions.append(try compiler.condition(condition))
            arguments += compiler.arguments.map { .value($0) }
        }
        return conditions
    }

    private func outColumns(_ query: FeatureQuery) throws -> [StoredColumn] {
        let columns = related.columns.filter { $0.kind != .geometry }
        guard let names = query.outFields else { return columns }
        let wanted = try Set(
            names.map { name in
                guard let index = related.index(of: name) else {
                    throw StoreError(.invalidQuery, "Invalid field: \(name).")
                }
                return related.columns[index].name
            })
        return columns.filter { wanted.contains($0.name) }
    }

    private func order(
        _ query: FeatureQuery, _ sourceID: String, _ relatedID: String, _ dialect: SQLDialect,
        _ arguments: inout [QueryPlan.Argument]
    ) throws -> String {
        var compiler = ExpressionCompiler(layer: related, dialect: dialect, alias: Self.alias, now: now)
        let terms = try query.order.map { dialect.order(try compiler.orderTerm($0.expression), $0.isDescending) }
        arguments += compiler.arguments.map { .value($0) }
        // The object ids make the order total, so that no page repeats or misses a feature.
        return " ORDER BY " + ([sourceID] + terms + [relatedID]).joined(separator: ", ")
    }

    private func limit(
        _ query: FeatureQuery, _ dialect: SQLDialect, _ arguments: inout [QueryPlan.Argument]
    ) -> String {
        guard query.limit != nil || query.offset > 0 else { return "" }
        // One more than asked for tells whether there are more.
        arguments.append(.value(query.limit.map { .integer(Int64(clamping: $0).addingOne) } ?? dialect.noLimit))
        guard query.offset > 0 else { return " LIMIT ?" }
        arguments.append(.value(.integer(Int64(clamping: query.offset))))
        return " LIMIT ? OFFSET ?"
    }
}

extension RelatedQuery {
    /// Whether the answer is probably found and written in less time than it takes to hand the question to another thread: few sources,
    /// with keys that are indexed, and geometries that cost nothing. How many features they lead to shows when they are read.
    func isGlance(at related: StoredLayer) -> Bool {
        let sourceCount =
            switch sources {
            case .objectIDs(let ids): ids.count
            case .globalIDs(let ids): ids.count
            }
        return sourceCount <= Limits.glancedFeatures && features.condition == nil && features.moment == nil
            && (related.geometryColumn == nil || !features.returnsGeometry || related.holdsPlainPoints)
    }
}

extension Int64 {
    fileprivate var addingOne: Int64 { self < .max ? self + 1 : self }
}
