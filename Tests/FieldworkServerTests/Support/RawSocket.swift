import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A connection that sends what it is given, whatever HTTP says of that.
struct RawSocket: Sendable {
    private let channel: any Channel
    private let received: ReceivedBytes

    /// - Parameter host: an address of this machine, from which the connection comes as well.
    static func open(_ port: Int, host: String = "127.0.0.1") async throws -> RawSocket {
        let received = ReceivedBytes()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received: received))
                }
            }
            .connect(host: host, port: port).get()
        return RawSocket(channel: channel, received: received)
    }

    /// A connection that has sent something and takes no answer.
    static func begin(_ bytes: [UInt8], to port: Int) async throws -> RawSocket {
        let socket = try await open(port)
        try await socket.send(bytes)
        return socket
    }

    /// Sends and is gone.
    static func send(_ bytes: [UInt8], to port: Int) async throws {
        let socket = try await open(port)
        try await socket.send(bytes)
        try await socket.close()
    }

    /// Sends a request of one line each for the address and the fields, and gives all that comes until the server closes.
    static func exchange(_ lines: [String], body: String = "", to port: Int) async throws -> String {
        let socket = try await open(port)
        try await socket.send(Array((lines + ["Connection: close", "", body]).joined(separator: "\r\n").utf8))
        return try await socket.rest()
    }

    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }

    func close() async throws { try await channel.close().get() }

    /// Whether the other side has closed it.
    var isClosed: Bool { !channel.isActive }

    /// Waits until the other side has closed it, and gives what it sent.
    func rest() async throws -> String {
        try await channel.closeFuture.get()
        return text
    }

    /// The same as bytes.
    func restOfBytes() async throws -> [UInt8] {
        try await channel.closeFuture.get()
        return received.bytes.withLock { $0 }
    }

    /// What the other side has sent.
    var text: String { String(decoding: received.bytes.withLock { $0 }, as: UTF8.self) }

    private final class ReceivedBytes: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: ReceivedBytes

        init(received: ReceivedBytes) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            received.bytes.withLock { $0 += Array(buffer.readableBytesView) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
