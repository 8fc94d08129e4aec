import Foundation
import Testing

/// Load for minutes, on both stores. `make attack` runs it whole.
@Suite("Soak", .serialized)
struct AttackSoakTests {
    /// Turns of one look at the memory.
    private static let step = AttackForm.isFull ? 8_000 : 800
    private static let steps = AttackForm.isFull ? 8 : 3
    /// Everything that is loaded once has been loaded by then, and every cache is full.
    private static let warmUp = AttackForm.isFull ? 3 : 2
    /// What memory may differ by from one look to the next, in MB, however little it is.
    private static let margin = AttackForm.isFull ? 0 : 24

    @Test(
        "Under the load of a day a server answers every request and its memory stays what it was",
        arguments: ServiceHome.Kind.installed)
    func soak(_ kind: ServiceHome.Kind) async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let load = SoakLoad(port: target.port)
        let start = ContinuousClock.now
        var memory: [Int] = []
        for step in 0..<Self.steps {
            await load.run(step * Self.step..<(step + 1) * Self.step)
            // What large requests leave is given back some seconds after them.
            try await Task.sleep(for: .seconds(AttackForm.isFull ? 5 : 1))
            memory.append(try target.memory().now)
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        print("Soak, \(kind): \(Self.steps * Self.step) turns in \(seconds) s; memory in MB: \(memory)")
        for failure in load.failures.prefix(10) { Issue.record("\(failure)") }
        #expect(target.process.isRunning)
        let (before, after) = (memory[Self.warmUp - 1], memory[Self.steps - 1])
        #expect(after <= before + before / 10 + Self.margin, "memory grew: \(memory)")
        #expect(await target.process.interrupt() == 0)
        try await home.expectSound()
    }

    /// How long `make soak` loads each store; nil in every other round.
    private static let minutes = ProcessInfo.processInfo.environment["FIELDWORK_SOAK_MINUTES"].flatMap(Int.init)
    private static let turnsBetweenLooks = 400

    @Test(
        "Over hours a server's memory stays what it was", .enabled(if: minutes != nil, "make soak runs it"),
        arguments: ServiceHome.Kind.installed)
    func hours(_ kind: ServiceHome.Kind) async throws {
        let minutes = max(8, try #require(Self.minutes))
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let load = SoakLoad(port: target.port)
        let start = ContinuousClock.now
        var memory: [Int] = []
        var turns = 0
        print("store,minute,turns,MB")
        for minute in 1...minutes {
            while start.duration(to: .now) < .seconds(60 * minute) {
                await load.run(turns..<turns + Self.turnsBetweenLooks)
                turns += Self.turnsBetweenLooks
            }
            try #require(target.process.isRunning)
            memory.append(try target.memory().now)
            print("\(kind),\(minute),\(turns),\(memory[minute - 1])")
        }
        for failure in load.failures.prefix(10) { Issue.record("\(failure)") }
        // In the first quarter everything is loaded that is loaded once, and caches fill.
        let quarter = minutes / 4
        let before = try #require(memory[quarter..<2 * quarter].max())
        let after = try #require(memory.suffix(quarter).max())
        #expect(after <= before + before / 10, "memory grew from \(before) to \(after) MB")
        #expect(await target.process.interrupt() == 0)
        try await home.expectSound()
    }
}
