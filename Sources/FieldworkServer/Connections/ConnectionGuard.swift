import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes

/// Keeps a connection to its times: the head of a request has one to arrive, a body its lowest rate. Stands behind the
/// decoder of HTTP; what it must know of the bytes themselves, a `ByteWatch` before the decoder tells it.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        /// Since when the head has been arriving; nil: no byte of it is here.
        case head(since: NIODeadline?)
        case body
        /// The request is here as a whole.
        case received
    }

    private let connections: OpenConnections
    private let rules: ConnectionRules
    private let sendsFiles: Bool
    private let logger: Logger
    private var entry: ConnectionEntry?
    private var phase = Phase.head(since: .now())
    private var credit: SendingCredit
    private var answersOwed = 0
    /// Bytes since the last request ended.
    private var bytesSeen = 0
    private var alarm: Scheduled<Void>?

    /// - Parameter sendsFiles: the operating system may send files as they are.
    init(_ connections: OpenConnections, _ rules: ConnectionRules, sendsFiles: Bool, logger: Logger) {
        self.connections = connections
        self.sendsFiles = sendsFiles
        self.rules = rules
        self.logger = logger
        credit = SendingCredit(grace: rules.bodyGrace, bytesPerSecond: rules.bodyBytesPerSecond)
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        let entry = ConnectionEntry(context.channel)
        guard connections.opened(entry) else {
            context.close(promise: nil)
            return
        }
        self.entry = entry
        let connections = connections
        context.channel.closeFuture.whenComplete { _ in connections.closed(entry) }
        try? context.pipeline.syncOperations.addHandler(ByteWatch(self), position: .first)
        if sendsFiles { try? context.pipeline.syncOperations.addHandler(FileSender(), position: .first) }
        setAlarm(in: TimeAmount(rules.headTime), context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        context.fireChannelInactive()
    }

    // MARK: What arrives

    /// Bytes, before anything is made of them.
    fileprivate func received(_ bytes: Int) {
        bytesSeen += bytes
        if case .body = phase { credit.received(bytes, at: .now()) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            answersOwed += 1
            entry?.began()
            credit = SendingCredit(grace: rules.bodyGrace, bytesPerSecond: rules.bodyBytesPerSecond)
            phase = .body
        case .body: break
        case .end:
            phase = .received
            bytesSeen = 0
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch phase {
        case .head(nil) where bytesSeen > 0:
            phase = .head(since: .now())
            setAlarm(in: TimeAmount(rules.headTime), context)
        case .body:
            setAlarm(in: max(credit.timeLeft(at: .now()), .zero), context)
        default: break
        }
        context.fireChannelReadComplete()
    }

    /// The server wants bytes. While it does not, as when a disk is slow, no time of the sender goes by.
    func read(context: ChannelHandlerContext) {
        if case .body = phase { credit.awaited(at: .now()) }
        context.read()
    }

    // MARK: What is answered

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        answersOwed -= 1
        guard answersOwed == 0 else {
            context.write(data, promise: promise)
            return
        }
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { self.answered(context) }
        context.write(data, promise: sent)
    }

    /// The answer has left as a whole: the connection is idle, or the next head is on its way.
    private func answered(_ context: ChannelHandlerContext) {
        guard answersOwed == 0, let entry else { return }
        if case .received = phase {
            phase = .head(since: bytesSeen > 0 ? .now() : nil)
            if bytesSeen > 0 { setAlarm(in: TimeAmount(rules.headTime), context) }
        }
        entry.ended()
        connections.becameIdle(entry)
    }

    // MARK: The time

    private func setAlarm(in time: TimeAmount, _ context: ChannelHandlerContext) {
        guard alarm == nil else { return }
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.alarm = nil
            self.look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        let left: TimeAmount
        switch phase {
        case .head(let since?): left = TimeAmount(rules.headTime) - (now - since)
        case .body: left = credit.timeLeft(at: now)
        case .head(nil), .received: return
        }
        guard left <= .zero else {
            setAlarm(in: left, context)
            return
        }
        logger.info(
            "A connection was closed: its client sent too slowly",
            metadata: ["client": "\(entry?.clientText ?? "")"])
        context.close(promise: nil)
    }
}

/// Counts the bytes of a connection before HTTP is read in them.
private final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let keeper: ConnectionGuard

    init(_ keeper: ConnectionGuard) { self.keeper = keeper }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        keeper.received(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }
}
