import CPostgres
import FieldworkREST
import FieldworkStore
import Foundation

/// The rows of a result and the one that is looked at, whose values it gives in the forms that a GeoPackage would hold:
/// dates as ISO 8601 in UTC, GUIDs in braces, geometries in GeoPackage's binary form.
final class PostgresRow {
    private var result: OpaquePointer?
    private var types: [Oid] = []
    private(set) var count = 0
    /// Of the row that is looked at, in the result.
    private var index: Int32 = -1
    /// How many rows were looked at, with this one.
    private var position = 0
    /// The rows in another order than that of the result.
    private var order: [Int32]?
    private(set) var changedRows = 0
    private var geometryType: Oid?
    /// What was translated for this row; it stays until the next one.
    private let scratch = PostgresScratch()
    private var cellsOfRow = UnsafeMutableBufferPointer<WireCell>(start: nil, count: 0)

    deinit {
        PQclear(result)
        cellsOfRow.deallocate()
    }

    /// A statement is executed anew: its columns may be others.
    func begin(geometryType: Oid?) {
        clear()
        types = []
        self.geometryType = geometryType
    }

    /// Takes a result in place of the one before, which is freed. All results of one execution have the same columns.
    func take(_ pointer: OpaquePointer) {
        clear()
        result = pointer
        count = Int(PQntuples(pointer))
        let columns = PQnfields(pointer)
        if types.count != Int(columns) { types = (0..<columns).map { PQftype(pointer, $0) } }
        if let text = PQcmdTuples(pointer), let number = Int(String(cString: text)) { changedRows = number }
    }

    func advance() -> Bool {
        guard position < count else { return false }
        scratch.clear()
        index = order?[position] ?? Int32(position)
        position += 1
        return true
    }

    func clear() {
        scratch.clear()
        PQclear(result)
        result = nil
        count = 0
        index = -1
        position = 0
        order = nil
    }

    /// Puts the rows in the order of a column of whole numbers.
    func sort(by column: Int) {
        let keys = (0..<Int32(count)).map { row in
            index = row
            return (key: integer(column), row: row)
        }
        index = -1
        if !zip(keys, keys.dropFirst()).allSatisfy({ $0.key < $1.key }) {
            order = keys.sorted { $0.key < $1.key }.map(\.row)
        }
    }

    // MARK: Where they lie

    /// nil for a column whose values are translated.
    var forms: [WireForm?] { types.map(PostgresType.form) }

    /// Of the row that is looked at.
    var cells: UnsafeBufferPointer<WireCell> {
        if cellsOfRow.count != types.count {
            cellsOfRow.deallocate()
            cellsOfRow = .allocate(capacity: types.count)
        }
        let (cells, result, index) = (cellsOfRow, result, index)
        for column in cells.indices {
            let count = Int(PQgetlength(result, index, Int32(column)))
            let isNull = count == 0 && PQgetisnull(result, index, Int32(column)) == 1
            let start = isNull ? nil : UnsafeRawPointer(PQgetvalue(result, index, Int32(column)))
            cells.initializeElement(at: column, to: WireCell(start: start, count: count))
        }
        return UnsafeBufferPointer(cells)
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
        case PostgresType.bytes, PostgresType.point, geometryType: return .blob
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
            return WireDate.milliseconds(microseconds: big(value, Int64.self)) ?? 0
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
            guard let milliseconds = WireDate.milliseconds(microseconds: big(value, Int64.self)) else { return [] }
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
        if types[column] == PostgresType.point, value.count == 16 {
            let room = scratch.room(for: PostgresGeometry.plainPointSize)
            PostgresGeometry.writePlainPoint(value, to: room)
            return UnsafeRawBufferPointer(room)
        }
        guard types[column] == geometryType else {
            return types[column] == PostgresType.bytes ? value : textBytes(column)
        }
        if let size = PostgresGeometry.sizeOfPoint(value) {
            let room = scratch.room(for: size)
            PostgresGeometry.writePoint(value, to: room)
            return UnsafeRawBufferPointer(room)
        }
        var translated: [UInt8] = []
        translated.reserveCapacity(value.count + 8)
        // What can't be read is given as nothing that a reader would take for a geometry.
        guard PostgresGeometry.appendGeoPackage(value, to: &translated) else { return scratch.keep([]) }
        return scratch.keep(translated)
    }
}
