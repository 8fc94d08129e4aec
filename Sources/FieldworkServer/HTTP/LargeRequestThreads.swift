import Dispatch

/// Threads for requests with much to read, so that those never hold up the few that all requests share. The requests of one client
/// have one thread.
struct LargeRequestThreads: Sendable {
    private let executors = (0..<Limits.largeRequestThreads).map { LargeRequestExecutor(number: $0) }

    func executor(for client: String) -> any TaskExecutor {
        executors[Int(UInt(bitPattern: client.hashValue) % UInt(executors.count))]
    }
}

private final class LargeRequestExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(number: Int) { queue = DispatchQueue(label: "fieldwork.large.\(number)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
