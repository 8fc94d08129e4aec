import FieldworkREST

/// Compiles statistics. The database groups, orders and counts; no more than a row of the answer is held here.
///
/// The statement is built in layers: values of the features; for percentiles their ranks within each group; aggregates,
/// named as the answer names them; and over these `having`, the order and the page, like a query on a table.
struct StatisticsCompiler {
    let features: QueryCompiler
    let query: StatisticsQuery

    private var all: [StatisticsQuery.Statistic] { query.statistics + query.hiddenStatistics }
    private var groupNames: [String] { query.groups.indices.map { "g\($0)" } }
    private static let alias = "s"
    private var dialect: SQLDialect { features.connection.dialect }

    func plan() throws -> QueryPlan {
        var arguments: [QueryPlan.Argument] = []
        let aggregated = try aggregates(from: ranked(try values(&arguments)), &arguments)
        var compiler = ExpressionCompiler(dialect: dialect, alias: Self.alias, now: features.now) { [columns] name in
            columns.first { $0.name == name }
        }
        let having = try query.having.map { " WHERE " + (try compiler.condition($0)) } ?? ""
        var terms = try query.order.map { dialect.order(try compiler.orderTerm($0.expression), $0.isDescending) }
        // The groups make every order total, so that no page repeats or misses a row.
        terms += query.groups.map { dialect.order("\(Self.alias).\(quoted($0.field.name))", false) }
        arguments += compiler.arguments.map { .value($0) }
        var page = QueryCompiler.Parts()
        let limit = features.limitClause(query.features, &page)
        let names = query.fields.map(\.name) + query.geometries.indices.map(geometryName)
        let selected = names.map { "\(Self.alias).\(quoted($0))" }.joined(separator: ", ")
        let order = terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
        return QueryPlan(
            sql: "SELECT \(selected) FROM (\(aggregated)) AS \(Self.alias)\(having)\(order)\(limit)",
            arguments: arguments + page.arguments, columns: query.fields.map(StoredColumn.init), hasGeometry: false,
            limit: query.features.limit, aggregates: query.geometries.count)
    }

    /// What the statement calls a geometry. A client may call a column of the answer whatever it likes: no column begins so.
    private func geometryName(_ index: Int) -> String {
        var mark = "$"
        while query.definition.fields.contains(where: { $0.name.hasPrefix(mark) }) { mark += "$" }
        return "\(mark)\(index)"
    }

    private var columns: [StoredColumn] { query.definition.fields.map(StoredColumn.init) }

    // MARK: Layers of the statement

    /// A row a feature: what it is grouped by and what is counted.
    private func values(_ arguments: inout [QueryPlan.Argument]) throws -> String {
        var compiler = ExpressionCompiler(
            layer: features.layer, dialect: dialect, alias: QueryCompiler.alias, now: features.now)
        var selected: [String] = []
        for (index, group) in query.groups.enumerated() {
            selected.append("\(try compiler.orderTerm(group.value)) AS g\(index)")
        }
        for (index, statistic) in all.enumerated() {
            guard let value = statistic.value else { continue }
            // Between two moments lies a moment; every other value is given as its field keeps it.
            let sql =
                statistic.kind == .percentileContinuous
                ? try compiler.value(value) : try compiler.orderTerm(value)
            selected.append("\(sql) AS v\(index)")
        }
        if !query.geometries.isEmpty {
            guard let geometry = features.layer.geometryColumn else {
                throw StoreError(.invalidQuery, "\(features.layer.definition.name) is a table: it has no geometries.")
            }
            selected.append("\(features.column(geometry)) AS shape")
        }
        if selected.isEmpty { selected.append("1") }
        arguments += compiler.arguments.map { .value($0) }
        var filter = query.features
        filter.offset = 0
        let parts = try features.conditions(of: filter)
        let (table, sources) = try features.source(filter)
        arguments += sources + parts.arguments
        return "SELECT \(selected.joined(separator: ", ")) FROM \(table)\(parts.whereClause)"
    }

