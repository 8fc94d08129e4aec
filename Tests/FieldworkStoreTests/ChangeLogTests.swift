import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Change log and history", .fewAtATime, .everyStore)
struct ChangeLogTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    private func apply(_ batch: EditBatch) async throws {
        let result = try await store.apply(batch, to: Samples.name)
        #expect(result.hasErrors == false)
    }

    @Test("Each batch is a generation; each changed feature an entry with the fields that changed")
    func changes() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a"), Samples.tree("b")]))
        try await apply(
            Samples.batch(
                updates: [
                    FeatureEdit(
                        objectID: 2, attributes: [("species", .text("c")), ("height", .null)],
                        geometry: .geometry(Point(x: 9, y: 9)))
                ], editor: "grace"))
        try await apply(Samples.batch(deletes: [.objectID(1)]))
        let changes = try await store.changes(after: 0, in: Samples.trees, limit: 100)
        #expect(changes.map(\.generation) == [1, 1, 2, 3])
        #expect(changes.map(\.operation) == [.add, .add, .update, .delete])
        #expect(changes.map(\.objectID) == [1, 2, 2, 1])
        #expect(changes.allSatisfy { $0.globalID != nil })
        #expect(changes[2].changedFields == ["species", "Editor", FeatureChange.geometryName])
        #expect(try await store.changes(after: 2, in: Samples.trees, limit: 100).count == 1)
        #expect(try await store.changes(after: 0, in: Samples.trees, limit: 2).map(\.objectID) == [1, 2])
        #expect(try await store.changes(after: 0, in: Samples.visits, limit: 100) == [])
        #expect(try await store.generation(of: Samples.name) == 3)
    }

    @Test("An update that changes nothing leaves no trace in the log")
    func noChange() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        try await apply(Samples.batch(updates: [FeatureEdit(objectID: 1, attributes: [("species", .text("a"))])]))
        #expect(try await store.changes(after: 1, in: Samples.trees, limit: 10) == [])
    }

    @Test("What one generation adds and deletes again was never there")
    func addedAndDeleted() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")], deletes: [.objectID(1)]))
        #expect(try await store.changes(after: 0, in: Samples.trees, limit: 10) == [])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 0)
        #expect(try await store.check() == [])
    }

    @Test("History keeps every superseded version, with who ended it")
    func history() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a", x: 1, y: 1)]))
        try await apply(Samples.batch(adds: [Samples.tree("other")]))
        try await apply(
            Samples.batch(updates: [FeatureEdit(objectID: 1, attributes: [("species", .text("b"))])], editor: "grace"))
        try await apply(
            Samples.batch(updates: [FeatureEdit(objectID: 1, geometry: .geometry(Point(x: 2, y: 2)))], editor: "alan"))
        try await apply(Samples.batch(deletes: [.objectID(1)], editor: "joan"))
        let versions = try await store.history(of: .objectID(1), in: Samples.trees)
        #expect(versions.map { $0.record.attributes["species"] } == [.text("b"), .text("b"), .text("a")])
        #expect(versions.map(\.editor) == ["joan", "alan", "grace"])
        #expect(versions.map(\.endedBy) == [.delete, .update, .update])
        #expect(versions.map(\.fromGeneration) == [4, 3, 1])
        #expect(versions.map(\.toGeneration) == [5, 4, 3])
        #expect(versions.first?.endedAt == Samples.moment)
        #expect(versions.last?.record.geometry == Point(x: 1, y: 1, spatialReference: .webMercator))
        let globalID = try #require(versions.first?.record.globalID)
        #expect(try await store.history(of: .globalID(globalID), in: Samples.trees) == versions)
    }

    @Test("State taken over into a cache replaces what was known and is not logged")
    func cache() async throws {
        let url = folder.url.appending(path: "cache.gpkg")
        let file = try await GeoPackageStore.createFile(
            at: url, definition: Samples.service, options: .init(keepsObjectIDs: true))
        let id = UUID()
        // A local edit under a provisional id.
        var local = Samples.tree("mine", globalID: id)
        local.objectID = -1
        let added = try await file.apply(Samples.batch(adds: [local], usesGlobalIDs: true))
        #expect(added.layers.first?.adds.first?.objectID == -1)
        // The service's state of the same feature.
        var state = Samples.tree("theirs", x: 5, y: 5, globalID: id, [("condition", .text("not in the domain"))])
        state.objectID = 4_711
        let taken = try await file.apply(Samples.batch(adds: [state], origin: .cache))
        #expect(taken.hasErrors == false)
        #expect(taken.generation == nil)
        state.attributes = [("species", .text("newer"))]
        state.geometry = .unchanged
        _ = try await file.apply(Samples.batch(adds: [state], origin: .cache))
        let records = try await file.records(FeatureQuery(), in: 0)
        #expect(records.map(\.objectID) == [4_711])
        #expect(records.first?.globalID == id)
        #expect(records.first?.attributes["species"] == .text("newer"))
        #expect(records.first?.attributes["condition"] == .text("not in the domain"), "what isn't told stays")
        #expect(records.first?.geometry == Point(x: 5, y: 5, spatialReference: .webMercator))
        #expect(try await file.changes(after: 1, in: 0, limit: 10) == [])
        let gone = try await file.apply(Samples.batch(deletes: [.objectID(4_711), .objectID(1)], origin: .cache))
        #expect(gone.hasErrors == false)
        #expect(try await file.generation() == 1)
        await file.close()
    }

    @Test("A bulk load lies in Hilbert order and answers in the order of the request")
    func load() async throws {
        var generator = SeededGenerator(seed: 7)
        let trees = (0..<2_000).map { number in
            Samples.tree(
                "t\(number)", x: .random(in: 0..<1_000, using: &generator),
                y: .random(in: 0..<1_000, using: &generator),
                [("Creator", .text("surveyor"))])
        }
        let result = try await store.apply(Samples.batch(adds: trees, origin: .load), to: Samples.name)
        let adds = try #require(result.layers.first?.adds)
        #expect(adds.count == 2_000 && adds.allSatisfy(\.isSuccess))
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        #expect(records.first { $0.objectID == adds[77].objectID }?.attributes["species"] == .text("t77"))
        #expect(records.first?.attributes["Creator"] == .text("surveyor"), "a load keeps who and when")
        func way(_ points: [Point]) -> Double {
            zip(points, points.dropFirst()).reduce(0) { $0 + hypot($1.0.x - $1.1.x, $1.0.y - $1.1.y) }
        }
        let inFile = way(records.compactMap { $0.geometry as? Point })
        let asSent = way(
            trees.compactMap { if case .geometry(let point) = $0.geometry { point as? Point } else { nil } })
        #expect(inFile < asSent / 10, "neighbours on the map are neighbours in the file")
        #expect(try await store.check() == [])
    }
}
