/// A word, literal or sign of a script.
struct Token: Sendable {
    enum Kind: Sendable {
        case number(Double)
        case text(String)
        /// A text with expressions inside.
        case template([TemplatePiece])
        /// A name as it was written.
        case name(String)
        case keyword(Keyword)
        case sign(Sign)
        case end
    }

    /// A piece of a template: text, or the tokens of an expression.
    enum TemplatePiece: Sendable {
        case text(String)
        case tokens([Token])
    }

    var kind: Kind
    /// The offset of its first byte.
    var start: Int
    /// The offset behind its last byte.
    var end: Int
    /// Whether a line break stands between it and the token before.
    var followsLineBreak: Bool

    func isSign(_ sign: Sign) -> Bool {
        if case .sign(sign) = kind { true } else { false }
    }

    func isKeyword(_ keyword: Keyword) -> Bool {
        if case .keyword(keyword) = kind { true } else { false }
    }
}

/// The words that can't be names.
enum Keyword: String, Sendable {
    case `var`, `if`, `else`, `for`, `in`, `while`, `break`, `continue`, `return`, function, `true`, `false`, null
    case `import`, export
}

/// Operators and punctuation.
enum Sign: String, Sendable, CaseIterable {
    case openParenthesis = "(", closeParenthesis = ")", openBracket = "[", closeBracket = "]"
    case openBrace = "{", closeBrace = "}"
    case comma = ",", semicolon = ";", colon = ":", dot = "."
    case plus = "+", minus = "-", times = "*", divide = "/", remainder = "%"
    case increment = "++", decrement = "--"
    case assign = "=", addAssign = "+=", subtractAssign = "-=", multiplyAssign = "*=", divideAssign = "/="
    case remainderAssign = "%="
    case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
    case and = "&&", or = "||", not = "!"
    case bitAnd = "&", bitOr = "|", bitXor = "^", bitNot = "~"
    case shiftLeft = "<<", shiftRight = ">>", shiftRightUnsigned = ">>>"

    /// The longest come first, so that the first match is the right one.
    static let byLength: [(bytes: [UInt8], sign: Sign)] =
        allCases.map { (Array($0.rawValue.utf8), $0) }.sorted { $0.0.count > $1.0.count }
}
