import Foundation
import TestSupport

extension SeededGenerator {
    /// A random id, of version 4.
    mutating func uuid() -> UUID {
        var bytes = [UInt8](repeating: 0, count: 16)
        for (start, word) in [(0, next()), (8, next())] {
            for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: word >> (UInt64(index) * 8)) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
