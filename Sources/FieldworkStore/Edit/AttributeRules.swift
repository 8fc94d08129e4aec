import FieldworkREST
import Foundation

/// Checks a value from a client against its field and gives what the column is to hold. The error says which field and
/// why; the value itself stays out of it unless it is short and harmless.
enum AttributeRules {
    /// - Parameter domain: the domain that applies: the type's or the field's own.
    static func stored(
        _ value: AttributeValue, in column: StoredColumn, domain: DomainDefinition?
    ) throws(EditError) -> AttributeValue {
        if value.isNull || isNullText(value, column, domain) {
            guard column.field.isNullable else { throw refused(column, "must not be null") }
            return .null
        }
        let coerced = try coerced(value, column)
        if let domain { try check(coerced, column, domain) }
        if column.kind == .date, case .integer(let milliseconds) = coerced {
            return .text(DateText.text(milliseconds: milliseconds))
        }
        return coerced
    }

    /// Whether an empty text stands for null: there are clients that give a null of a field with coded values back so, and
    /// no code is meant.
    private static func isNullText(
        _ value: AttributeValue, _ column: StoredColumn, _ domain: DomainDefinition?
    ) -> Bool {
        guard case .text("") = value, column.kind == .text, column.field.isNullable,
            case .codedValues(let values)? = domain?.kind
        else { return false }
        return !values.contains { isSame($0.code, value, column) }
    }

    /// A value of a trusted source in the form of the column: what can't be converted stays as it is.
    static func storedAsIs(_ value: AttributeValue, in column: StoredColumn) -> AttributeValue {
        guard !value.isNull, let coerced = try? coerced(value, column) else { return value }
        if column.kind == .date, case .integer(let milliseconds) = coerced {
            return .text(DateText.text(milliseconds: milliseconds))
        }
        return coerced
    }

    static func refused(_ column: StoredColumn, _ why: String) -> EditError {
        EditError(code: 1000, description: "Field \(column.name) \(why).")
    }

    // MARK: Types

    /// The value in its field's type; a date as milliseconds.
    static func coerced(_ value: AttributeValue, _ column: StoredColumn) throws(EditError) -> AttributeValue {
        switch column.kind {
        case .objectID: return .integer(try integer(value, column, Int64.min...Int64.max))
        case .integer: return .integer(try integer(value, column, range(of: column.field.type)))
        case .real: return .real(try real(value, column))
        case .date: return .integer(try date(value, column))
        case .data:
            if case .data = value { return value }
            if case .text(let text) = value, let data = Data(base64Encoded: text) { return .data(data) }
            throw refused(column, "takes binary data as base64")
        case .geometry: throw refused(column, "is the geometry, not an attribute")
        case .text: return .text(try text(value, column, "text"))
        case .guid, .globalID:
            guard let id = GUID.parse(try text(value, column, "a GUID")) else { throw refused(column, "takes a GUID") }
            return .text(GUID.normalForm(id))
        case .dateOnly:
            return try formatted(value, column, "a date as yyyy-mm-dd", DateText.isDateOnly)
        case .timeOnly:
            return try formatted(value, column, "a time as hh:mm:ss") { DateText.timeMilliseconds($0) != nil }
        case .timestampOffset:
            return try formatted(value, column, "a date and time with an offset", DateText.isTimestampOffset)
        }
    }

