import Dispatch
import Synchronization

/// Moves a long write-ahead log into its file beside the edits: on a thread and a connection of its own, so that no edit waits for the
/// pages that are written and synced. SQLite begins a log anew only once all of it has been moved, and edits make it longer meanwhile:
/// the rest, which is short by then, is the writer's to move.
final class LogMover: Sendable {
    private enum State {
        case idle
        case moving
        /// Only the rest is left.
        case moved
    }

    private let source: ConnectionSource
    private let queue = DispatchQueue(label: "fieldwork.log")
    private let state = Mutex(State.idle)

    init(source: ConnectionSource) { self.source = source }

    /// What the writer is to do with a long log.
    enum Advice { case goOn, moveRest }

    /// Begins to move a long log; while that goes on, and when it is done, says so.
    /// - Parameter pages: how long the log is.
    func advice(pages: Int) -> Advice {
        let (advice, begins) = state.withLock { state -> (Advice, Bool) in
            switch state {
            case .idle:
                state = .moving
                return (.goOn, true)
            case .moving: return (.goOn, false)
            case .moved:
                state = .idle
                return (.moveRest, false)
            }
        }
        if begins { queue.async { [self] in moveMost() } }
        // The edits are faster than the disk: they wait.
        guard advice == .goOn, pages >= Limits.logPagesMost else { return advice }
        wait()
        state.withLock { $0 = .idle }
        return .moveRest
    }

    /// Returns when nothing is being moved.
    func wait() { queue.sync {} }

    /// Moves what is there, and then what has come meanwhile, until little is left.
    private func moveMost() {
        defer { state.withLock { $0 = .moved } }
        // What fails here the writer meets again, which knows what to do.
        guard let watch = source.watch, let connection = try? source.open(.readWrite) else { return }
        // Whatever becomes of the file: closing must not move a log that was not looked at.
        connection.leaveLog()
        for _ in 0..<Self.rounds {
            // What was opened is what is at the place.
            guard (try? connection.hold(watch)) != nil, (try? watch.check()) != nil else { return }
            var left: Int?
            watch.movingLog { left = try? connection.moveLog() }
            guard let left, left > Self.restPages else { return }
        }
    }

    private static let rounds = 3
    /// Pages that edits wait for.
    static let restPages = Limits.logPages / 16
}
