import FieldworkREST

/// Compiles a query for statistics: the features that count, with the values that are grouped and summed up, as the inner
/// statement; groups and aggregates over it as the outer one. SQLite sorts and groups, on disk where it must: the memory
/// does not grow with the table.
struct StatisticsCompiler {
    let layer: StoredLayer
    let connection: SQLiteConnection
    /// Milliseconds since 1970.
    let now: Int64

    /// The kinds of the answer's columns.
    struct Plan {
        var plan: QueryPlan
        var columns: Int
    }

    func plan(_ query: StatisticsQuery) throws -> Plan {
        var inner = Inner(compiler: ExpressionCompiler(layer: layer, dialect: .sqlite, alias: "t", now: now))
        let groups = try query.groups.map { try inner.column($0.expression) }
        let statistics = try query.statistics.map { try aggregate($0, groups, &inner) }
        let having = try having(query, statistics, groups, &inner)
        let rows = try QueryCompiler(layer: layer, connection: connection, now: now).rows(query.filter)
        var arguments = inner.compiler.arguments.map { QueryPlan.Argument.value($0) } + rows.arguments
        let selected = statistics.map(\.sql) + groups.map(\.sql)
        // Aggregates over nothing at all are one row, groups of nothing none.
        var sql = "SELECT \(selected.joined(separator: ", ")) FROM (\(inner.select(rows.sql, window(inner, groups))))"
        if !groups.isEmpty { sql += " GROUP BY \(groups.map(\.sql).joined(separator: ", "))" }
        if let having {
            sql += groups.isEmpty ? " GROUP BY NULL HAVING \(having.sql)" : " HAVING \(having.sql)"
            arguments += having.arguments.map { .value($0) }
        }
        var order = query.order.map { "\($0.column + 1)\($0.isDescending ? " DESC" : "")" }
        // Groups decide between equal ones, so that pages neither repeat nor miss one.
        order += groups.indices.map { "\(statistics.count + $0 + 1)" }
        if !order.isEmpty { sql += " ORDER BY \(order.joined(separator: ", "))" }
        sql += " LIMIT ? OFFSET ?"
        arguments += [.value(.integer(Int64(query.limit) + 1)), .value(.integer(Int64(query.offset)))]
        let plan = QueryPlan(sql: sql, arguments: arguments, columns: [], hasGeometry: false, limit: query.limit)
        return Plan(plan: plan, columns: selected.count)
    }

    // MARK: Inner columns

    /// A column of the inner statement as the outer one sees it.
    private struct Column {
        var sql: String
        var kind: ExpressionCompiler.Kind
    }

    private struct Inner {
        var compiler: ExpressionCompiler
        var columns: [(sql: String, expression: SQLExpression, kind: ExpressionCompiler.Kind)] = []
        /// Columns of which percentiles are wanted, with their direction.
        var sorted: [(column: Int, isDescending: Bool)] = []

        mutating func column(_ expression: SQLExpression) throws -> Column {
            if let index = columns.firstIndex(where: { $0.expression == expression }) {
                return Column(sql: "c\(index)", kind: columns[index].kind)
            }
            let compiled = try compiler.value(expression)
            columns.append((compiled.sql, expression, compiled.kind))
            return Column(sql: "c\(columns.count - 1)", kind: compiled.kind)
        }

        mutating func ranked(_ expression: SQLExpression, isDescending: Bool) throws -> (Column, rank: Int) {
            let column = try column(expression)
            let index = columns.firstIndex { $0.expression == expression } ?? 0
            if let rank = sorted.firstIndex(where: { $0.column == index && $0.isDescending == isDescending }) {
                return (column, rank)
            }
            sorted.append((index, isDescending))
            return (column, sorted.count - 1)
        }

        func select(_ rows: String, _ window: [String]) -> String {
            let named = columns.enumerated().map { "\($0.element.sql) AS c\($0.offset)" }
            let values = "SELECT \(named.isEmpty ? "1 AS one" : named.joined(separator: ", ")) \(rows)"
            return window.isEmpty ? values : "SELECT *, \(window.joined(separator: ", ")) FROM (\(values))"
        }
    }

