import Foundation
import Synchronization

/// Work that is done once for all callers that ask for it at the same time: a sign-in, a renewal of a token. Each caller may
/// stop waiting without ending it for the others.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct Running {
        let id: UUID
        let task: Task<Void, Never>
        var waiters: [UUID: Waiter]
    }

    /// Whether work that nobody waits for any more is cancelled. A renewal is not: its answer may hold the only valid token.
    private let endsWithoutWaiters: Bool
    private let running = Mutex<[Key: Running]>([:])

    init(endsWithoutWaiters: Bool = false) { self.endsWithoutWaiters = endsWithoutWaiters }

    /// The result of the work under a key, which begins when nobody has begun it. Throws what it throws, or
    /// `CancellationError` when the caller is cancelled.
    func value(of key: Key, _ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let waiter = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                join(key, waiter, continuation, body)
                if Task.isCancelled { leave(key, waiter) }
            }
        } onCancel: {
            leave(key, waiter)
        }
    }

    private func join(
        _ key: Key, _ waiter: UUID, _ continuation: Waiter, _ body: @escaping @Sendable () async throws -> Value
    ) {
        running.withLock { running in
            if running[key] != nil {
                running[key]?.waiters[waiter] = continuation
                return
            }
            let id = UUID()
            let task = Task {
                let result: Result<Value, any Error>
                do { result = .success(try await body()) } catch { result = .failure(error) }
                finish(key, id, result)
            }
            running[key] = Running(id: id, task: task, waiters: [waiter: continuation])
        }
    }

    private func leave(_ key: Key, _ waiter: UUID) {
        let (continuation, abandoned) = running.withLock { running -> (Waiter?, Task<Void, Never>?) in
            guard let continuation = running[key]?.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            guard endsWithoutWaiters, running[key]?.waiters.isEmpty == true else { return (continuation, nil) }
            // Whoever asks from now on begins anew.
            return (continuation, running.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        continuation?.resume(throwing: CancellationError())
    }

    private func finish(_ key: Key, _ id: UUID, _ result: Result<Value, any Error>) {
        let waiters = running.withLock { running -> [Waiter] in
            guard running[key]?.id == id else { return [] }
            return running.removeValue(forKey: key).map { Array($0.waiters.values) } ?? []
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
