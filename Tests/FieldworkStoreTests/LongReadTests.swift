import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Long reads", .fewAtATime)
struct LongReadTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile
    /// Enough rows that an answer takes many pieces.
    private static let rows = 20_000
    /// How many of the places one client may have.
    private static let share = 6

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
        let trees = (0..<Self.rows).map { Samples.tree("tree \($0)", x: Double($0 % 100), y: Double($0 / 100)) }
        _ = try await file.apply(Samples.batch(adds: trees, origin: .load))
    }

    private static func allowance(_ client: String, time: Duration = .seconds(3_600)) -> WorkAllowance {
        WorkAllowance(time: time, client: client)
    }

    private func stream(of client: String) async throws -> EncodedFeatures {
        try await WorkAllowance.$current.withValue(Self.allowance(client)) { [file] in
            try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder())
        }
    }

    @Test("A client with many long reads leaves places for others, and its next one waits for its own")
    func share() async throws {
        var open: [EncodedFeatures] = []
        for _ in 0..<Self.share { open.append(try await stream(of: "a")) }
        #expect(file.readers.openStreams == Self.share)
        let waiting = Task { try await stream(of: "a") }
        // It has to wait, however long this takes.
        while file.readers.waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
        open.append(try await stream(of: "b"))
        #expect(file.readers.openStreams == Self.share + 1)
        #expect(file.readers.waiting == 1)
        open.removeFirst()
        let last = try await waiting.value
        var lines = 0
        for try await piece in last { lines += piece.count { $0 == 0x0A } }
        #expect(lines == Self.rows + 2)
        withExtendedLifetime(open) {}
    }

    @Test("A short answer under an allowance needs no place among the long ones")
    func short() async throws {
        var open: [EncodedFeatures] = []
        for _ in 0..<Self.share { open.append(try await stream(of: "a")) }
        let ids = try await WorkAllowance.$current.withValue(Self.allowance("a")) {
            try await file.objectIDs(FeatureQuery(objectIDs: [7]), in: 0)
        }
        #expect(ids == [7])
        #expect(file.readers.openStreams == Self.share)
        withExtendedLifetime(open) {}
    }

    @Test("The pieces of an answer are charged to the work that reads it, one at a time, from the first one on")
    func memory() async throws {
        let enough = WorkAllowance(time: .seconds(3_600), memory: 2 * EncodedFeatures.pieceSize, client: "a")
        try await WorkAllowance.$current.withValue(enough) { [file] in
            var bytes = 0
            for try await piece in try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder()) {
                bytes += piece.count
                #expect(enough.heldBytes == piece.count)
            }
            #expect(bytes > enough.memory / 2)
        }
        let little = WorkAllowance(time: .seconds(3_600), memory: EncodedFeatures.pieceSize / 2, client: "a")
        await #expect(throws: AllowanceError.memoryIsUp(little.memory)) {
            try await WorkAllowance.$current.withValue(little) { [file] in
                _ = try await file.encodedFeatures(FeatureQuery(), in: 0, encoder: TextEncoder())
            }
        }
        #expect(file.readers.openStreams == 0)
        #expect(little.heldBytes == 0)
    }

    @Test("A read that gets no reader in time is told that the store is busy")
    func patience() async throws {
        let pool = ReaderPool(source: file.source, readers: 1, streams: 1, patience: .milliseconds(50))
        let turn = ReaderTurn(pool, Self.allowance("a"))
        let reader = try await pool.take(.read, turn)
        let error = await #expect(throws: StoreError.self) {
            _ = try await pool.take(.read, ReaderTurn(pool, Self.allowance("b")))
        }
        #expect(error?.code == .busy)
        #expect(pool.waiting == 0)
        pool.giveBack(reader, turn)
        let next = ReaderTurn(pool, Self.allowance("b"))
        pool.giveBack(try await pool.take(.read, next), next)
        await pool.close()
    }

    @Test("A statement ends when the time of its allowance is up, and the reader goes on with others")
    func time() async throws {
        let began = ContinuousClock.now
        await #expect(throws: AllowanceError.timeIsUp(.milliseconds(100))) {
            try await WorkAllowance.$current.withValue(Self.allowance("a", time: .milliseconds(100))) {
                try await file.readers.read { connection in
                    // Would take hours.
                    _ = try connection.integer(
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
                }
            }
        }
        #expect(began.duration(to: .now) < .seconds(600))
        #expect(try await file.count(FeatureQuery(), in: 0) == Self.rows)
        #expect(file.readers.openStreams == 0)
    }
}
