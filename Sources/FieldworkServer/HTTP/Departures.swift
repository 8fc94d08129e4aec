import FieldworkGeometry
import NIOCore
import Synchronization

/// Ends the work of requests whose clients have left. A connection works on one request at a time.
final class Departures: Sendable {
    private let allowances = Mutex<[ObjectIdentifier: WorkAllowance]>([:])

    func begin(_ allowance: WorkAllowance, on channel: any Channel) {
        allowances.withLock { $0[ObjectIdentifier(channel)] = allowance }
        // It may have closed before it was looked for.
        if !channel.isActive { allowance.leave() }
    }

    func end(_ allowance: WorkAllowance, on channel: any Channel) {
        allowances.withLock { $0[ObjectIdentifier(channel)] = nil }
    }

    fileprivate func current(on channel: any Channel) -> WorkAllowance? {
        allowances.withLock { $0[ObjectIdentifier(channel)] }
    }
}

/// Sees that a client leaves, also while its request is worked on. A connection that was closed is told from one whose client
/// only has nothing more to say by time.
final class DepartureHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let departures: Departures

    init(_ departures: Departures) { self.departures = departures }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent, let allowance = departures.current(on: context.channel) {
            context.eventLoop.scheduleTask(in: .milliseconds(Limits.departureMilliseconds)) { allowance.leave() }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        departures.current(on: context.channel)?.leave()
        context.fireChannelInactive()
    }
}
