import CPostgres
import FieldworkREST
import FieldworkStore
import Foundation

/// An argument of a statement in the bytes that the server wants for it: binary for the types we know, else text.
struct PostgresArgument {
    var bytes: [UInt8]?
    var isBinary = true

    static let null = PostgresArgument(bytes: nil)

    /// Puts a value into the form of a type. Throws `PostgresError.Kind.refused` for a value that the type can't hold.
    static func encode(
        _ value: AttributeValue, as type: Oid, geometryType: Oid?
    ) throws(PostgresError) -> PostgresArgument {
        switch value {
        case .null: return .null
        case .integer(let value): return try encode(value, as: type)
        case .real(let value): return try encode(value, as: type)
        case .text(let value): return try encode(value, as: type)
        case .data(let value): return try encode(value, as: type, geometryType: geometryType)
        }
    }

    private static func encode(_ value: Int64, as type: Oid) throws(PostgresError) -> PostgresArgument {
        switch type {
        case PostgresType.bigInteger: return big(value)
        case PostgresType.integer: return big(try narrow(value, Int32.self))
        case PostgresType.smallInteger: return big(try narrow(value, Int16.self))
        case PostgresType.objectID: return big(try narrow(value, UInt32.self))
        case PostgresType.double: return big(Double(value).bitPattern)
        case PostgresType.real: return big(Float(value).bitPattern)
        case PostgresType.boolean: return PostgresArgument(bytes: [value == 0 ? 0 : 1])
        case PostgresType.timestampWithZone, PostgresType.timestamp:
            guard let microseconds = PostgresDate.microseconds(milliseconds: value) else {
                throw PostgresError(.refused, state: "22008", "The date \(value) is out of range.")
            }
            return big(microseconds)
        default: return PostgresArgument(bytes: Array(String(value).utf8), isBinary: PostgresType.isText(type))
        }
    }

    private static func encode(_ value: Double, as type: Oid) throws(PostgresError) -> PostgresArgument {
        switch type {
        case PostgresType.double: return big(value.bitPattern)
        case PostgresType.real: return big(Float(value).bitPattern)
        case PostgresType.bigInteger, PostgresType.integer, PostgresType.smallInteger, PostgresType.objectID:
            guard let whole = Int64(exactly: value) else {
                throw PostgresError(.refused, state: "22P02", "\(value) is no whole number.")
            }
            return try encode(whole, as: type)
        default: return PostgresArgument(bytes: Array("\(value)".utf8), isBinary: PostgresType.isText(type))
        }
    }

    private static func encode(_ value: String, as type: Oid) throws(PostgresError) -> PostgresArgument {
        if PostgresType.isText(type) {
            // PostgreSQL's texts can't hold it.
            guard !value.utf8.contains(0) else {
                throw PostgresError(.refused, state: "22021", "A text must not contain the character U+0000.")
            }
            return PostgresArgument(bytes: Array(value.utf8))
        }
        if type == PostgresType.uuid {
            guard let id = GUID.parse(value) else {
                throw PostgresError(.refused, state: "22P02", "A text is no GUID.")
            }
            return withUnsafeBytes(of: id.uuid) { PostgresArgument(bytes: Array($0)) }
        }
        // In binary also the years that PostgreSQL would not read.
        if type == PostgresType.timestampWithZone, let moment = DateText.milliseconds(value) {
            return try encode(moment, as: type)
        }
        if type == PostgresType.bytes { return PostgresArgument(bytes: Array(value.utf8)) }
        guard !value.utf8.contains(0) else {
            throw PostgresError(.refused, state: "22021", "A text must not contain the character U+0000.")
        }
        // The server reads it, as it would read a literal.
        return PostgresArgument(bytes: Array(value.utf8), isBinary: false)
    }

    private static func encode(
        _ value: Data, as type: Oid, geometryType: Oid?
    ) throws(PostgresError) -> PostgresArgument {
        guard value.count <= Limits.valueBytes else {
            throw PostgresError(.refused, state: "54000", "A value has more than \(Limits.valueBytes) bytes.")
        }
        guard type == geometryType else { return PostgresArgument(bytes: Array(value)) }
        var bytes: [UInt8] = []
        guard value.withUnsafeBytes({ PostgresGeometry.appendExtended($0, to: &bytes) }) else {
            throw PostgresError(.refused, state: "22P03", "A geometry can't be read.")
        }
        return PostgresArgument(bytes: bytes)
    }

    /// An array of one dimension without nulls.
    static func array<Element>(
        _ elements: [Element], elementType: Oid, _ encode: (Element) -> [UInt8]
    ) -> PostgresArgument {
        var bytes: [UInt8] = []
        for word in [elements.isEmpty ? 0 : 1, 0, UInt32(elementType)] { bytes += bigBytes(word) }
        if !elements.isEmpty { bytes += bigBytes(UInt32(elements.count)) + bigBytes(UInt32(1)) }
        for element in elements {
            let encoded = encode(element)
            bytes += bigBytes(UInt32(encoded.count)) + encoded
        }
        return PostgresArgument(bytes: bytes)
    }

    static func bigBytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func big<Value: FixedWidthInteger>(_ value: Value) -> PostgresArgument {
        PostgresArgument(bytes: bigBytes(value))
    }

    private static func narrow<Value: FixedWidthInteger>(
        _ value: Int64, _ type: Value.Type
    ) throws(PostgresError) -> Value {
        guard let narrow = Value(exactly: value) else {
            throw PostgresError(.refused, state: "22003", "\(value) is out of range.")
        }
        return narrow
    }
}
