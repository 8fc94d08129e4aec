import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Counts that are told at once", .fewAtATime)
struct FeatureCounterTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageFile.create(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
    }

    private func add(_ count: Int) async throws {
        _ = try await file.apply(Samples.batch(adds: (0..<count).map { Samples.tree("t\($0)") }))
    }

    @Test("Each count is of the last commit, on one connection that stays")
    func commits() async throws {
        #expect(!file.counter.isOpen)
        #expect(try file.countNow(in: 0) == 0)
        #expect(file.counter.isOpen)
        try await add(3)
        #expect(try file.countNow(in: 0) == 3)
        let other = try StoreConnection(path: file.url.path, mode: .readWrite)
        try other.execute("DELETE FROM \"Trees\" WHERE OBJECTID = 1")
        #expect(try file.countNow(in: 0) == 2)
        #expect(throws: StoreError.self) { try file.countNow(in: 9) }
        await file.close()
    }

    @Test("An open transaction counts for who asks in it, and no longer when it was taken back")
    func transaction() async throws {
        try await add(1)
        try file.beginTransaction()
        try await add(2)
        #expect(try file.countNow(in: 0) == 3)
        try file.rollbackTransaction()
        #expect(try file.countNow(in: 0) == 1)
        await file.close()
    }

    @Test("A closed file keeps no connection, and can still be counted")
    func closed() async throws {
        try await add(2)
        #expect(try file.countNow(in: 0) == 2)
        file.closeNow()
        #expect(!file.counter.isOpen)
        #expect(try file.countNow(in: 0) == 2)
        #expect(!file.counter.isOpen)
        await file.close()
    }

    @Test("Many may ask at the same time")
    func concurrent() async throws {
        try await add(5)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try file.countNow(in: 0) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 5, count: 50))
        await file.close()
    }
}
