import FieldworkREST
import TestSupport
import Testing

@Suite("Compression of bytes in memory")
struct WholeCompressionTests {
    /// Nothing, a byte, the same many times, and what can't be made smaller.
    private static let samples: [[UInt8]] = {
        var generator = SeededGenerator(seed: 7)
        return [
            [], [65], [UInt8](repeating: 3, count: 1_000_000),
            (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) },
        ]
    }()

    @Test("What gzip made is expanded by another library to the same bytes", arguments: [1, 6, 9] as [Int32])
    func gzip(level: Int32) throws {
        for bytes in Self.samples {
            let packed = try WholeCompression.compressed(bytes, as: .gzip, level: level)
            let expanded = try GzipReader.expanded(packed, maximum: 2_000_000)
            #expect(expanded.count == bytes.count && expanded.elementsEqual(bytes))
            // Bytes that can't be made smaller are stored beside a few of the form's own.
            #expect(packed.count <= bytes.count + bytes.count / 1_000 + 64)
            #expect(packed.capacity <= packed.count + 64, "who keeps it keeps no more than its bytes")
        }
    }

    @Test("Levels that don't exist are refused")
    func levels() {
        for level in [-1, 13, Int32.max] {
            #expect(throws: WholeCompression.Failure.self) {
                try WholeCompression.compressed([1], as: .zlib, level: level)
            }
        }
    }
}
