import NIOCore
import Synchronization

/// Has the operating system send stretches of files (`sendfile`), without a copy in this process. The writers of the HTTP library take
/// only buffers: a mark goes through them, and here, next to the socket, the stretch takes its place. An encrypted connection has none.
final class FileSender: ChannelOutboundHandler, RemovableChannelHandler, Sendable {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Random bytes, so that no content of an answer is taken for the mark.
    let mark = ByteBuffer(bytes: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
    private let waiting = Mutex<[FilePart.Stretch]>([])

    /// A stretch for which the next mark will come.
    func expect(_ stretch: FilePart.Stretch) { waiting.withLock { $0.append(stretch) } }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let buffer) = unwrapOutboundIn(data), buffer == mark,
            let stretch = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() })
        else { return context.write(data, promise: promise) }
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.whenComplete { _ in withExtendedLifetime(stretch) {} }
        context.write(wrapOutboundOut(.fileRegion(stretch.region)), promise: sent)
    }
}
