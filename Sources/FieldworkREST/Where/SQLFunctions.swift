import Foundation

/// The functions and the arithmetic of the evaluator.
enum SQLFunctions {
    typealias Value = AttributeValue

    /// The number at the beginning of a text, 0 without one, as SQLite reads it.
    static func leadingNumber(_ text: String) -> Double {
        let trimmed = text.drop { $0.isWhitespace }
        var end = trimmed.startIndex
        var best = 0.0
        // The longest beginning that reads as a number; numbers are short.
        for index in trimmed.indices.prefix(64) {
            end = trimmed.index(after: index)
            let candidate = String(trimmed[..<end])
            guard candidate.allSatisfy({ "+-.0123456789eE".contains($0) }) else { break }
            if let value = Double(candidate) { best = value }
        }
        return best
    }

    static func clamped(_ number: Double) -> Int64 {
        number.isNaN ? 0 : Int64(exactly: max(-0x1p63, min(0x1.fffffffffffffp62, number.rounded(.towardZero)))) ?? .max
    }

    private static func number(_ value: Value) -> Value? {
        switch value {
        case .integer, .real: return value
        case .text(let text):
            let number = leadingNumber(text)
            return Int64(exactly: number).map(Value.integer) ?? .real(number)
        case .null, .data: return nil
        }
    }

    static func arithmetic(_ sign: SQLBinaryOperator, _ one: Value, _ other: Value) -> Value {
        guard let one = number(one), let other = number(other) else { return .null }
        if case .integer(let left) = one, case .integer(let right) = other {
            if sign == .divide {
                return right == 0 ? .null : left == .min && right == -1 ? .real(0x1p63) : .integer(left / right)
            }
            let (result, overflow) =
                switch sign {
                case .add: left.addingReportingOverflow(right)
                case .subtract: left.subtractingReportingOverflow(right)
                default: left.multipliedReportingOverflow(by: right)
                }
            if !overflow { return .integer(result) }
        }
        guard let left = one.doubleValue, let right = other.doubleValue else { return .null }
        let result: Double
        switch sign {
        case .add: result = left + right
        case .subtract: result = left - right
        case .multiply: result = left * right
        default:
            if right == 0 { return .null }
            result = left / right
        }
        return result.isNaN ? .null : .real(result)
    }

    static func call(_ function: SQLFunction, _ arguments: [Value]) -> Value {
        switch function {
        case .coalesce: return arguments.first { !$0.isNull } ?? .null
        case .nullIf:
            return SQLEvaluator.compare(arguments[0], arguments[1]) == 0 ? .null : arguments[0]
        case .concat, .lower, .upper, .charLength, .substring, .trimBoth, .trimLeading, .trimTrailing, .position:
            return text(function, arguments)
        default: return numeric(function, arguments)
        }
    }

    // MARK: Texts

    private static func text(_ function: SQLFunction, _ arguments: [Value]) -> Value {
        let texts = arguments.map(SQLEvaluator.text)
        guard let first = texts.first ?? nil else { return .null }
        switch function {
        case .concat:
            let known = texts.compactMap { $0 }
            return known.count == texts.count ? .text(known.joined()) : .null
        case .lower: return .text(LetterCase.lower.of(first))
        case .upper: return .text(LetterCase.upper.of(first))
        case .charLength: return .integer(Int64(first.unicodeScalars.count))
        case .substring: return substring(first, arguments)
        case .position:
            guard let whole = texts[1] else { return .null }
            return .integer(position(of: first, in: whole))
        default: return trim(function, first, texts.count > 1 ? texts[1] : " ")
        }
    }

    private static func position(of part: String, in whole: String) -> Int64 {
        let (needle, hay) = (Array(part.unicodeScalars), Array(whole.unicodeScalars))
        guard !needle.isEmpty else { return 1 }
        guard needle.count <= hay.count else { return 0 }
        for start in 0...(hay.count - needle.count) where hay[start..<start + needle.count].elementsEqual(needle) {
            return Int64(start + 1)
        }
        return 0
    }

    /// From a character counted from 1, perhaps of a length.
    private static func substring(_ text: String, _ arguments: [Value]) -> Value {
        guard let start = number(arguments[1])?.doubleValue else { return .null }
        let scalars = Array(text.unicodeScalars)
        let first = max(clamped(start), 1) - 1
        var count = max(0, Int64(scalars.count) - first)
        if arguments.count > 2 {
            guard let length = number(arguments[2])?.doubleValue else { return .null }
            // The lesser of both before it is added: a request may name the largest number for either.
            count = min(count, max(0, clamped(length)))
        }
        guard count > 0 else { return .text("") }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars[Int(first)..<Int(first + count)])
        return .text(String(result))
    }

    private static func trim(_ function: SQLFunction, _ text: String, _ characters: String?) -> Value {
        guard let characters else { return .null }
        let set = Set(characters.unicodeScalars)
        var scalars = Substring(text).unicodeScalars
        if function != .trimTrailing { while let first = scalars.first, set.contains(first) { scalars.removeFirst() } }
        if function != .trimLeading { while let last = scalars.last, set.contains(last) { scalars.removeLast() } }
        return .text(String(Substring(scalars)))
    }

    // MARK: Numbers

    private static func numeric(_ function: SQLFunction, _ arguments: [Value]) -> Value {
        let numbers = arguments.map(number)
        guard let first = numbers[0], let value = first.doubleValue else { return .null }
        if case .integer(let whole) = first {
            switch function {
            case .abs where whole != .min:
                return .integer(whole.magnitude > UInt64(Int64.max) ? .max : Swift.abs(whole))
            case .ceiling, .floor: return first
            case .sign: return .integer(whole.signum())
            case .mod:
                guard let second = numbers[1], case .integer(let divisor) = second else { break }
                return divisor == 0 ? .null : .integer(divisor == -1 ? 0 : whole % divisor)
            default: break
            }
        }
        var second: Double?
        if numbers.count > 1 {
            guard let other = numbers[1]?.doubleValue else { return .null }
            second = other
        }
        let result: Double
        switch function {
        case .abs: result = Swift.abs(value)
        case .ceiling: result = value.rounded(.up)
        case .floor: result = value.rounded(.down)
        case .sign: return .integer(value > 0 ? 1 : value < 0 ? -1 : 0)
        case .mod: result = second.map { fmod(value, $0) } ?? .nan
        case .power: result = pow(value, second ?? 1)
        case .round, .truncate: result = rounded(value, decimals: second ?? 0, isTruncated: function == .truncate)
        case .sqrt: result = value.squareRoot()
        case .exp: result = Foundation.exp(value)
        case .log: result = value > 0 ? Foundation.log(value) : .nan
        case .log10: result = value > 0 ? Foundation.log10(value) : .nan
        case .sin: result = Foundation.sin(value)
        case .cos: result = Foundation.cos(value)
        case .tan: result = Foundation.tan(value)
        case .asin: result = Foundation.asin(value)
        case .acos: result = Foundation.acos(value)
        case .atan: result = Foundation.atan(value)
        default: return .null
        }
        return result.isNaN ? .null : .real(result)
    }

    private static func rounded(_ value: Double, decimals: Double, isTruncated: Bool) -> Double {
        let power = pow(10, max(-15, min(15, decimals.rounded())))
        let scaled = value * power
        guard scaled.isFinite, Swift.abs(scaled) < 0x1p52 else { return value }
        return scaled.rounded(isTruncated ? .towardZero : .toNearestOrAwayFromZero) / power
    }
}
