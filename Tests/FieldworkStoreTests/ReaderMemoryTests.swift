import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Memory of readers", .fewAtATime)
struct ReaderMemoryTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
        let trees = (0..<20_000).map { Samples.tree("tree \($0)", x: Double($0 % 100), y: Double($0 / 100)) }
        _ = try await file.apply(Samples.batch(adds: trees, origin: .load))
    }

    private static func readAll(_ connection: StoreConnection) throws {
        _ = try connection.integer("SELECT sum(length(species)) FROM Trees")
    }

    @Test("The pages of all connections together have one bound")
    func bound() async throws {
        let bound = try await file.readers.read { _ in StoreConnection.memoryBound }
        #expect(bound == FieldworkStore.Limits.cacheBytes)
    }

    @Test("Readers that rest give back the pages that they keep, and read on afterwards")
    func rest() async throws {
        let pool = ReaderPool(source: file.source, readers: 2, streams: 1, rest: .milliseconds(100))
        try await pool.read { try Self.readAll($0) }
        var kept = Int.max
        let end = ContinuousClock.now + .seconds(300)
        while kept > 100_000, ContinuousClock.now < end {
            // Longer than a rest each time: asking is a use.
            try await Task.sleep(for: .milliseconds(500))
            kept = try await pool.read { $0.keptBytes }
        }
        #expect(kept <= 100_000)
        try await pool.read { try Self.readAll($0) }
        await pool.close()
    }

    @Test("Readers that are used keep their pages")
    func use() async throws {
        let pool = ReaderPool(source: file.source, readers: 1, streams: 1)
        try await pool.read { try Self.readAll($0) }
        let kept = try await pool.read { $0.keptBytes }
        #expect(kept > 500_000)
        await pool.close()
    }

    @Test("A statement is kept for the next time, unless it is long")
    func statements() async throws {
        let most = FieldworkStore.Limits.cachedStatementBytes
        try await file.readers.read { connection in
            for (length, isKept) in [(most, true), (most + 1, false)] {
                let sql = "SELECT 7 -- ".padding(toLength: length, withPad: "x", startingAt: 0)
                let first = try connection.cached(sql)
                first.finish()
                let second = try connection.cached(sql)
                second.finish()
                #expect((first === second) == isKept)
            }
        }
    }
}
