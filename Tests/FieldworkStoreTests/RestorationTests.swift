import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// What a service knows of the earlier states that were put back.
@Suite("Earlier states of a service", .fewAtATime)
struct RestorationTests {
    private let folder: TemporaryFolder
    private var place: URL { folder.url.appending(path: "Trees.gpkg") }

    init() async throws {
        folder = try TemporaryFolder()
        let store = try await Samples.store(in: folder)
        try await store.close()
    }

    private func edit(_ times: Int) async throws {
        let file = try await GeoPackageFile.open(at: place)
        for _ in 0..<times {
            let result = try await file.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 2)]))
            #expect(!result.hasErrors)
        }
        await file.close()
    }

    private func backUp(_ name: String) async throws -> URL {
        let target = folder.url.appending(path: "backups").appending(path: name)
        try await FileBackup(of: place, to: target).make()
        return target
    }

    private func timeline() async throws -> ServiceTimeline {
        let file = try await GeoPackageFile.open(at: place)
        let timeline = try await file.timeline()
        await file.close()
        return timeline
    }

    @Test("A backup that is put back goes on at a generation that no client has, and names those that are gone")
    func once() async throws {
        try await edit(3)
        let backup = try await backUp("third.gpkg")
        try await edit(2)
        let outcome = try await BackupRestorer(backup, to: place).run()
        #expect(outcome.restoration.from == 3 && outcome.restoration.to == Limits.restorationStep)
        try await edit(1)
        let timeline = try await timeline()
        #expect(timeline.generation == Limits.restorationStep + 1)
        #expect(timeline.loss(of: 3) == nil && timeline.loss(of: 4) != nil && timeline.common(5) == 3)
        #expect(timeline.news(knowing: 5)?.to == Limits.restorationStep)
        #expect(timeline.news(knowing: Limits.restorationStep) == nil)
        let kept = try #require(outcome.kept)
        #expect(await FileCheck(kept).findings() == [])
        #expect(await FileCheck(place).findings() == [])
    }

    @Test("A client of a past that an older backup began has that past in common with a newer one, and no more")
    func pastsThatPart() async throws {
        try await edit(2)
        let second = try await backUp("second.gpkg")
        try await edit(2)
        let fourth = try await backUp("fourth.gpkg")
        _ = try await BackupRestorer(second, to: place).run()
        try await edit(3)
        let client = try await timeline().generation
        // Generations 3 and 4 are back, which the client has never had.
        let outcome = try await BackupRestorer(fourth, to: place).run()
        #expect(outcome.restoration.from == 2 && outcome.restoration.to == 2 * Limits.restorationStep)
        let timeline = try await timeline()
        #expect(timeline.common(client) == 2)
        #expect(timeline.restorations.count == 1)
    }

    @Test("A generation at which a client in JavaScript would miscount is refused, and the one below it is taken")
    func limit() throws {
        for (generation, isTaken) in [(Limits.generations - 1, true), (Limits.generations, false)] {
            let connection = try StoreConnection(path: place.path, mode: .readWrite)
            try connection.begin()
            let log = RestorationLog(connection: connection)
            if isTaken {
                #expect(try log.add(beyond: generation, at: .now).to <= 9_007_199_254_740_992)
            } else {
                #expect(throws: StoreError.self) { try log.add(beyond: generation, at: .now) }
            }
            try connection.rollBack()
            connection.forgetStatements()
        }
    }
}
