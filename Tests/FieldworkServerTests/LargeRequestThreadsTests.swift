import FieldworkGeometry
import Foundation
import Synchronization
import Testing

@testable import FieldworkServer

@Suite("Threads for large requests")
struct LargeRequestThreadsTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// Runs work on the threads as a request does.
    private static func run(
        on threads: LargeRequestThreads, _ allowance: WorkAllowance, _ body: @escaping @Sendable () -> Void
    ) async {
        let executor = threads.executor(for: allowance)
        defer { withExtendedLifetime(executor) {} }
        await withTaskExecutorPreference(executor) { await work(body) }
    }

    private static func work(_ body: @Sendable () -> Void) async { body() }

    @Test("Requests of one client are worked on side by side, not one after the other")
    func sideBySide() async {
        let threads = LargeRequestThreads(count: 4)
        let allowance = WorkAllowance(time: .seconds(3_600), client: "a")
        let begun = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    await Self.run(on: threads, allowance) {
                        begun.add()
                        // Each waits for the others: on one thread this would never end.
                        while begun.value < 3 {}
                    }
                }
            }
        }
        #expect(begun.value == 3)
    }

    @Test("One client leaves a thread to others, and the time that its requests wait for a thread is no work")
    func fairness() async throws {
        let threads = LargeRequestThreads(count: 2)
        let (held, released, kept) = (Counter(), Counter(), Counter())
        let first = Task {
            await Self.run(on: threads, WorkAllowance(time: .seconds(3_600), client: "a")) {
                held.add()
                while released.value == 0 { usleep(1_000) }
            }
        }
        while held.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task {
            // Long enough for a busy machine to get from here to the queue.
            let allowance = WorkAllowance(time: .seconds(2), client: "a")
            // It waited for the whole of its time, and has it still when its turn comes.
            await Self.run(on: threads, allowance) { if (try? allowance.check()) != nil { kept.add() } }
        }
        // Another client's request is not held up by the two.
        await Self.run(on: threads, WorkAllowance(time: .seconds(3_600), client: "b")) {}
        try await Task.sleep(for: .milliseconds(2_500))
        released.add()
        await first.value
        await second.value
        #expect(kept.value == 1)
    }
}
