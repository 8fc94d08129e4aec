import FieldworkREST

extension QueryCompiler {
    /// The condition that a feature is among the first of its group: numbered by a window over the features that the rest
    /// of the query chooses. The object id makes the order total.
    func topCondition(_ top: FeatureQuery.TopFilter, of query: FeatureQuery) throws -> Parts {
        var rest = query
        rest.top = nil
        (rest.offset, rest.limit) = (0, nil)
        var compiler = ExpressionCompiler(layer: layer, dialect: connection.dialect, alias: Self.alias, now: now)
        let groups = try top.groups.map { try compiler.orderTerm($0) }
        let order = try top.order.map {
            connection.dialect.order(try compiler.orderTerm($0.expression), $0.isDescending)
        }
        let (table, sources) = try source(rest)
        let chosen = try conditions(of: rest)
        let key = "\(Self.alias).\(quoted(layer.objectIDColumn))"
        var parts = Parts()
        parts.conditions = [
            """
            \(key) IN (SELECT id FROM (SELECT \(key) AS id, row_number() OVER (\
            PARTITION BY \(groups.joined(separator: ", ")) ORDER BY \((order + [key]).joined(separator: ", "))) AS place \
            FROM \(table)\(chosen.whereClause)) AS numbered WHERE place <= ?)
            """
        ]
        parts.arguments =
            compiler.arguments.map(QueryPlan.Argument.value) + sources + chosen.arguments + [
                .value(.integer(Int64(top.count)))
            ]
        return parts
    }
}
