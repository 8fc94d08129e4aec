import Dispatch
import Synchronization

/// Gives memory back to the system, which the C library keeps when it was freed: some seconds after requests that took much of it, and
/// whenever no request has ended for a while.
final class MemoryCare: Sendable {
    private struct State {
        var isPlanned = false
        /// Requests that have ended since the memory was given back last.
        var ended = 0
        var isRestWatched = false
    }

    private let release: (@Sendable () -> Void)?
    private let rest: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - release: gives back what is free; nil where nothing has to be done.
    ///   - rest: how long no request ends before what is free is given back.
    init(_ release: (@Sendable () -> Void)?, rest: Duration = .seconds(Limits.memoryRestSeconds)) {
        self.release = release
        self.rest = rest
    }

    /// - Parameter bytes: the most that a request held at a time.
    func requestEnded(holding bytes: Int) {
        guard let release else { return }
        let (isPlanned, ended) = state.withLock { state -> (Bool, Int?) in
            state.ended &+= 1
            var ended: Int?
            if !state.isRestWatched {
                state.isRestWatched = true
                ended = state.ended
            }
            guard bytes >= Limits.muchMemoryBytes, !state.isPlanned else { return (true, ended) }
            state.isPlanned = true
            return (false, ended)
        }
        if let ended { watchRest(since: ended) }
        guard !isPlanned else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(Limits.memoryReleaseSeconds)) {
            self.state.withLock { $0.isPlanned = false }
            release()
        }
    }

    /// Looks again and again, until no request has ended between two looks.
    private func watchRest(since ended: Int) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Int(rest / .milliseconds(1)))) {
            [weak self] in
            guard let self else { return }
            let now = state.withLock { state -> Int? in
                if state.ended != ended { return state.ended }
                state.isRestWatched = false
                return nil
            }
            if let now { watchRest(since: now) } else { release?() }
        }
    }
}
