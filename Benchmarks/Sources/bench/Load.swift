import Foundation

/// How one load went.
struct Measurement {
    var operations = 0
    var seconds = 0.0
    /// Sorted, in milliseconds.
    var latencies: [Double] = []

    var perSecond: Double { Double(operations) / seconds }

    func percentile(_ fraction: Double) -> Double {
        latencies.isEmpty ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * fraction))]
    }
}

/// Runs an operation again and again on some threads for a time. The closure gets a thread's own state.
func measure<State>(
    threads: Int, seconds: Double, state: @escaping @Sendable (Int) throws -> State,
    operation: @escaping @Sendable (inout State) throws -> Void
) throws -> Measurement {
    let collected = Collected()
    let started = ContinuousClock.now
    let workers = (0..<threads).map { index in
        let worker = Thread {
            do {
                var own = try state(index)
                var latencies: [Double] = []
                while started.duration(to: .now) < .seconds(seconds) {
                    let before = ContinuousClock.now
                    try operation(&own)
                    latencies.append(before.duration(to: .now) / .milliseconds(1))
                }
                collected.finish(latencies, error: nil)
            } catch {
                collected.finish([], error: error)
            }
        }
        worker.stackSize = 8 << 20
        return worker
    }
    workers.forEach { $0.start() }
    let (latencies, error) = collected.wait(for: threads)
    if let error { throw error }
    return Measurement(
        operations: latencies.count, seconds: started.duration(to: .now) / .seconds(1), latencies: latencies.sorted())
}

/// What the threads bring back; guarded by the condition, which is why it may be shared.
private final class Collected: @unchecked Sendable {
    private let condition = NSCondition()
    private var latencies: [Double] = []
    private var failure: (any Error)?
    private var finished = 0

    func finish(_ values: [Double], error: (any Error)?) {
        condition.lock()
        latencies += values
        failure = failure ?? error
        finished += 1
        condition.signal()
        condition.unlock()
    }

    func wait(for count: Int) -> ([Double], (any Error)?) {
        condition.lock()
        while finished < count { condition.wait() }
        defer { condition.unlock() }
        return (latencies, failure)
    }
}
