import Foundation
import NIOCore
import Testing

@testable import FieldworkServer

@Suite("Compression")
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
}
