import Synchronization
import Testing

@testable import FieldworkServer

@Suite("Memory that is given back")
struct MemoryCareTests {
    private final class Releases: Sendable {
        private let releases = Mutex(0)
        var count: Int { releases.withLock { $0 } }
        @Sendable func add() { releases.withLock { $0 += 1 } }

        /// Waits for one; what has not come after a minute does not come.
        func wait(for wanted: Int) async throws {
            for _ in 0..<6_000 where count < wanted { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test("After small requests memory is given back once, when none has ended for a while")
    func rest() async throws {
        let releases = Releases()
        let care = MemoryCare(releases.add, rest: .milliseconds(200))
        for _ in 0..<50 { care.requestEnded(holding: 1_000) }
        #expect(releases.count == 0)
        try await releases.wait(for: 1)
        try await Task.sleep(for: .milliseconds(700))
        #expect(releases.count == 1)
        care.requestEnded(holding: 1_000)
        try await releases.wait(for: 2)
        #expect(releases.count == 2)
    }

    @Test("After a request that held much it is given back soon, also while others come")
    func much() async throws {
        let releases = Releases()
        let care = MemoryCare(releases.add, rest: .seconds(600))
        care.requestEnded(holding: Limits.muchMemoryBytes)
        try await releases.wait(for: 1)
        #expect(releases.count == 1)
    }
}
