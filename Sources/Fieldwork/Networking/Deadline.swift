/// Did not come to an end in time.
package struct DeadlineExceeded: Error {
    var limit: Duration
}

/// Runs an operation for so long and not longer. It is cancelled then, and when the caller is.
package func withDeadline<Result: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        // The first to end says how it went.
        guard let first = try await group.next(), let result = first else { throw DeadlineExceeded(limit: limit) }
        return result
    }
}
