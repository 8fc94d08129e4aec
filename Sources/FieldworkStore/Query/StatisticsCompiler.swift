import FieldworkREST

/// Compiles statistics. The database groups, orders and counts; no more than a row of the answer is held here.
///
/// The statement is built in layers: values of the features; for percentiles their ranks within each group; aggregates,
/// named as the answer names them; and over these `having`, the order and the page, like a query on a table.
struct StatisticsCompiler {
    let features: QueryCompiler
    let query: StatisticsQuery

    let all: [StatisticsQuery.Statistic]
    /// The different values, in the order in which they are first named.
    private let counted: [Counted]
    private let places: [Counted: Int]
    private var groupNames: [String] { query.groups.indices.map { "g\($0)" } }
    private static let alias = "s"
    var dialect: SQLDialect { features.connection.dialect }

    init(features: QueryCompiler, query: StatisticsQuery) {
        self.features = features
        self.query = query
        all = query.statistics + query.hiddenStatistics
        var (counted, places): ([Counted], [Counted: Int]) = ([], [:])
        for value in all.compactMap(Counted.init) where places[value] == nil {
            places[value] = counted.count
            counted.append(value)
        }
        (self.counted, self.places) = (counted, places)
    }

    func plan() throws -> QueryPlan {
        var arguments: [QueryPlan.Argument] = []
        let aggregated =
            try folded(&arguments) ?? aggregates(from: ranked(try values(&arguments)), &arguments)
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

    /// A value that statistics are made of. Those of one value share its column, and percentiles its order.
    private struct Counted: Hashable {
        var expression: SQLExpression
        var isReckoned: Bool

        init?(_ statistic: StatisticsQuery.Statistic) {
            guard let value = statistic.value else { return nil }
            expression = value
            isReckoned = statistic.kind == .percentileContinuous
        }
    }

    private var columns: [StoredColumn] { query.definition.fields.map(StoredColumn.init) }

    // MARK: Layers of the statement

    /// A row a feature: what it is grouped by and what is counted.
    func values(_ arguments: inout [QueryPlan.Argument]) throws -> String {
        var compiler = ExpressionCompiler(
            layer: features.layer, dialect: dialect, alias: QueryCompiler.alias, now: features.now)
        var selected: [String] = []
        for (index, group) in query.groups.enumerated() {
            selected.append("\(try compiler.orderTerm(group.value)) AS g\(index)")
        }
        for (index, value) in counted.enumerated() {
            // Between two moments lies a moment; every other value is given as its field keeps it.
            let sql = value.isReckoned ? try compiler.value(value.expression) : try compiler.orderTerm(value.expression)
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

    /// The rank of each value among those of its group, and their number, where there are percentiles: one order a value, however
    /// many percentiles are asked of it, up or down.
    private func ranked(_ values: String) -> String {
        let percentiles = Set(all.filter(\.kind.isPercentile).compactMap(Counted.init).compactMap { places[$0] })
        guard !percentiles.isEmpty else { return values }
        let groups = query.groups.isEmpty ? "" : "PARTITION BY \(groupNames.joined(separator: ", ")) "
        var selected = ["*"]
        for index in percentiles.sorted() {
            selected.append("row_number() OVER (\(groups)ORDER BY v\(index) IS NULL, v\(index)) AS r\(index)")
            selected.append("count(v\(index)) OVER (\(groups.dropLast())) AS n\(index)")
        }
        return "SELECT \(selected.joined(separator: ", ")) FROM (\(values)) AS f"
    }

    private func aggregates(from rows: String, _ arguments: inout [QueryPlan.Argument]) throws -> String {
        var selected: [String] = []
        // These arguments stand before those of the rows, as their question marks do.
        var own: [QueryPlan.Argument] = []
        for (index, group) in query.groups.enumerated() { selected.append("g\(index) AS \(quoted(group.field.name))") }
        for statistic in all {
            let sql = aggregate(statistic, &own)
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

    /// Which of the values a statistic is made of; nil for the features themselves.
    func place(of statistic: StatisticsQuery.Statistic) -> Int? { Counted(statistic).flatMap { places[$0] } }

    private func variance(of value: String) -> String {
        let number = dialect.isSQLite ? value : "CAST(\(value) AS \(dialect.realType))"
        return "\(VarianceFunction.name)(\(number))"
    }

    private func aggregate(
        _ statistic: StatisticsQuery.Statistic, _ arguments: inout [QueryPlan.Argument]
    ) -> String {
        guard let place = place(of: statistic) else { return "count(*)" }
        let value = "v\(place)"
        switch statistic.kind {
        case .count: return "count(\(value))"
        // As real numbers: a sum of whole numbers that is too large would fail the query.
        case .sum: return "sum(CAST(\(value) AS \(dialect.realType)))"
        case .minimum: return "min(\(value))"
        case .maximum: return "max(\(value))"
        case .average: return dialect.isSQLite ? "avg(\(value))" : "avg(CAST(\(value) AS \(dialect.realType)))"
        case .variance: return variance(of: value)
        case .standardDeviation: return "fieldwork_sqrt(\(variance(of: value)))"
        case .percentileDiscrete:
            arguments += [.value(.real(statistic.fraction)), .value(.real(statistic.fraction))]
            // The least rank at or above the share; the small number takes back what a product of decimals adds. Written with
            // comparisons alone: this is asked of each row for each percentile.
            let share = "\(dialect.greatest)(\(dialect.argument(.real(0))) * n\(place) - 1e-9, 0.5)"
            let rank = rank(of: statistic, place)
            return
                "max(CASE WHEN \(rank) >= \(share) AND \(rank) - 1 < \(share) AND \(value) IS NOT NULL THEN \(value) END)"
        case .percentileContinuous:
            arguments += [.value(.real(statistic.fraction)), .value(.real(statistic.fraction))]
            let rank = rank(of: statistic, place)
            let distance = "abs(\(rank) - 1 - \(dialect.argument(.real(0))) * (n\(place) - 1))"
            let sum = """
                sum(CASE WHEN \(value) IS NULL THEN NULL WHEN \(distance) < 1 THEN \(value) * (1 - \(distance)) END)
                """
            return statistic.field.type == .date ? "CAST(round(\(sum)) AS \(dialect.integerType))" : sum
        }
    }

    /// Where a value stands among those of its group, from 1; counted from the end where the statistic goes downwards.
    private func rank(of statistic: StatisticsQuery.Statistic, _ place: Int) -> String {
        statistic.isDescending ? "(n\(place) + 1 - r\(place))" : "r\(place)"
    }
}
