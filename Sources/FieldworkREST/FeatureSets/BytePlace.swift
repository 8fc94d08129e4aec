/// A place in memory where bytes are written one after the other: an array checks and counts with each append, this doesn't. Whoever
/// makes it has room for all that is written.
package struct BytePlace {
    /// A varint takes no more bytes.
    package static let longestVarint = 10

    @usableFromInline var place: UnsafeMutablePointer<UInt8>

    @inlinable @inline(__always)
    package init(_ place: UnsafeMutablePointer<UInt8>) { self.place = place }

    @inlinable @inline(__always)
    package mutating func put(_ byte: UInt8) {
        place.pointee = byte
        place += 1
    }

    @inlinable @inline(__always)
    package mutating func put(_ one: UInt8, _ two: UInt8) {
        put(one)
        put(two)
    }

    @inlinable @inline(__always)
    package mutating func put(word: UInt64) {
        UnsafeMutableRawPointer(place).storeBytes(of: word.littleEndian, as: UInt64.self)
        place += MemoryLayout<UInt64>.size
    }

    @inlinable @inline(__always)
    package mutating func put(word: UInt32) {
        UnsafeMutableRawPointer(place).storeBytes(of: word.littleEndian, as: UInt32.self)
        place += MemoryLayout<UInt32>.size
    }

    @inlinable @inline(__always)
    package mutating func put(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable @inline(__always)
    package mutating func put(bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(place).copyMemory(from: start, byteCount: bytes.count)
        place += bytes.count
    }

    @inlinable @inline(__always)
    package mutating func put(bytes: [UInt8]) { bytes.withUnsafeBytes { put(bytes: $0) } }

    /// Text, a message or a packed list, behind a tag of one byte.
    @inlinable @inline(__always)
    package mutating func put(tag: UInt8, bytes: UnsafeRawBufferPointer) {
        put(tag)
        put(varint: UInt64(truncatingIfNeeded: bytes.count))
        put(bytes: bytes)
    }

    /// Makes room for so many bytes at the end of an array, of which those stay that are written.
    @inlinable @inline(__always)
    package static func append(to bytes: inout [UInt8], most count: Int, _ write: (inout BytePlace) -> Void) {
        bytes.append(addingCapacity: count) { span in
            span.withUnsafeMutableBufferPointer { room, written in
                guard let start = room.baseAddress else { return }
                var place = BytePlace(start)
                write(&place)
                written = place.place - start
            }
        }
    }
}