    /// The rank of each value among those of its group, and their number, where there are percentiles.
    private func ranked(_ values: String) -> String {
        let percentiles = all.indices.filter { all[$0].kind.isPercentile }
        guard !percentiles.isEmpty else { return values }
        let groups = query.groups.isEmpty ? "" : "PARTITION BY \(groupNames.joined(separator: ", ")) "
        var selected = ["*"]
        for index in percentiles {
            let direction = all[index].isDescending ? " DESC" : ""
            selected.append(
                "row_number() OVER (\(groups)ORDER BY v\(index) IS NULL, v\(index)\(direction)) AS r\(index)")
            selected.append("count(v\(index)) OVER (\(groups.dropLast())) AS n\(index)")
        }
        return "SELECT \(selected.joined(separator: ", ")) FROM (\(values)) AS f"
    }

    private func aggregates(from rows: String, _ arguments: inout [QueryPlan.Argument]) throws -> String {
        var selected: [String] = []
        // These arguments stand before those of the rows, as their question marks do.
        var own: [QueryPlan.Argument] = []
        for (index, group) in query.groups.enumerated() { selected.append("g\(index) AS \(quoted(group.field.name))") }
        for (index, statistic) in all.enumerated() {
            let sql = aggregate(statistic, index, &own)
            selected.append("\(sql) AS \(quoted(statistic.field.name))")
        }
        for (index, geometry) in query.geometries.enumerated() {
            let sql =
                dialect.isSQLite
                ? GeometryAggregate.sql(geometry.kind, of: "shape") : PostgresAggregate.sql(geometry.kind, of: "shape")
            selected.append("\(sql) AS \(quoted(geometryName(index)))")
        }
        arguments = own + arguments
        let groups = query.groups.isEmpty ? "" : " GROUP BY " + groupNames.joined(separator: ", ")
        return "SELECT \(selected.joined(separator: ", ")) FROM (\(rows)) AS f\(groups)"
    }

    private func variance(of value: String) -> String {
        let number = dialect.isSQLite ? value : "CAST(\(value) AS \(dialect.realType))"
        return "\(VarianceFunction.name)(\(number))"
    }

    private func aggregate(
        _ statistic: StatisticsQuery.Statistic, _ index: Int, _ arguments: inout [QueryPlan.Argument]
    ) -> String {
        let value = "v\(index)"
        let fraction = dialect.argument(.real(0))
        switch statistic.kind {
        case .count: return statistic.value == nil ? "count(*)" : "count(\(value))"
        // As real numbers: a sum of whole numbers that is too large would fail the query.
        case .sum: return "sum(CAST(\(value) AS \(dialect.realType)))"
        case .minimum: return "min(\(value))"
        case .maximum: return "max(\(value))"
        case .average: return dialect.isSQLite ? "avg(\(value))" : "avg(CAST(\(value) AS \(dialect.realType)))"
        case .variance: return variance(of: value)
        case .standardDeviation: return "fieldwork_sqrt(\(variance(of: value)))"
        case .percentileDiscrete:
            arguments.append(.value(.real(statistic.fraction)))
            // The least rank at or above the share; the small number takes back what a product of decimals adds.
            return """
                max(CASE WHEN r\(index) = \(dialect.greatest)(1, \
                CAST(fieldwork_ceiling(\(fraction) * n\(index) - 1e-9) AS \(dialect.integerType))) \
                AND v\(index) IS NOT NULL THEN v\(index) END)
                """
        case .percentileContinuous:
            arguments += [.value(.real(statistic.fraction)), .value(.real(statistic.fraction))]
            let sum = """
                sum(CASE WHEN v\(index) IS NULL THEN NULL \
                WHEN abs(r\(index) - 1 - \(fraction) * (n\(index) - 1)) < 1 \
                THEN v\(index) * (1 - abs(r\(index) - 1 - \(fraction) * (n\(index) - 1))) END)
                """
            return statistic.field.type == .date ? "CAST(round(\(sum)) AS \(dialect.integerType))" : sum
        }
    }
}
