import FieldworkREST
import Foundation
import GRDBSQLite

/// The protocol's scalar functions as SQL functions `fieldwork_<name>`: SQLite's own differ in Unicode, in rounding and
/// in which of them exist. NULL among the arguments gives NULL.
enum ScalarFunctions {
    static func register(on connection: SQLiteConnection) throws {
        for (index, function) in SQLFunction.allCases.enumerated() {
            try connection.addFunction(
                "fieldwork_\(function.rawValue.lowercased())", tag: index
            ) { context, count, values in
                let function = SQLFunction.allCases[SQLiteConnection.tag(context)]
                let arguments = ScalarFunctions.arguments(count, values)
                ScalarFunctions.give(ScalarFunctions.call(function, arguments), to: context)
            }
        }
        for (index, conversion) in Conversion.allCases.enumerated() {
            try connection.addFunction(conversion.rawValue, tag: index) { context, count, values in
                let conversion = Conversion.allCases[SQLiteConnection.tag(context)]
                let arguments = ScalarFunctions.arguments(count, values)
                ScalarFunctions.give(ScalarFunctions.convert(conversion, arguments), to: context)
            }
        }
    }

    static func call(_ function: SQLFunction, _ arguments: [AttributeValue]) -> AttributeValue {
        guard !arguments.contains(.null), let first = arguments.first else { return .null }
        let second = arguments.count > 1 ? arguments[1] : nil
        switch function {
        case .charLength, .concat, .lower, .upper, .substring, .trimBoth, .trimLeading, .trimTrailing, .position:
            return text(function, arguments)
        case .coalesce: return first
        case .nullIf: return first == second ? .null : first
        case .round, .truncate:
            guard let number = first.doubleValue else { return .null }
            return rounded(function, first, number, places: second?.integerValue ?? 0)
        case .mod, .power:
            guard let second else { return .null }
            return binary(function, first, second)
        case .abs:
            if case .integer(let value) = first { return value == .min ? .null : .integer(Swift.abs(value)) }
            return real(first) { Swift.abs($0) }
        case .sign:
            guard let value = first.doubleValue else { return .null }
            return .integer(value > 0 ? 1 : value < 0 ? -1 : 0)
        case .ceiling, .floor:
            if case .integer = first { return first }
            return real(first) { function == .floor ? $0.rounded(.down) : $0.rounded(.up) }
        default: return real(first) { transcendental(function, $0) }
        }
    }

    // MARK: Numbers

    private static func real(_ value: AttributeValue, _ function: (Double) -> Double) -> AttributeValue {
        guard let number = value.doubleValue else { return .null }
        let result = function(number)
        return result.isFinite ? .real(result) : .null
    }

    private static func transcendental(_ function: SQLFunction, _ value: Double) -> Double {
        switch function {
        case .sqrt: value.squareRoot()
        case .exp: Foundation.exp(value)
        case .log: Foundation.log(value)
        case .log10: Foundation.log10(value)
        case .sin: Foundation.sin(value)
        case .cos: Foundation.cos(value)
        case .tan: Foundation.tan(value)
        case .asin: Foundation.asin(value)
        case .acos: Foundation.acos(value)
        case .atan: Foundation.atan(value)
        default: .nan
        }
    }

    private static func rounded(
        _ function: SQLFunction, _ original: AttributeValue, _ value: Double, places: Int64
    ) -> AttributeValue {
        if case .integer = original, places >= 0 { return original }
        let scale = pow(10, Double(max(-15, min(places, 15))))
        let scaled = value * scale
        let result = (function == .round ? scaled.rounded() : scaled.rounded(.towardZero)) / scale
        return result.isFinite ? .real(result) : .null
    }

    private static func binary(_ function: SQLFunction, _ a: AttributeValue, _ b: AttributeValue) -> AttributeValue {
        if function == .mod, case .integer(let a) = a, case .integer(let b) = b {
            return b == 0 ? .null : .integer(b == -1 ? 0 : a % b)
        }
        guard let a = a.doubleValue, let b = b.doubleValue else { return .null }
        let result = function == .mod ? a.truncatingRemainder(dividingBy: b) : pow(a, b)
        return result.isFinite ? .real(result) : .null
    }

    // MARK: Text

    private static func text(_ function: SQLFunction, _ arguments: [AttributeValue]) -> AttributeValue {
        let texts = arguments.map(asText)
        let first = texts[0]
        switch function {
        case .charLength: return .integer(Int64(first.unicodeScalars.count))
        case .concat: return .text(texts.joined())
        case .lower: return .text(first.lowercased())
        case .upper: return .text(first.uppercased())
        case .substring:
            guard let start = arguments.count > 1 ? arguments[1].integerValue : 1 else { return .null }
            return .text(substring(first, start: start, length: arguments.count > 2 ? arguments[2].integerValue : nil))
        case .position:
            guard texts.count > 1 else { return .null }
            return .integer(position(of: first, in: texts[1]))
        default: return .text(trimmed(function, first, characters: texts.count > 1 ? texts[1] : " "))
        }
    }

