import NIOCore
import Synchronization

/// What others may know of a connection, and do to it, from any thread.
final class ConnectionEntry: Sendable {
    let client: NetworkAddress?
    private let channel: any Channel
    /// The moment from which on no request is being answered, in nanoseconds; 0 while one is.
    private let idle: Atomic<UInt64>
    /// Whether it was chosen to give way.
    private let isChosen = Atomic(false)

    init(_ channel: any Channel) {
        self.channel = channel
        client = NetworkAddress(channel.remoteAddress)
        idle = Atomic(max(1, NIODeadline.now().uptimeNanoseconds))
    }

    var idleSince: UInt64 { isChosen.load(ordering: .relaxed) ? 0 : idle.load(ordering: .relaxed) }
    var clientText: String { channel.remoteAddress?.ipAddress ?? "" }

    func began() { idle.store(0, ordering: .relaxed) }
    func ended() { idle.store(max(1, NIODeadline.now().uptimeNanoseconds), ordering: .relaxed) }

    /// From now on no other is let in for it.
    func choose() { isChosen.store(true, ordering: .relaxed) }

    /// Closes the connection, unless a request has come on it since.
    func giveWay() {
        channel.eventLoop.execute { [self] in
            if idle.load(ordering: .relaxed) > 0 {
                channel.close(promise: nil)
            } else {
                isChosen.store(false, ordering: .relaxed)
            }
        }
    }
}
