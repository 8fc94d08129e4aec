import CPostgres
import FieldworkREST
import FieldworkStore
import Foundation

/// The rows of a result and the one that is looked at, whose values it gives in the forms that a GeoPackage would hold:
/// dates as ISO 8601 in UTC, GUIDs in braces, geometries in GeoPackage's binary form.
struct PostgresRow {
    private var result: OpaquePointer?
    private var types: [Oid] = []
    private var count: Int32 = 0
    private var index: Int32 = -1
    private(set) var changedRows = 0
    var geometryType: Oid?
    /// What was translated for this row; it stays until the next one.
    private let scratch = Scratch()

    /// Memory of translated values. A value keeps its place while its row is looked at.
    private final class Scratch {
        var pieces: [UnsafeMutableRawBufferPointer] = []

        deinit { clear() }

        func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 8)
            bytes.withUnsafeBytes { piece.copyMemory(from: $0) }
            pieces.append(piece)
            return UnsafeRawBufferPointer(rebasing: piece[..<bytes.count])
        }

        func clear() {
            for piece in pieces { piece.deallocate() }
            pieces.removeAll(keepingCapacity: true)
        }
    }

    /// Takes a result in place of the one before, which is freed.
    mutating func take(_ pointer: OpaquePointer) {
        scratch.clear()
        if let result { PQclear(result) }
        result = pointer
        count = PQntuples(pointer)
        index = -1
        let columns = PQnfields(pointer)
        if types.count != Int(columns) || columns > 0 { types = (0..<columns).map { PQftype(pointer, $0) } }
        if let text = PQcmdTuples(pointer), let number = Int(String(cString: text)) { changedRows = number }
    }

    mutating func advance() -> Bool {
        guard result != nil, index + 1 < count else { return false }
        scratch.clear()
        index += 1
        return true
    }

    mutating func clear() {
        scratch.clear()
        if let result { PQclear(result) }
        result = nil
        count = 0
        index = -1
    }

    // MARK: Values

    private func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, index, Int32(column)), count: Int(PQgetlength(result, index, Int32(column))))
    }

    func isNull(_ column: Int) -> Bool { PQgetisnull(result, index, Int32(column)) == 1 }

    /// Moments are numbers already: no text has to be made of them.
    func kind(_ column: Int) -> ColumnKind {
        guard column < types.count, !isNull(column) else { return .null }
        switch types[column] {
        case PostgresType.bigInteger, PostgresType.integer, PostgresType.smallInteger, PostgresType.objectID,
            PostgresType.boolean, PostgresType.timestamp, PostgresType.timestampWithZone:
            return .integer
        case PostgresType.double, PostgresType.real, PostgresType.numeric: return .real
        case PostgresType.bytes, geometryType: return .blob
        default: return .text
        }
    }

    private func big<Value: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _ type: Value.Type) -> Value {
        bytes.count == MemoryLayout<Value>.size ? Value(bigEndian: bytes.loadUnaligned(as: Value.self)) : 0
    }

    /// 0 for NULL and for what is no number.
    func integer(_ column: Int) -> Int64 {
        guard !isNull(column) else { return 0 }
        let value = bytes(column)
        switch types[column] {
        case PostgresType.bigInteger: return big(value, Int64.self)
        case PostgresType.integer: return Int64(big(value, Int32.self))
        case PostgresType.smallInteger: return Int64(big(value, Int16.self))
        case PostgresType.objectID: return Int64(big(value, UInt32.self))
        case PostgresType.boolean: return value.first == 1 ? 1 : 0
        case PostgresType.timestamp, PostgresType.timestampWithZone:
            return PostgresDate.milliseconds(microseconds: big(value, Int64.self)) ?? 0
        default:
            let number = double(column)
            return Int64(exactly: number.rounded(.towardZero)) ?? 0
        }
    }

    func double(_ column: Int) -> Double {
        guard !isNull(column) else { return 0 }
        let value = bytes(column)
        switch types[column] {
        case PostgresType.double: return Double(bitPattern: big(value, UInt64.self))
        case PostgresType.real: return Double(Float(bitPattern: big(value, UInt32.self)))
        case PostgresType.numeric: return PostgresNumeric.double(value)
        case PostgresType.bigInteger, PostgresType.integer, PostgresType.smallInteger, PostgresType.objectID,
            PostgresType.boolean:
            return Double(integer(column))
        default: return 0
        }
    }

    func textBytes(_ column: Int) -> UnsafeRawBufferPointer {
        guard !isNull(column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let value = bytes(column)
        let type = types[column]
        if PostgresType.isText(type) { return value }
        return scratch.keep(translatedText(value, type, column))
    }

    private func translatedText(_ value: UnsafeRawBufferPointer, _ type: Oid, _ column: Int) -> [UInt8] {
        switch type {
        case PostgresType.uuid where value.count == 16:
            return Array(GUID.normalForm(UUID(uuid: value.loadUnaligned(as: uuid_t.self))).utf8)
        case PostgresType.timestamp, PostgresType.timestampWithZone:
            guard let milliseconds = PostgresDate.milliseconds(microseconds: big(value, Int64.self)) else { return [] }
            return Array(DateText.text(milliseconds: milliseconds).utf8)
        case PostgresType.date:
            let day = Int64(big(value, Int32.self)) + PostgresDate.daysTo2000
            return Array(DateText.text(milliseconds: day * 86_400_000).utf8.prefix(10))
        case PostgresType.time:
            let milliseconds = big(value, Int64.self) / 1_000
            let text = DateText.text(milliseconds: milliseconds).utf8.dropFirst(11).dropLast()
            // A time without a fraction is written without one.
            return milliseconds % 1_000 == 0 ? Array(text.prefix(8)) : Array(text)
        case PostgresType.double, PostgresType.real: return Array("\(double(column))".utf8)
        case PostgresType.numeric: return Array(PostgresNumeric.text(value).utf8)
        case PostgresType.jsonb: return Array(value.dropFirst())
        case PostgresType.bytes: return Array(value)
        default: return Array(String(integer(column)).utf8)
        }
    }

    func blob(_ column: Int) -> UnsafeRawBufferPointer {
        guard !isNull(column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let value = bytes(column)
        guard types[column] == geometryType else {
            return types[column] == PostgresType.bytes ? value : textBytes(column)
        }
        var translated: [UInt8] = []
        translated.reserveCapacity(value.count + 8)
        // What can't be read is given as nothing that a reader would take for a geometry.
        guard PostgresGeometry.appendGeoPackage(value, to: &translated) else { return scratch.keep([]) }
        return scratch.keep(translated)
    }
}
