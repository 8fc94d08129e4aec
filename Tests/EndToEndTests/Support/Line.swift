import NIOCore
import NIOPosix
import Synchronization

/// A TCP line to a server of this machine, as bad as a test wants it. It counts what it carries.
final class Line: Sendable {
    /// A bad line, in its own time: a second of the line takes a thousandth of one here.
    struct Quality: Sendable {
        var bytesPerSecond = 8_000.0
        /// Of so many new connections one breaks off within its first bytes, and of so many packets one has to go again.
        var oneIsLostOf = 5
        /// After so many seconds all connections break off.
        var secondsBetweenCuts = 30.0

        static let packet = 1_400
        static let scale = 1_000.0
        /// How many bytes a lost connection carries at most.
        static let lostConnectionBytes = 2_000
    }

    /// Where the line stops carrying, until whoever sends has been ended.
    enum Hold: Sendable {
        /// Before a request that has this text goes on to the server.
        case request(String)
        /// With so many bytes of the answer to it carried.
        case answer(String, after: Int)
    }

    private struct State {
        var quality: Quality?
        var hold: Hold?
        var isHolding = false
        /// Seconds of the line.
        var clock = 0.0
        var nextCut = 0.0
        var packets = 0
        var cuts = 0
        var lostConnections = 0
        var carried = (up: 0, down: 0)
        var requests: [String] = []
        var connections: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextConnection = 0
    }

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    private let server: NIOAsyncChannel<Connection, Never>
    private let target: Int
    private let running = Mutex<Task<Void, any Error>?>(nil)

    private init(_ server: NIOAsyncChannel<Connection, Never>, target: Int) {
        self.server = server
        self.target = target
    }

    /// A line from any free port to one of this machine.
    static func open(to target: Int) async throws -> Line {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        let line = Line(server, target: target)
        line.running.withLock { $0 = Task { try await line.run() } }
        return line
    }

    func close() async {
        let task = running.withLock { $0 }
        task?.cancel()
        _ = await task?.result
    }

    var port: Int { server.channel.localAddress?.port ?? 0 }
    /// Bytes that were put on the line, to the server and back.
    var carried: (up: Int, down: Int) { state.withLock { $0.carried } }
    var cuts: Int { state.withLock { $0.cuts } }
    var lostConnections: Int { state.withLock { $0.lostConnections } }
    /// The first lines of what was asked.
    var requests: [String] { state.withLock { $0.requests } }

    /// From now on.
    var quality: Quality? {
        get { state.withLock { $0.quality } }
        set {
            state.withLock { state in
                state.quality = newValue
                state.nextCut = state.clock + (newValue?.secondsBetweenCuts ?? 0)
            }
        }
    }

    func hold(_ hold: Hold) { state.withLock { ($0.hold, $0.isHolding) = (hold, false) } }

