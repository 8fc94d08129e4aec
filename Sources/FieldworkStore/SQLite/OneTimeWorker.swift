/// Runs one piece of blocking work on a thread of its own.
actor OneTimeWorker {
    private nonisolated let executor = QueueExecutor(label: "fieldwork.worker")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) throws -> Result { try body() }
}
