import Foundation
import Synchronization

/// The readers of a file. Who wants one and finds none waits its turn; streams may take only some of them, so that takers
/// of long answers leave room for short reads.
package final class ReaderPool: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Reader, any Error>
    }

    private struct State {
        var idle: [Reader] = []
        var made: [Reader] = []
        var openStreams = 0
        var streamQueue: [Waiter] = []
        var readQueue: [Waiter] = []
        var nextWaiter = 0
        var isClosed = false
    }

    private let source: ConnectionSource
    private let state = Mutex(State())

    enum Purpose: Sendable {
        case stream, read
    }

    private let readers: Int
    private let streams: Int

    /// - Parameters:
    ///   - readers: how many there may be at most.
    ///   - streams: how many of them may hold a statement open between the pieces of an answer.
    init(
        source: ConnectionSource, readers: Int = Limits.readersPerFile, streams: Int = Limits.openStreamsPerFile
    ) {
        self.source = source
        self.readers = readers
        self.streams = streams
    }

    /// The number of streams that hold a reader now; for tests and metrics.
    var openStreams: Int { state.withLock { $0.openStreams } }

    /// Runs a read on a free reader: a short one, or one that may take as long as a stream.
    func read<Result: Sendable>(
        for purpose: Purpose = .read, _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        let reader = try await take(purpose)
        defer { giveBack(reader, purpose) }
        return try await reader.read(body)
    }

    /// A reader for as long as the caller needs it; it must be given back. Throws `CancellationError` when the task is
    /// cancelled while it waits.
    func take(_ purpose: Purpose) async throws -> Reader {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(Waiter(id: id, continuation: continuation), purpose, isCancelled: Task.isCancelled)
            }
        } onCancel: {
            cancel(id)
        }
    }

    func giveBack(_ reader: Reader, _ purpose: Purpose) {
        let resumed = state.withLock { state -> (Waiter, Reader)? in
            if purpose == .stream { state.openStreams -= 1 }
            state.idle.append(reader)
            return nextPair(&state)
        }
        if let (waiter, reader) = resumed { waiter.continuation.resume(returning: reader) }
    }

    private func wait(_ waiter: Waiter, _ purpose: Purpose, isCancelled: Bool) {
        enum Outcome {
            case reader(Reader), refused(any Error), waits
        }
        let outcome = state.withLock { state -> Outcome in
            if state.isClosed { return .refused(StoreError(.closed, "The store is closed.")) }
            if isCancelled { return .refused(CancellationError()) }
            if let reader = takeNow(purpose, &state) { return .reader(reader) }
            switch purpose {
            case .stream: state.streamQueue.append(waiter)
            case .read: state.readQueue.append(waiter)
            }
            return .waits
        }
        switch outcome {
        case .reader(let reader): waiter.continuation.resume(returning: reader)
        case .refused(let error): waiter.continuation.resume(throwing: error)
        case .waits: break
        }
    }

    private func takeNow(_ purpose: Purpose, _ state: inout State) -> Reader? {
        if purpose == .stream, state.openStreams >= streams { return nil }
        guard let reader = state.idle.popLast() ?? makeReader(&state) else { return nil }
        if purpose == .stream { state.openStreams += 1 }
        return reader
    }

    private func makeReader(_ state: inout State) -> Reader? {
        guard state.made.count < readers else { return nil }
        let reader = Reader(source: source, number: state.made.count)
        state.made.append(reader)
        return reader
    }

    /// Whose turn it is once a reader came back.
    private func nextPair(_ state: inout State) -> (Waiter, Reader)? {
        if !state.readQueue.isEmpty, let reader = takeNow(.read, &state) {
            return (state.readQueue.removeFirst(), reader)
        }
        if !state.streamQueue.isEmpty, let reader = takeNow(.stream, &state) {
            return (state.streamQueue.removeFirst(), reader)
        }
        return nil
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            if let index = state.streamQueue.firstIndex(where: { $0.id == id }) {
                return state.streamQueue.remove(at: index)
            }
            if let index = state.readQueue.firstIndex(where: { $0.id == id }) {
                return state.readQueue.remove(at: index)
            }
            return nil
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Refuses newcomers, closes the connections. A stream that is still being taken ends with an empty rest.
    func close() async {
        let (readers, waiters) = state.withLock { state in
            state.isClosed = true
            defer {
                state.streamQueue = []
                state.readQueue = []
            }
            return (state.made, state.streamQueue + state.readQueue)
        }
        for waiter in waiters { waiter.continuation.resume(throwing: StoreError(.closed, "The store is closed.")) }
        for reader in readers { await reader.close() }
    }
}
