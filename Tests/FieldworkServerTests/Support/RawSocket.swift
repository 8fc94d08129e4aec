import Foundation
import NIOCore
import NIOPosix

/// A connection that sends what it is given, whatever HTTP says of that, and is gone.
enum RawSocket {
    static func send(_ bytes: [UInt8], to port: Int) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        try await channel.close().get()
    }
}
