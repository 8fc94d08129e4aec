/// Reads tokens as statements. After an error it goes on at the next statement, so that one pass finds all errors.
struct Parser {
    /// An error was reported; whoever reads statements goes on with the next one.
    struct Recovery: Error {}

    private var tokens: [Token]
    private var next = 0
    private(set) var problems: [ArcadeError]
    private var nesting = 0
    /// Functions that enclose the place.
    var functionDepth = 0
    /// Loops that enclose the place, in the same function.
    var loopDepth = 0

    static func parse(_ bytes: [UInt8]) -> (statements: [Statement], problems: [ArcadeError]) {
        guard bytes.count <= ArcadeLimits.scriptBytesMax else {
            return ([], [ArcadeError(.syntax, "A script may have \(ArcadeLimits.scriptBytesMax) bytes.", at: 0)])
        }
        var lexer = Lexer(bytes)
        let tokens = lexer.tokens()
        var parser = Parser(tokens: tokens, problems: lexer.problems)
        let statements = parser.statements(until: nil)
        let problems = parser.problems.sorted { $0.offset ?? 0 < $1.offset ?? 0 }
        return (statements, problems)
    }

    private init(tokens: [Token], problems: [ArcadeError]) {
        self.tokens = tokens
        self.problems = problems
    }

    // MARK: Tokens

    var token: Token { tokens[next] }

    func peek(_ ahead: Int) -> Token { tokens[min(next + ahead, tokens.count - 1)] }

    var isAtEnd: Bool {
        if case .end = token.kind { true } else { false }
    }

    mutating func advance() {
        if next < tokens.count - 1 { next += 1 }
    }

    mutating func take(_ sign: Sign) -> Bool {
        guard token.isSign(sign) else { return false }
        advance()
        return true
    }

    mutating func take(_ keyword: Keyword) -> Bool {
        guard token.isKeyword(keyword) else { return false }
        advance()
        return true
    }

    mutating func expect(_ sign: Sign, _ place: String) throws {
        guard take(sign) else { throw fail("“\(sign.rawValue)” is missing \(place), before \(described).") }
    }

    mutating func expectName(_ purpose: String) throws -> (name: String, offset: Int) {
        guard case .name(let name) = token.kind else {
            throw fail("\(purpose) needs a name, and here stands \(described).")
        }
        defer { advance() }
        return (name, token.start)
    }

    /// The token at hand, for a message.
    var described: String {
        switch token.kind {
        case .number, .text, .template: "a value"
        case .name(let name): "“\(name)”"
        case .keyword(let keyword): "“\(keyword.rawValue)”"
        case .sign(let sign): "“\(sign.rawValue)”"
        case .end: "the end"
        }
    }

    // MARK: Errors

    mutating func report(_ message: String, at offset: Int) {
        guard problems.count < ArcadeLimits.problemsMax else { return }
        problems.append(ArcadeError(.syntax, message, at: offset))
    }

    mutating func fail(_ message: String) -> Recovery {
        report(message, at: token.start)
        return Recovery()
    }

    /// Reads something that may stand inside itself.
    mutating func nested<Value>(_ body: (inout Parser) throws -> Value) throws -> Value {
        guard nesting < ArcadeLimits.nestingMax else {
            throw fail("Expressions and blocks may be nested \(ArcadeLimits.nestingMax) levels deep.")
        }
        nesting += 1
        defer { nesting -= 1 }
        return try body(&self)
    }

    /// Checks the depth of what was read, which may come from long chains as well as from nesting.
    mutating func checked(_ depth: Int, at offset: Int) throws -> Int {
        guard depth <= 2 * ArcadeLimits.nestingMax else {
            report("Expressions and blocks may be nested \(ArcadeLimits.nestingMax) levels deep.", at: offset)
            throw Recovery()
        }
        return depth
    }

    /// Reads the tokens of a template's expression.
    mutating func expression(in tokens: [Token], at offset: Int) throws -> Expression {
        let (outer, place) = (self.tokens, next)
        self.tokens = tokens.isEmpty ? [Token(kind: .end, start: offset, end: offset, followsLineBreak: false)] : tokens
        next = 0
        defer {
            self.tokens = outer
            next = place
        }
        let read = try expression()
        guard isAtEnd else { throw fail("Between “${” and “}” stands one expression; \(described) is too much.") }
        return read
    }

    // MARK: Statements

    /// Statements up to a closing brace, or to the end.
    mutating func statements(until close: Sign?) -> [Statement] {
        var statements: [Statement] = []
        while !isAtEnd {
            if let close, token.isSign(close) { break }
            if take(.semicolon) { continue }
            let before = next
            do {
                statements.append(try statement())
            } catch {
                skipToStatement(after: before, until: close)
            }
        }
        return statements
    }

    /// Goes to where the next statement may begin: behind a semicolon, at a line that begins with a word, at a brace
    /// that closes.
    private mutating func skipToStatement(after start: Int, until close: Sign?) {
        if next == start { advance() }
        var depth = 0
        while !isAtEnd {
            if token.isSign(.openBrace) { depth += 1 }
            if token.isSign(.closeBrace) {
                if depth == 0 {
                    // One that closes nothing was part of the error.
                    if close == nil { advance() }
                    return
                }
                depth -= 1
            }
            if depth == 0 {
                if take(.semicolon) { return }
                if token.followsLineBreak, next > start + 1 || token.followsLineBreak {
                    switch token.kind {
                    case .name, .keyword: return
                    default: break
                    }
                }
            }
            advance()
        }
    }
}
