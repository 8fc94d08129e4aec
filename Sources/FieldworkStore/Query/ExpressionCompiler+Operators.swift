import FieldworkREST

extension ExpressionCompiler {
    /// How many terms of a chain stand side by side in one pair of parentheses. SQLite bounds how deep its tree is, which grows with
    /// each term, and its parser's stack, which grows with each pair.
    private static let termsAbreast = 16

    /// A chain of ANDs or ORs, however long, as a flat tree.
    mutating func chain(_ op: SQLBinaryOperator, _ expression: SQLExpression, depth: Int) throws -> Compiled {
        let chain = SQLChain(op, expression)
        if let decided = chain.decided {
            return try compare(.equal, .literal(.integer(decided ? 1 : 0)), .literal(.integer(1)), depth: depth)
        }
        if chain.terms.count == 1, let only = chain.terms.first {
            return Compiled(sql: try truth(only, depth: depth), kind: .boolean)
        }
        var levels = 0
        var count = chain.terms.count
        while count > Self.termsAbreast {
            count = (count + Self.termsAbreast - 1) / Self.termsAbreast
            levels += 1
        }
        var pieces: [String] = []
        pieces.reserveCapacity(chain.terms.count)
        for term in chain.terms { pieces.append(try truth(term, depth: depth + levels * Self.entriesOfChain)) }
        let sign = " \(op.rawValue) "
        while pieces.count > 1 {
            pieces = stride(from: 0, to: pieces.count, by: Self.termsAbreast).map { start in
                "(" + pieces[start..<min(start + Self.termsAbreast, pieces.count)].joined(separator: sign) + ")"
            }
        }
        return Compiled(sql: pieces.first ?? "", kind: .boolean)
    }

    /// A parenthesis, a value and a sign.
    static let entriesOfChain = 3

    mutating func compare(
        _ op: SQLBinaryOperator, _ left: SQLExpression, _ right: SQLExpression, depth: Int
    ) throws -> Compiled {
        let kind = try commonKind([left, right], depth: depth)
        let (a, b) = dialect.comparable(
            try compiled(left, as: kind, depth: depth), try compiled(right, as: kind, depth: depth))
        return Compiled(sql: "(\(a) \(op.rawValue) \(b))", kind: .boolean)
    }

    /// Sums, products and concatenations. A chain of one rank, such as `a + b - c`, is written without parentheses, as it is read
    /// from left to right anyway: each pair would take a place on the parser's stack.
    mutating func reckoned(_ expression: SQLExpression, depth: Int) throws -> Compiled {
        let before = deepest
        deepest = depth
        defer { deepest = max(deepest, before) }
        var steps: [(op: SQLBinaryOperator, operand: SQLExpression)] = []
        var first = expression
        while case .binary(let op, let left, let right) = first, let rank = op.chained,
            steps.isEmpty || rank == steps.first?.op.chained
        {
            steps.append((op, right))
            first = left
        }
        var result = try link(first, of: steps.first?.op.chained, depth: depth)
        var wraps = 0
        for (op, expression) in steps.reversed() {
            let operand = try link(expression, of: op.chained, depth: depth)
            switch op {
            case .concatenate: result = Compiled(sql: "\(result.sql) || \(operand.sql)", kind: .text)
            case .multiply, .divide: result = product(op, result, operand)
            default: result = sum(op, result, operand, wraps: &wraps)
            }
        }
        try reach(deepest + wraps * Self.entriesOfWrap)
        return Compiled(sql: "(\(result.sql))", kind: result.kind)
    }

    /// `CAST(round((x) * 86400000.0) AS INTEGER)` around what came before.
    private static let entriesOfWrap = 8

    private mutating func link(_ expression: SQLExpression, of rank: Int?, depth: Int) throws -> Compiled {
        rank == SQLBinaryOperator.concatenate.chained
            ? Compiled(sql: try compile(expression, as: .text, depth: depth), kind: .text)
            : try operand(expression, depth: depth)
    }

    private func product(_ op: SQLBinaryOperator, _ a: Compiled, _ b: Compiled) -> Compiled {
        let kind: Kind = a.kind == .interval || b.kind == .interval ? Self.kind(of: op, a.kind, b.kind) : .number
        let divisor = op == .divide ? dialect.divisor(b.sql) : b.sql
        return Compiled(sql: "\(a.sql) \(op.rawValue) \(divisor)", kind: kind)
    }

    /// Numbers, or dates and intervals: a date plus an interval is a date, a number added to a date counts days, the
    /// difference of dates is days.
    private func sum(_ op: SQLBinaryOperator, _ a: Compiled, _ b: Compiled, wraps: inout Int) -> Compiled {
        func days(_ sql: String) -> String { "CAST(round((\(sql)) * 86400000.0) AS \(dialect.integerType))" }
        switch (a.kind, b.kind) {
        case (.date, .date) where op == .subtract:
            wraps += 1
            return Compiled(sql: "(\(a.sql) - \(b.sql)) / 86400000.0", kind: .number)
        case (.date, .number):
            wraps = max(wraps, 1)
            return Compiled(sql: "\(a.sql) \(op.rawValue) \(days(b.sql))", kind: .date)
        case (.number, .date) where op == .add:
            wraps += 1
            return Compiled(sql: "\(days(a.sql)) + \(b.sql)", kind: .date)
        case (.date, _), (_, .date): return Compiled(sql: "\(a.sql) \(op.rawValue) \(b.sql)", kind: .date)
        case (.time, _), (_, .time): return Compiled(sql: "\(a.sql) \(op.rawValue) \(b.sql)", kind: .time)
        case (.interval, _), (_, .interval): return Compiled(sql: "\(a.sql) \(op.rawValue) \(b.sql)", kind: .interval)
        default: return Compiled(sql: "\(a.sql) \(op.rawValue) \(b.sql)", kind: .number)
        }
    }
}

extension SQLBinaryOperator {
    /// The rank of signs that are read from left to right together; nil for those that aren't.
    var chained: Int? {
        switch self {
        case .add, .subtract: 0
        case .multiply, .divide: 1
        case .concatenate: 2
        default: nil
        }
    }
}

extension SQLExpression {
    var isLiteral: Bool { if case .literal = self { true } else { false } }

    /// How many entries on the stack of SQLite's parser an expression takes, at most, while one of its parts is read. The stack has
    /// 100, and what doesn't fit is an error of the whole statement.
    var parserEntries: Int {
        switch self {
        case .literal, .current, .field: 6
        case .not, .negate: 2
        case .isNull: 1
        case .binary: 3
        case .like, .between: 5
        case .inList: 6
        case .caseWhen: 7
        case .function(_, let arguments): arguments.count > 1 ? 5 : 3
        case .extract: 3
        case .cast: 6
        }
    }
}