    static func asText(_ value: AttributeValue) -> String {
        switch value {
        case .text(let text): text
        case .integer(let value): String(value)
        case .real(let value): value.description
        case .null, .data: ""
        }
    }

    /// From a character counted from 1, as SQL-92 has it: a start before the text eats from the length.
    private static func substring(_ text: String, start: Int64, length: Int64?) -> String {
        let scalars = text.unicodeScalars
        let count = Int64(scalars.count)
        let from = max(start, 1)
        let end =
            length.map { max(0, $0) }.flatMap { length in
                let (sum, overflow) = start.addingReportingOverflow(length)
                return overflow ? nil : sum
            } ?? .max
        guard from <= count, end > from else { return "" }
        let lower = scalars.index(scalars.startIndex, offsetBy: Int(from - 1))
        let upper = scalars.index(scalars.startIndex, offsetBy: Int(min(end - 1, count)))
        return String(scalars[lower..<upper])
    }

    /// Counted from 1; 0 when it isn't in there; an empty text is everywhere.
    private static func position(of part: String, in text: String) -> Int64 {
        let part = Array(part.unicodeScalars)
        let text = Array(text.unicodeScalars)
        guard !part.isEmpty else { return 1 }
        guard part.count <= text.count else { return 0 }
        let found = (0...text.count - part.count).first { text[$0..<$0 + part.count].elementsEqual(part) }
        return found.map { Int64($0 + 1) } ?? 0
    }

    private static func trimmed(_ function: SQLFunction, _ text: String, characters: String) -> String {
        let removed = Set(characters.unicodeScalars)
        var scalars = Substring(text).unicodeScalars
        if function != .trimTrailing { scalars = scalars.drop { removed.contains($0) } }
        if function != .trimLeading { while let last = scalars.last, removed.contains(last) { scalars.removeLast() } }
        return String(scalars)
    }

    // MARK: Conversions and parts of dates

    enum Conversion: String, CaseIterable {
        case toInteger = "fieldwork_cast_integer"
        case toReal = "fieldwork_cast_real"
        case toText = "fieldwork_cast_text"
        case dateToText = "fieldwork_date_text"
        case extract = "fieldwork_extract"
    }

    static func convert(_ conversion: Conversion, _ arguments: [AttributeValue]) -> AttributeValue {
        guard !arguments.contains(.null), let first = arguments.first else { return .null }
        switch conversion {
        case .toInteger:
            if case .integer = first { return first }
            let number =
                first.doubleValue ?? first.textValue.flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
            return number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map(AttributeValue.integer) ?? .null
        case .toReal:
            let number =
                first.doubleValue ?? first.textValue.flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
            return number.map(AttributeValue.real) ?? .null
        case .toText: return .text(asText(first))
        case .dateToText: return first.integerValue.map { .text(DateText.text(milliseconds: $0)) } ?? .null
        case .extract:
            guard arguments.count > 1, let part = first.textValue.flatMap(SQLDatePart.init),
                let milliseconds = arguments[1].integerValue
            else { return .null }
            return .integer(extract(part, milliseconds))
        }
    }

    static func extract(_ part: SQLDatePart, _ milliseconds: Int64) -> Int64 {
        let (days, rest) = DateText.floorDivide(milliseconds, 86_400_000)
        let date = DateText.civil(days: days)
        return switch part {
        case .year: date.year
        case .month: date.month
        case .day: date.day
        case .hour: rest / 3_600_000
        case .minute: rest / 60_000 % 60
        case .second: rest / 1_000 % 60
        }
    }

    // MARK: SQLite's side

    private static func arguments(
        _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> [AttributeValue] {
        (0..<Int(count)).map { index in
            guard let value = values?[index] else { return .null }
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
            case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
            case SQLITE_TEXT:
                return QueryFunctions.text(values, index).map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null
            default: return .null
            }
        }
    }

    private static func give(_ value: AttributeValue, to context: OpaquePointer?) {
        switch value {
        case .null, .data: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text(
                        context, $0.baseAddress ?? SQLiteStatement.emptyText, Int32($0.count), SQLiteStatement.transient
                    )
                }
            }
        }
    }
}

extension SQLiteConnection {
    /// Adds a function of any number of arguments that is told apart from its neighbours by a number.
    func addFunction(_ name: String, tag: Int, _ function: Function) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let data = UnsafeMutableRawPointer(bitPattern: tag + 1)
        let code = sqlite3_create_function_v2(pointer, name, -1, flags, data, function, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    static func tag(_ context: OpaquePointer?) -> Int { Int(bitPattern: sqlite3_user_data(context)) - 1 }
}
