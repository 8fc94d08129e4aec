import FieldworkREST
import GRDBSQLite

/// Statistics by group over rows that stream past: what each group needs is held here, found by a hash of the values that name it.
/// SQLite would sort all rows by their groups first, which takes twice as long as to read them.
///
/// It gives what SQLite's own aggregates give: sums are added in the order of the rows, as SQLite's sorter leaves it within a group. (From
/// 3.43 on SQLite makes up for the rounding of long sums, so that their last digits may differ.)
/// What it can't tell as they would (`add` says so) is for SQLite.
struct GroupFold {
    enum Aggregate {
        case count
        case sum
        case average
        case minimum
        case maximum
        case variance
        case deviation
    }

    /// What one statistic holds of one group.
    private struct Cell {
        var count: Int64 = 0
        /// The sum, the mean, or an extreme that is a real number.
        var number = 0.0
        /// The sum of squared distances from the mean.
        var spread = 0.0
        var integer: Int64 = 0
        /// Where an extreme that is a text stands in `texts`.
        var text = 0
        /// The type of an extreme.
        var type = SQLITE_NULL
    }

    private let groupCount: Int
    /// Each with the column that it is made of; nil for the rows themselves.
    private let aggregates: [(kind: Aggregate, column: Int?)]
    private let mostGroups: Int
    /// What may be held of keys and texts.
    private var bytesLeft = Limits.foldedBytes

    private var keys: [[UInt8]] = []
    private var hashes: [UInt64] = []
    private var cells: [Cell] = []
    private var texts: [[UInt8]] = []
    /// Places of groups plus 1, open addressing; a power of two, less than half of it used. A dictionary of the keys took 1.3 times as long.
    private var slots: [Int32]
    private let seed = UInt64.random(in: .min ... .max) | 1
    /// The key of the row.
    private var key: [UInt8] = []
    /// For each column of the groups whether it had whole and real numbers, which SQLite takes for equal.
    private var numberTypes: [Int32]

    /// - Parameters:
    ///   - groupCount: how many columns name the group; they come first.
    ///   - aggregates: what is made of the columns after them.
    init(groupCount: Int, aggregates: [(kind: Aggregate, column: Int?)]) {
        self.groupCount = groupCount
        self.aggregates = aggregates
        mostGroups = min(Limits.foldedGroups, Limits.foldedValues / (groupCount + aggregates.count))
        slots = [Int32](repeating: 0, count: 4 * Limits.foldedGroups)
        numberTypes = [Int32](repeating: SQLITE_NULL, count: groupCount)
    }

    var count: Int { keys.count }

