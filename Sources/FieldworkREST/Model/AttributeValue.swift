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

/// The written form of a UUID in the protocol: upper case in braces, as the vendor's servers give it.
package enum GUID {
    package static func normalForm(_ id: UUID) -> String { "{\(id.uuidString)}" }

    /// Reads a UUID with or without braces, in any case.
    package static func parse(_ text: String) -> UUID? {
        var text = Substring(text)
        if text.hasPrefix("{"), text.hasSuffix("}") { text = text.dropFirst().dropLast() }
        return UUID(uuidString: String(text))
    }

    /// Whether a text has the form of `normalForm`.
    package static func isNormalForm(_ text: String) -> Bool {
        guard text.utf8.count == 38 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            let fits =
                switch index {
                case 0: byte == UInt8(ascii: "{")
                case 37: byte == UInt8(ascii: "}")
                case 9, 14, 19, 24: byte == UInt8(ascii: "-")
                default:
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                        || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
                }
            if !fits { return false }
        }
        return true
    }
}
