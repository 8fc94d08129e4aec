import FieldworkStore
import Foundation
import NIOCore
import NIOPosix
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
        let isWhole = try await Answer.Body.file(part).collected() == Array(content[range])
        #expect(isWhole)
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

/// Over a real socket.
@Suite("Files that the operating system sends")
final class FileSenderTests {
    private static let size = EncodedFeatures.pieceSize * 3 + 77
    private let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-sent-\(UUID().uuidString)")
    private let content = (0..<FileSenderTests.size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 257) }

    init() throws { try Data(content).write(to: file) }

    deinit { try? FileManager.default.removeItem(at: file) }

    /// Has a server send something, and gives what its client gets until the server closes.
    private func received(
        _ send: @escaping @Sendable (any Channel, FileSender) async throws -> Void
    ) async throws -> [UInt8] {
        let sender = FileSender()
        let (accepted, accept) = AsyncStream.makeStream(of: (any Channel).self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(sender)
                    accept.yield(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try await RawSocket.open(try #require(server.localAddress?.port))
        let channel = try #require(await accepted.first { _ in true })
        try await send(channel, sender)
        try await channel.close().get()
        let bytes = try await client.restOfBytes()
        try await server.close().get()
        return bytes
    }

    @Test(
        "They come whole and between what is sent before and after them, also when they have lost their name",
        arguments: [0..<size, 1..<size - 1, 5..<6, EncodedFeatures.pieceSize..<size])
    func order(_ range: Range<Int>) async throws {
        let part = try FilePart(file, range: Int64(range.lowerBound)..<Int64(range.upperBound))
        try FileManager.default.removeItem(at: file)
        let bytes = try await received { channel, sender in
            try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: "before"))).get()
            var offset = part.range.lowerBound
            while offset < part.range.upperBound {
                let stretch = try part.stretch(from: offset)
                offset += Int64(stretch.region.readableBytes)
                sender.expect(stretch)
                try await channel.writeAndFlush(IOData.byteBuffer(sender.mark)).get()
            }
            try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: "after"))).get()
        }
        // Not compared by the expectation: the difference of long lists takes minutes.
        let isWhole = bytes == Array("before".utf8) + content[range] + Array("after".utf8)
        #expect(isWhole)
    }

    @Test("A mark that nobody expects is sent as it is")
    func unexpected() async throws {
        let bytes = try await received { channel, sender in
            try await channel.writeAndFlush(IOData.byteBuffer(sender.mark)).get()
        }
        #expect(bytes.count == 16)
    }

    @Test("A file that has become shorter is an error before anything of the stretch is sent")
    func shorter() throws {
        let part = try FilePart(file, range: 0..<Int64(Self.size))
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(EncodedFeatures.pieceSize))
        #expect(try part.stretch(from: 0).region.readableBytes == EncodedFeatures.pieceSize)
        #expect(throws: StoreError.self) { _ = try part.stretch(from: Int64(EncodedFeatures.pieceSize)) }
    }
}
