import Foundation

/// What a value of one type is as another: the only place that knows.
enum Coercion {
    static func number(_ value: Value) throws -> Double {
        switch value {
        case .number(let number): number
        case .null: 0
        case .boolean(let truth): truth ? 1 : 0
        case .text(let text): NumberText.number(text)
        case .date(let date): date.milliseconds
        case .dateOnly(let day): Double(day.number) * DateValue.dayLength
        case .time(let time): Double(time)
        default: .nan
        }
    }

    static func text(_ value: Value, _ machine: Machine) throws -> String {
        switch value {
        case .text(let text): text
        case .null: ""
        case .number(let number): NumberText.text(number)
        case .boolean(let truth): truth ? "true" : "false"
        case .date(let date): date.text
        case .dateOnly(let day): day.text
        case .time(let time): TimeText.text(time, alwaysMilliseconds: false)
        case .array, .dictionary, .feature, .geometry: try ValueExport.json(value, machine)
        case .function, .featureSet, .collection, .portal: "object, \(value.typeName)"
        }
    }

    static func boolean(_ value: Value) -> Bool {
        switch value {
        case .boolean(let truth): truth
        case .number(let number): number != 0 && !number.isNaN
        case .text(let text): text.lowercased() == "true"
        default: false
        }
    }
}

/// Numbers as text, and back.
enum NumberText {
    /// The shortest decimal that reads back as the number, written as ECMAScript writes it.
    static func text(_ number: Double) -> String {
        if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        let magnitude = abs(number)
        let description = number.description
        // Swift writes a point and no exponent here, as is wanted.
        if magnitude >= 1e-4, magnitude < 1e15 { return description }
        let digits = DecimalDigits(number)
        return digits.ecmaText
    }

    /// A text as a number: spaces around don't count, nothing is 0, what is no number is NaN.
    static func number(_ text: String) -> Double {
        if let fast = Double(text), fast.isFinite { return isPlain(text) ? fast : .nan }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty { return 0 }
        switch trimmed {
        case "Infinity", "+Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: break
        }
        guard isPlain(trimmed) else { return .nan }
        // What is left of Swift's own spelling are points without digits beside them.
        var whole = trimmed
        if whole.hasSuffix(".") { whole += "0" }
        if whole.hasPrefix(".") { whole = "0" + whole }
        if whole.hasPrefix("-.") { whole = "-0" + whole.dropFirst() }
        return Double(whole) ?? .nan
    }

    /// Only digits, a sign, a point and an exponent: no hexadecimal digits and no words.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { Lexer.isDigit($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B || $0 | 0x20 == 0x65 }
            && text.utf8.contains(where: Lexer.isDigit)
    }
}

/// The decimal digits of a number and where the point stands.
struct DecimalDigits {
    var isNegative: Bool
    /// Digits without zeros at the ends; empty for 0.
    var digits: [UInt8]
    /// Digits before the point; negative when zeros stand behind the point first.
    var point: Int

    init(_ number: Double) {
        isNegative = number < 0
        (digits, point) = ([], 0)
        var exponent = 0
        var sawPoint = false
        let text = Array(abs(number).description.utf8)
        var index = 0
        while index < text.count {
            let byte = text[index]
            if Lexer.isDigit(byte) {
                if !(digits.isEmpty && byte == 0x30) {
                    digits.append(byte - 0x30)
                    if !sawPoint { point += 1 }
                } else if sawPoint {
                    point -= 1
                }
            } else if byte == 0x2E {
                sawPoint = true
            } else {
                exponent = Int(String(decoding: text[(index + 1)...], as: UTF8.self)) ?? 0
                break
            }
            index += 1
        }
        while digits.last == 0 { digits.removeLast() }
        point = digits.isEmpty ? 0 : point + exponent
    }

    /// Rounds to some digits behind the point, halves away from zero.
    mutating func round(places: Int) {
        let kept = point + places
        guard kept < digits.count else { return }
        guard kept >= 0 else {
            digits = []
            return
        }
        let isUp = digits[kept] >= 5
        digits.removeLast(digits.count - kept)
        if isUp {
            var index = kept - 1
            while index >= 0, digits[index] == 9 {
                digits[index] = 0
                index -= 1
            }
            if index >= 0 {
                digits[index] += 1
            } else {
                digits.insert(1, at: 0)
                point += 1
            }
        }
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty { point = 0 }
    }

    /// The digits before the point, without leading zeros.
    var whole: String {
        guard point > 0 else { return "" }
        let known = digits.prefix(point).map { Character(Unicode.Scalar($0 + 0x30)) }
        return String(known) + String(repeating: "0", count: max(0, point - digits.count))
    }

    /// The digits behind the point, without zeros at the end.
    var fraction: String {
        guard digits.count > point else { return "" }
        let zeros = String(repeating: "0", count: max(0, -point))
        return zeros + String(digits.dropFirst(max(0, point)).map { Character(Unicode.Scalar($0 + 0x30)) })
    }

    fileprivate var ecmaText: String {
        if digits.isEmpty { return "0" }
        let sign = isNegative ? "-" : ""
        if point > -6, point <= 21 {
            let fraction = fraction
            return sign + (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
        }
        let all = digits.map { Character(Unicode.Scalar($0 + 0x30)) }
        let exponent = point - 1
        let rest = all.count > 1 ? "." + String(all.dropFirst()) : ""
        return sign + String(all.prefix(1)) + rest + "e" + (exponent < 0 ? "-" : "+") + String(abs(exponent))
    }
}

/// Texts in UTF-16 units, which is what indexes of the language count.
enum TextUnits {
    static func areEqual(_ one: String, _ other: String) -> Bool {
        // Swift takes composed and decomposed letters as equal; the language compares units.
        one.utf8.elementsEqual(other.utf8)
    }

    /// The order of UTF-16 units.
    static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf16.lexicographicallyPrecedes(other.utf16)
    }

    static func count(_ text: String) -> Int { text.utf16.count }

    /// Units from a place; half of a pair becomes the sign for what can't be shown.
    static func slice(_ text: String, from start: Int, count: Int) -> String {
        let units = text.utf16
        let total = units.count
        let from = min(max(start, 0), total)
        let length = min(max(count, 0), total - from)
        if length == total { return text }
        let low = units.index(units.startIndex, offsetBy: from)
        let high = units.index(low, offsetBy: length)
        if total == text.utf8.count { return String(text[low..<high]) }
        return String(decoding: Array(units[low..<high]), as: UTF16.self)
    }
}