    /// Takes in the row of a statement of SQLite.
    /// - Returns: false for what this can't tell: too many groups, or values that are not of one kind.
    mutating func add(_ row: StoreStatement) -> Bool {
        guard readKey(row), let group = group() else { return false }
        let first = group * aggregates.count
        for index in aggregates.indices {
            let (kind, column) = aggregates[index]
            guard let column else {
                cells[first + index].count += 1
                continue
            }
            let value = row.value(column)
            let type = value.type
            if type == SQLITE_NULL { continue }
            switch kind {
            case .minimum, .maximum:
                var cell = cells[first + index]
                guard takeExtreme(value, type, isLargest: kind == .maximum, &cell) else { return false }
                cells[first + index] = cell
            default:
                guard Self.fold(value, type, kind, &cells[first + index]) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    private static func fold(_ value: ColumnValue, _ type: Int32, _ kind: Aggregate, _ cell: inout Cell) -> Bool {
        switch kind {
        case .count: cell.count += 1
        case .sum, .average:
            guard type == SQLITE_INTEGER || type == SQLITE_FLOAT else { return false }
            cell.count += 1
            cell.number += value.double
        case .variance, .deviation:
            // As `VarianceFunction` has it, which passes over what is no number.
            guard type == SQLITE_INTEGER || type == SQLITE_FLOAT else { return true }
            cell.count += 1
            let number = value.double
            let distance = number - cell.number
            cell.number += distance / Double(cell.count)
            cell.spread += distance * (number - cell.number)
        case .minimum, .maximum: return false
        }
        return true
    }

    /// Of equal values the first stays.
    private mutating func takeExtreme(
        _ value: ColumnValue, _ type: Int32, isLargest: Bool, _ cell: inout Cell
    ) -> Bool {
        let isFirst = cell.type == SQLITE_NULL
        guard isFirst || cell.type == type else { return false }
        cell.type = type
        switch type {
        case SQLITE_INTEGER:
            let integer = value.integer
            if isFirst || (isLargest ? integer > cell.integer : integer < cell.integer) { cell.integer = integer }
        case SQLITE_FLOAT:
            let number = value.double
            if isFirst || (isLargest ? number > cell.number : number < cell.number) { cell.number = number }
        case SQLITE_TEXT:
            let bytes = value.textBytes
            if isFirst {
                guard hold(bytes.count) else { return false }
                cell.text = texts.count
                texts.append(Array(bytes))
            } else {
                let known = texts[cell.text]
                let isBefore = bytes.lexicographicallyPrecedes(known)
                let isBetter = isLargest ? !isBefore && !bytes.elementsEqual(known) : isBefore
                guard isBetter else { return true }
                guard hold(bytes.count) else { return false }
                texts[cell.text] = Array(bytes)
            }
        default: return false
        }
        return true
    }

    private mutating func hold(_ bytes: Int) -> Bool {
        bytesLeft -= bytes
        return bytesLeft >= 0
    }

    // MARK: Groups

    /// The values that name the row's group as bytes: equal ones for equal groups.
    private mutating func readKey(_ row: StoreStatement) -> Bool {
        key.removeAll(keepingCapacity: true)
        for column in 0..<groupCount {
            let value = row.value(column)
            let type = value.type
            key.append(UInt8(truncatingIfNeeded: type))
            switch type {
            case SQLITE_INTEGER:
                guard isOnly(type, column) else { return false }
                append(UInt64(bitPattern: value.integer))
            case SQLITE_FLOAT:
                let number = value.double
                // Of two zeros SQLite gives the first.
                guard isOnly(type, column), number != 0 || number.sign == .plus else { return false }
                append(number.bitPattern)
            case SQLITE_TEXT:
                let bytes = value.textBytes
                append(UInt64(bytes.count))
                key.append(contentsOf: bytes)
            case SQLITE_NULL: break
            default: return false
            }
        }
        return true
    }

    private mutating func isOnly(_ type: Int32, _ column: Int) -> Bool {
        if numberTypes[column] == SQLITE_NULL { numberTypes[column] = type }
        return numberTypes[column] == type
    }

    private mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word.littleEndian) { key.append(contentsOf: $0) }
    }

    /// The group of the key, which is made when there is none; nil when there are too many.
    private mutating func group() -> Int? {
        let hash = key.withUnsafeBytes { Self.hash($0, seed) }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] > 0 {
            let group = Int(slots[slot]) - 1
            if hashes[group] == hash, keys[group] == key { return group }
            slot = (slot + 1) & (slots.count - 1)
        }
        guard keys.count < mostGroups, hold(key.count) else { return nil }
        keys.append(key)
        hashes.append(hash)
        cells.append(contentsOf: repeatElement(Cell(), count: aggregates.count))
        slots[slot] = Int32(keys.count)
        return keys.count - 1
    }

    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var hash = seed
        func take(_ word: UInt64) {
            let (high, low) = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = high ^ low
        }
        var offset = 0
        while offset + 8 <= bytes.count {
            take(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest = UInt64(bytes.count)
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        take(rest)
        return hash
    }

    // MARK: The result

    /// The values of each group: those that name it, and its statistics. nil when they can't be told here.
    func rows() -> [[AttributeValue]]? {
        var rows: [[AttributeValue]] = []
        for group in keys.indices {
            guard var row = Self.names(keys[group]) else { return nil }
            for index in aggregates.indices {
                guard let value = value(of: cells[group * aggregates.count + index], aggregates[index].kind) else {
                    return nil
                }
                row.append(value)
            }
            rows.append(row)
        }
        return rows
    }

    private func value(of cell: Cell, _ kind: Aggregate) -> AttributeValue? {
        switch kind {
        case .count: return .integer(cell.count)
        case .sum: return cell.count > 0 ? .real(cell.number) : .null
        case .average: return cell.count > 0 ? .real(cell.number / Double(cell.count)) : .null
        case .variance, .deviation:
            guard cell.count > 1 else { return .null }
            let variance = cell.spread / Double(cell.count - 1)
            return .real(kind == .variance ? variance : variance.squareRoot())
        case .minimum, .maximum:
            switch cell.type {
            case SQLITE_INTEGER: return .integer(cell.integer)
            case SQLITE_FLOAT: return .real(cell.number)
            case SQLITE_TEXT: return String(validating: texts[cell.text], as: UTF8.self).map(AttributeValue.text)
            default: return .null
            }
        }
    }

    private static func names(_ key: [UInt8]) -> [AttributeValue]? {
        var names: [AttributeValue] = []
        var rest = key[...]
        func word() -> UInt64 {
            let word = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            return word
        }
        while let type = rest.popFirst() {
            switch Int32(type) {
            case SQLITE_INTEGER: names.append(.integer(Int64(bitPattern: word())))
            case SQLITE_FLOAT: names.append(.real(Double(bitPattern: word())))
            case SQLITE_TEXT:
                let count = Int(truncatingIfNeeded: word())
                guard let text = String(validating: rest.prefix(count), as: UTF8.self) else { return nil }
                names.append(.text(text))
                rest = rest.dropFirst(count)
            default: names.append(.null)
            }
        }
        return names
    }
}
