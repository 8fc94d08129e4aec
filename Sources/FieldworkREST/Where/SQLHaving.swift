/// A condition on groups. Calls of aggregates stand in it as fields named by `StatisticsQuery.placeholder`.
struct SQLHaving: Sendable {
    struct Call: Sendable {
        var function: String
        /// nil for `COUNT(*)`.
        var argument: SQLExpression?
    }

    var condition: SQLExpression
    var calls: [Call]
}

extension SQLParser {
    static let aggregateNames: Set<String> = ["COUNT", "SUM", "MIN", "MAX", "AVG", "STDDEV", "VAR"]

    /// Reads the argument of an aggregate's call; the name is the current token.
    mutating func aggregateCall(_ name: String) throws(SQLParseError) -> SQLExpression {
        advance()
        try expect("(")
        var argument: SQLExpression?
        if !(name == "COUNT" && take("*")) {
            let outer = aggregates
            // An aggregate of an aggregate has no meaning.
            aggregates = nil
            argument = try expression()
            aggregates = outer
        }
        try expect(")")
        let index = aggregates?.count ?? 0
        aggregates?.append(SQLHaving.Call(function: name, argument: argument))
        return .field(StatisticsQuery.placeholder(index))
    }
}
