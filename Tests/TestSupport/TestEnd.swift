import Synchronization

/// What is to be done when the running test has ended, well or not: what it used is not kept until all tests have ended.
public final class TestEnd: Sendable {
    @TaskLocal private static var current: TestEnd?

    private let actions = Mutex<[@Sendable () async throws -> Void]>([])

    private init() {}

    /// Has something done at the end of the test; nothing where tests are not run a few at a time.
    public static func then(_ action: @escaping @Sendable () async throws -> Void) {
        current?.actions.withLock { $0.append(action) }
    }

    static func perform(_ function: @Sendable () async throws -> Void) async throws {
        let end = TestEnd()
        var result: Result<Void, any Error>
        do {
            try await $current.withValue(end) { try await function() }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for action in end.actions.withLock({ $0 }).reversed() {
            do {
                try await action()
            } catch {
                // What the test itself said comes first.
                if case .success = result { result = .failure(error) }
            }
        }
        try result.get()
    }
}
