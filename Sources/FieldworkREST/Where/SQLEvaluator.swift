import Foundation

/// Tells whether a feature meets a condition, without a database: for local edits that a service hasn't seen, and as the
/// independent judge of the query compiler in tests.
///
/// The rules are SQLite's, since that is the store's: three-valued logic, whole-number division between integers, NULL
/// for division by zero, texts compared by their UTF-8, `LIKE` regarding case.
package struct SQLEvaluator {
    /// A value in the course of evaluation. A truth is an integer, as in SQLite.
    package typealias Value = AttributeValue

    private let value: (String) -> AttributeValue
    private let kind: (String) -> SQLValueKind
    /// Milliseconds since 1970.
    private let now: Int64
    private let user: String?

    /// - Parameters:
    ///   - now: the moment that `CURRENT_TIMESTAMP` stands for, in milliseconds since 1970.
    ///   - kind: gives the kind of a field by its name: without it the difference of two date fields is one of numbers.
    ///   - value: gives the value of a field by its name.
    package init(
        now: Int64, user: String? = nil, kind: @escaping (String) -> SQLValueKind = { _ in .other },
        value: @escaping (String) -> AttributeValue
    ) {
        self.kind = kind
        self.value = value
        self.now = now
        self.user = user
    }

    /// Whether the condition holds; unknown counts as not.
    package func holds(_ condition: SQLExpression) -> Bool { truth(evaluate(condition)) ?? false }

    package func evaluate(_ expression: SQLExpression) -> Value {
        switch expression {
        case .literal(let literal): return Self.value(of: literal)
        case .field(let name): return field(name)
        case .not(let inner): return Self.value(of: truth(evaluate(inner)).map { !$0 })
        case .negate(let inner): return Self.negated(evaluate(inner))
        case .binary(let sign, let left, let right): return binary(sign, left, right)
        case .isNull(let inner, let negated): return Self.value(of: evaluate(inner).isNull != negated)
        case .like(let inner, let pattern, let escape, let negated):
            guard let text = Self.text(evaluate(inner)), let pattern = Self.text(evaluate(pattern)) else {
                return .null
            }
            return Self.value(of: LikePattern(pattern, escape: escape).matches(text) != negated)
        case .inList(let inner, let list, let negated):
            return isIn(evaluate(inner), list.map(evaluate), negated: negated)
        case .between(let inner, let lower, let upper, let negated):
            let value = evaluate(inner)
            let inside = Self.and(
                Self.compare(value, evaluate(lower)).map { $0 >= 0 },
                Self.compare(value, evaluate(upper)).map { $0 <= 0 })
            return Self.value(of: inside.map { $0 != negated })
        case .caseWhen(let operand, let branches, let otherwise):
            let subject = operand.map(evaluate)
            for branch in branches {
                let condition = evaluate(branch.condition)
                let isMet = subject.map { Self.compare($0, condition) == 0 } ?? (truth(condition) ?? false)
                if isMet { return evaluate(branch.result) }
            }
            return otherwise.map(evaluate) ?? .null
        case .function(let function, let arguments): return SQLFunctions.call(function, arguments.map(evaluate))
        case .extract(let part, let inner): return evaluate(inner).integerValue.map { Self.part(part, of: $0) } ?? .null
        case .cast(let inner, let type): return Self.cast(evaluate(inner), to: type)
        case .current(let what): return current(what)
        }
    }

    /// Dates and times of day are milliseconds here, also those that are kept as text.
    private func field(_ name: String) -> Value {
        let value = value(name)
        guard case .text(let text) = value else { return value }
        switch kind(name) {
        case .date: return SQLDateText.timestamp(text).map(AttributeValue.integer) ?? .null
        case .time: return SQLDateText.time(text).map(AttributeValue.integer) ?? .null
        default: return value
        }
    }

    private func current(_ what: SQLCurrentValue) -> Value {
        switch what {
        case .timestamp: return .integer(now)
        case .date: return .integer(now - SQLDateText.split(now).time)
        case .time: return .integer(SQLDateText.split(now).time)
        case .user: return user.map(AttributeValue.text) ?? .null
        }
    }

    private static func value(of literal: SQLLiteral) -> Value {
        switch literal {
        case .null: .null
        case .integer(let value), .date(let value), .timestamp(let value), .time(let value), .interval(let value):
            .integer(value)
        case .real(let value): .real(value)
        case .string(let value): .text(value)
        }
    }

    private static func value(of truth: Bool?) -> Value { truth.map { .integer($0 ? 1 : 0) } ?? .null }

    private func truth(_ value: Value) -> Bool? {
        switch value {
        case .null: nil
        case .integer(let value): value != 0
        case .real(let value): value != 0
        case .text(let text): SQLFunctions.leadingNumber(text) != 0
        case .data: false
        }
    }

    private func isIn(_ value: Value, _ list: [Value], negated: Bool) -> Value {
        guard !value.isNull else { return .null }
        if list.contains(where: { Self.compare(value, $0) == 0 }) { return Self.value(of: !negated) }
        return list.contains(where: \.isNull) ? .null : Self.value(of: negated)
    }

    // MARK: Operators

    private func binary(_ sign: SQLBinaryOperator, _ left: SQLExpression, _ right: SQLExpression) -> Value {
        let (one, other) = (evaluate(left), evaluate(right))
        switch sign {
        case .and: return Self.value(of: Self.and(truth(one), truth(other)))
        case .or:
            return Self.value(of: Self.and(truth(one).map { !$0 }, truth(other).map { !$0 }).map { !$0 })
        case .equal: return Self.value(of: Self.compare(one, other).map { $0 == 0 })
        case .notEqual: return Self.value(of: Self.compare(one, other).map { $0 != 0 })
        case .less: return Self.value(of: Self.compare(one, other).map { $0 < 0 })
        case .lessOrEqual: return Self.value(of: Self.compare(one, other).map { $0 <= 0 })
        case .greater: return Self.value(of: Self.compare(one, other).map { $0 > 0 })
        case .greaterOrEqual: return Self.value(of: Self.compare(one, other).map { $0 >= 0 })
        case .concatenate:
            guard let one = Self.text(one), let other = Self.text(other) else { return .null }
            return .text(one + other)
        case .add, .subtract: return sum(sign, (left.kind(kind), one), (right.kind(kind), other))
        case .multiply, .divide: return SQLFunctions.arithmetic(sign, one, other)
        }
    }

    /// The difference of two dates is days, with their fraction; a number added to a date counts days.
    private func sum(
        _ sign: SQLBinaryOperator, _ left: (kind: SQLValueKind, value: Value),
        _ right: (kind: SQLValueKind, value: Value)
    ) -> Value {
        switch (left.kind, right.kind) {
        case (.date, .date) where sign == .subtract:
            return SQLFunctions.arithmetic(
                .divide, SQLFunctions.arithmetic(.subtract, left.value, right.value), .real(Self.millisecondsPerDay))
        case (.date, .number):
            return SQLFunctions.arithmetic(sign, left.value, Self.milliseconds(days: right.value))
        case (.number, .date) where sign == .add:
            return SQLFunctions.arithmetic(sign, Self.milliseconds(days: left.value), right.value)
        default: return SQLFunctions.arithmetic(sign, left.value, right.value)
        }
    }

    private static let millisecondsPerDay = 86_400_000.0

    private static func milliseconds(days: Value) -> Value {
        let product = SQLFunctions.arithmetic(.multiply, days, .real(millisecondsPerDay))
        return product.doubleValue.map { .integer(SQLFunctions.clamped($0.rounded())) } ?? .null
    }

    private static func and(_ one: Bool?, _ other: Bool?) -> Bool? {
        if one == false || other == false { return false }
        return one == nil || other == nil ? nil : true
    }

    private static func negated(_ value: Value) -> Value {
        switch value {
        case .integer(let value): value == .min ? .real(-Double(value)) : .integer(-value)
        case .real(let value): .real(-value)
        case .text(let text): .real(-SQLFunctions.leadingNumber(text))
        case .null, .data: .null
        }
    }

    /// Below, at or above zero; nil when either is null. Numbers come before texts.
    package static func compare(_ one: Value, _ other: Value) -> Int? {
        switch (one, other) {
        case (.null, _), (_, .null): return nil
        case (.integer(let one), .integer(let other)): return one < other ? -1 : one == other ? 0 : 1
        case (.text(let one), .text(let other)):
            return one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : one.utf8.elementsEqual(other.utf8) ? 0 : 1
        case (.data(let one), .data(let other)): return one.lexicographicallyPrecedes(other) ? -1 : one == other ? 0 : 1
        default: break
        }
        if let one = one.doubleValue, let other = other.doubleValue { return one < other ? -1 : one == other ? 0 : 1 }
        func rank(_ value: Value) -> Int {
            switch value {
            case .null: 0
            case .integer, .real: 1
            case .text: 2
            case .data: 3
            }
        }
        return rank(one) < rank(other) ? -1 : 1
    }

    static func text(_ value: Value) -> String? {
        switch value {
        case .null, .data: nil
        case .integer(let value): String(value)
        case .real(let value):
            value == value.rounded() && abs(value) < 1e15 ? String(format: "%.1f", value) : "\(value)"
        case .text(let text): text
        }
    }

    private static func part(_ part: SQLDatePart, of milliseconds: Int64) -> Value {
        let (days, inDay) = SQLDateText.split(milliseconds)
        let date = SQLDateText.civil(days: days)
        switch part {
        case .year: return .integer(Int64(date.year))
        case .month: return .integer(Int64(date.month))
        case .day: return .integer(Int64(date.day))
        case .hour: return .integer(inDay / 3_600_000)
        case .minute: return .integer(inDay / 60_000 % 60)
        case .second: return .integer(inDay / 1_000 % 60)
        }
    }

    private static func cast(_ value: Value, to type: SQLCastType) -> Value {
        switch (type, value) {
        case (_, .null): return .null
        case (.integer, .real(let number)): return .integer(SQLFunctions.clamped(number))
        case (.integer, .text(let text)): return .integer(SQLFunctions.clamped(SQLFunctions.leadingNumber(text)))
        case (.real, .integer(let number)): return .real(Double(number))
        case (.real, .text(let text)): return .real(SQLFunctions.leadingNumber(text))
        case (.text(let length), _):
            guard let text = text(value) else { return .null }
            return .text(length.map { String(text.unicodeScalars.prefix($0)) } ?? text)
        case (.timestamp, .text(let text)): return SQLDateText.timestamp(text).map(AttributeValue.integer) ?? .null
        default: return value
        }
    }
}

/// A pattern of `LIKE`: `%` for any text, `_` for one character, matched regarding case.
package struct LikePattern {
    private enum Piece: Equatable {
        case any, one
        case exactly(Unicode.Scalar)
    }

    private var pieces: [Piece] = []

    package init(_ pattern: String, escape: Character?) {
        let escape = escape?.unicodeScalars.first
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                pieces.append(.exactly(scalar))
                isEscaped = false
            } else if scalar == escape {
                isEscaped = true
            } else if scalar == "%" {
                if pieces.last != .any { pieces.append(.any) }
            } else {
                pieces.append(scalar == "_" ? .one : .exactly(scalar))
            }
        }
    }

    /// In time proportional to the text's length times the pattern's: one place to return to is enough.
    package func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var (position, piece) = (0, 0)
        var retry: (position: Int, piece: Int)?
        while position < scalars.count {
            if piece < pieces.count, pieces[piece] == .any {
                retry = (position, piece)
                piece += 1
            } else if piece < pieces.count, pieces[piece] == .one || pieces[piece] == .exactly(scalars[position]) {
                position += 1
                piece += 1
            } else if let last = retry {
                retry = (last.position + 1, last.piece)
                (position, piece) = (last.position + 1, last.piece + 1)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .any }
    }
}
