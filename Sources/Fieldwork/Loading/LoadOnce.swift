import Foundation
import Synchronization

/// The one load of an object: callers at the same time share it, and each may stop waiting without stopping it.
final class LoadOnce: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private enum Phase {
        case idle
        case running(Task<Void, Never>, attempt: UUID, [UUID: Waiter])
        case loaded
        case failed(any Error)
    }

    private let phase = Mutex(Phase.idle)
    private let status: Streamed<LoadStatus>

    init(status: Streamed<LoadStatus>) { self.status = status }

    var error: (any Error)? {
        phase.withLock { phase in
            if case .failed(let error) = phase { error } else { nil }
        }
    }

    /// - Parameter retries: whether a load that failed is started again.
    func load(retries: Bool = false, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try Task.checkCancellation()
        let waiter = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Waiter) in
                enter(waiter, continuation, retries: retries, body)
                if Task.isCancelled { leave(waiter) }
            }
        } onCancel: {
            leave(waiter)
        }
    }

    func cancel() {
        let running = phase.withLock { phase -> Task<Void, Never>? in
            guard case .running(let task, _, _) = phase else { return nil }
            return task
        }
        running?.cancel()
        finish(nil, with: .failure(CancellationError()))
    }

    private func enter(
        _ id: UUID, _ waiter: Waiter, retries: Bool, _ body: @escaping @Sendable () async throws -> Void
    ) {
        phase.withLock { phase in
            switch phase {
            case .loaded: waiter.resume()
            case .failed(let error) where !retries: waiter.resume(throwing: error)
            case .running(let task, let attempt, var waiters):
                waiters[id] = waiter
                phase = .running(task, attempt: attempt, waiters)
            case .idle, .failed:
                let attempt = UUID()
                let task = Task {
                    do {
                        try await body()
                        finish(attempt, with: .success(()))
                    } catch {
                        finish(attempt, with: .failure(error))
                    }
                }
                phase = .running(task, attempt: attempt, [id: waiter])
                status.wrappedValue = .loading
            }
        }
    }

    private func leave(_ id: UUID) {
        let waiter = phase.withLock { phase -> Waiter? in
            guard case .running(let task, let attempt, var waiters) = phase else { return nil }
            let waiter = waiters.removeValue(forKey: id)
            phase = .running(task, attempt: attempt, waiters)
            return waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    /// - Parameter attempt: the attempt that ends; nil for whichever runs.
    private func finish(_ attempt: UUID?, with result: Result<Void, any Error>) {
        let waiters = phase.withLock { phase -> [Waiter] in
            guard case .running(_, let running, let waiters) = phase, attempt == nil || attempt == running else {
                return []
            }
            switch result {
            case .success:
                phase = .loaded
                status.wrappedValue = .loaded
            case .failure(let error):
                phase = .failed(error)
                status.wrappedValue = .failed
            }
            return Array(waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
