import Dispatch
import Synchronization

/// Bounds the connections that all services of a database, or all files of a folder, have open in this process. When a service needs one
/// more, the connection that was unused for the longest time is closed. When all are in use, the service waits; the one that has waited
/// the longest gets the next free one.
///
/// No service has more than a few readers and a writer, so that a slow one leaves the rest to the others. Who waits blocks
/// his thread, which waits for the database otherwise.
final class ConnectionBudget: Sendable {
    /// Who has at most one connection open, and works with it at times.
    protocol Holder: AnyObject, Sendable {
        /// Closes the connection and gives it back, unless something is being done with it.
        /// - Returns: whether it did.
        func closeIdleConnection() async -> Bool
    }

    private struct Waiter {
        let id: Int
        let turn = DispatchSemaphore(value: 0)
    }

    /// The owner of an open connection that is not in use; nil when the owner was released, and its connection with it.
    private struct Idle {
        weak var holder: (any Holder)?
        /// When it was last used: a later one has a larger number.
        let moment: Int
    }

    private struct State {
        var open = 0
        var idle: [ObjectIdentifier: Idle] = [:]
        var lastMoment = 0
        var waiters: [Waiter] = []
        var lastID = 0

        /// Takes the one that was unused for the longest time off the list.
        mutating func longestUnused() -> (any Holder)? {
            while let (key, entry) = idle.min(by: { $0.value.moment < $1.value.moment }) {
                idle[key] = nil
                if let holder = entry.holder { return holder }
            }
            return nil
        }
    }

    private let limit: Int
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: how long somebody waits for a connection.
    init(limit: Int, patience: Duration = .milliseconds(Limits.connectionWaitMilliseconds)) {
        self.limit = limit
        self.patience = patience
    }

    /// Connections that are open now; for tests.
    var open: Int { state.withLock { $0.open } }
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits until one more may be opened. Throws `StoreError.busy` when that takes too long.
    func take() throws {
        let waiter = state.withLock { state -> Waiter? in
            guard state.open >= limit else {
                state.open += 1
                return nil
            }
            state.lastID += 1
            let waiter = Waiter(id: state.lastID)
            state.waiters.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        askForOne()
        let milliseconds = Int(patience / .milliseconds(1))
        guard waiter.turn.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut else { return }
        let isLate = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == waiter.id }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        // Else it was given one in this very moment.
        if isLate { throw StoreError(.busy, "All \(limit) connections to the data are in use.") }
    }

    /// A connection was closed; nil: it could not be opened.
    func giveBack(_ holder: (any Holder)?) {
        let next = state.withLock { state -> Waiter? in
            if let holder { state.idle[ObjectIdentifier(holder)] = nil }
            guard !state.waiters.isEmpty else {
                state.open -= 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.turn.signal()
    }

    /// A holder begins to use its connection.
    func begin(_ holder: any Holder) { state.withLock { $0.idle[ObjectIdentifier(holder)] = nil } }

    /// A holder is done with its connection for now.
    /// - Returns: whether somebody waits for it: the holder closes it then.
    func end(_ holder: any Holder) -> Bool {
        state.withLock { state in
            guard state.waiters.isEmpty else { return true }
            state.lastMoment += 1
            state.idle[ObjectIdentifier(holder)] = Idle(holder: holder, moment: state.lastMoment)
            return false
        }
    }

    private func askForOne() {
        let holder = state.withLock { $0.waiters.isEmpty ? nil : $0.longestUnused() }
        guard let holder else { return }
        Task {
            // One that is in use again meanwhile closes it when it is done; another one may be free now.
            if await !holder.closeIdleConnection() { askForOne() }
        }
    }
}
