import Crypto
import FieldworkREST
import Foundation

/// What a table of a service holds, in one number: tables of equal checksums hold the same rows, on whatever store.
package struct TableChecksum: Sendable, Hashable {
    package var rows: Int
    /// In hexadecimal.
    package var sha256: String
}

/// Counts the checksum of a table row by row, in the order of its key.
struct ChecksumCounter {
    private var hash = SHA256()
    private var bytes: [UInt8] = []
    private(set) var rows = 0
    /// The number of the reference in a geometry's header is each store's own.
    private let geometryIndex: Int?

    private static let pieceBytes = 64 * 1_024

    init(geometryIndex: Int? = nil) {
        self.geometryIndex = geometryIndex
        bytes.reserveCapacity(Self.pieceBytes * 2)
    }

    mutating func add(_ row: [AttributeValue]) {
        rows += 1
        for (index, value) in row.enumerated() { add(value, isGeometry: index == geometryIndex) }
        if bytes.count >= Self.pieceBytes { flush() }
    }

    /// A letter for the kind, the length where it may vary, the value.
    private mutating func add(_ value: AttributeValue, isGeometry: Bool) {
        switch value {
        case .null: bytes.append(UInt8(ascii: "n"))
        case .integer(let value): add("i", UInt64(bitPattern: value))
        case .real(let value): add("r", value.bitPattern)
        case .text(let value):
            add("t", UInt64(value.utf8.count))
            bytes.append(contentsOf: value.utf8)
        case .data(let value):
            add("d", UInt64(value.count))
            bytes.append(contentsOf: isGeometry ? value.prefix(4) + value.dropFirst(8) : value)
        }
    }

    private mutating func add(_ kind: Unicode.Scalar, _ number: UInt64) {
        bytes.append(UInt8(ascii: kind))
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func flush() {
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func finish() -> TableChecksum {
        flush()
        return TableChecksum(rows: rows, sha256: hash.finalize().hexadecimal)
    }
}
