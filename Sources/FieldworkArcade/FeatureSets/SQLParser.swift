/// Reads SQL text of a script as a tree.
struct SQLParser {
    private enum Token: Equatable {
        case word(String), quoted(String), text(String), number(Double), variable(String), sign(String), end
    }

    private var tokens: [Token] = []
    private var next = 0
    private var depth = 0
    private let variable: (String) throws -> ArcadeValue

    private init(_ text: String, _ variable: @escaping (String) throws -> ArcadeValue) throws {
        self.variable = variable
        try read(Array(text.utf8))
    }

    /// A condition or another expression. `variable` gives the values of names behind `@`.
    static func parse(_ text: String, variable: @escaping (String) throws -> ArcadeValue) throws -> SQLExpression {
        var parser = try SQLParser(text, variable)
        let read = try parser.disjunction()
        guard parser.tokens[parser.next] == .end else { throw parser.fail() }
        return read
    }

    /// The terms of an order: `NAME DESC, OTHER`.
    static func order(_ text: String) throws -> [ArcadeOrder] {
        var parser = try SQLParser(text) { throw ArcadeError.runtime("An order can't hold @\($0).") }
        var terms: [ArcadeOrder] = []
        repeat {
            let expression = try parser.sum()
            let isDescending = parser.take(word: "DESC")
            if !isDescending { _ = parser.take(word: "ASC") }
            terms.append(ArcadeOrder(expression: expression, isDescending: isDescending))
        } while parser.take(",")
        guard parser.tokens[parser.next] == .end else { throw parser.fail() }
        return terms
    }

    // MARK: Tokens

