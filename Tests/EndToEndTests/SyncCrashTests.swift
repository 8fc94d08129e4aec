import Foundation
import Testing

/// Kills servers and syncs in the midst of their work, again and again, and looks whether everything arrived once.
@Suite("Crashes of syncs", .serialized)
struct SyncCrashTests {
    /// `FIELDWORK_SYNC_CRASH_ROUNDS` sets how often; the full proof is 300.
    private static let rounds =
        ProcessInfo.processInfo.environment["FIELDWORK_SYNC_CRASH_ROUNDS"].flatMap(Int.init) ?? 8

    @Test("Every edit arrives once, whichever process is killed with SIGKILL")
    func survivesKills() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("1,1,first,0\n", in: data)
        var server = try await FieldworkProcess.serve(data: data)
        let port = try #require(URL(string: server.services)?.port)
        var crews = ["north", "south"].map { Crew($0, in: folder.url) }
        for crew in crews { try await CrewService.takeOffline(server.services, to: crew.file) }
        var kills = (syncs: 0, servers: 0)
        for round in 0..<Self.rounds {
            for index in crews.indices { try await Self.edit(&crews[index], round) }
            let syncs = try crews.map { try FieldworkProcess.start(["sync", $0.file.path]) }
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...300)))
            let victim = Int.random(in: 0...crews.count)
            if victim == crews.count {
                await server.kill()
                server = try await CrewService.serve(data, port: port)
                kills.servers += 1
            } else if syncs[victim].isRunning {
                await syncs[victim].kill()
                kills.syncs += 1
            }
            for sync in syncs { _ = await sync.status() }
        }
        #expect(kills.servers + kills.syncs > 0)
        print("Crashes of syncs: \(Self.rounds) rounds, \(kills.servers) servers and \(kills.syncs) syncs killed")
        // Then nobody is killed any more: everybody completes what was broken off, hands in what came later, and fetches.
        for _ in 0..<3 {
            for crew in crews { try await crew.sync() }
        }
        var expected = ["first": [0]]
        for crew in crews { expected.merge(crew.values.mapValues { [$0] }) { $0 + $1 } }
        #expect(expected.count > Self.rounds)
        #expect(try await CrewService.served(server.services) == expected)
        for crew in crews { #expect(try await crew.kept() == expected) }
        #expect(await server.interrupt() == 0)
        let doctor = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(doctor.status == 0, "\(doctor.text)\(doctor.errors)")
    }

    /// A feature more in each round, another value for one that is there, and at times one less.
    private static func edit(_ crew: inout Crew, _ round: Int) async throws {
        try await crew.add("\(crew.name)-\(round)", round)
        if let older = crew.values.keys.randomElement() { try await crew.change(older, 1_000 + round) }
        if round % 4 == 3, let older = crew.values.keys.randomElement() { try await crew.delete(older) }
    }
}
