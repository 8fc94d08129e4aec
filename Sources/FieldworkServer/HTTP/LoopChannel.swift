import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Has the requests of a connection answered on the thread of the connection's event loop: a short one then changes threads only where it
/// reads or writes a file. What may take long has threads of its own (`LargeRequestThreads`), and so has every reader; an answer of several
/// pieces goes on where all tasks run (`AnswerWriter`).
struct LoopChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        let executor = LoopExecutor(value.channel.eventLoop)
        // A task holds its executor unowned.
        defer { withExtendedLifetime(executor) {} }
        await withTaskExecutorPreference(executor) {
            await base.handle(value: value, logger: logger)
        }
    }
}

private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
