import FieldworkStore
import Foundation
import NIOCore
import Testing

@testable import FieldworkServer

@Suite("Files that are sent as they are")
final class FilePartTests {
    private static let size = EncodedFeatures.pieceSize * 2 + 77
    private let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-part-\(UUID().uuidString)")
    private let file: URL
    private let content = (0..<FilePartTests.size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 257) }

    init() throws {
        file = folder.appending(path: "part")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(content).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test(
        "A stretch has its bytes and no others, also of a file that has lost its name",
        arguments: [0..<size, 1..<size - 1, 5..<6, 7..<7, EncodedFeatures.pieceSize..<size])
    func stretch(_ range: Range<Int>) async throws {
        let part = try FilePart(file, range: Int64(range.lowerBound)..<Int64(range.upperBound))
        try FileManager.default.removeItem(at: file)
        #expect(try await Answer.Body.file(part).collected() == Array(content[range]))
    }

    @Test("A file that has become shorter is an error, and no shorter answer")
    func shorter() async throws {
        let part = try FilePart(file, range: 0..<Int64(Self.size))
        var buffer = ByteBuffer()
        try part.read(from: 0, into: &buffer)
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(EncodedFeatures.pieceSize))
        #expect(throws: StoreError.self) { try part.read(from: Int64(buffer.readableBytes), into: &buffer) }
        await #expect(throws: StoreError.self) { _ = try await Answer.Body.file(part).collected() }
    }

    @Test("A file that is not there can't be opened")
    func missing() {
        #expect(throws: StoreError.self) { _ = try FilePart(folder.appending(path: "other"), range: 0..<1) }
    }
}
