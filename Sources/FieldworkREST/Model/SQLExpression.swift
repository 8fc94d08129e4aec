/// An expression of the protocol's SQL (`where`, `orderByFields`, `having`, calculations), parsed once. It holds no SQL
/// text: a store compiles it for its dialect with bound parameters, the client evaluates it.
package indirect enum SQLExpression: Sendable, Hashable {
    case literal(SQLLiteral)
    /// A field as the author wrote it; after `bound(to:)` the field's own spelling.
    case field(String)
    case not(SQLExpression)
    case negate(SQLExpression)
    case binary(SQLBinaryOperator, SQLExpression, SQLExpression)
    case isNull(SQLExpression, negated: Bool)
    case like(SQLExpression, pattern: SQLExpression, escape: Character?, negated: Bool)
    case inList(SQLExpression, [SQLExpression], negated: Bool)
    case between(SQLExpression, lower: SQLExpression, upper: SQLExpression, negated: Bool)
    case caseWhen(operand: SQLExpression?, branches: [SQLCaseBranch], otherwise: SQLExpression?)
    case function(SQLFunction, [SQLExpression])
    case extract(SQLDatePart, from: SQLExpression)
    case cast(SQLExpression, SQLCastType)
    case current(SQLCurrentValue)
}

package struct SQLCaseBranch: Sendable, Hashable {
    package var condition: SQLExpression
    package var result: SQLExpression

    package init(condition: SQLExpression, result: SQLExpression) {
        self.condition = condition
        self.result = result
    }
}

package enum SQLLiteral: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case string(String)
    /// `DATE '…'`: milliseconds since 1970 in UTC at midnight.
    case date(Int64)
    /// `TIMESTAMP '…'`: milliseconds since 1970 in UTC.
    case timestamp(Int64)
    /// `TIME '…'`: milliseconds since midnight.
    case time(Int64)
    /// `INTERVAL '…' …`: milliseconds.
    case interval(Int64)
}

package enum SQLBinaryOperator: String, Sendable, Hashable, CaseIterable {
    case and = "AND"
    case or = "OR"
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case concatenate = "||"
}

/// The functions of standardized queries. `trim…` take the text and the characters to take away.
package enum SQLFunction: String, Sendable, Hashable, CaseIterable {
    case charLength = "CHAR_LENGTH"
    case concat = "CONCAT"
    case lower = "LOWER"
    case upper = "UPPER"
    case substring = "SUBSTRING"
    case trimBoth = "TRIM"
    case trimLeading = "LTRIM"
    case trimTrailing = "RTRIM"
    case position = "POSITION"
    case abs = "ABS"
    case ceiling = "CEILING"
    case floor = "FLOOR"
    case round = "ROUND"
    case truncate = "TRUNCATE"
    case mod = "MOD"
    case power = "POWER"
    case sign = "SIGN"
    case sqrt = "SQRT"
    case exp = "EXP"
    case log = "LOG"
    case log10 = "LOG10"
    case sin = "SIN"
    case cos = "COS"
    case tan = "TAN"
    case asin = "ASIN"
    case acos = "ACOS"
    case atan = "ATAN"
    case coalesce = "COALESCE"
    case nullIf = "NULLIF"
}

package enum SQLDatePart: String, Sendable, Hashable, CaseIterable {
    case year = "YEAR"
    case month = "MONTH"
    case day = "DAY"
    case hour = "HOUR"
    case minute = "MINUTE"
    case second = "SECOND"
}

package enum SQLCastType: Sendable, Hashable {
    case integer, real, text(length: Int?), timestamp
}

package enum SQLCurrentValue: String, Sendable, Hashable {
    case date = "CURRENT_DATE"
    case time = "CURRENT_TIME"
    case timestamp = "CURRENT_TIMESTAMP"
    case user = "CURRENT_USER"
}
