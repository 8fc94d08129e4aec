extension SQLParser {
    mutating func primary() throws(SQLParseError) -> SQLExpression {
        let token = current
        switch token.kind {
        case .integer(let value):
            advance()
            return .literal(.integer(value))
        case .real(let value):
            advance()
            return .literal(.real(value))
        case .string(let text):
            advance()
            return .literal(.string(text))
        case .quotedName(let name):
            advance()
            return .field(name)
        case .symbol("("):
            advance()
            let inner = try expression()
            try expect(")")
            return inner
        case .word(let text): return try word(text.uppercased(), spelled: text)
        case .symbol, .end: throw unexpected("a value")
        }
    }

    private mutating func word(_ keyword: String, spelled text: String) throws(SQLParseError) -> SQLExpression {
        switch keyword {
        case "NULL":
            advance()
            return .literal(.null)
        case "CASE":
            advance()
            return try nested { parser throws(SQLParseError) in try parser.caseExpression() }
        case "DATE" where isString(ahead: 1):
            return try dated {
                .date($0)
            } read: {
                SQLDateText.date($0)
            }
        case "TIMESTAMP" where isString(ahead: 1):
            return try dated {
                .timestamp($0)
            } read: {
                SQLDateText.timestamp($0)
            }
        case "TIME" where isString(ahead: 1):
            return try dated {
                .time($0)
            } read: {
                SQLDateText.time($0)
            }
        case "INTERVAL" where isString(ahead: 1): return try interval()
        case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER":
            advance()
            // Some clients write them as functions.
            if isSymbol("(", ahead: 0), isSymbol(")", ahead: 1) {
                advance()
                advance()
            }
            return SQLCurrentValue(rawValue: keyword).map { .current($0) } ?? .literal(.null)
        case _ where Self.reserved.contains(keyword): throw unexpected("a value")
        case _ where isSymbol("(", ahead: 1): return try call(keyword)
        default:
            advance()
            return .field(text)
        }
    }

    /// Words that can't be a field without quotes. `SELECT` and the like are here so that a sub-select is refused by
    /// name.
    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "ESCAPE", "WHEN", "THEN", "ELSE", "END", "SELECT", "FROM",
        "UNION", "EXISTS", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "CREATE", "ATTACH", "PRAGMA",
    ]

    private mutating func caseExpression() throws(SQLParseError) -> SQLExpression {
        let operand = isWord("WHEN") ? nil : try expression()
        var branches: [SQLCaseBranch] = []
        while takeWord("WHEN") {
            let condition = try expression()
            try expectWord("THEN")
            branches.append(SQLCaseBranch(condition: condition, result: try expression()))
        }
        guard !branches.isEmpty else { throw unexpected("WHEN") }
        let otherwise = takeWord("ELSE") ? try expression() : nil
        try expectWord("END")
        return .caseWhen(operand: operand, branches: branches, otherwise: otherwise)
    }

    private mutating func dated(
        _ literal: (Int64) -> SQLLiteral, read: (String) -> Int64?
    ) throws(SQLParseError) -> SQLExpression {
        advance()
        let place = current.position
        let text = try string()
        guard let value = read(text) else {
            throw SQLParseError(message: "'\(text.prefix(40))' is not a date or time", position: place)
        }
        return .literal(literal(value))
    }

    /// `INTERVAL '3' DAY`, `INTERVAL '3 05:32:28' DAY TO SECOND`.
    private mutating func interval() throws(SQLParseError) -> SQLExpression {
        advance()
        let place = current.position
        let text = try string()
        guard let first = unit() else { throw unexpected("DAY, HOUR, MINUTE or SECOND") }
        var last = first
        if takeWord("TO") {
            guard let unit = unit() else { throw unexpected("HOUR, MINUTE or SECOND") }
            last = unit
        }
        guard let milliseconds = SQLDateText.interval(text, from: first, to: last) else {
            throw SQLParseError(message: "'\(text.prefix(40))' is not such an interval", position: place)
        }
        return .literal(.interval(milliseconds))
    }

    private mutating func unit() -> SQLDatePart? {
        for part in [SQLDatePart.day, .hour, .minute, .second] where takeWord(part.rawValue) { return part }
        return nil
    }

    // MARK: Functions

    private static let synonyms: [String: SQLFunction] = [
        "CHARACTER_LENGTH": .charLength, "LENGTH": .charLength, "LEN": .charLength, "UCASE": .upper, "LCASE": .lower,
        "SUBSTR": .substring, "CEIL": .ceiling, "TRUNC": .truncate, "POW": .power, "LN": .log,
    ]

    private static let counts: [SQLFunction: ClosedRange<Int>] = [
        .concat: 2...32, .substring: 2...3, .trimBoth: 1...2, .trimLeading: 1...2, .trimTrailing: 1...2,
        .position: 2...2, .round: 1...2, .truncate: 1...2, .mod: 2...2, .power: 2...2, .coalesce: 1...32,
        .nullIf: 2...2,
    ]

    private mutating func call(_ name: String) throws(SQLParseError) -> SQLExpression {
        if let aggregate = try aggregate(name) { return aggregate }
        let place = current.position
        switch name {
        case "EXTRACT": return try extract()
        case "CAST": return try cast()
        default: break
        }
        guard let function = SQLFunction(rawValue: name) ?? Self.synonyms[name] else {
            throw SQLParseError(message: "The function \(name) is not supported", position: place)
        }
        advance()
        let arguments = try nested { parser throws(SQLParseError) in
            switch function {
            case .trimBoth: try parser.trimArguments()
            case .position: try parser.positionArguments()
            case .substring: try parser.substringArguments()
            default: (function, try parser.list())
            }
        }
        guard (Self.counts[arguments.0] ?? 1...1).contains(arguments.1.count) else {
            throw SQLParseError(message: "\(name) does not take \(arguments.1.count) values", position: place)
        }
        if arguments.0.searches {
            try checkSearch(name, from: place)
        }
        return .function(arguments.0, arguments.1)
    }

    /// `TRIM(LEADING 'x' FROM s)`, `TRIM(' ' FROM s)`, `TRIM(s)`.
    private mutating func trimArguments() throws(SQLParseError) -> (SQLFunction, [SQLExpression]) {
        try expect("(")
        var function = SQLFunction.trimBoth
        if takeWord("LEADING") {
            function = .trimLeading
        } else if takeWord("TRAILING") {
            function = .trimTrailing
        } else {
            _ = takeWord("BOTH")
        }
        var characters: SQLExpression?
        var text: SQLExpression?
        if !isWord("FROM") { characters = try expression() }
        if takeWord("FROM") {
            text = try expression()
        } else if take(",") {
            // TRIM(s, characters), as some databases write it.
            (text, characters) = (characters, try expression())
        }
        try expect(")")
        guard let text else { return (function, characters.map { [$0] } ?? []) }
        return (function, [text] + (characters.map { [$0] } ?? []))
    }

    /// `POSITION(part IN text)` or `POSITION(part, text)`.
    private mutating func positionArguments() throws(SQLParseError) -> (SQLFunction, [SQLExpression]) {
        try expect("(")
        let part = try sum()
        if !takeWord("IN") { try expect(",") }
        let text = try expression()
        try expect(")")
        return (.position, [part, text])
    }

    /// `SUBSTRING(s FROM a FOR b)` or `SUBSTRING(s, a, b)`.
    private mutating func substringArguments() throws(SQLParseError) -> (SQLFunction, [SQLExpression]) {
        try expect("(")
        var values = [try expression()]
        if takeWord("FROM") {
            values.append(try expression())
            if takeWord("FOR") { values.append(try expression()) }
        } else {
            while take(",") { values.append(try expression()) }
        }
        try expect(")")
        return (.substring, values)
    }

    private mutating func extract() throws(SQLParseError) -> SQLExpression {
        advance()
        try expect("(")
        guard case .word(let name) = current.kind, let part = SQLDatePart(rawValue: name.uppercased()) else {
            throw unexpected("YEAR, MONTH, DAY, HOUR, MINUTE or SECOND")
        }
        advance()
        try expectWord("FROM")
        let value = try expression()
        try expect(")")
        return .extract(part, from: value)
    }

    private mutating func cast() throws(SQLParseError) -> SQLExpression {
        advance()
        try expect("(")
        let value = try expression()
        try expectWord("AS")
        guard case .word(let name) = current.kind else { throw unexpected("a type") }
        let place = current.position
        advance()
        var length: Int?
        if take("(") {
            guard case .integer(let number) = current.kind, (1...1_000_000).contains(number) else {
                throw unexpected("a length")
            }
            advance()
            length = Int(number)
            try expect(")")
        }
        try expect(")")
        switch name.uppercased() {
        case "INTEGER", "INT", "SMALLINT", "BIGINT": return .cast(value, .integer)
        case "FLOAT", "REAL", "DOUBLE", "DECIMAL", "NUMERIC": return .cast(value, .real)
        case "VARCHAR", "CHAR", "TEXT", "NVARCHAR": return .cast(value, .text(length: length))
        case "TIMESTAMP", "DATE": return .cast(value, .timestamp)
        default: throw SQLParseError(message: "The type \(name) is not supported", position: place)
        }
    }
}
