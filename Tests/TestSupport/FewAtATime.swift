import Dispatch
import Foundation
import Synchronization
public import Testing

/// Runs only some tests of a process at a time. The testing library begins all of them at once: hundreds of servers and files
/// would be open together, each test would take as long as all, and what waits for an answer would wait in vain.
///
/// A test that never ends ends the run, with its name: else the run would hang without a word.
public struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    /// It holds for every test of the suite.
    public var isRecursive: Bool { true }

    /// A suite takes no place of its own: its tests do.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> FewAtATime? { testCase == nil ? nil : self }

    /// Runs a test when there is room for it.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Places.shared.take()
        defer { Places.shared.giveBack() }
        let alarm = Self.alarm(for: "\(test.displayName ?? test.name) (\(test.sourceLocation))")
        defer { alarm.cancel() }
        try await TestEnd.perform(function)
    }

    private static let patience = DispatchTimeInterval.seconds(900)
    /// Not one of the threads that tests run on: those may all be blocked.
    private static let clock = DispatchQueue(label: "tests that never end")

    private static func alarm(for name: String) -> DispatchWorkItem {
        let alarm = DispatchWorkItem {
            let text = "Still running after 15 minutes: \(name)\n\(RunningProcess.report)"
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            exit(1)
        }
        clock.asyncAfter(deadline: .now() + patience, execute: alarm)
        return alarm
    }
}

extension Trait where Self == FewAtATime {
    /// The suite's tests run when there is room for them.
    public static var fewAtATime: Self { Self() }
}

/// The places of a process; who comes when all are taken waits in a row.
private final class Places: Sendable {
    static let shared = Places(count: 16)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