    /// Waits until the line has stopped.
    func holding() async throws {
        while !state.withLock({ $0.isHolding }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    // MARK: Carrying

    private func run() async throws {
        try await server.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { try? await self.serve(connection) }
                }
            }
        }
    }

    private func serve(_ near: Connection) async throws {
        let (cut, id, budget) = register()
        defer { state.withLock { $0.connections[id] = nil } }
        try await near.executeThenClose { fromNear, toNear in
            let far = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: target) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try await far.executeThenClose { fromFar, toFar in
                let passage = Passage(budget: budget)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await self.pump(fromNear, toFar, passage, isUp: true) }
                    group.addTask { try? await self.pump(fromFar, toNear, passage, isUp: false) }
                    group.addTask { for await _ in cut {} }
                    _ = await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    /// - Returns: what ends when the line is cut, and how many bytes the connection lives.
    private func register() -> (AsyncStream<Void>, id: Int, budget: Int) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        return state.withLock { state in
            state.nextConnection += 1
            state.connections[state.nextConnection] = continuation
            guard let quality = state.quality, state.nextConnection.isMultiple(of: quality.oneIsLostOf) else {
                return (stream, state.nextConnection, Int.max)
            }
            state.lostConnections += 1
            return (stream, state.nextConnection, Int.random(in: 0...Quality.lostConnectionBytes))
        }
    }

    /// What the two directions of one connection know of each other.
    private final class Passage: Sendable {
        private let rest: Mutex<Int>
        /// How many bytes of an answer may still go; nil while no answer is held.
        let answerBytes = Mutex<Int?>(nil)

        init(budget: Int) { rest = Mutex(budget) }

        /// Whether the connection lives on.
        func spend(_ count: Int) -> Bool {
            rest.withLock { rest in
                rest -= min(count, rest)
                return rest > 0
            }
        }
    }

    private func pump(
        _ source: NIOAsyncChannelInboundStream<ByteBuffer>, _ sink: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ passage: Passage, isUp: Bool
    ) async throws {
        for try await var buffer in source {
            if isUp { note(buffer, passage) }
            if isUp ? isHeld(buffer) : isAnswerHeld(&buffer, passage) {
                if !isUp { try await sink.write(buffer) }
                state.withLock { $0.isHolding = true }
                try await Task.sleep(for: .seconds(3_600))
            }
            while let piece = buffer.readSlice(length: min(Quality.packet, buffer.readableBytes)),
                piece.readableBytes > 0
            {
                guard try await carry(piece.readableBytes, passage, isUp: isUp) else { return }
                try await sink.write(piece)
            }
        }
    }

    /// - Returns: false when the packet was the last: it is gone.
    private func carry(_ count: Int, _ passage: Passage, isUp: Bool) async throws -> Bool {
        let (isCut, wait) = state.withLock { state -> (Bool, Double) in
            if isUp { state.carried.up += count } else { state.carried.down += count }
            guard let quality = state.quality else { return (false, 0) }
            state.packets += 1
            let times = state.packets.isMultiple(of: quality.oneIsLostOf) ? 2.0 : 1.0
            state.clock += times * Double(count) / quality.bytesPerSecond
            let now = (ContinuousClock.now - start) / .seconds(1)
            let wait = state.clock / Quality.scale - now
            guard state.clock >= state.nextCut else { return (false, wait) }
            state.nextCut = state.clock + quality.secondsBetweenCuts
            state.cuts += 1
            for connection in state.connections.values { connection.finish() }
            return (true, 0)
        }
        // Not for each packet: sleeping takes longer than that.
        if wait > 0.002 { try await Task.sleep(for: .seconds(wait)) }
        return !isCut && passage.spend(count)
    }

    // MARK: Holding

    private func note(_ buffer: ByteBuffer, _ passage: Passage) {
        let text = String(decoding: buffer.readableBytesView.prefix(1_000), as: UTF8.self)
        guard ["GET ", "POST "].contains(where: { text.hasPrefix($0) }) else { return }
        state.withLock { state in
            state.requests.append(String(text.prefix { $0 != "\r\n" }))
            guard case .answer(let wanted, let bytes) = state.hold, text.contains(wanted) else { return }
            state.hold = nil
            passage.answerBytes.withLock { $0 = bytes }
        }
    }

    private func isHeld(_ buffer: ByteBuffer) -> Bool {
        let text = String(decoding: buffer.readableBytesView.prefix(1_000), as: UTF8.self)
        return state.withLock { state in
            guard case .request(let wanted) = state.hold, text.contains(wanted) else { return false }
            state.hold = nil
            return true
        }
    }

    /// Cuts a buffer off where the line is to stop.
    private func isAnswerHeld(_ buffer: inout ByteBuffer, _ passage: Passage) -> Bool {
        let left = passage.answerBytes.withLock { rest -> Int? in
            guard let bytes = rest else { return nil }
            rest = max(0, bytes - buffer.readableBytes)
            return bytes - buffer.readableBytes
        }
        guard let left, left <= 0 else { return false }
        buffer = buffer.getSlice(at: buffer.readerIndex, length: buffer.readableBytes + left) ?? buffer
        state.withLock { $0.carried.down += buffer.readableBytes }
        return true
    }
}
