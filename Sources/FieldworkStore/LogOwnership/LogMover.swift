import Dispatch
import Synchronization

/// Moves a long write-ahead log into its file (a checkpoint) beside the edits: on a thread and a connection of its own, so that no edit
/// waits until the pages are written and synced. SQLite starts a log over when all of it has been moved. Edits that come meanwhile make
/// it longer, so the writer itself moves the last pages, which are few.
final class LogMover: Sendable {
    private enum State {
        case idle
        case moving
        /// The mover is done; the writer has not moved the rest yet.
        case moved
        /// The writer moved the rest of a log of so many pages, or could not move all of it.
        case restMoved(pages: Int, isWhole: Bool)
    }

    private let source: ConnectionSource
    private let queue = DispatchQueue(label: "fieldwork.log")
    private let state = Mutex(State.idle)

    init(source: ConnectionSource) { self.source = source }

    /// What the writer is to do with its log.
    enum Advice { case goOn, moveRest }

    /// Says after each commit what to do, and begins to move a log that has become long.
    /// - Parameter pages: how long the log is.
    func advice(pages: Int) -> Advice {
        let (advice, begins, isMoving) = state.withLock { state in
            let (advice, begins) = Self.next(&state, pages)
            let isMoving = if case .moving = state { true } else { false }
            return (advice, begins, isMoving)
        }
        if begins { queue.async { [self] in moveMost() } }
        // The edits are faster than the disk: they wait, also where the mover is done by now.
        guard isMoving, pages >= Limits.logPagesMost else { return advice }
        wait()
        return .moveRest
    }

    private static func next(_ state: inout State, _ pages: Int) -> (Advice, begins: Bool) {
        let isLong = pages >= Limits.logPages
        switch state {
        case .moving: return (.goOn, false)
        case .moved where isLong: return (.moveRest, false)
        // All was moved, but a reader kept the log from starting over. Few pages have come since.
        case .restMoved(let before, true) where isLong && pages - before < restPages: return (.moveRest, false)
        // A reader still needs the log. It is tried again when a quarter more has come, not after each edit.
        case .restMoved(let before, false) where isLong && pages < before + before / 4: return (.goOn, false)
        case .idle, .moved, .restMoved:
            state = isLong ? .moving : .idle
            return (.goOn, isLong)
        }
    }

    /// The writer has moved what was left.
    /// - Parameters:
    ///   - pages: how long the log was.
    ///   - isWhole: all of the log is in the file.
    func restWasMoved(pages: Int, isWhole: Bool) {
        state.withLock { $0 = .restMoved(pages: pages, isWhole: isWhole) }
    }

    /// Returns when nothing is being moved.
    func wait() { queue.sync {} }

    /// Moves the log, and then the pages that edits have added to it, until few are left.
    private func moveMost() {
        defer { state.withLock { $0 = .moved } }
        // What fails here fails in the writer as well, which tells it.
        guard let watch = source.watch, let connection = try? source.open(.readWrite) else { return }
        // Closing the last connection would move the log into whatever file is there then.
        connection.leaveLog()
        for _ in 0..<Self.rounds {
            // Looked at after opening: what was opened is what is at the place.
            guard (try? connection.hold(watch)) != nil, (try? watch.check()) != nil else { return }
            var left: Int?
            watch.movingLog { left = try? connection.moveLog() }
            guard let left, left > Self.restPages else { return }
        }
    }

    private static let rounds = 3
    /// So few pages the writer moves itself.
    private static let restPages = Limits.logPages / 16
}
