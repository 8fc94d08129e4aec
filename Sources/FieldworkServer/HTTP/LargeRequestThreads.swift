import Dispatch
import FieldworkGeometry
import FieldworkStore
import Synchronization

/// Threads for requests with much to read or to compute before they come to the store, so that those never hold up the few that all
/// requests share. Clients take turns, and none has all of the threads: many devices may share one address.
final class LargeRequestThreads: Sendable {
    fileprivate struct Piece: Sendable {
        var client: String
        var run: @Sendable () -> Void
    }

    private struct State {
        var idle: [DispatchQueue]
        var waiting = FairQueue<Piece>()
        var pieces = 0
        var inUse: [String: Int] = [:]
    }

    private let state: Mutex<State>
    /// How many of the threads one client may have.
    private let share: Int

    init(count: Int = Limits.largeRequestThreads) {
        share = max(1, count - max(1, count / 4))
        state = Mutex(State(idle: (0..<count).map { DispatchQueue(label: "fieldwork.large.\($0)") }))
    }

    /// An executor for the work of one request. Time in which it waits for a thread does not count as work.
    func executor(for allowance: WorkAllowance?) -> any TaskExecutor {
        LargeRequestExecutor(threads: self, client: allowance?.client ?? "", allowance: allowance)
    }

    /// An executor for reading a request of a client, whose time does not count as work at all.
    func executor(forReadingFrom client: String) -> any TaskExecutor {
        LargeRequestExecutor(threads: self, client: client, allowance: nil)
    }

    fileprivate func enqueue(_ piece: Piece) {
        let thread = state.withLock { state -> DispatchQueue? in
            state.pieces &+= 1
            state.waiting.append(piece, id: state.pieces, of: piece.client)
            let inUse = state.inUse
            guard state.waiting.hasWaiter(where: { inUse[$0] ?? 0 < share }) else { return nil }
            return state.idle.popLast()
        }
        thread?.async { [self] in work(on: thread) }
    }

    /// Does what waits, one piece after the other, until there is none that may be done.
    private func work(on thread: DispatchQueue?) {
        var done: Piece?
        while let piece = next(after: done, on: thread) {
            piece.run()
            done = piece
        }
    }

    private func next(after done: Piece?, on thread: DispatchQueue?) -> Piece? {
        state.withLock { state in
            if let done {
                let rest = (state.inUse[done.client] ?? 0) - 1
                state.inUse[done.client] = rest > 0 ? rest : nil
            }
            let inUse = state.inUse
            guard let piece = state.waiting.next(where: { inUse[$0] ?? 0 < share }) else {
                if let thread { state.idle.append(thread) }
                return nil
            }
            state.inUse[piece.client, default: 0] += 1
            return piece
        }
    }
}

private final class LargeRequestExecutor: TaskExecutor {
    private let threads: LargeRequestThreads
    private let client: String
    private let allowance: WorkAllowance?

    init(threads: LargeRequestThreads, client: String, allowance: WorkAllowance?) {
        self.threads = threads
        self.client = client
        self.allowance = allowance
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let asked = ContinuousClock.now
        threads.enqueue(
            LargeRequestThreads.Piece(client: client) { [self] in
                allowance?.waited(asked.duration(to: .now))
                job.runSynchronously(on: asUnownedTaskExecutor())
            })
    }
}
