/// Memory of values that were translated for a row. Each keeps its place while the row is looked at.
final class PostgresScratch {
    /// For values of common length: most rows need no other.
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
    private var used = 0
    private var others: [UnsafeMutableRawBufferPointer] = []

    deinit {
        clear()
        block.deallocate()
    }

    func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        if count <= block.count - used {
            defer { used += count }
            return UnsafeMutableRawBufferPointer(rebasing: block[used..<used + count])
        }
        let other = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        others.append(other)
        return other
    }

    func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let room = room(for: bytes.count)
        bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        return UnsafeRawBufferPointer(room)
    }

    func clear() {
        used = 0
        guard !others.isEmpty else { return }
        for other in others { other.deallocate() }
        others.removeAll()
    }
}
