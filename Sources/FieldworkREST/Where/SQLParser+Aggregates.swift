extension SQLParser {
    /// `SUM(height)` within a condition on groups. In the expression a field of an impossible name stands for it.
    package struct Aggregate: Sendable, Hashable {
        package var kind: StatisticsQuery.Kind
        /// nil for `COUNT(*)`.
        package var value: SQLExpression?
        package var name: String
    }

    package struct Aggregated: Sendable {
        package var expression: SQLExpression
        package var aggregates: [Aggregate]
    }

    /// Reads a condition on groups: fields are columns of the answer, aggregates are as SQL writes them.
    package static func parse(having text: String) throws(SQLParseError) -> Aggregated {
        var parser = SQLParser(tokens: try SQLLexer.tokens(of: text))
        parser.allowsAggregates = true
        let expression = try parser.expression()
        guard parser.current.kind == .end else { throw parser.unexpected() }
        return Aggregated(expression: expression, aggregates: parser.aggregates)
    }

    /// Reads the order of groups.
    package static func parse(
        statisticsOrder text: String
    ) throws(SQLParseError) -> (terms: [FeatureQuery.OrderTerm], aggregates: [Aggregate]) {
        var parser = SQLParser(tokens: try SQLLexer.tokens(of: text))
        parser.allowsAggregates = true
        let terms = try parser.orderTerms()
        return (terms, parser.aggregates)
    }

    private static let aggregateNames: [String: StatisticsQuery.Kind] = [
        "COUNT": .count, "SUM": .sum, "MIN": .minimum, "MAX": .maximum, "AVG": .average, "STDDEV": .standardDeviation,
        "VAR": .variance,
    ]

    /// An aggregate at the current word, where they are allowed; nil when there is none.
    mutating func aggregate(_ keyword: String) throws(SQLParseError) -> SQLExpression? {
        guard allowsAggregates, let kind = Self.aggregateNames[keyword], isSymbol("(", ahead: 1) else { return nil }
        advance()
        try expect("(")
        var value: SQLExpression?
        if kind != .count || !take("*") {
            allowsAggregates = false
            value = try expression()
            allowsAggregates = true
        }
        try expect(")")
        if let known = aggregates.first(where: { $0.kind == kind && $0.value == value }) { return .field(known.name) }
        guard aggregates.count < Limits.statisticCount else {
            throw SQLParseError(
                message: "The expression has more than \(Limits.statisticCount) different statistics",
                position: current.position)
        }
        let name = "$aggregate\(aggregates.count)"
        aggregates.append(Aggregate(kind: kind, value: value, name: name))
        return .field(name)
    }
}

extension SQLExpression {
    /// The same with other names of fields.
    package func renamingFields(_ name: (String) -> String) -> SQLExpression {
        func each(_ list: [SQLExpression]) -> [SQLExpression] { list.map { $0.renamingFields(name) } }
        switch self {
        case .literal, .current: return self
        case .field(let old): return .field(name(old))
        case .not(let value): return .not(value.renamingFields(name))
        case .negate(let value): return .negate(value.renamingFields(name))
        case .binary(let sign, let left, let right):
            return .binary(sign, left.renamingFields(name), right.renamingFields(name))
        case .isNull(let value, let negated): return .isNull(value.renamingFields(name), negated: negated)
        case .like(let value, let pattern, let escape, let negated):
            return .like(
                value.renamingFields(name), pattern: pattern.renamingFields(name), escape: escape, negated: negated)
        case .inList(let value, let list, let negated):
            return .inList(value.renamingFields(name), each(list), negated: negated)
        case .between(let value, let lower, let upper, let negated):
            return .between(
                value.renamingFields(name), lower: lower.renamingFields(name), upper: upper.renamingFields(name),
                negated: negated)
        case .caseWhen(let operand, let branches, let otherwise):
            let renamed = branches.map {
                SQLCaseBranch(condition: $0.condition.renamingFields(name), result: $0.result.renamingFields(name))
            }
            return .caseWhen(
                operand: operand?.renamingFields(name), branches: renamed, otherwise: otherwise?.renamingFields(name))
        case .function(let function, let arguments): return .function(function, each(arguments))
        case .extract(let part, let value): return .extract(part, from: value.renamingFields(name))
        case .cast(let value, let type): return .cast(value.renamingFields(name), type)
        }
    }
}
