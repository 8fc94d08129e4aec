import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Many features that are updated or deleted at once come out as they would one by one, wherever they go in together.
@Suite("Many updates and deletes at once", .fewAtATime, .everyStore)
struct ManyEditsTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
        let trees = (1...240).map { Samples.tree("Tree \($0)", x: Double($0), y: 1) }
        _ = try await store.apply(Samples.batch(adds: trees), to: Samples.name)
    }

    private func apply(_ batch: EditBatch) async throws -> LayerEditResults {
        try #require(try await store.apply(batch, to: Samples.name).layers.first)
    }

    private func species() async throws -> [Int64: String] {
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        return Dictionary(
            uniqueKeysWithValues: records.map { ($0.objectID, $0.attributes["species"]?.textValue ?? "") })
    }

    private func globalIDs() async throws -> [UUID] {
        try await store.records(FeatureQuery(), in: Samples.trees).sorted { $0.objectID < $1.objectID }
            .compactMap(\.globalID)
    }

    @Test(
        "Each update is told at its place; one of a feature that an earlier one changed sees it so",
        arguments: [false, true])
    func updates(rollsBack: Bool) async throws {
        var updates = (1...230).map { (id: Int64) in
            FeatureEdit(objectID: id, attributes: [("species", .text("New \(id)"))])
        }
        updates[4].objectID = 400
        updates[9].attributes = [("condition", .text("splendid"))]
        updates[14].rejection = EditError(code: 1000, description: "No feature at all.")
        // The seventh comes twice, near enough for one statement.
        updates[8] = FeatureEdit(objectID: 7, attributes: [("species", .text("Newest"))])
        // Values and places of several kinds, and rows that set other columns than those before them.
        for index in 40..<60 {
            let place = Point(x: -Double(index), y: 7.5, spatialReference: .webMercator)
            updates[index].geometry = index == 50 ? .null : .geometry(place)
        }
        for index in 60..<180 {
            updates[index].attributes += [
                ("height", index % 3 == 0 ? .null : .real(Double(index) / 2)), ("stems", .integer(Int64(index))),
                ("planted", index % 5 == 0 ? .null : .integer(1_767_323_045_678 + Int64(index))),
            ]
        }
        let ids = try await globalIDs()
        updates[25] = FeatureEdit(globalID: ids[25], attributes: [("species", .text("By its global id"))])
        let results = try await apply(Samples.batch(updates: updates, rollsBackOnFailure: rollsBack, editor: "grace"))
            .updates
        let refused = [4, 9, 14]
        #expect(results.indices.filter { !results[$0].isSuccess } == (rollsBack ? Array(updates.indices) : refused))
        #expect(results[4].error?.description == "There is no feature with this id.")
        #expect(results[14].error?.description == "No feature at all.")
        #expect(results[25].objectID == 26 && results[25].globalID == ids[25])
        let species = try await species()
        let touched = Set(1...230).subtracting([5, 9, 10, 15, 26])
        for id in 1...240 {
            var expected = touched.contains(id) ? "New \(id)" : "Tree \(id)"
            if id == 7 { expected = "Newest" }
            if id == 26 { expected = "By its global id" }
            #expect(species[Int64(id)] == (rollsBack ? "Tree \(id)" : expected))
        }
        if !rollsBack {
            let changes = try await store.changes(after: 1, in: Samples.trees, limit: 1_000)
            #expect(Set(changes.map(\.objectID)) == Set(touched.union([26]).map { Int64($0) }))
            #expect(changes.allSatisfy { $0.operation == .update && $0.generation == 2 })
            #expect(try await store.history(of: .objectID(7), in: Samples.trees).count == 2)
            let records = try await store.records(FeatureQuery(), in: Samples.trees)
            for record in records where (41...180).contains(record.objectID) {
                let index = record.objectID - 1
                if index < 60 {
                    let place = Point(x: -Double(index), y: 7.5, spatialReference: .webMercator)
                    #expect(record.geometry == (index == 50 ? nil : place))
                    continue
                }
                #expect(record.attributes["height"] == (index % 3 == 0 ? .null : .real(Double(index) / 2)))
                #expect(record.attributes["stems"] == .integer(index))
                #expect(record.attributes["planted"] == (index % 5 == 0 ? .null : .integer(1_767_323_045_678 + index)))
            }
            #expect(records.first { $0.objectID == 1 }?.attributes["Editor"] == .text("grace"))
            #expect(records.first { $0.objectID == 1 }?.attributes["Creator"] == .text("ada"))
            #expect(try await store.check() == [])
        }
    }

    @Test("Each delete is told at its place; one that comes twice is there once", arguments: [false, true])
    func deletes(rollsBack: Bool) async throws {
        let ids = try await globalIDs()
        var deletes = (1...20).map { FeatureIdentifier.objectID($0) }
        deletes[3] = .objectID(400)
        deletes[8] = .objectID(2)
        deletes[11] = .globalID(ids[11])
        deletes[12] = .globalID(UUID())
        deletes[13] = .globalID(ids[0])
        let results = try await apply(Samples.batch(deletes: deletes, rollsBackOnFailure: rollsBack)).deletes
        let refused = [3, 8, 12, 13]
        #expect(results.indices.filter { !results[$0].isSuccess } == (rollsBack ? Array(deletes.indices) : refused))
        #expect(results[3].error?.description == "There is no feature with this id.")
        #expect(results[11].objectID == 12 && results[11].globalID == ids[11])
        let left = try await species().keys
        let gone = Set((1...20).filter { ![4, 9, 13, 14].contains($0) }.map { Int64($0) })
        #expect(Set(left) == (rollsBack ? Set(1...240) : Set(1...240).subtracting(gone)))
        if !rollsBack {
            let changes = try await store.changes(after: 1, in: Samples.trees, limit: 1_000)
            #expect(Set(changes.map(\.objectID)) == gone)
            #expect(changes.allSatisfy { $0.operation == .delete && $0.generation == 2 })
            #expect(try await store.history(of: .objectID(1), in: Samples.trees).count == 1)
            #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 240 - gone.count)
            #expect(try await store.check() == [])
        }
    }
}