    /// The place of each value among those of its group, and how many the group has.
    private func window(_ inner: Inner, _ groups: [Column]) -> [String] {
        let partition = groups.isEmpty ? "" : "PARTITION BY \(groups.map(\.sql).joined(separator: ", ")) "
        return inner.sorted.enumerated().flatMap { index, sorted in
            let value = "c\(sorted.column)"
            let direction = sorted.isDescending ? " DESC" : ""
            // Nulls have no place: they come last and are not counted.
            return [
                "row_number() OVER (\(partition)ORDER BY \(value) IS NULL, \(value)\(direction)) AS r\(index)",
                "count(\(value)) OVER (\(partition.trimmingSuffix)) AS n\(index)",
            ]
        }
    }

    // MARK: Aggregates

    private func aggregate(
        _ statistic: StatisticsQuery.Statistic, _ groups: [Column], _ inner: inout Inner
    ) throws -> Column {
        guard let expression = statistic.value else { return Column(sql: "count(*)", kind: .number) }
        if case .percentile(let share, let isContinuous, let isDescending) = statistic.aggregate {
            let (column, rank) = try inner.ranked(expression, isDescending: isDescending)
            return Column(
                sql: percentile(column.sql, rank, share: share, isContinuous: isContinuous), kind: column.kind)
        }
        let column = try inner.column(expression)
        switch statistic.aggregate {
        case .count, .percentile: return Column(sql: "count(\(column.sql))", kind: .number)
        // `total` adds as real numbers and never overflows; without any value there is no sum.
        case .sum: return Column(sql: "CASE WHEN count(\(column.sql)) > 0 THEN total(\(column.sql)) END", kind: .number)
        case .minimum: return Column(sql: "min(\(column.sql))", kind: column.kind)
        case .maximum: return Column(sql: "max(\(column.sql))", kind: column.kind)
        case .average: return Column(sql: "avg(\(column.sql))", kind: .number)
        case .variance: return Column(sql: "fieldwork_variance(\(column.sql))", kind: .number)
        case .standardDeviation: return Column(sql: "sqrt(fieldwork_variance(\(column.sql)))", kind: .number)
        }
    }

    private func percentile(_ value: String, _ rank: Int, share: Double, isContinuous: Bool) -> String {
        // The share is a checked number, written as SQLite reads it back.
        let (row, count) = ("r\(rank)", "n\(rank)")
        guard isContinuous else {
            // The first value with at least that share of the values up to it.
            return "max(CASE WHEN \(row) = max(1, CAST(ceil(\(share) * \(count)) AS INTEGER)) THEN \(value) END)"
        }
        let place = "(1 + \(share) * (\(count) - 1))"
        let low = "max(CASE WHEN \(row) = CAST(floor\(place) AS INTEGER) THEN \(value) END)"
        let high = "max(CASE WHEN \(row) = CAST(ceil\(place) AS INTEGER) THEN \(value) END)"
        let rest = "max(\(place) - floor\(place))"
        return "(\(low) + (\(high) - \(low)) * \(rest))"
    }

    // MARK: Having

    private func having(
        _ query: StatisticsQuery, _ statistics: [Column], _ groups: [Column], _ inner: inout Inner
    ) throws -> (sql: String, arguments: [AttributeValue])? {
        guard let condition = query.having else { return nil }
        var names: [String: ExpressionCompiler.Compiled] = [:]
        for (field, column) in zip(query.fields, statistics + groups) {
            names[field.name.lowercased()] = .init(sql: column.sql, kind: column.kind)
        }
        for (index, statistic) in query.havingAggregates.enumerated() {
            let column = try aggregate(statistic, groups, &inner)
            names[StatisticsQuery.placeholder(index)] = .init(sql: column.sql, kind: column.kind)
        }
        var compiler = ExpressionCompiler(layer: layer, dialect: .sqlite, alias: "t", now: now)
        compiler.names = names
        let sql = try compiler.condition(condition)
        return (sql, compiler.arguments)
    }
}

extension String {
    fileprivate var trimmingSuffix: String { hasSuffix(" ") ? String(dropLast()) : self }
}
