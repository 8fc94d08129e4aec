import Foundation

/// Evaluates SQL expressions with the values of a feature in memory, with SQL's rules for what is unknown.
struct SQLEvaluation {
    let now: Double
    let zone: ArcadeZone

    /// Whether a condition holds; unknown does not.
    func holds(_ condition: SQLExpression, _ feature: ArcadeFeature) throws -> Bool {
        try truth(condition, feature) ?? false
    }

    private func truth(_ condition: SQLExpression, _ feature: ArcadeFeature) throws -> Bool? {
        switch condition {
        case .and(let one, let other):
            let left = try truth(one, feature)
            if left == false { return false }
            let right = try truth(other, feature)
            return right == false ? false : (left == nil || right == nil ? nil : true)
        case .or(let one, let other):
            let left = try truth(one, feature)
            if left == true { return true }
            let right = try truth(other, feature)
            return right == true ? true : (left == nil || right == nil ? nil : false)
        case .not(let one): return try truth(one, feature).map { !$0 }
        case .isNull(let one): return try value(one, feature) == .null
        case .comparison(let sign, let one, let other):
            return try compare(sign, value(one, feature), value(other, feature))
        case .isIn(let one, let list):
            let left = try value(one, feature)
            var isUnknown = left == .null
            for element in list {
                switch try compare("=", left, value(element, feature)) {
                case true?: return true
                case false?: break
                case nil: isUnknown = true
                }
            }
            return isUnknown ? nil : false
        case .between(let one, let low, let high):
            let middle = try value(one, feature)
            guard let above = try compare(">=", middle, value(low, feature)),
                let below = try compare("<=", middle, value(high, feature))
            else { return nil }
            return above && below
        case .like(let one, let pattern):
            guard case .text(let text) = try value(one, feature), case .text(let pattern) = try value(pattern, feature)
            else { return nil }
            return Self.matches(Array(text.unicodeScalars), Array(pattern.unicodeScalars))
        default:
            switch try value(condition, feature) {
            case .boolean(let value): return value
            case .number(let number): return number != 0
            case .null: return nil
            default: throw ArcadeError.runtime("The SQL condition gives no truth value.")
            }
        }
    }

