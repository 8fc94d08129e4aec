/// Lets requests through, until something has to be done while none is under way: changing who works on this device.
actor RequestGate {
    private var running = 0
    private var isClosed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits while the gate is closed.
    func enter() async {
        while isClosed { await withCheckedContinuation { waiting.append($0) } }
        running += 1
    }

    func leave() { running -= 1 }

    /// Does something while no other request is under way. Throws `CollectError` when those that are don't end in time.
    func alone<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        while isClosed { await withCheckedContinuation { waiting.append($0) } }
        isClosed = true
        defer {
            isClosed = false
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
        let end = ContinuousClock.now.advanced(by: .seconds(Limits.gatePatienceSeconds))
        while running > 0 {
            guard ContinuousClock.now < end else {
                throw CollectError(
                    .notAllowed, "Fieldwork still waits for the answer of a server.",
                    nextStep: "Try again in a moment.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await body()
    }
}
