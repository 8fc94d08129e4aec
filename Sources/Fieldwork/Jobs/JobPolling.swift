/// Asks a service how far its work is, until it is done.
enum JobPolling {
    /// - Parameter look: asks once.
    /// - Returns: what `look` gives when the work is done.
    @discardableResult
    static func wait<Result: Sendable>(_ look: () async throws -> Result?) async throws -> Result {
        let start = ContinuousClock.now
        while true {
            if let result = try await look() { return result }
            // A part of the time that it took so far: what is done is noticed soon, however long it takes.
            let part = Int(start.duration(to: .now) / .milliseconds(Limits.pollsPerDoubling))
            let wait = min(max(part, Limits.firstPollMilliseconds), Limits.lastPollMilliseconds)
            try await Task.sleep(for: .milliseconds(wait))
        }
    }
}
