import Foundation
import Testing

/// Kills servers and syncs in the midst of their work, again and again, and looks whether everything arrived once.
@Suite("Crashes of syncs", .serialized)
struct SyncCrashTests {
    /// `FIELDWORK_SYNC_CRASH_ROUNDS` sets how often; the full proof is 300.
    private static let rounds =
        ProcessInfo.processInfo.environment["FIELDWORK_SYNC_CRASH_ROUNDS"].flatMap(Int.init)

    @Test("Every edit arrives once, whichever process is killed with SIGKILL", arguments: ServiceHome.Kind.installed)
    func survivesKills(_ kind: ServiceHome.Kind) async throws {
        let rounds = Self.rounds ?? 8
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(kind, in: folder.url)
        try await CrewService.publish("1,1,first,0\n", in: home, with: folder.url)
        var server = try await home.serve()
        let port = try #require(URL(string: server.services)?.port)
        var crews = ["north", "south"].map { Crew($0, in: folder.url) }
        for crew in crews { try await CrewService.takeOffline(server.services, to: crew.file) }
        var kills = (syncs: 0, servers: 0)
        for round in 0..<rounds {
            for index in crews.indices { try await Self.edit(&crews[index], round) }
            let syncs = try crews.map { try FieldworkProcess.start(["sync", $0.file.path]) }
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...300)))
            let victim = Int.random(in: 0...crews.count)
            if victim == crews.count {
                await server.kill()
                server = try await home.serve(port: port)
                kills.servers += 1
            } else if syncs[victim].isRunning {
                await syncs[victim].kill()
                kills.syncs += 1
            }
            for sync in syncs { _ = await sync.status() }
        }
        #expect(kills.servers + kills.syncs > 0)
        print("Crashes of syncs, \(kind): \(rounds) rounds, \(kills.servers) servers and \(kills.syncs) syncs killed")
        // Then nobody is killed any more: everybody completes what was broken off, hands in what came later, and fetches.
        for _ in 0..<3 {
            for crew in crews { try await crew.sync() }
        }
        var expected = ["first": [0]]
        for crew in crews { expected.merge(crew.values.mapValues { [$0] }) { $0 + $1 } }
        #expect(expected.count > rounds)
        #expect(try await CrewService.served(server.services) == expected)
        for crew in crews { #expect(try await crew.kept() == expected) }
        #expect(await server.interrupt() == 0)
        try await home.expectSound()
    }

    /// A feature more in each round, another value for one that is there, and at times one less.
    private static func edit(_ crew: inout Crew, _ round: Int) async throws {
        try await crew.add("\(crew.name)-\(round)", round)
        if let older = crew.values.keys.randomElement() { try await crew.change(older, 1_000 + round) }
        if round % 4 == 3, let older = crew.values.keys.randomElement() { try await crew.delete(older) }
    }
}
