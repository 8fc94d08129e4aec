import NIOCore
import NIOPosix

/// Finds out whether a port can be listened on before work is done for it.
enum ListeningPort {
    /// Throws what listening would throw.
    static func check(_ port: Int, host: String) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: host, port: port).get()
        try await channel.close()
    }

    /// The first of some ports that is free; nil where none is.
    static func firstFree(of ports: some Sequence<Int>, host: String) async -> Int? {
        for port in ports where (try? await check(port, host: host)) != nil { return port }
        return nil
    }
}
