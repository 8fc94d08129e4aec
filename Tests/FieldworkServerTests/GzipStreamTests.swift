import FieldworkREST
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Compression", .fewAtATime)
struct GzipStreamTests {
    /// Pieces of very different sizes, some that compress and some that don't.
    private static let pieces: [[UInt8]] = {
        var generator = SeededGenerator(seed: 11)
        return [1, 0, 70_000, 13, 300_000, 5].enumerated().map { index, count in
            (0..<count).map {
                index % 2 == 0 ? UInt8(truncatingIfNeeded: $0 / 7) : UInt8.random(in: 0...255, using: &generator)
            }
        }
    }()

    @Test(
        "gunzip gives back what was compressed piece by piece",
        .enabled(if: Tool.isInstalled("gzip"), "gzip is not installed"))
    func roundTrip() async throws {
        var gzip = try GzipStream()
        var buffer = ByteBuffer()
        for piece in Self.pieces { try gzip.compress(piece, into: &buffer) }
        try gzip.finish(into: &buffer)
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(buffer.readableBytesView).write(to: file)
        let output = try await Tool.run("gzip", ["-dc", file.path])
        #expect(output.status == 0)
        #expect(Array(output.standardOutput) == Self.pieces.flatMap { $0 })
    }

    @Test("What was compressed is expanded again, in whatever pieces it comes")
    func expanding() throws {
        let whole = Self.pieces.flatMap { $0 }
        let compressed = try GzipStream.compressed(whole)
        #expect(try GzipReader.expanded(compressed, maximum: whole.count) == whole)
        for size in [1, 7, 4_096] {
            var reader = try GzipReader(maximum: whole.count)
            var result: [UInt8] = []
            for start in stride(from: 0, to: compressed.count, by: size) {
                try reader.read(Array(compressed[start..<min(start + size, compressed.count)]), into: &result)
            }
            try reader.finish()
            #expect(result == whole)
        }
    }

    @Test("More than is allowed, half of it, and what is no gzip is refused")
    func limits() throws {
        let bomb = try GzipStream.compressed([UInt8](repeating: 0, count: 1_000_000))
        #expect(bomb.count < 10_000)
        #expect(throws: GzipReader.Failure.tooLarge) { try GzipReader.expanded(bomb, maximum: 999_999) }
        #expect(try GzipReader.expanded(bomb, maximum: 1_000_000).count == 1_000_000)
        #expect(throws: GzipReader.Failure.malformed) {
            try GzipReader.expanded(Array(bomb.dropLast()), maximum: 1_000_000)
        }
        #expect(throws: GzipReader.Failure.malformed) { try GzipReader.expanded(bomb + [1], maximum: 1_000_000) }
        #expect(throws: GzipReader.Failure.malformed) { try GzipReader.expanded([1, 2, 3], maximum: 100) }
    }
}
