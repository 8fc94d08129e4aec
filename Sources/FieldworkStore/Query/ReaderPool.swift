import Dispatch
import FieldworkGeometry
import Synchronization

/// The readers of a file. A read that wants one and finds none waits its turn. Long reads, and those whose answers are taken in
/// pieces, may use only some of the readers, so that there is always room for short ones; and no client may use all of those.
package final class ReaderPool: Sendable {
    struct Waiter {
        let turn: ReaderTurn
        let continuation: CheckedContinuation<Reader, any Error>
    }

    struct State {
        var idle: [Reader] = []
        var made: [Reader] = []
        /// Places of long reads that are in use, and whose.
        var places = 0
        var placesOfClients: [String: Int] = [:]
        var longQueue = FairQueue<Waiter>()
        var shortQueue = FairQueue<Waiter>()
        var wasLong = false
        var nextWaiter = 0
        /// How often a reader was taken.
        var uses = 0
        /// A look at whether the readers rest is planned.
        var isRestPlanned = false
        var isClosed = false
    }

    private let source: ConnectionSource
    let state = Mutex(State())

    enum Purpose: Sendable {
        case stream, read
    }

    private let readers: Int
    private let streams: Int
    /// How many of the places one client may have.
    private let share: Int
    private let isLimited: Bool
    private let patience: Duration
    /// How long nothing is read before the readers give their memory back.
    let rest: Duration

    /// - Parameters:
    ///   - readers: how many there may be at most.
    ///   - streams: how many of them may be used by long reads.
    ///   - isLimited: whether reads have the limits of the request that asks for them. Without, they are never begun again.
    ///   - patience: how long a read with an allowance waits for its turn.
    ///   - rest: how long nothing is read before the readers give their memory back.
    init(
        source: ConnectionSource, readers: Int = Limits.readersPerFile, streams: Int = Limits.openStreamsPerFile,
        isLimited: Bool = true, patience: Duration = .seconds(Limits.readerWaitSeconds),
        rest: Duration = .seconds(Limits.readerRestSeconds)
    ) {
        self.rest = rest
        self.isLimited = isLimited
        self.source = source
        self.readers = readers
        self.streams = streams
        self.patience = patience
        share = max(1, streams - max(1, streams / 4))
    }

    /// The number of long reads that hold a reader now; for tests and metrics.
    var openStreams: Int { state.withLock { $0.places } }

    /// The number of reads that wait for their turn; for tests and metrics.
    var waiting: Int { state.withLock { $0.longQueue.count + $0.shortQueue.count } }

    /// Runs a read on a free reader. One under an allowance that turns out to be long begins again once it has a place.
    /// - Parameters:
    ///   - isRepeatable: false for a read that hands out what it has read: it has its place from the beginning.
    ///   - isGlance: whether it touches a few rows only; see `FeatureQuery.isGlance`.
    func read<Result: Sendable>(
        for purpose: Purpose = .read, isRepeatable: Bool = true, isGlance: Bool = false,
        _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        let turn = newTurn()
        var purpose = turn.allowance == nil || !isRepeatable ? purpose : .read
        while true {
            let reader = try await take(purpose, turn)
            defer { giveBack(reader, turn) }
            do {
                if isGlance, runsGlancesAtOnce,
                    let result = try reader.atOnce({ try $0.read(turn, isGlance: true, body) })
                {
                    return result
                }
                return try await reader.read(turn, body)
            } catch is PlaceNeeded {
                purpose = .stream
            }
        }
    }

    /// Whether a read of a few rows may run on the caller's thread.
    var runsGlancesAtOnce: Bool { source.isFile }

    /// The turn of a read of the current task.
    func newTurn() -> ReaderTurn { ReaderTurn(self, isLimited ? WorkAllowance.current : nil) }

    /// A reader for as long as the caller needs it; it must be given back. Throws `CancellationError` when the task is
    /// cancelled while it waits.
    func take(_ purpose: Purpose, _ turn: ReaderTurn) async throws -> Reader {
        if let reader = try takeNow(purpose, turn) { return reader }
        guard let allowance = turn.allowance else { return try await wait(purpose, turn) }
        return try await allowance.waiting { try await wait(purpose, turn) }
    }

    private func takeNow(_ purpose: Purpose, _ turn: ReaderTurn) throws -> Reader? {
        try state.withLock { state in
            if state.isClosed { throw StoreError(.closed, "The store is closed.") }
            if Task.isCancelled { throw CancellationError() }
            return takeNow(purpose, turn, &state)
        }
    }

    private func takeNow(_ purpose: Purpose, _ turn: ReaderTurn, _ state: inout State) -> Reader? {
        switch purpose {
        case .read: return state.shortQueue.isEmpty ? freeReader(&state) : nil
        case .stream:
            guard mayTakePlace(turn.client, state), let reader = freeReader(&state) else { return nil }
            countPlace(of: turn.client, &state)
            turn.notePlace()
            return reader
        }
    }

    private func wait(_ purpose: Purpose, _ turn: ReaderTurn) async throws -> Reader {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let alarm = turn.allowance.map { _ in
            DispatchWorkItem { [self] in
                remove(id)?.continuation.resume(throwing: StoreError(.busy, "All readers are in use for too long."))
            }
        }
        let patience = max(self.patience, turn.allowance?.patience ?? .zero)
        if let alarm { DispatchQueue.global().asyncAfter(deadline: .now() + patience.dispatched, execute: alarm) }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(Waiter(turn: turn, continuation: continuation), id, purpose)
            }
        } onCancel: {
            remove(id)?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enqueue(_ waiter: Waiter, _ id: Int, _ purpose: Purpose) {
        do {
            let reader = try state.withLock { state -> Reader? in
                if state.isClosed { throw StoreError(.closed, "The store is closed.") }
                if Task.isCancelled { throw CancellationError() }
                if let reader = takeNow(purpose, waiter.turn, &state) { return reader }
                switch purpose {
                case .stream: state.longQueue.append(waiter, id: id, of: waiter.turn.client)
                case .read: state.shortQueue.append(waiter, id: id, of: waiter.turn.client)
                }
                return nil
            }
            if let reader { waiter.continuation.resume(returning: reader) }
        } catch {
            waiter.continuation.resume(throwing: error)
        }
    }

    func giveBack(_ reader: Reader, _ turn: ReaderTurn) {
        let isLong = turn.losePlace()
        let (resumed, plan) = state.withLock { state -> ([(Waiter, Reader)], Int?) in
            if isLong {
                state.places -= 1
                let rest = (state.placesOfClients[turn.client] ?? 0) - 1
                state.placesOfClients[turn.client] = rest > 0 ? rest : nil
            }
            state.idle.append(reader)
            let pairs = nextPairs(&state)
            return (pairs, planRest(&state))
        }
        if let plan { lookForRest(after: plan) }
        for (waiter, reader) in resumed { waiter.continuation.resume(returning: reader) }
    }

    /// Gives a read that has a reader a place among the long ones, if one is left that nobody waits for.
    func takePlace(for client: String) -> Bool {
        state.withLock { state in
            guard !state.isClosed, mayTakePlace(client, state) else { return false }
            countPlace(of: client, &state)
            return true
        }
    }

    private func mayTakePlace(_ client: String, _ state: State) -> Bool {
        hasPlace(for: client, state) && !state.longQueue.hasWaiter { hasPlace(for: $0, state) }
    }

    /// Work without an allowance is our own and has no share.
    private func hasPlace(for client: String, _ state: State) -> Bool {
        state.places < streams && (client.isEmpty || state.placesOfClients[client] ?? 0 < share)
    }

    private func countPlace(of client: String, _ state: inout State) {
        state.places += 1
        state.placesOfClients[client, default: 0] += 1
    }

    private func freeReader(_ state: inout State) -> Reader? {
        state.uses &+= 1
        if let reader = state.idle.popLast() { return reader }
        guard state.made.count < readers else { return nil }
        let reader = Reader(source: source, number: state.made.count)
        state.made.append(reader)
        return reader
    }

    /// Whose turn it is once a reader or a place has become free.
    private func nextPairs(_ state: inout State) -> [(Waiter, Reader)] {
        var pairs: [(Waiter, Reader)] = []
        while !state.idle.isEmpty || state.made.count < readers {
            let waiter: Waiter?
            // In turn: neither kind keeps the other waiting for ever.
            if state.wasLong {
                waiter = state.shortQueue.next() ?? nextLong(&state)
            } else {
                waiter = nextLong(&state) ?? state.shortQueue.next()
            }
            guard let waiter else { return pairs }
            state.wasLong = waiter.turn.isLong
            guard let reader = freeReader(&state) else { return pairs }
            pairs.append((waiter, reader))
        }
        return pairs
    }

    private func nextLong(_ state: inout State) -> Waiter? {
        guard state.places < streams else { return nil }
        var queue = FairQueue<Waiter>()
        swap(&queue, &state.longQueue)
        let waiter = queue.next { hasPlace(for: $0, state) }
        swap(&queue, &state.longQueue)
        guard let waiter else { return nil }
        countPlace(of: waiter.turn.client, &state)
        waiter.turn.notePlace()
        return waiter
    }

    private func remove(_ id: Int) -> Waiter? {
        state.withLock { $0.longQueue.remove(id: id) ?? $0.shortQueue.remove(id: id) }
    }

    /// Refuses newcomers, closes the connections. A stream that is still being taken ends with an empty rest.
    func close() async {
        let (readers, waiters) = state.withLock { state in
            state.isClosed = true
            return (state.made, state.longQueue.removeAll() + state.shortQueue.removeAll())
        }
        for waiter in waiters { waiter.continuation.resume(throwing: StoreError(.closed, "The store is closed.")) }
        for reader in readers { await reader.close() }
    }
}

extension Duration {
    var dispatched: DispatchTimeInterval { .milliseconds(Int(self / .milliseconds(1))) }
}
