/// Appending to bytes with one look at their room for what would else be many.
extension [UInt8] {
    /// Makes room for so many bytes at the end and has them written there.
    /// - Parameter write: writes from the pointer on, and gives how many it wrote: never more than there is room for.
    @inlinable @inline(__always)
    package mutating func append(most count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        append(addingCapacity: count) { span in
            span.withUnsafeMutableBufferPointer { room, written in
                guard let start = room.baseAddress else { return }
                written = write(start)
            }
        }
    }

    /// Appends a text of the program itself.
    @inlinable @inline(__always)
    package mutating func append(literal text: StaticString) {
        append(most: text.utf8CodeUnitCount) { place in
            place.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
            return text.utf8CodeUnitCount
        }
    }
}
