extension Parser {
    mutating func expression() throws -> Expression { try nested { try $0.assignment() } }

    private mutating func make(_ kind: Expression.Kind, _ offset: Int, _ inside: Int...) throws -> Expression {
        Expression(kind: kind, offset: offset, depth: try checked((inside.max() ?? 0) + 1, at: offset))
    }

    private mutating func assignment() throws -> Expression {
        let target = try disjunction()
        guard case .sign(let sign) = token.kind else { return target }
        let arithmetic: Sign?
        switch sign {
        case .assign: arithmetic = nil
        case .addAssign: arithmetic = .plus
        case .subtractAssign: arithmetic = .minus
        case .multiplyAssign: arithmetic = .times
        case .divideAssign: arithmetic = .divide
        case .remainderAssign: arithmetic = .remainder
        default: return target
        }
        let offset = token.start
        guard target.isPlace else { throw fail("Only a variable, an element or a member can be assigned.") }
        advance()
        let value = try expression()
        return try make(.assign(target, operator: arithmetic, value), offset, target.depth, value.depth)
    }

    // MARK: Operators

    private mutating func disjunction() throws -> Expression {
        try logical(.or) { try $0.conjunction() }
    }

    private mutating func conjunction() throws -> Expression {
        try logical(.and) { try $0.binary(0) }
    }

    private mutating func logical(
        _ sign: Sign, _ operand: (inout Parser) throws -> Expression
    ) throws -> Expression {
        var operands = [try operand(&self)]
        let offset = token.start
        while take(sign) { operands.append(try operand(&self)) }
        guard operands.count > 1 else { return operands[0] }
        return try make(
            .logical(isAnd: sign == .and, operands), offset, operands.map(\.depth).max() ?? 0)
    }

    /// Operators of each rank, the loosest first.
    private static let ranks: [Set<Sign>] = [
        [.bitOr], [.bitXor], [.bitAnd], [.equal, .notEqual], [.less, .lessOrEqual, .greater, .greaterOrEqual],
        [.shiftLeft, .shiftRight, .shiftRightUnsigned], [.plus, .minus], [.times, .divide, .remainder],
    ]

    private mutating func binary(_ rank: Int) throws -> Expression {
        guard rank < Self.ranks.count else { return try unary() }
        let first = try binary(rank + 1)
        var links: [Expression.Link] = []
        while case .sign(let sign) = token.kind, Self.ranks[rank].contains(sign) {
            let offset = token.start
            advance()
            links.append(Expression.Link(sign: sign, offset: offset, operand: try binary(rank + 1)))
        }
        guard !links.isEmpty else { return first }
        let depth = max(first.depth, links.map(\.operand.depth).max() ?? 0)
        return try make(.chain(first, links), links[0].offset, depth)
    }

    private mutating func unary() throws -> Expression {
        guard case .sign(let sign) = token.kind else { return try postfix() }
        let offset = token.start
        switch sign {
        case .minus, .plus, .not, .bitNot:
            advance()
            let operand = try nested { try $0.unary() }
            if sign == .minus, case .number(let value) = operand.kind { return try make(.number(-value), offset) }
            return try make(.unary(sign, operand), offset, operand.depth)
        case .increment, .decrement:
            advance()
            let operand = try nested { try $0.unary() }
            guard operand.isPlace else { throw fail("“\(sign.rawValue)” needs a variable, an element or a member.") }
            return try make(
                .increment(operand, by: sign == .increment ? 1 : -1, isPrefix: true), offset, operand.depth)
        default: return try postfix()
        }
    }