    /// `%` stands for any text, `_` for one character.
    private static func matches(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var (at, place, star, mark) = (0, 0, -1, 0)
        while at < text.count {
            if place < pattern.count, pattern[place] == "%" {
                (star, mark) = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "_" || pattern[place] == text[at] {
                at += 1
                place += 1
            } else if star >= 0 {
                mark += 1
                (at, place) = (mark, star + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "%" }
    }

    /// -1, 0 or 1; nil when one is null.
    static func order(_ one: ArcadeValue, _ other: ArcadeValue, zone: ArcadeZone) throws -> Int? {
        func sign<T: Comparable>(_ one: T, _ other: T) -> Int { one < other ? -1 : (one == other ? 0 : 1) }
        switch (one, other) {
        case (.null, _), (_, .null): return nil
        case (.number(let one), .number(let other)): return sign(one, other)
        case (.text(let one), .text(let other)): return one == other ? 0 : TextUnits.precedes(one, other) ? -1 : 1
        case (.boolean(let one), .boolean(let other)): return sign(one ? 1 : 0, other ? 1 : 0)
        case (.boolean(let one), .number(let other)): return sign(one ? 1 : 0, other)
        case (.number(let one), .boolean(let other)): return sign(one, other ? 1 : 0)
        case (.time(let one), .time(let other)): return sign(one, other)
        default: break
        }
        if let one = instant(one, zone), let other = instant(other, zone) { return sign(one, other) }
        if case .number(let number) = one, case .text(let text) = other, let read = Double(text) {
            return sign(number, read)
        }
        if case .text(let text) = one, case .number(let number) = other, let read = Double(text) {
            return sign(read, number)
        }
        throw ArcadeError.runtime("The SQL compares values of different types.")
    }

    private static func instant(_ value: ArcadeValue, _ zone: ArcadeZone) -> Double? {
        switch value {
        case .date(let date): date.milliseconds
        case .dateOnly(let day): Double(day.number) * DateValue.dayLength
        case .number(let number): number
        case .text(let text): DateText.iso(text, zone: zone)?.milliseconds
        default: nil
        }
    }

    private func compare(_ sign: String, _ one: ArcadeValue, _ other: ArcadeValue) throws -> Bool? {
        guard let order = try Self.order(one, other, zone: zone) else { return nil }
        switch sign {
        case "=": return order == 0
        case "<>": return order != 0
        case "<": return order < 0
        case "<=": return order <= 0
        case ">": return order > 0
        default: return order >= 0
        }
    }

    // MARK: Values

    func value(_ expression: SQLExpression, _ feature: ArcadeFeature) throws -> ArcadeValue {
        switch expression {
        case .literal(let value): return value
        case .field(let name):
            guard let place = feature.schema.place(of: name) else {
                throw ArcadeError.runtime("There is no field “\(name)” for the SQL.")
            }
            guard place < feature.values.count else { return .null }
            return Self.typed(feature.values[place], feature.schema.fields[place].type, zone)
        case .arithmetic(let sign, let one, let other):
            return try arithmetic(sign, value(one, feature), value(other, feature))
        case .function(let name, let arguments):
            return try function(name, arguments.map { try value($0, feature) })
        default: return try truth(expression, feature).map(ArcadeValue.boolean) ?? .null
        }
    }

    /// Numbers of fields with dates as dates.
    static func typed(_ value: ArcadeValue, _ type: String, _ zone: ArcadeZone) -> ArcadeValue {
        guard case .number(let number) = value else { return value }
        switch type {
        case "esriFieldTypeDate", "esriFieldTypeTimestampOffset":
            return DateValue(milliseconds: number, zone: zone).map(ArcadeValue.date) ?? .null
        default: return value
        }
    }

    private func arithmetic(_ sign: String, _ one: ArcadeValue, _ other: ArcadeValue) throws -> ArcadeValue {
        if one == .null || other == .null { return .null }
        if sign == "||" { return .text(text(one) + text(other)) }
        guard case .number(let left) = one, case .number(let right) = other else {
            throw ArcadeError.runtime("The SQL computes with something that is not a number.")
        }
        switch sign {
        case "+": return .number(left + right)
        case "-": return .number(left - right)
        case "*": return .number(left * right)
        default: return right == 0 ? .null : .number(left / right)
        }
    }

    private func text(_ value: ArcadeValue) -> String {
        switch value {
        case .text(let text): text
        case .number(let number): NumberText.text(number)
        case .boolean(let value): value ? "1" : "0"
        case .date(let date): date.text
        case .dateOnly(let day): day.text
        default: ""
        }
    }

    private func function(_ name: String, _ arguments: [ArcadeValue]) throws -> ArcadeValue {
        if name == "CURRENT_TIMESTAMP" {
            return DateValue(milliseconds: now, zone: zone).map(ArcadeValue.date) ?? .null
        }
        if name == "CURRENT_DATE" {
            return DateValue(milliseconds: now, zone: zone).map { .dateOnly($0.day) } ?? .null
        }
        if name == "COALESCE" { return arguments.first { $0 != .null } ?? .null }
        if name == "CONCAT" { return .text(arguments.map(text).joined()) }
        if arguments.contains(.null) { return .null }
        switch (name, arguments.count) {
        case ("UPPER", 1): return .text(text(arguments[0]).uppercased())
        case ("LOWER", 1): return .text(text(arguments[0]).lowercased())
        case ("TRIM", 1): return .text(text(arguments[0]).trimmingCharacters(in: .whitespaces))
        case ("CHAR_LENGTH", 1), ("LENGTH", 1): return .number(Double(text(arguments[0]).count))
        default: break
        }
        if name == "SUBSTRING", arguments.count >= 2, case .number(let from) = arguments[1], abs(from) < 1e9 {
            var rest = text(arguments[0]).dropFirst(max(0, Int(from) - 1))
            if arguments.count > 2, case .number(let count) = arguments[2], abs(count) < 1e9 {
                rest = rest.prefix(max(0, Int(count)))
            }
            return .text(String(rest))
        }
        if name == "EXTRACT", arguments.count == 2, case .text(let part) = arguments[0] {
            return try extract(part, arguments[1])
        }
        guard let first = arguments.first, case .number(let number) = first else {
            throw ArcadeError(.notSupported, "The SQL function \(name) is not supported here.")
        }
        switch (name, arguments.count) {
        case ("ABS", 1): return .number(abs(number))
        case ("FLOOR", 1): return .number(number.rounded(.down))
        case ("CEILING", 1), ("CEIL", 1): return .number(number.rounded(.up))
        case ("ROUND", 1): return .number(number.rounded())
        case ("SQRT", 1): return number < 0 ? .null : .number(number.squareRoot())
        case ("MOD", 2):
            guard case .number(let divisor) = arguments[1], divisor != 0 else { return .null }
            return .number(number.truncatingRemainder(dividingBy: divisor))
        case ("POWER", 2):
            guard case .number(let exponent) = arguments[1] else { return .null }
            return .number(pow(number, exponent))
        default: throw ArcadeError(.notSupported, "The SQL function \(name) is not supported here.")
        }
    }

    private func extract(_ part: String, _ value: ArcadeValue) throws -> ArcadeValue {
        let (day, time): (CalendarDay?, Int) =
            switch value {
            case .date(let date): (date.day, date.time)
            case .dateOnly(let day): (day, 0)
            case .time(let time): (nil, time)
            default: (nil, 0)
            }
        switch part {
        case "YEAR": return day.map { .number(Double($0.year)) } ?? .null
        case "MONTH": return day.map { .number(Double($0.month)) } ?? .null
        case "DAY": return day.map { .number(Double($0.day)) } ?? .null
        case "HOUR": return .number(Double(time / 3_600_000))
        case "MINUTE": return .number(Double(time / 60_000 % 60))
        case "SECOND": return .number(Double(time / 1_000 % 60))
        default: throw ArcadeError.runtime("EXTRACT knows YEAR, MONTH, DAY, HOUR, MINUTE and SECOND, not \(part).")
        }
    }
}
