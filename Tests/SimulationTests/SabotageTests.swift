import Testing

/// The simulator is worth as much as what it notices: the system is broken on purpose, in one way after the other.
@Suite("Sabotage")
struct SabotageTests {
    /// More stories than any of the faults needs to come out.
    private static let storiesMax: UInt64 = 60

    @Test("The simulator notices each way in which the system is broken on purpose", arguments: Sabotage.allCases)
    func notices(_ sabotage: Sabotage) async throws {
        try #require(CrashingDisk.installed)
        for seed in 1...Self.storiesMax {
            let outcome = try await Simulation.tell(seed: seed, sabotage: sabotage)
            if outcome.problems.contains(where: { $0.invariant == sabotage.invariant }) { return }
        }
        Issue.record("\(Self.storiesMax) stories with the fault \(sabotage.rawValue): \(sabotage.invariant.rawValue)")
    }

    @Test("The faults break five different invariants")
    func kinds() { #expect(Set(Sabotage.allCases.map(\.invariant)).count >= 5) }
}
