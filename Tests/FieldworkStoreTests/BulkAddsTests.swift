import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Many features that are added at once come out as they would one by one, wherever they go in together.
@Suite("Many adds at once", .fewAtATime, .everyStore)
struct BulkAddsTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    private func apply(_ batch: EditBatch) async throws -> [EditResult] {
        try #require(try await store.apply(batch, to: Samples.name).layers.first).adds
    }

    private func trees(_ count: Int) -> [FeatureEdit] {
        (0..<count).map { number in
            Samples.tree(
                "Tree \(number)", x: Double(number), y: 0.1 + Double(number),
                [("height", .integer(Int64(number % 100))), ("planted", .integer(-86_400_001 + Int64(number)))])
        }
    }

    @Test("Each gets its ids, values, geometry and editor, one entry in the log and one generation")
    func whole() async throws {
        let results = try await apply(Samples.batch(adds: trees(300)))
        #expect(results.map(\.objectID) == (1...300).map { Int64($0) })
        #expect(results.allSatisfy { $0.isSuccess && $0.globalID != nil })
        #expect(Set(results.compactMap(\.globalID)).count == 300)
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        #expect(records.map(\.globalID) == results.map(\.globalID))
        for (number, record) in records.enumerated() {
            #expect(record.attributes["species"] == .text("Tree \(number)"))
            #expect(record.attributes["height"] == .real(Double(number % 100)))
            #expect(record.attributes["stems"] == .integer(1), "the default fills what isn't given")
            #expect(record.attributes["planted"] == .integer(-86_400_001 + Int64(number)))
            #expect(record.attributes["Creator"] == .text("ada"))
            #expect(
                record.geometry == Point(x: Double(number), y: 0.1 + Double(number), spatialReference: .webMercator))
        }
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 300)
        #expect(try await store.generation(of: Samples.name) == 1)
        let changes = try await store.changes(after: 0, in: Samples.trees, limit: 1_000)
        #expect(changes.map(\.objectID) == (1...300).map { Int64($0) })
        #expect(changes.allSatisfy { $0.operation == .add && $0.generation == 1 })
        #expect(try await store.check() == [])
    }

    @Test("What can't be added is told at its place, and the others are there", arguments: [false, true])
    func refusals(rollsBack: Bool) async throws {
        var adds = trees(40)
        adds[7].attributes.append(("nowhere", .text("lost")))
        adds[20].attributes.append(("condition", .text("splendid")))
        adds[39].rejection = EditError(code: 1000, description: "No feature at all.")
        let results = try await apply(Samples.batch(adds: adds, rollsBackOnFailure: rollsBack))
        let refused = [7, 20, 39]
        #expect(results.indices.filter { !results[$0].isSuccess } == (rollsBack ? Array(adds.indices) : refused))
        #expect(results[7].error?.description.contains("nowhere") == true)
        #expect(results[39].error?.description == "No feature at all.")
        let names = try await store.records(FeatureQuery(), in: Samples.trees).map { $0.attributes["species"] }
        let expected = rollsBack ? [] : adds.indices.filter { !refused.contains($0) }
        #expect(names == expected.map { .text("Tree \($0)") })
        #expect(try await store.check() == [])
    }

    @Test("Global ids that are there, that come twice and that come back are seen one by one")
    func knownIDs() async throws {
        let ids = (0..<20).map { _ in UUID() }
        func identified(_ numbers: [Int]) -> EditBatch {
            Samples.batch(
                adds: numbers.map { Samples.tree("Tree \($0)", globalID: ids[$0]) }, usesGlobalIDs: true,
                rollsBackOnFailure: false)
        }
        #expect(try await apply(identified(Array(0..<10))).allSatisfy { $0.isSuccess })
        // The answer was lost, and all of it is sent again with what is new.
        let again = try await apply(identified(Array(0..<20)))
        #expect(again.prefix(10).allSatisfy { $0.error?.code == 1016 })
        #expect(again.prefix(10).map(\.objectID) == (1...10).map { Int64($0) })
        #expect(again.dropFirst(10).allSatisfy { $0.isSuccess })
        #expect(Set(again.map(\.objectID)).count == 20)
        // Deleted, and added again by an undo: it is the same feature.
        _ = try await store.apply(Samples.batch(deletes: [.globalID(ids[3]), .globalID(ids[4])]), to: Samples.name)
        let back = try await apply(identified([3, 4]))
        #expect(back.map(\.objectID) == [4, 5])
        let twice =
            (0..<9).map { _ in Samples.tree("Twin", globalID: UUID()) } + [Samples.tree("Twin", globalID: ids[3])]
        let mixed = try await apply(
            Samples.batch(adds: twice + [twice[0]], usesGlobalIDs: true, rollsBackOnFailure: false))
        #expect(mixed.indices.filter { mixed[$0].error?.code == 1016 } == [9, 10])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 29)
        #expect(try await store.check() == [])
    }

    @Test("A value that the database alone refuses fails alone")
    func refusedByTheDatabase() async throws {
        try StoreKind.current.change(
            "CREATE UNIQUE INDEX once ON \"Trees\" (species)", in: Samples.name, folder)
        var adds = trees(30)
        adds[12].attributes[0].value = .text("Tree 3")
        let results = try await apply(Samples.batch(adds: adds, rollsBackOnFailure: false))
        #expect(results.indices.filter { !results[$0].isSuccess } == [12])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 29)
        #expect(try await store.changes(after: 0, in: Samples.trees, limit: 100).count == 29)
        #expect(try await store.check() == [])
    }

    @Test("What comes after them in their batch, and what other programs do then, is logged as ever")
    func afterwards() async throws {
        _ = try await apply(Samples.batch(adds: trees(20)))
        let result = try await store.apply(
            Samples.batch(
                adds: trees(10), updates: [FeatureEdit(objectID: 2, attributes: [("species", .text("Salix"))])],
                deletes: [.objectID(3)]), to: Samples.name)
        #expect(!result.hasErrors)
        try StoreKind.current.change(
            "INSERT INTO \"Trees\" (species, stems, \"GlobalID\") VALUES ('Ulmus', 1, '{\(UUID().uuidString)}')",
            in: Samples.name, folder)
        let changes = try await store.changes(after: 1, in: Samples.trees, limit: 100)
        #expect(changes.filter { $0.operation == .add }.map(\.objectID) == (21...31).map { Int64($0) })
        #expect(changes.filter { $0.operation == .update }.map(\.objectID) == [2])
        #expect(changes.filter { $0.operation == .delete }.map(\.objectID) == [3])
        let history = try await store.history(of: .objectID(2), in: Samples.trees)
        #expect(history.map { $0.record.attributes["species"] } == [.text("Tree 1")])
        #expect(try await store.check() == [])
    }

    @Test("Object ids that a client sends along are its own, and count for nothing")
    func othersObjectIDs() async throws {
        let adds = (0..<20).map { number in
            var tree = Samples.tree("Tree \(number)", [("OBJECTID", .integer(Int64(7 + number % 3)))])
            if number % 2 == 0 { tree.objectID = -1 - Int64(number) }
            return tree
        }
        let results = try await apply(Samples.batch(adds: adds))
        #expect(results.map(\.objectID) == (1...20).map { Int64($0) })
        #expect(results.allSatisfy { $0.isSuccess })
        #expect(try await store.check() == [])
    }

    @Test("Ids that a load brings along are kept, and those that follow come after them")
    func givenObjectIDs() async throws {
        let adds = (0..<12).map { number in
            var tree = Samples.tree("Tree \(number)", x: Double(number % 3), y: Double(number % 5))
            if number % 2 == 0 { tree.objectID = Int64(100 + number) }
            return tree
        }
        let results = try await apply(Samples.batch(adds: adds, origin: .load))
        #expect(results.allSatisfy { $0.isSuccess })
        for number in stride(from: 0, to: 12, by: 2) { #expect(results[number].objectID == Int64(100 + number)) }
        #expect(Set(results.map(\.objectID)).count == 12)
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        for (number, result) in results.enumerated() {
            let found = records.first { $0.objectID == result.objectID }
            #expect(found?.attributes["species"] == .text("Tree \(number)"))
        }
        let next = try await apply(Samples.batch(adds: trees(9)))
        #expect(next.allSatisfy { $0.isSuccess && ($0.objectID ?? 0) > 110 })
        #expect(try await store.check() == [])
    }
}
