import Foundation
import Testing

/// Stories of areas and their basemaps, told by their seeds.
@Suite("Simulation of areas")
struct AreaSimulationTests {
    /// A fifth of the stories that `SimulationTests` tells.
    private static let seeds = SimulationTests.seeds.prefix(max(1, SimulationTests.seeds.count / 5))

    @Test(
        "Areas keep all of their tiles, each tile is here once, and what no area needs goes",
        arguments: SimulationTests.lanes)
    func stories(lane: UInt64) async throws {
        try #require(CrashingDisk.installed)
        var (areas, tiles) = (0, 0)
        for seed in Self.seeds where seed % UInt64(SimulationTests.lanes.count) == lane {
            let outcome = try await AreaSimulation.tell(seed: seed)
            areas += outcome.areas
            tiles += outcome.tiles
            if !outcome.problems.isEmpty { Issue.record("\(outcome.report)") }
            if Self.seeds.count == 1 { print(outcome.story.joined(separator: "\n")) }
        }
        // Stories without areas would prove nothing.
        if Self.seeds.contains(where: { $0 % UInt64(SimulationTests.lanes.count) == lane }) {
            #expect(areas > 0 && tiles > 0)
        }
    }

    @Test("The simulator notices each way in which the tiles are broken on purpose", arguments: AreaSabotage.allCases)
    func notices(_ sabotage: AreaSabotage) async throws {
        try #require(CrashingDisk.installed)
        for seed: UInt64 in 1...60 {
            let outcome = try await AreaSimulation.tell(seed: seed, sabotage: sabotage)
            if outcome.problems.contains(where: { $0.invariant == sabotage.invariant }) { return }
        }
        Issue.record("60 stories with the fault \(sabotage.rawValue): \(sabotage.invariant.rawValue)")
    }

    @Test(
        "Stories that failed once end well: an area that was extended while its tiles came, and deaths between two notes",
        arguments: [1_091, 1_103, 1_151, 1_287, 1_382] as [UInt64])
    func former(seed: UInt64) async throws {
        try #require(CrashingDisk.installed)
        let outcome = try await AreaSimulation.tell(seed: seed)
        if !outcome.problems.isEmpty { Issue.record("\(outcome.report)") }
    }

    @Test("The same seed tells the same story", arguments: [3, 14])
    func repeats(seed: UInt64) async throws {
        let (first, second) = (try await AreaSimulation.tell(seed: seed), try await AreaSimulation.tell(seed: seed))
        #expect(first.story == second.story)
    }
}
