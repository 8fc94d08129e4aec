/// A few bytes put together on the stack and appended at once: an array checks and counts with each append, this doesn't.
struct SmallMessage: ~Copyable {
    /// What the longest of them, two varints behind four bytes, fits into.
    private static let capacity = 32

    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    private init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    @inline(__always)
    static func append(to target: inout [UInt8], _ write: (inout SmallMessage) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { bytes in
            var message = SmallMessage(bytes)
            write(&message)
            target.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[..<message.count]))
        }
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func put(_ one: UInt8, _ two: UInt8) {
        put(one)
        put(two)
    }

    @inline(__always)
    mutating func put<Word: FixedWidthInteger>(word: Word) {
        var rest = word
        for _ in 0..<MemoryLayout<Word>.size {
            put(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    @inline(__always)
    mutating func put(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }
}
