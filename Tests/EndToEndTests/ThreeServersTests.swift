import FieldworkPostGIS
import Foundation
import TemporaryPostgres
import Testing

/// Three servers of one database, requests to any of them, and one after the other killed: nothing that was acknowledged is
/// lost, nothing is done twice.
@Suite(
    "Three servers of one database", .serialized,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct ThreeServersTests {
    /// `FIELDWORK_SERVERS_CRASH_ROUNDS` sets how often something is killed; the full proof is 100.
    private static let rounds = ProcessInfo.processInfo.environment["FIELDWORK_SERVERS_CRASH_ROUNDS"].flatMap(Int.init)

    @Test("Edits, uploads and jobs survive whichever server is killed with SIGKILL")
    func survivesKills() async throws {
        let rounds = Self.rounds ?? 4
        let folder = try TemporaryFolder()
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await CrashService.publish(in: folder.url, at: address)
        let load = EditingLoad(servers: try await ServerGroup(of: 3, on: address))
        await load.run {
            for _ in 0..<rounds {
                try? await Task.sleep(for: .milliseconds(Int.random(in: 100...900)))
                do { try await load.servers.killOne() } catch { Issue.record(error) }
            }
        }
        try await load.check(atLeast: rounds)
        let taken = try PostgresConnection(PostgresSettings(address)).integer(
            "SELECT count(*) FROM fieldwork.jobs WHERE attempts > 1")
        print("Three servers: \(rounds) killed; \(await load.summary), \(taken ?? 0) taken over")
        await load.servers.end()
    }

    /// Of a server, the primary and the standby, one after the other is killed; once the standby becomes the primary.
    @Test("They go over to the standby by themselves, and survive the death of any of the three")
    func survivesChangeOfPrimary() async throws {
        let rounds = Self.rounds ?? 3
        let folder = try TemporaryFolder()
        let pair = try await TemporaryPostgres.pair()
        let address = try await pair.storeAddress()
        try await CrashService.publish(in: folder.url, at: address)
        let load = EditingLoad(servers: try await ServerGroup(of: 3, on: address, standby: address, lease: 5))
        await load.run {
            for round in 0..<rounds {
                do {
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 100...600)))
                    if round == rounds / 2 { try await pair.changePrimary() }
                    switch round % 3 {
                    case 0: try await pair.killPrimary()
                    case 1: try await pair.killStandby()
                    default: try await load.servers.killOne()
                    }
                } catch { Issue.record(error) }
            }
        }
        try await load.check(atLeast: rounds)
        print("Three servers, a primary and a standby: \(rounds) killed; \(await load.summary)")
        await load.servers.end()
    }
}
