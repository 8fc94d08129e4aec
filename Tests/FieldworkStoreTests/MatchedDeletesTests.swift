import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Deletes by a condition", .fewAtATime)
struct MatchedDeletesTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.store(in: folder)
    }

    /// Rows that another program writes: quicker than edits.
    private func fill(_ count: Int) throws {
        let connection = try StoreConnection(
            path: folder.url.appending(path: "Trees.gpkg").path, mode: .readWrite)
        try connection.execute(
            """
            WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO "Visits" (remark) SELECT 'r' || i FROM n
            """)
    }

    private func delete(
        _ condition: SQLExpression?, listsMatches: Bool, from layerID: Int = 1
    ) async throws -> EditBatchResult {
        let query = FeatureQuery(condition: condition)
        var batch = EditBatch(
            layers: [LayerEdits(layerID: layerID, deletes: .matching(query))], editor: "ada", moment: Samples.moment)
        batch.listsMatches = listsMatches
        return try await store.apply(batch, to: Samples.name)
    }

    private static func above(_ id: Int64) -> SQLExpression {
        .binary(.greater, .field("OBJECTID"), .literal(.integer(id)))
    }

    @Test("Where results are not listed, one result stands for all that were deleted")
    func unlisted() async throws {
        try fill(600)
        let before = try await store.generation(of: Samples.name)
        let result = try await delete(Self.above(100), listsMatches: false)
        #expect(result.layers[0].deletes.count == 1)
        #expect(!result.hasErrors)
        #expect(try await store.count(FeatureQuery(), in: Samples.visits) == 100)
        let changes = try await store.changes(after: before, in: Samples.visits, limit: 1_000)
        #expect(changes.count == 500)
        #expect(Set(changes.map(\.operation)) == [.delete])
        #expect(Set(changes.map(\.generation)) == [before + 1])
        #expect(try await store.check() == [])
    }

    @Test("A condition that chooses nothing deletes nothing and is no generation")
    func nothing() async throws {
        try fill(3)
        let before = try await store.generation(of: Samples.name)
        let result = try await delete(Self.above(3), listsMatches: false)
        #expect(result.layers[0].deletes.isEmpty)
        #expect(try await store.generation(of: Samples.name) == before)
        #expect(try await store.count(FeatureQuery(), in: Samples.visits) == 3)
    }

    @Test("More than can be listed is refused as a whole, and deleted when no list is asked for")
    func limit() async throws {
        let most = FieldworkREST.Limits.listedDeletes
        try fill(most + 1)
        let error = await #expect(throws: StoreError.self) { try await delete(nil, listsMatches: true) }
        #expect(error?.code == .invalidQuery)
        #expect(try await store.count(FeatureQuery(), in: Samples.visits) == most + 1)
        // At the edge: as many as may be listed are found, of which the rest is then taken back.
        let file = try await store.file(Samples.name)
        let layer = try file.layer(1)
        let counts = try await file.writer.inspect { connection in
            let matched = try MatchedFeatures(
                FeatureQuery(condition: Self.above(1)), in: layer, on: connection)
            var first: [Int64] = []
            try matched.forEach { id in
                first.append(id)
                return first.count < 3
            }
            let count = try matched.count()
            try matched.forget()
            return (count, first, try matched.count())
        }
        #expect(counts.0 == most)
        #expect(counts.1 == [2, 3, 4])
        #expect(counts.2 == 0)
    }

    @Test("A refused delete takes all others back, whether results are listed or not", arguments: [true, false])
    func refused(listsMatches: Bool) async throws {
        try fill(3)
        let connection = try StoreConnection(
            path: folder.url.appending(path: "Trees.gpkg").path, mode: .readWrite)
        try connection.execute(
            """
            CREATE TRIGGER keep BEFORE DELETE ON "Visits" WHEN OLD.remark = 'r2'
            BEGIN SELECT RAISE(ABORT, 'r2 stays'); END
            """)
        let result = try await delete(nil, listsMatches: listsMatches)
        #expect(result.hasErrors)
        #expect(result.generation == nil)
        #expect(result.layers[0].deletes.contains { $0.error?.description.contains("r2 stays") == true })
        #expect(try await store.count(FeatureQuery(), in: Samples.visits) == 3)
    }

    @Test(
        "Parts that went with their whole are no failures of the condition that chose both", arguments: [true, false])
    func wholesAndParts(listsMatches: Bool) async throws {
        var definition = Orchard.definition()
        for index in definition.layers[6].relationships.indices where definition.layers[6].relationships[index].id == 5
        {
            definition.layers[6].relationships[index].isComposite = true
            definition.layers[6].relationships[index].originDeletion = .cascade
        }
        try await store.createService(definition)
        let ids = (0..<3).map { _ in UUID() }
        let adds = ids.indices.map {
            Orchard.edit(["Parent": Orchard.guid(ids[max(0, $0 - 1)])], globalID: ids[$0])
        }
        _ = try await store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 6, adds: adds)], usesGlobalIDs: true, moment: Samples.moment, origin: .load
            ),
            to: Orchard.name)
        var batch = EditBatch(
            layers: [LayerEdits(layerID: 6, deletes: .matching(FeatureQuery()))], moment: Samples.moment)
        batch.listsMatches = listsMatches
        let result = try await store.apply(batch, to: Orchard.name)
        #expect(!result.hasErrors)
        if listsMatches { #expect(result.layers[0].deletes.map(\.globalID) == ids) }
        #expect(try await store.count(FeatureQuery(), in: Orchard.areas) == 0)
    }
}
