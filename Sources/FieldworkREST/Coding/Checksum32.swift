import CZlib

/// The checksum of zip files and PNG images (CRC-32, ISO 3309), piece by piece.
package struct Checksum32: Sendable {
    private var state: UInt = 0

    package init() {}

    package var value: UInt32 { UInt32(truncatingIfNeeded: state) }

    package mutating func add(_ bytes: [UInt8]) {
        state = bytes.withUnsafeBufferPointer { crc32_z(state, $0.baseAddress, $0.count) }
    }
}
