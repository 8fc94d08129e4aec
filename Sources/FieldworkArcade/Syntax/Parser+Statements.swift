extension Parser {
    mutating func statement() throws -> Statement { try nested { try $0.readStatement() } }

    private mutating func readStatement() throws -> Statement {
        let offset = token.start
        guard case .keyword(let keyword) = token.kind else {
            if token.isSign(.openBrace), !beginsDictionary { return try block("of a block") }
            let read = try expression()
            try endStatement()
            return Statement(kind: .expression(read), offset: offset, depth: read.depth + 1)
        }
        switch keyword {
        case .var:
            let made = try variables()
            try endStatement()
            return made
        case .if: return try condition()
        case .for: return try loop()
        case .while: return try whileLoop()
        case .function: return try function()
        case .return: return try giveBack()
        case .break, .continue:
            guard loopDepth > 0 else { throw fail("“\(keyword.rawValue)” can stand in a loop only.") }
            advance()
            try endStatement()
            return Statement(kind: keyword == .break ? .breakLoop : .continueLoop, offset: offset, depth: 1)
        case .import: return try importModule()
        case .export:
            advance()
            return try statement()
        case .else, .in: throw fail("“\(keyword.rawValue)” can't begin a statement.")
        case .true, .false, .null:
            let read = try expression()
            try endStatement()
            return Statement(kind: .expression(read), offset: offset, depth: read.depth + 1)
        }
    }

    /// A statement ends with a semicolon, a line, or the brace around it.
    private mutating func endStatement() throws {
        if take(.semicolon) || isAtEnd || token.followsLineBreak || token.isSign(.closeBrace) { return }
        // `if (a) b else c` has no sign before the else.
        if token.isKeyword(.else) { return }
        throw fail("A statement ends with “;” or a new line, and here stands \(described).")
    }

    /// Whether a brace at the beginning of a statement opens a dictionary and not a block.
    private var beginsDictionary: Bool {
        if peek(1).isSign(.closeBrace) { return true }
        switch peek(1).kind {
        case .name, .text, .number, .keyword: return peek(2).isSign(.colon)
        default: return false
        }
    }

    // MARK: Declarations

    private mutating func variables() throws -> Statement {
        let offset = token.start
        advance()
        var (made, depth): ([Statement.Variable], Int) = ([], 0)
        repeat {
            let (name, place) = try expectName("A variable")
            let value = take(.assign) ? try expression() : nil
            depth = max(depth, value?.depth ?? 0)
            made.append(Statement.Variable(name: name.lowercased(), offset: place, value: value))
        } while take(.comma)
        return Statement(kind: .variables(made), offset: offset, depth: depth + 1)
    }

    private mutating func function() throws -> Statement {
        let offset = token.start
        guard functionDepth == 0 else { throw fail("A function can't be declared inside another.") }
        advance()
        let (name, _) = try expectName("A function")
        try expect(.openParenthesis, "behind the name of the function")
        var parameters: [String] = []
        if !token.isSign(.closeParenthesis) {
            repeat {
                let (parameter, place) = try expectName("A parameter")
                if parameters.contains(parameter.lowercased()) {
                    report("There are two parameters called “\(parameter)”.", at: place)
                }
                parameters.append(parameter.lowercased())
            } while take(.comma)
        }
        try expect(.closeParenthesis, "behind the parameters")
        functionDepth += 1
        let outer = loopDepth
        loopDepth = 0
        defer {
            functionDepth -= 1
            loopDepth = outer
        }
        let body = try block("of a function")
        guard case .block(let statements) = body.kind else { throw Recovery() }
        let made = Statement.Function(
            name: name.lowercased(), parameters: parameters, body: statements, depth: body.depth)
        return Statement(kind: .function(made), offset: offset, depth: 1)
    }

    private mutating func importModule() throws -> Statement {
        let offset = token.start
        advance()
        let (name, _) = try expectName("An import")
        guard case .name(let from) = token.kind, from.lowercased() == "from" else {
            throw fail("“from” is missing behind the name of the import.")
        }
        advance()
        guard case .text = token.kind else { throw fail("Behind “from” stands a text that names the module.") }
        advance()
        try endStatement()
        return Statement(kind: .importModule(name: name), offset: offset, depth: 1)
    }

    // MARK: Blocks and branches

    private mutating func block(_ purpose: String) throws -> Statement {
        let offset = token.start
        try expect(.openBrace, "at the beginning \(purpose)")
        let inside = try nested { $0.statements(until: .closeBrace) }
        try expect(.closeBrace, "at the end \(purpose)")
        let depth = try checked((inside.map(\.depth).max() ?? 0) + 1, at: offset)
        return Statement(kind: .block(inside), offset: offset, depth: depth)
    }

    /// What stands behind `if (…)`, `for (…)` and the like: here a brace always opens a block.
    private mutating func body(_ purpose: String) throws -> Statement {
        if token.isSign(.openBrace) { return try block(purpose) }
        if take(.semicolon) { return Statement(kind: .block([]), offset: token.start, depth: 1) }
        return try statement()
    }

    private mutating func parenthesised(_ word: String) throws -> Expression {
        try expect(.openParenthesis, "behind “\(word)”")
        let read = try expression()
        try expect(.closeParenthesis, "behind the condition of “\(word)”")
        return read
    }

    private mutating func condition() throws -> Statement {
        let offset = token.start
        var (branches, otherwise): ([Statement.Branch], Statement?) = ([], nil)
        repeat {
            guard take(.if) else {
                otherwise = try body("of “else”")
                break
            }
            let condition = try parenthesised("if")
            branches.append(Statement.Branch(condition: condition, body: try body("of “if”")))
        } while take(.else)
        let depths = branches.map { max($0.condition.depth, $0.body.depth) } + [otherwise?.depth ?? 0]
        let depth = try checked((depths.max() ?? 0) + 1, at: offset)
        return Statement(kind: .condition(branches, otherwise: otherwise), offset: offset, depth: depth)
    }

    // MARK: Loops

    private mutating func loopBody(_ word: String) throws -> Statement {
        loopDepth += 1
        defer { loopDepth -= 1 }
        return try body("of “\(word)”")
    }

    private mutating func whileLoop() throws -> Statement {
        let offset = token.start
        advance()
        let condition = try parenthesised("while")
        let body = try loopBody("while")
        let depth = try checked(max(condition.depth, body.depth) + 1, at: offset)
        return Statement(kind: .whileLoop(condition, body: body), offset: offset, depth: depth)
    }

    private mutating func loop() throws -> Statement {
        let offset = token.start
        advance()
        try expect(.openParenthesis, "behind “for”")
        if let each = try eachLoop(offset) { return each }
        var start: Statement?
        if !token.isSign(.semicolon) {
            if token.isKeyword(.var) {
                start = try variables()
            } else {
                let read = try expression()
                start = Statement(kind: .expression(read), offset: read.offset, depth: read.depth + 1)
            }
        }
        try expect(.semicolon, "behind the beginning of the loop")
        let condition = token.isSign(.semicolon) ? nil : try expression()
        try expect(.semicolon, "behind the condition of the loop")
        let step = token.isSign(.closeParenthesis) ? nil : try expression()
        try expect(.closeParenthesis, "behind the head of the loop")
        let body = try loopBody("for")
        let depths = [start?.depth ?? 0, condition?.depth ?? 0, step?.depth ?? 0, body.depth]
        let depth = try checked((depths.max() ?? 0) + 1, at: offset)
        return Statement(
            kind: .loop(start: start, condition: condition, step: step, body: body), offset: offset, depth: depth)
    }

    /// `for (var name in …)` or `for (var name of …)`; nil when the loop is of the other kind.
    private mutating func eachLoop(_ offset: Int) throws -> Statement? {
        let declares = token.isKeyword(.var)
        guard case .name(let name) = peek(declares ? 1 : 0).kind else { return nil }
        let word = peek(declares ? 2 : 1)
        var isOf = false
        if case .name(let of) = word.kind, of.lowercased() == "of" { isOf = true }
        guard isOf || word.isKeyword(.in) else { return nil }
        for _ in 0..<(declares ? 3 : 2) { advance() }
        let over = try expression()
        try expect(.closeParenthesis, "behind the head of the loop")
        let body = try loopBody("for")
        let depth = try checked(max(over.depth, body.depth) + 1, at: offset)
        return Statement(
            kind: .each(name: name.lowercased(), declares: declares, isOf: isOf, over, body: body), offset: offset,
            depth: depth)
    }

    private mutating func giveBack() throws -> Statement {
        let offset = token.start
        advance()
        if token.isSign(.semicolon) || token.isSign(.closeBrace) || isAtEnd || token.followsLineBreak {
            _ = take(.semicolon)
            return Statement(kind: .giveBack(nil), offset: offset, depth: 1)
        }
        let read = try expression()
        try endStatement()
        return Statement(kind: .giveBack(read), offset: offset, depth: read.depth + 1)
    }
}
