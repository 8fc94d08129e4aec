/// The values of a record of a table, as UTF-8, in one buffer that the next record takes over: a value becomes a `String` only
/// where it is read as one.
package struct CSVRecord {
    private(set) var bytes: [UInt8] = []
    /// Where each value ends.
    private var ends: [Int] = []
    /// Which values stood in quotes.
    private(set) var quoted: [Bool] = []

    package var count: Int { ends.count }

    /// The bytes of a value, while the call lasts.
    @inline(__always)
    func withBytes<Result>(of index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let range = range(of: index)
        return try bytes.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    func isEmpty(_ index: Int) -> Bool { range(of: index).isEmpty }

    /// A value as text.
    package subscript(_ index: Int) -> String {
        withBytes(of: index) { String(decoding: $0, as: UTF8.self) }
    }

    package var texts: [String] { ends.indices.map { self[$0] } }

    private func range(of index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

    // MARK: Making

    /// Where the value begins that is being made.
    var start: Int { ends.last ?? 0 }

    /// Whether the value that is being made has nothing yet.
    var hasNothing: Bool { bytes.count == start }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        quoted.removeAll(keepingCapacity: true)
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ run: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: run) }

    /// Forgets what the value that is being made has.
    mutating func clearValue() { bytes.removeLast(bytes.count - start) }

    mutating func endValue(isQuoted: Bool) {
        ends.append(bytes.count)
        quoted.append(isQuoted)
    }
}