    private mutating func postfix() throws -> Expression {
        var made = try primary()
        while case .sign(let sign) = token.kind {
            let offset = token.start
            switch sign {
            case .openParenthesis:
                let arguments = try list(until: .closeParenthesis, "of the call")
                made = try make(
                    .call(made, arguments), made.offset, made.depth, arguments.map(\.depth).max() ?? 0)
            case .openBracket:
                advance()
                let index = try expression()
                try expect(.closeBracket, "behind the index")
                made = try make(.index(made, index), offset, made.depth, index.depth)
            case .dot:
                advance()
                made = try make(.member(made, try memberName()), offset, made.depth)
            case .increment, .decrement:
                guard made.isPlace, !token.followsLineBreak else { return made }
                advance()
                return try make(
                    .increment(made, by: sign == .increment ? 1 : -1, isPrefix: false), offset, made.depth)
            default: return made
            }
        }
        return made
    }

    private mutating func memberName() throws -> String {
        defer { advance() }
        switch token.kind {
        case .name(let name): return name
        case .keyword(let keyword): return keyword.rawValue
        default: throw fail("Behind the point stands the name of a member, and here stands \(described).")
        }
    }

    // MARK: Values

    /// Expressions with commas between, from the opening sign to the closing one.
    private mutating func list(until close: Sign, _ place: String) throws -> [Expression] {
        advance()
        if take(close) { return [] }
        var values: [Expression] = []
        repeat {
            // A comma behind the last element of an array is taken as it is meant.
            if close == .closeBracket, !values.isEmpty, token.isSign(close) { break }
            values.append(try expression())
        } while take(.comma)
        try expect(close, "at the end \(place)")
        return values
    }

    private mutating func primary() throws -> Expression {
        let offset = token.start
        switch token.kind {
        case .number(let value):
            advance()
            return try make(.number(value), offset)
        case .text(let text):
            advance()
            return try make(.text(text), offset)
        case .template(let pieces):
            let parts = try pieces.map { piece -> Expression.TemplatePart in
                switch piece {
                case .text(let text): .text(text)
                case .tokens(let tokens): .expression(try expression(in: tokens, at: offset))
                }
            }
            advance()
            return try make(.template(parts), offset, parts.map(\.depth).max() ?? 0)
        case .name(let name):
            advance()
            return try make(.name(name), offset)
        case .keyword(.true):
            advance()
            return try make(.boolean(true), offset)
        case .keyword(.false):
            advance()
            return try make(.boolean(false), offset)
        case .keyword(.null):
            advance()
            return try make(.null, offset)
        case .sign(.openParenthesis):
            advance()
            let inside = try expression()
            try expect(.closeParenthesis, "to close “(”")
            // In parentheses it is a value and no longer a place.
            return inside.isPlace ? try make(inside.kind, inside.offset, inside.depth) : inside
        case .sign(.openBracket):
            let elements = try list(until: .closeBracket, "of the array")
            return try make(.array(elements), offset, elements.map(\.depth).max() ?? 0)
        case .sign(.openBrace): return try dictionary()
        case .end: throw fail("A value is missing at the end.")
        default: throw fail("A value is missing before \(described).")
        }
    }

    private mutating func dictionary() throws -> Expression {
        let offset = token.start
        advance()
        var (members, depth): ([Expression.DictionaryMember], Int) = ([], 0)
        while !token.isSign(.closeBrace) {
            let key = try dictionaryKey()
            try expect(.colon, "behind the name of a member")
            let value = try expression()
            depth = max(depth, value.depth)
            members.append(Expression.DictionaryMember(key: key, value: value))
            guard take(.comma) else { break }
        }
        try expect(.closeBrace, "at the end of the dictionary")
        return try make(.dictionary(members), offset, depth)
    }

    private mutating func dictionaryKey() throws -> String {
        defer { advance() }
        switch token.kind {
        case .name(let name): return name
        case .text(let text): return text
        case .keyword(let keyword): return keyword.rawValue
        case .number(let number): return NumberText.text(number)
        default: throw fail("A member of a dictionary has a name, and here stands \(described).")
        }
    }
}

extension Expression {
    /// Whether it names something that can be assigned.
    var isPlace: Bool {
        switch kind {
        case .name, .member, .index: true
        default: false
        }
    }
}

extension Expression.TemplatePart {
    var depth: Int {
        if case .expression(let expression) = self { expression.depth } else { 0 }
    }
}
