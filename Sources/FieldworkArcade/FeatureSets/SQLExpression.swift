/// An SQL expression as a tree: a condition, a term of an order, or what a statistic is computed of. Values that a
/// script puts in (`@name`) are literals of the tree and never part of a text that is parsed.
public indirect enum SQLExpression: Sendable, Hashable {
    /// A value.
    case literal(ArcadeValue)
    /// A field of the feature.
    case field(String)
    /// Arithmetic: `+`, `-`, `*`, `/`, `||`.
    case arithmetic(String, SQLExpression, SQLExpression)
    /// A comparison: `=`, `<>`, `<`, `<=`, `>`, `>=`.
    case comparison(String, SQLExpression, SQLExpression)
    /// Both.
    case and(SQLExpression, SQLExpression)
    /// Any.
    case or(SQLExpression, SQLExpression)
    /// Not.
    case not(SQLExpression)
    /// Whether there is no value.
    case isNull(SQLExpression)
    /// Whether a value is among others.
    case isIn(SQLExpression, [SQLExpression])
    /// Whether a value lies between two.
    case between(SQLExpression, SQLExpression, SQLExpression)
    /// Whether a text has a pattern with `%` and `_`.
    case like(SQLExpression, SQLExpression)
    /// A function, its name in upper case.
    case function(String, [SQLExpression])

    /// The expression as text, for services that are asked in text. It is written from the tree, so that a value can
    /// never become a part of the grammar.
    public var text: String {
        switch self {
        case .literal(let value): Self.text(of: value)
        case .field(let name): Self.isPlain(name) ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
        case .arithmetic(let sign, let left, let right), .comparison(let sign, let left, let right):
            "(\(left.text) \(sign) \(right.text))"
        case .and(let left, let right): "(\(left.text) AND \(right.text))"
        case .or(let left, let right): "(\(left.text) OR \(right.text))"
        case .not(.isNull(let value)): "\(value.text) IS NOT NULL"
        case .not(let value): "(NOT \(value.text))"
        case .isNull(let value): "\(value.text) IS NULL"
        case .isIn(let value, let list): "\(value.text) IN (\(list.map(\.text).joined(separator: ", ")))"
        case .between(let value, let low, let high): "(\(value.text) BETWEEN \(low.text) AND \(high.text))"
        case .like(let value, let pattern): "\(value.text) LIKE \(pattern.text)"
        case .function(let name, let arguments): "\(name)(\(arguments.map(\.text).joined(separator: ", ")))"
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        name.utf8.first.map { !Lexer.isDigit($0) } == true
            && name.utf8.allSatisfy { Lexer.isDigit($0) || ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 == 0x5F }
    }

    private static func text(of value: ArcadeValue) -> String {
        switch value {
        case .boolean(let value): value ? "1" : "0"
        case .number(let number): number.isFinite ? NumberText.text(number) : "NULL"
        case .text(let text): "'" + text.replacing("'", with: "''") + "'"
        case .date(let date):
            DateValue(milliseconds: date.milliseconds, zone: .utc).map {
                "TIMESTAMP '\($0.day.text) \(TimeText.text($0.time, alwaysMilliseconds: false))'"
            } ?? "NULL"
        case .dateOnly(let day): "DATE '\(day.text)'"
        case .time(let time): "TIME '\(TimeText.text(time, alwaysMilliseconds: false))'"
        default: "NULL"
        }
    }

    /// The fields that it reads.
    public var fields: Set<String> {
        switch self {
        case .literal: []
        case .field(let name): [name]
        case .arithmetic(_, let one, let other), .comparison(_, let one, let other), .and(let one, let other),
            .or(let one, let other), .like(let one, let other):
            one.fields.union(other.fields)
        case .not(let one), .isNull(let one): one.fields
        case .isIn(let one, let list): list.reduce(one.fields) { $0.union($1.fields) }
        case .between(let one, let low, let high): one.fields.union(low.fields).union(high.fields)
        case .function(_, let arguments): arguments.reduce([]) { $0.union($1.fields) }
        }
    }
}
