import FieldworkPostGIS
import Foundation
import TemporaryPostgres
import Testing

/// Stories of crews, a server and a bad network, told by their seeds.
@Suite("Simulation")
struct SimulationTests {
    /// `FIELDWORK_SIMULATION_SEEDS` sets how many stories are told; the full proof is 10,000. `FIELDWORK_SIMULATION_SEED`
    /// tells one alone.
    static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["FIELDWORK_SIMULATION_SEED"].flatMap(UInt64.init) { return one..<one + 1 }
        let first = environment["FIELDWORK_SIMULATION_FIRST"].flatMap(UInt64.init) ?? 1
        return first..<first + (environment["FIELDWORK_SIMULATION_SEEDS"].flatMap(UInt64.init) ?? 200)
    }()

    /// Two stories at a time: each is one thread for most of its time.
    static let lanes: [UInt64] = [0, 1]

    @Test("All replicas end equal to the service, and nothing that was saved is lost or doubled", arguments: lanes)
    func convergence(lane: UInt64) async throws {
        try #require(CrashingDisk.installed)
        var savedValues = 0
        for seed in Self.seeds where seed % UInt64(Self.lanes.count) == lane {
            let outcome = try await Self.outcome(seed)
            savedValues += outcome.savedValues
            if !outcome.problems.isEmpty { Issue.record("\(outcome.report)") }
            if Self.seeds.count == 1 { print(outcome.story.joined(separator: "\n")) }
        }
        // Stories in which nothing was saved would prove nothing.
        if Self.seeds.contains(where: { $0 % UInt64(Self.lanes.count) == lane }) { #expect(savedValues > 0) }
    }

    @Test(
        "Stories that failed once end well: a backup put back over what a device had lost, and while an answer was on its way",
        arguments: [1_136, 1_412, 1_816, 2_728, 3_352, 4_724, 4_776, 4_804, 4_984, 5_360, 6_540, 8_236, 9_220, 9_292]
            as [UInt64])
    func former(seed: UInt64) async throws {
        try #require(CrashingDisk.installed)
        let outcome = try await Simulation.tell(seed: seed)
        #expect(outcome.savedValues > 0)
        if !outcome.problems.isEmpty { Issue.record("\(outcome.report)") }
    }

    /// `FIELDWORK_SIMULATION_STORE=postgres` has the stories of `convergence` told over databases.
    private static let isInDatabase = ProcessInfo.processInfo.environment["FIELDWORK_SIMULATION_STORE"] == "postgres"

    private static func outcome(_ seed: UInt64) async throws -> Simulation.Outcome {
        isInDatabase ? try await inDatabase(seed) : try await Simulation.tell(seed: seed)
    }

    private static func inDatabase(_ seed: UInt64) async throws -> Simulation.Outcome {
        let server = try await TemporaryPostgres.shared.value
        let address = try await server.storeAddress()
        let outcome = try await Simulation.tell(seed: seed, database: address)
        try server.removeStore(address)
        return outcome
    }

    @Test(
        "Some stories are told over a database, whose connections break when the server dies",
        .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
    func database() async throws {
        try #require(CrashingDisk.installed)
        for seed: UInt64 in 1...2 {
            let outcome = try await Self.inDatabase(seed)
            #expect(outcome.savedValues > 0)
            if !outcome.problems.isEmpty { Issue.record("FIELDWORK_SIMULATION_STORE=postgres: \(outcome.report)") }
        }
    }

    /// Closing the last connection moves the log into the file, so that it happens all the time here, and in each death.
    @Test("Some stories are told with one connection for all reads and writes, which is closed for whoever is next")
    func oneConnection() async throws {
        try #require(CrashingDisk.installed)
        for seed: UInt64 in 301...310 {
            let outcome = try await SimulatedServer.$connections.withValue(1) { try await Simulation.tell(seed: seed) }
            #expect(outcome.savedValues > 0)
            if !outcome.problems.isEmpty { Issue.record("With one connection: \(outcome.report)") }
        }
    }

    @Test("The same seed tells the same story", arguments: [3, 14, 159])
    func repeats(seed: UInt64) async throws {
        let (first, second) = (try await Simulation.tell(seed: seed), try await Simulation.tell(seed: seed))
        let same = zip(first.story, second.story).prefix { $0 == $1 }.count
        let (one, other) = (first.story.dropFirst(same).prefix(3), second.story.dropFirst(same).prefix(3))
        #expect(one.isEmpty && other.isEmpty, "Line \(same + 1): \(Array(one)) and \(Array(other))")
        #expect(first.serverWrites == second.serverWrites)
    }
}
