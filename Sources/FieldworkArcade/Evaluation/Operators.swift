import Foundation

/// The operators between two values.
enum Operators {
    static func apply(_ sign: Sign, _ one: Value, _ other: Value, _ machine: Machine) throws -> Value {
        if case .number(let left) = one, case .number(let right) = other { return numbers(sign, left, right) }
        switch sign {
        case .plus:
            if case .text = one { return try joined(one, other, machine) }
            if case .text = other { return try joined(one, other, machine) }
            return .number(try arithmetic(one) + arithmetic(other))
        case .equal: return .boolean(Equality.areEqual(one, other))
        case .notEqual: return .boolean(!Equality.areEqual(one, other))
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return .boolean(try compare(sign, one, other))
        default: return numbers(sign, try arithmetic(one), try arithmetic(other))
        }
    }

    @inline(__always)
    private static func numbers(_ sign: Sign, _ left: Double, _ right: Double) -> Value {
        if let pair = NumberPairFunction(sign) { return .number(pair(left, right)) }
        guard let (comparison, isSwapped) = NumberComparison.of(sign) else { return .null }
        return .boolean(isSwapped ? comparison(right, left) : comparison(left, right))
    }

    /// The 32 bits that the operators on bits work on.
    static func bits(_ number: Double) -> Int32 {
        guard number.isFinite else { return 0 }
        let wrapped = number.rounded(.towardZero).truncatingRemainder(dividingBy: 4_294_967_296)
        return Int32(truncatingIfNeeded: Int64(wrapped))
    }

    /// Dates are not computed with: `DateAdd` and `DateDiff` say which unit is meant.
    private static func arithmetic(_ value: Value) throws -> Double {
        switch value {
        case .date, .dateOnly, .time:
            throw ArcadeError.runtime("\(value.kindName) can't be computed with: use DateAdd or DateDiff.")
        default: return try Coercion.number(value)
        }
    }

    private static func joined(_ one: Value, _ other: Value, _ machine: Machine) throws -> Value {
        if case .text(let left) = one, case .text(let right) = other { return try machine.text(left + right) }
        return try machine.text(try Coercion.text(one, machine) + Coercion.text(other, machine))
    }

    private static func compare(_ sign: Sign, _ one: Value, _ other: Value) throws -> Bool {
        let order: Int?
        switch (one, other) {
        case (.text(let left), .text(let right)):
            order = left == right ? 0 : (TextUnits.precedes(left, right) ? -1 : 1)
        case (.dateOnly(let left), .dateOnly(let right)): order = rank(left.number, right.number)
        case (.time(let left), .time(let right)): order = rank(left, right)
        default:
            if let (left, right) = Equality.instants(one, other) {
                order = rank(left, right)
            } else {
                let (left, right) = (try Coercion.number(one), try Coercion.number(other))
                order = left.isNaN || right.isNaN ? nil : rank(left, right)
            }
        }
        guard let order else { return false }
        switch sign {
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        default: return order >= 0
        }
    }

    private static func rank<Number: Comparable>(_ one: Number, _ other: Number) -> Int {
        one < other ? -1 : (one > other ? 1 : 0)
    }
}

/// When two values are the same.
enum Equality {
    static func areEqual(_ one: Value, _ other: Value) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.text(let one), .text(let other)): TextUnits.areEqual(one, other)
        case (.dateOnly(let one), .dateOnly(let other)): one == other
        case (.time(let one), .time(let other)): one == other
        case (.array(let one), .array(let other)): one === other
        case (.dictionary(let one), .dictionary(let other)): one === other
        case (.geometry(let one), .geometry(let other)): one === other
        case (.feature(let one), .feature(let other)): one === other
        case (.featureSet(let one), .featureSet(let other)): one === other
        case (.collection(let one), .collection(let other)): one == other
        case (.function(.script(let one)), .function(.script(let other))): one == other
        case (.function(.builtin(let one)), .function(.builtin(let other))): one.name == other.name
        default: instants(one, other).map { $0 == $1 } ?? false
        }
    }

    /// Two dates as instants: one without a zone takes the zone of the other.
    static func instants(_ one: Value, _ other: Value) -> (Double, Double)? {
        guard case .date(let one) = one, case .date(let other) = other else { return nil }
        return (one.instant(beside: other), other.instant(beside: one))
    }
}