    private mutating func read(_ bytes: [UInt8]) throws {
        guard bytes.count <= ArcadeLimits.scriptBytesMax else { throw ArcadeError(.limit, "The SQL is too long.") }
        var at = 0
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        func isWord(_ byte: UInt8) -> Bool {
            Lexer.isDigit(byte) || (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == 0x5F || byte >= 0x80
        }
        while at < bytes.count {
            let (first, start) = (bytes[at], at)
            at += 1
            switch first {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                var content: [UInt8] = []
                while true {
                    guard at < bytes.count else { throw ArcadeError.runtime("A text in the SQL has no end.") }
                    if bytes[at] == first {
                        guard at + 1 < bytes.count, bytes[at + 1] == first else { break }
                        at += 1
                    }
                    content.append(bytes[at])
                    at += 1
                }
                at += 1
                let read = String(decoding: content, as: UTF8.self)
                tokens.append(first == UInt8(ascii: "'") ? .text(read) : .quoted(read))
            case _
            where Lexer.isDigit(first) || first == UInt8(ascii: ".") && at < bytes.count && Lexer.isDigit(bytes[at]):
                while at < bytes.count,
                    Lexer.isDigit(bytes[at]) || bytes[at] == UInt8(ascii: ".") || bytes[at] | 0x20 == UInt8(ascii: "e")
                        || (bytes[at] == UInt8(ascii: "-") || bytes[at] == UInt8(ascii: "+"))
                            && bytes[at - 1] | 0x20 == UInt8(ascii: "e")
                { at += 1 }
                let digits = first == UInt8(ascii: ".") ? "0" + text(start..<at) : text(start..<at)
                guard let number = Double(digits.hasSuffix(".") ? digits + "0" : digits) else {
                    throw ArcadeError.runtime("“\(digits)” in the SQL is not a number.")
                }
                tokens.append(.number(number))
            case UInt8(ascii: "@"):
                while at < bytes.count, isWord(bytes[at]) || bytes[at] == UInt8(ascii: "$") { at += 1 }
                tokens.append(.variable(text(start + 1..<at)))
            case _ where isWord(first):
                while at < bytes.count, isWord(bytes[at]) || bytes[at] == UInt8(ascii: ".") { at += 1 }
                tokens.append(.word(text(start..<at)))
            default:
                let two = at < bytes.count ? text(start..<at + 1) : ""
                if ["<>", "<=", ">=", "!=", "||"].contains(two) {
                    at += 1
                    tokens.append(.sign(two == "!=" ? "<>" : two))
                } else {
                    tokens.append(.sign(text(start..<at)))
                }
            }
        }
        tokens.append(.end)
    }

    private func fail() -> ArcadeError {
        let found: String =
            switch tokens[next] {
            case .word(let text), .quoted(let text), .text(let text), .sign(let text): "“\(text)”"
            case .number(let number): "\(NumberText.text(number))"
            case .variable(let name): "“@\(name)”"
            case .end: "the end"
            }
        return .runtime("The SQL can't be read at \(found).")
    }

    private mutating func take(_ sign: String) -> Bool {
        guard tokens[next] == .sign(sign) else { return false }
        next += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard case .word(let text) = tokens[next], text.uppercased() == word else { return false }
        next += 1
        return true
    }

    private mutating func expect(_ sign: String) throws { guard take(sign) else { throw fail() } }

    private mutating func nested<Value>(_ body: (inout SQLParser) throws -> Value) throws -> Value {
        guard depth < ArcadeLimits.nestingMax else { throw ArcadeError(.limit, "The SQL is nested too deep.") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Conditions

    private mutating func disjunction() throws -> SQLExpression {
        try nested { parser in
            var read = try parser.conjunction()
            var count = 0
            while parser.take(word: "OR") {
                read = .or(read, try parser.conjunction())
                try parser.check(&count)
            }
            return read
        }
    }

    private mutating func conjunction() throws -> SQLExpression {
        var read = try negation()
        var count = 0
        while take(word: "AND") {
            read = .and(read, try negation())
            try check(&count)
        }
        return read
    }

    /// Long chains make deep trees.
    private func check(_ count: inout Int) throws {
        count += 1
        guard count <= 2 * ArcadeLimits.nestingMax else {
            throw ArcadeError(.limit, "The SQL has too many terms: use IN.")
        }
    }

    private mutating func negation() throws -> SQLExpression {
        if take(word: "NOT") { return .not(try nested { try $0.negation() }) }
        let left = try sum()
        if take(word: "IS") {
            let isNegated = take(word: "NOT")
            guard take(word: "NULL") else { throw fail() }
            return isNegated ? .not(.isNull(left)) : .isNull(left)
        }
        let isNegated = take(word: "NOT")
        let test: SQLExpression
        if take(word: "IN") {
            test = try membership(left)
        } else if take(word: "BETWEEN") {
            let low = try sum()
            guard take(word: "AND") else { throw fail() }
            test = .between(left, low, try sum())
        } else if take(word: "LIKE") {
            test = .like(left, try sum())
        } else {
            guard !isNegated else { throw fail() }
            for sign in ["=", "<>", "<=", ">=", "<", ">"] where take(sign) { return .comparison(sign, left, try sum()) }
            return left
        }
        return isNegated ? .not(test) : test
    }

    /// What stands behind IN: a list, or a variable with an array.
    private mutating func membership(_ left: SQLExpression) throws -> SQLExpression {
        let isList = take("(")
        if case .variable(let name) = tokens[next], case .array(let values) = try variable(name) {
            next += 1
            if isList { try expect(")") }
            return .isIn(left, values.map(SQLExpression.literal))
        }
        guard isList else { throw fail() }
        var list = [try sum()]
        while take(",") { list.append(try sum()) }
        try expect(")")
        return .isIn(left, list)
    }

    // MARK: Values

    private mutating func sum() throws -> SQLExpression {
        var (read, count) = (try product(), 0)
        while case .sign(let sign) = tokens[next], ["+", "-", "||"].contains(sign) {
            next += 1
            read = .arithmetic(sign, read, try product())
            try check(&count)
        }
        return read
    }

    private mutating func product() throws -> SQLExpression {
        var (read, count) = (try value(), 0)
        while case .sign(let sign) = tokens[next], ["*", "/"].contains(sign) {
            next += 1
            read = .arithmetic(sign, read, try value())
            try check(&count)
        }
        return read
    }

    private mutating func value() throws -> SQLExpression {
        let token = tokens[next]
        if token != .end { next += 1 }
        switch token {
        case .number(let number): return .literal(.number(number))
        case .text(let text): return .literal(.text(text))
        case .quoted(let name): return .field(name)
        case .variable(let name): return .literal(try variable(name))
        case .sign("-"):
            if case .number(let number) = tokens[next] {
                next += 1
                return .literal(.number(-number))
            }
            return .arithmetic("-", .literal(.number(0)), try nested { try $0.value() })
        case .sign("+"): return try nested { try $0.value() }
        case .sign("("):
            let inside = try disjunction()
            try expect(")")
            return inside
        case .word(let word): return try named(word)
        default:
            if token != .end { next -= 1 }
            throw fail()
        }
    }

    /// A word: a constant, a date, a function or a field.
    private mutating func named(_ word: String) throws -> SQLExpression {
        let upper = word.uppercased()
        if case .text(let text) = tokens[next], ["DATE", "TIMESTAMP", "TIME"].contains(upper) {
            next += 1
            return .literal(try Self.moment(text, upper))
        }
        if take("(") {
            var arguments: [SQLExpression] = []
            if upper == "EXTRACT", case .word(let part) = tokens[next] {
                next += 1
                guard take(word: "FROM") else { throw fail() }
                arguments = [.literal(.text(part.uppercased())), try sum()]
            } else if !take(")") {
                repeat { arguments.append(try nested { try $0.sum() }) } while take(",")
            } else {
                return .function(upper, [])
            }
            try expect(")")
            return .function(upper, arguments)
        }
        switch upper {
        case "NULL": return .literal(.null)
        case "TRUE": return .literal(.boolean(true))
        case "FALSE": return .literal(.boolean(false))
        case "CURRENT_TIMESTAMP", "CURRENT_DATE": return .function(upper, [])
        case "AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "DESC", "ASC":
            next -= 1
            throw fail()
        default: return .field(word)
        }
    }

    private static func moment(_ text: String, _ type: String) throws -> ArcadeValue {
        if type == "TIME", let time = DateText.time(text) { return .time(time) }
        if type == "DATE", let date = DateText.iso(text, zone: .utc) { return .dateOnly(date.day) }
        if type == "TIMESTAMP", let date = DateText.iso(text, zone: .utc) { return .date(date) }
        throw ArcadeError.runtime("“\(text)” in the SQL is not a \(type).")
    }
}
