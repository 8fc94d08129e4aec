import Foundation

/// What the language's functions of one number give: the only place that knows, for numbers in programs and for values of any type.
enum NumberFunction: UInt8, Sendable {
    case abs, acos, asin, atan, cos, exp, log, sin, sqrt, tan
    /// To whole numbers; Round takes halves up.
    case ceil, floor, round
    case negative, bitNot

    @inline(__always)
    func callAsFunction(_ number: Double) -> Double {
        switch self {
        case .abs: number.magnitude
        case .acos: Foundation.acos(number)
        case .asin: Foundation.asin(number)
        case .atan: Foundation.atan(number)
        case .cos: Foundation.cos(number)
        case .exp: Foundation.exp(number)
        case .log: Foundation.log(number)
        case .sin: Foundation.sin(number)
        case .sqrt: number.squareRoot()
        case .tan: Foundation.tan(number)
        case .ceil: number.rounded(.up)
        case .floor: number.rounded(.down)
        case .round: (number + 0.5).rounded(.down)
        case .negative: -number
        case .bitNot: Double(~Operators.bits(number))
        }
    }
}

/// What the language's operators and functions of two numbers give, likewise.
enum NumberPairFunction: UInt8, Sendable {
    case plus, minus, times, divide, remainder
    case bitAnd, bitOr, bitXor, shiftLeft, shiftRight, shiftRightUnsigned
    case power, atan2

    /// nil for comparisons and for signs that join no two values.
    init?(_ sign: Sign) {
        switch sign {
        case .plus: self = .plus
        case .minus: self = .minus
        case .times: self = .times
        case .divide: self = .divide
        case .remainder: self = .remainder
        case .bitAnd: self = .bitAnd
        case .bitOr: self = .bitOr
        case .bitXor: self = .bitXor
        case .shiftLeft: self = .shiftLeft
        case .shiftRight: self = .shiftRight
        case .shiftRightUnsigned: self = .shiftRightUnsigned
        default: return nil
        }
    }

    @inline(__always)
    func callAsFunction(_ left: Double, _ right: Double) -> Double {
        switch self {
        case .plus: left + right
        case .minus: left - right
        case .times: left * right
        case .divide: left / right
        case .remainder: left.truncatingRemainder(dividingBy: right)
        case .bitAnd: Double(Operators.bits(left) & Operators.bits(right))
        case .bitOr: Double(Operators.bits(left) | Operators.bits(right))
        case .bitXor: Double(Operators.bits(left) ^ Operators.bits(right))
        case .shiftLeft: Double(Operators.bits(left) << (Operators.bits(right) & 31))
        case .shiftRight: Double(Operators.bits(left) >> (Operators.bits(right) & 31))
        case .shiftRightUnsigned:
            Double(UInt32(bitPattern: Operators.bits(left)) >> UInt32(Operators.bits(right) & 31))
        case .power: pow(left, right)
        case .atan2: Foundation.atan2(left, right)
        }
    }
}

/// The comparisons of two numbers. NaN is neither less nor equal, so each has an opposite of its own.
enum NumberComparison: Sendable {
    case less, lessOrEqual, equal
    case notLess, notLessOrEqual, notEqual

    /// The comparison and whether its sides change places; nil for signs that compare nothing.
    static func of(_ sign: Sign) -> (comparison: NumberComparison, isSwapped: Bool)? {
        switch sign {
        case .less: (.less, false)
        case .lessOrEqual: (.lessOrEqual, false)
        case .greater: (.less, true)
        case .greaterOrEqual: (.lessOrEqual, true)
        case .equal: (.equal, false)
        case .notEqual: (.notEqual, false)
        default: nil
        }
    }

    var opposite: NumberComparison {
        switch self {
        case .less: .notLess
        case .lessOrEqual: .notLessOrEqual
        case .equal: .notEqual
        case .notLess: .less
        case .notLessOrEqual: .lessOrEqual
        case .notEqual: .equal
        }
    }

    @inline(__always)
    func callAsFunction(_ left: Double, _ right: Double) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .equal: left == right
        case .notLess: !(left < right)
        case .notLessOrEqual: !(left <= right)
        case .notEqual: left != right
        }
    }
}
