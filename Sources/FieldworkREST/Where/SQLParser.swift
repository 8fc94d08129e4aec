/// Reads the protocol's SQL into a tree. It climbs by precedence and counts its depth, so that no input
/// exhausts the stack; long chains of AND and OR are read in a loop.
package struct SQLParser {
    private let tokens: [SQLToken]
    private var index = 0
    private var depth = 0
    var nodes = 0
    /// Whether `SUM(x)` and its like may stand where a function may.
    var allowsAggregates = false
    var aggregates: [Aggregate] = []

    /// Reads a condition.
    package static func parse(where text: String) throws(SQLParseError) -> SQLExpression {
        try parse(expression: text)
    }

    /// Reads one expression, and nothing behind it.
    package static func parse(expression text: String) throws(SQLParseError) -> SQLExpression {
        var parser = SQLParser(tokens: try SQLLexer.tokens(of: text))
        let expression = try parser.expression()
        guard parser.current.kind == .end else { throw parser.unexpected() }
        return expression
    }

    /// Reads `F1 ASC, F2 DESC`.
    package static func parse(orderBy text: String) throws(SQLParseError) -> [FeatureQuery.OrderTerm] {
        var parser = SQLParser(tokens: try SQLLexer.tokens(of: text))
        return try parser.orderTerms()
    }

    mutating func orderTerms() throws(SQLParseError) -> [FeatureQuery.OrderTerm] {
        var terms: [FeatureQuery.OrderTerm] = []
        repeat {
            let expression = try expression()
            let isDescending = takeWord("DESC")
            if !isDescending { _ = takeWord("ASC") }
            guard terms.count < Limits.orderTermCount else {
                throw SQLParseError(
                    message: "The order has more than \(Limits.orderTermCount) terms", position: current.position)
            }
            terms.append(FeatureQuery.OrderTerm(expression: expression, isDescending: isDescending))
        } while take(",")
        guard current.kind == .end else { throw unexpected() }
        return terms
    }

    init(tokens: [SQLToken]) { self.tokens = tokens }

    // MARK: Tokens

    var current: SQLToken { tokens[index] }

    mutating func advance() { if index + 1 < tokens.count { index += 1 } }

    func unexpected(_ wanted: String? = nil) -> SQLParseError {
        let message = "\(current.description) is not expected here" + (wanted.map { ": \($0) is missing" } ?? "")
        return SQLParseError(message: message, position: current.position)
    }

    mutating func take(_ symbol: String) -> Bool {
        guard current.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(SQLParseError) {
        guard take(symbol) else { throw unexpected("'\(symbol)'") }
    }

    func isWord(_ keyword: String, ahead: Int = 0) -> Bool {
        guard index + ahead < tokens.count, case .word(let text) = tokens[index + ahead].kind else { return false }
        return text.uppercased() == keyword
    }

    func isSymbol(_ symbol: String, ahead: Int) -> Bool {
        index + ahead < tokens.count && tokens[index + ahead].kind == .symbol(symbol)
    }

    func isString(ahead: Int) -> Bool {
        guard index + ahead < tokens.count, case .string = tokens[index + ahead].kind else { return false }
        return true
    }

    mutating func takeWord(_ keyword: String) -> Bool {
        guard isWord(keyword) else { return false }
        advance()
        return true
    }

    mutating func expectWord(_ keyword: String) throws(SQLParseError) {
        guard takeWord(keyword) else { throw unexpected(keyword) }
    }

    mutating func string() throws(SQLParseError) -> String {
        guard case .string(let text) = current.kind else { throw unexpected("a text in quotes") }
        advance()
        return text
    }

    // MARK: Precedence

    /// One level deeper; refuses to go deeper than a stack can bear.
    mutating func nested<Result>(
        _ body: (inout SQLParser) throws(SQLParseError) -> Result
    ) throws(SQLParseError) -> Result {
        depth += 1
        nodes += 1
        guard depth <= Limits.whereDepth, nodes <= Limits.whereNodes else {
            throw SQLParseError(message: "The expression is nested too deeply or too long", position: current.position)
        }
        defer { depth -= 1 }
        return try body(&self)
    }

    mutating func expression() throws(SQLParseError) -> SQLExpression {
        try nested { parser throws(SQLParseError) in
            try parser.chain(keyword: "OR", operator: .or) { parser throws(SQLParseError) in
                try parser.chain(keyword: "AND", operator: .and) { parser throws(SQLParseError) in
                    try parser.negation()
                }
            }
        }
    }

    /// A chain of one operator as a balanced tree: a thousand ANDs are ten levels deep, not a thousand.
    private mutating func chain(
        keyword: String, operator: SQLBinaryOperator,
        _ operand: (inout SQLParser) throws(SQLParseError) -> SQLExpression
    ) throws(SQLParseError) -> SQLExpression {
        var operands = [try operand(&self)]
        while takeWord(keyword) {
            nodes += 1
            guard nodes <= Limits.whereNodes else {
                throw SQLParseError(message: "The expression is too long", position: current.position)
            }
            operands.append(try operand(&self))
        }
        while operands.count > 1 {
            operands = stride(from: 0, to: operands.count, by: 2).map { index in
                index + 1 < operands.count ? .binary(`operator`, operands[index], operands[index + 1]) : operands[index]
            }
        }
        return operands[0]
    }

    private mutating func negation() throws(SQLParseError) -> SQLExpression {
        var isNegated = false
        while takeWord("NOT") { isNegated.toggle() }
        let operand = try predicate()
        return isNegated ? .not(operand) : operand
    }

    private mutating func predicate() throws(SQLParseError) -> SQLExpression {
        let place = current.position
        let left = try sum()
        if case .symbol(let text) = current.kind, ["=", "<>", "<", "<=", ">", ">="].contains(text),
            let comparison = SQLBinaryOperator(rawValue: text)
        {
            advance()
            return .binary(comparison, left, try sum())
        }
        if takeWord("IS") {
            let isNegated = takeWord("NOT")
            try expectWord("NULL")
            return .isNull(left, negated: isNegated)
        }
        let isNegated = takeWord("NOT")
        if takeWord("LIKE") { return try like(left, isNegated, from: place) }
        if takeWord("IN") { return .inList(left, try list(), negated: isNegated) }
        if takeWord("BETWEEN") {
            let lower = try sum()
            try expectWord("AND")
            return .between(left, lower: lower, upper: try sum(), negated: isNegated)
        }
        if isNegated { throw unexpected("LIKE, IN or BETWEEN") }
        return left
    }

    private mutating func like(
        _ left: SQLExpression, _ isNegated: Bool, from start: Int
    ) throws(SQLParseError) -> SQLExpression {
        let pattern = try sum()
        var escape: Character?
        if takeWord("ESCAPE") {
            let place = current.position
            let text = try string()
            guard text.unicodeScalars.count == 1, let character = text.first else {
                throw SQLParseError(message: "ESCAPE takes one character", position: place)
            }
            escape = character
        }
        try checkSearch("LIKE", from: start)
        return .like(left, pattern: pattern, escape: escape, negated: isNegated)
    }

    /// Refuses to look for a long text in a long text.
    func checkSearch(_ name: String, from start: Int) throws(SQLParseError) {
        guard current.position - start <= Limits.whereSearchCharacters else {
            throw SQLParseError(
                message: "\(name) takes at most \(Limits.whereSearchCharacters) characters with its texts",
                position: start)
        }
    }

    /// `(a, b, c)`, at least one.
    mutating func list() throws(SQLParseError) -> [SQLExpression] {
        try expect("(")
        var values: [SQLExpression] = []
        repeat {
            values.append(try expression())
            guard values.count <= Limits.whereListCount else {
                throw SQLParseError(message: "The list is too long", position: current.position)
            }
        } while take(",")
        try expect(")")
        return values
    }

    mutating func sum() throws(SQLParseError) -> SQLExpression {
        var left = try product()
        while case .symbol(let text) = current.kind, ["+", "-", "||"].contains(text),
            let sign = SQLBinaryOperator(rawValue: text)
        {
            advance()
            try count()
            left = .binary(sign, left, try product())
        }
        return left
    }

    private mutating func product() throws(SQLParseError) -> SQLExpression {
        var left = try factor()
        while case .symbol(let text) = current.kind, ["*", "/"].contains(text),
            let sign = SQLBinaryOperator(rawValue: text)
        {
            advance()
            try count()
            left = .binary(sign, left, try factor())
        }
        return left
    }

    /// Left-leaning chains of signs deepen the tree as they grow; they share the limit of depth.
    private mutating func count() throws(SQLParseError) {
        nodes += 1
        chainLength += 1
        guard nodes <= Limits.whereNodes, chainLength <= Limits.whereArithmetic else {
            throw SQLParseError(message: "The expression is too long", position: current.position)
        }
    }

    private var chainLength = 0

    private mutating func factor() throws(SQLParseError) -> SQLExpression {
        var isNegative = false
        while true {
            if take("-") { isNegative.toggle() } else if !take("+") { break }
        }
        let value = try primary()
        guard isNegative else { return value }
        switch value {
        case .literal(.integer(let number)): return .literal(.integer(0 &- number))
        case .literal(.real(let number)): return .literal(.real(-number))
        default: return .negate(value)
        }
    }
}