    static func range(of type: FieldType) -> ClosedRange<Int64> {
        switch type {
        case .smallInteger: Int64(Int16.min)...Int64(Int16.max)
        case .integer: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }

    private static func integer(
        _ value: AttributeValue, _ column: StoredColumn, _ range: ClosedRange<Int64>
    ) throws(EditError) -> Int64 {
        let whole: Int64? =
            switch value {
            case .integer(let value): value
            case .real(let value): Int64(exactly: value)
            case .text(let text): Int64(text.trimmingCharacters(in: .whitespaces))
            case .null, .data: nil
            }
        guard let whole else { throw refused(column, "takes a whole number") }
        guard range.contains(whole) else {
            throw refused(column, "takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    private static func real(_ value: AttributeValue, _ column: StoredColumn) throws(EditError) -> Double {
        let number: Double? =
            switch value {
            case .integer(let value): Double(value)
            case .real(let value): value
            case .text(let text): Double(text.trimmingCharacters(in: .whitespaces))
            case .null, .data: nil
            }
        guard let number, number.isFinite else { throw refused(column, "takes a number") }
        guard column.field.type == .single else { return number }
        let single = Float(number)
        guard single.isFinite else { throw refused(column, "takes a number of single precision") }
        // The shortest decimal that names the single: 0.1 stays 0.1 in answers and in comparisons, and what a single can't
        // hold is not pretended to be kept.
        return Double(single.description) ?? Double(single)
    }

    private static func date(_ value: AttributeValue, _ column: StoredColumn) throws(EditError) -> Int64 {
        let milliseconds: Int64? =
            switch value {
            case .integer(let value): value
            case .real(let value): Int64(exactly: value.rounded())
            case .text(let text): DateText.milliseconds(text) ?? Int64(text)
            case .null, .data: nil
            }
        guard let milliseconds else { throw refused(column, "takes a date as milliseconds since 1970") }
        guard DateText.representable.contains(milliseconds) else {
            throw refused(column, "takes a date of the years 0 to 9999")
        }
        return milliseconds
    }

    private static func text(_ value: AttributeValue, _ column: StoredColumn, _ what: String) throws(EditError)
        -> String
    {
        guard case .text(let text) = value else { throw refused(column, "takes \(what)") }
        let length = column.field.length
        // Characters are Unicode scalars; there are never more of them than bytes, which are counted at once.
        if column.kind == .text, length > 0, text.utf8.count > length, text.unicodeScalars.count > length {
            throw refused(column, "holds at most \(length) characters")
        }
        guard !text.utf8.contains(0) else { throw refused(column, "takes text without null characters") }
        return text
    }

    private static func formatted(
        _ value: AttributeValue, _ column: StoredColumn, _ what: String, _ isValid: (String) -> Bool
    ) throws(EditError) -> AttributeValue {
        let text = try text(value, column, what)
        guard isValid(text) else { throw refused(column, "takes \(what)") }
        return .text(text)
    }

    // MARK: Domains

    static func check(_ value: AttributeValue, _ column: StoredColumn, _ domain: DomainDefinition) throws(EditError) {
        switch domain.kind {
        case .inherited: return
        case .codedValues(let values):
            guard values.contains(where: { isSame($0.code, value, column) }) else {
                throw refused(column, "takes only the values of the domain \(domain.name)")
            }
        case .range(let minimum, let maximum):
            guard isOrdered(minimum, value) else {
                throw refused(column, "is below the range of the domain \(domain.name)")
            }
            guard isOrdered(value, maximum) else {
                throw refused(column, "is above the range of the domain \(domain.name)")
            }
        }
    }

    /// Whether a value is not above another one. Integers are compared as such: beyond 2^53 a real can't tell them apart.
    /// What is no number, or a limit that is none, is in order.
    static func isOrdered(_ lower: AttributeValue, _ upper: AttributeValue) -> Bool {
        if case .integer(let lower) = lower, case .integer(let upper) = upper { return lower <= upper }
        if let lower = lower.doubleValue, let upper = upper.doubleValue { return lower <= upper }
        // Dates, times and moments as text are in the order of their characters where they have one form.
        if let lower = lower.textValue, let upper = upper.textValue { return lower <= upper }
        return true
    }

    /// Codes may be written as another type of number, or as text, than the field's.
    static func isSame(_ code: AttributeValue, _ value: AttributeValue, _ column: StoredColumn) -> Bool {
        if code == value { return true }
        if case .integer = code, case .integer = value { return false }
        if let code = code.doubleValue, let value = value.doubleValue { return code == value }
        return (try? coerced(code, column)) == value
    }
}
