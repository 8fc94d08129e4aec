import Dispatch

/// Runs the jobs of one actor on a serial queue of its own, so that a statement that waits for the disk never holds up
/// Swift's shared threads.
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs work on the queue and waits for it. For callers that can't suspend; never from the queue itself.
    func sync<Result>(_ body: () throws -> Result) rethrows -> Result { try queue.sync(execute: body) }

    /// Lets `assumeIsolated` know its own queue outside of a job.
    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
