import FieldworkREST

extension StatisticsCompiler {
    /// The groups with their statistics as the rows of a statement that reads no table: they are found out here, by one walk over the
    /// features (`GroupFold`). nil where the database is to find them out.
    func folded(_ arguments: inout [QueryPlan.Argument]) throws -> String? {
        // A condition on groups compares as the columns do that they come from.
        guard dialect.sortsGroups, !query.groups.isEmpty, query.having == nil, query.geometries.isEmpty
        else { return nil }
        var aggregates: [(kind: GroupFold.Aggregate, column: Int?)] = []
        for statistic in all {
            guard let kind = GroupFold.Aggregate(statistic.kind) else { return nil }
            aggregates.append((kind, place(of: statistic).map { query.groups.count + $0 }))
        }
        guard try !comparesInAnotherWay, let rows = try foldedRows(aggregates) else { return nil }
        let names = query.groups.map(\.field.name) + all.map(\.field.name)
        guard let first = rows.first else {
            return "SELECT \(names.map { "NULL AS \(quoted($0))" }.joined(separator: ", ")) WHERE 0"
        }
        arguments += rows.joined().map { .value($0) }
        let marks = "(\(first.map { _ in "?" }.joined(separator: ", ")))"
        let columns = names.enumerated().map { "column\($0.offset + 1) AS \(quoted($0.element))" }
        return """
            SELECT \(columns.joined(separator: ", ")) \
            FROM (VALUES \(rows.map { _ in marks }.joined(separator: ", "))) AS f
            """
    }

    private func foldedRows(
        _ aggregates: [(kind: GroupFold.Aggregate, column: Int?)]
    ) throws -> [[AttributeValue]]? {
        var arguments: [QueryPlan.Argument] = []
        let sql = try values(&arguments)
        let statement = try QueryPlan(sql: sql, arguments: arguments, columns: [], hasGeometry: false)
            .statement(on: features.connection)
        defer { statement.finish() }
        var fold = GroupFold(groupCount: query.groups.count, aggregates: aggregates)
        while try statement.step() {
            guard fold.add(statement) else { return nil }
        }
        return fold.rows()
    }

    /// Whether the table, which another program may have made, says how its texts are to be compared. Of a view that is not known.
    private var comparesInAnotherWay: Bool {
        get throws {
            try features.connection.integer(
                """
                SELECT 1 FROM sqlite_master
                WHERE type = 'table' AND name = ? COLLATE NOCASE AND instr(upper(sql), 'COLLATE') = 0
                """
            ) { try $0.bind(features.layer.tableName, at: 1) } == nil
        }
    }
}

extension GroupFold.Aggregate {
    fileprivate init?(_ kind: StatisticsQuery.Kind) {
        switch kind {
        case .count: self = .count
        case .sum: self = .sum
        case .average: self = .average
        case .minimum: self = .minimum
        case .maximum: self = .maximum
        case .variance: self = .variance
        case .standardDeviation: self = .deviation
        case .percentileContinuous, .percentileDiscrete: return nil
        }
    }
}
