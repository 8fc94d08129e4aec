import FieldworkREST
import Foundation

/// Between the values that clients see (`Int32`, `Date`, `UUID`…) and those that the protocol and the stores carry.
enum AttributeConversion {
    /// The value that a client sees; nil for null.
    static func clientValue(_ value: AttributeValue, type: FieldworkREST.FieldType) -> (any Sendable)? {
        switch (type, value) {
        case (_, .null): nil
        case (.smallInteger, .integer(let number)): Int16(exactly: number) ?? number
        case (.integer, .integer(let number)): Int32(exactly: number) ?? number
        case (.single, .real(let number)): Float(number)
        case (.single, .integer(let number)): Float(number)
        case (.double, .integer(let number)): Double(number)
        case (.date, .integer(let milliseconds)): Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        case (.globalID, .text(let text)), (.guid, .text(let text)): GUID.parse(text) ?? text
        case (.blob, .text(let text)): Data(base64Encoded: text) ?? text
        case (_, .integer(let number)): number
        case (_, .real(let number)): number
        case (_, .text(let text)): text
        case (_, .data(let data)): data
        }
    }

    /// A value as the protocol carries it, in the form that equal values share: what JSON says with or without a
    /// fraction, in upper or lower case.
    static func normalised(_ value: AttributeValue, type: FieldworkREST.FieldType) -> AttributeValue {
        switch (type, value) {
        case (.single, _): value.doubleValue.map { .real(Double(Float($0))) } ?? value
        case (.double, .integer(let number)): .real(Double(number))
        case (.smallInteger, .real), (.integer, .real), (.bigInteger, .real), (.date, .real), (.oid, .real):
            value.integerValue.map(AttributeValue.integer) ?? value
        case (.globalID, .text(let text)), (.guid, .text(let text)):
            GUID.parse(text).map { .text(GUID.normalForm($0)) } ?? value
        case (.blob, .text(let text)): Data(base64Encoded: text).map(AttributeValue.data) ?? value
        default: value
        }
    }

    /// Whether a value is surely what `normalised` would make of it.
    static func isNormal(_ value: AttributeValue, type: FieldworkREST.FieldType) -> Bool {
        switch (type, value) {
        case (_, .null), (.double, .real), (.blob, .data), (.string, _), (.xml, _), (.dateOnly, _), (.timeOnly, _),
            (.timestampOffset, _), (.smallInteger, .integer), (.integer, .integer), (.bigInteger, .integer),
            (.date, .integer), (.oid, .integer):
            true
        case (.single, .real(let number)): Double(Float(number)) == number
        case (.globalID, .text(let text)), (.guid, .text(let text)): GUID.isNormalForm(text)
        default: false
        }
    }

    /// The value that a client set, as the protocol carries it. Throws `GeodatabaseError.dataTypeMismatch`,
    /// `GeodatabaseError.valueOutOfRange`.
    static func stored(_ value: (any Sendable)?, in field: FieldDefinition) throws -> AttributeValue {
        guard let value else { return .null }
        let plain = try plain(value, in: field)
        let result = normalised(plain, type: field.type)
        try check(result, in: field)
        return result
    }

    private static func plain(_ value: any Sendable, in field: FieldDefinition) throws -> AttributeValue {
        switch value {
        case let text as String: return .text(text)
        case let text as Substring: return .text(String(text))
        case let flag as Bool: return .integer(flag ? 1 : 0)
        case let number as any BinaryInteger:
            guard let exact = Int64(exactly: number) else { throw outOfRange(field) }
            return .integer(exact)
        case let number as any BinaryFloatingPoint:
            let double = Double(number)
            guard double.isFinite else { throw outOfRange(field) }
            return .real(double)
        case let date as Date:
            let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
            guard let exact = Int64(exactly: milliseconds) else { throw outOfRange(field) }
            return .integer(exact)
        case let id as UUID: return .text(GUID.normalForm(id))
        case let data as Data: return .data(data)
        default: throw mismatch(field)
        }
    }

    private static func check(_ value: AttributeValue, in field: FieldDefinition) throws {
        let fits: Bool
        switch field.type {
        case .smallInteger: fits = try isInteger(value, field, within: Int64(Int16.min)...Int64(Int16.max))
        case .integer: fits = try isInteger(value, field, within: Int64(Int32.min)...Int64(Int32.max))
        case .bigInteger, .oid, .date: fits = try isInteger(value, field, within: .min ... .max)
        case .single, .double: fits = value.doubleValue != nil
        case .string:
            fits = value.textValue != nil
            if field.length > 0, let count = value.textValue?.unicodeScalars.count, count > field.length {
                throw outOfRange(field)
            }
        case .guid, .globalID: fits = value.textValue.flatMap(GUID.parse) != nil
        case .blob: if case .data = value { fits = true } else { fits = false }
        case .dateOnly, .timeOnly, .timestampOffset, .xml: fits = value.textValue != nil
        case .geometry, .raster: fits = false
        }
        if !fits { throw mismatch(field) }
    }

    private static func isInteger(
        _ value: AttributeValue, _ field: FieldDefinition, within range: ClosedRange<Int64>
    ) throws -> Bool {
        guard case .integer(let number) = value else { return false }
        guard range.contains(number) else { throw outOfRange(field) }
        return true
    }

    private static func mismatch(_ field: FieldDefinition) -> GeodatabaseError {
        .dataTypeMismatch(details: "The value is not of the type of the field \(field.name).")
    }

    private static func outOfRange(_ field: FieldDefinition) -> GeodatabaseError {
        .valueOutOfRange(details: "The value is too long or too large for the field \(field.name).")
    }
}
