/// The checksum of zip files and PNG images (CRC-32, ISO 3309), piece by piece.
package struct Checksum32: Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
    }

    private var state: UInt32 = 0xFFFF_FFFF

    package init() {}

    package var value: UInt32 { ~state }

    package mutating func add(_ bytes: [UInt8]) {
        state = Self.table.withUnsafeBufferPointer { table in
            bytes.reduce(state) { ($0 >> 8) ^ table[Int(truncatingIfNeeded: ($0 ^ UInt32($1)) & 0xFF)] }
        }
    }
}
