package import FieldworkGeometry
package import Foundation

/// The value of one attribute as the protocol and the stores carry it. What it means is the field's business:
/// a date is its milliseconds since 1970 in UTC (`integer`), a global id or GUID is text in the form of
/// `GUID.normalForm`, a date-only, time-only or timestamp-offset value is ISO 8601 text.
package enum AttributeValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
}

extension AttributeValue {
    package var isNull: Bool { self == .null }

    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }

    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    package var textValue: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The value as the protocol writes it in JSON; binary data as base64.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .number(value)
        case .text(let value): .string(value)
        case .data(let value): .string(value.base64EncodedString())
        }
    }
}
