import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Edits in a store", .fewAtATime, .everyStore)
struct StoreEditingTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    @Test("An added feature is read back with its values, ids and editor tracking")
    func addAndRead() async throws {
        let result = try await store.apply(
            Samples.batch(adds: [
                Samples.tree(
                    "Acer", x: 1.5, y: -2.25,
                    [("condition", .text("good")), ("height", .integer(12)), ("planted", .integer(-86_400_001))])
            ]), to: Samples.name)
        let added = try #require(result.layers.first?.adds.first)
        #expect(added.objectID == 1)
        #expect(added.error == nil)
        #expect(result.generation == 1)
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.objectID == 1)
        #expect(record.globalID == added.globalID && record.globalID != nil)
        #expect(record.attributes["species"] == .text("Acer"))
        #expect(record.attributes["height"] == .real(12))
        #expect(record.attributes["stems"] == .integer(1), "the default fills what isn't given")
        #expect(record.attributes["planted"] == .integer(-86_400_001), "a date before 1970 keeps its milliseconds")
        #expect(record.attributes["Creator"] == .text("ada"))
        #expect(record.attributes["EditDate"] == .integer(1_767_323_045_678))
        #expect(record.geometry == Point(x: 1.5, y: -2.25, spatialReference: .webMercator))
        #expect(try await store.check() == [])
    }

    @Test("An update changes what it names and leaves the rest")
    func update() async throws {
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 1, [("height", .real(3))])]), to: Samples.name)
        var batch = Samples.batch(
            updates: [FeatureEdit(objectID: 1, attributes: [("SPECIES", .text("Quercus"))])], editor: "grace")
        batch.moment = Samples.moment.addingTimeInterval(60)
        let result = try await store.apply(batch, to: Samples.name)
        #expect(result.layers.first?.updates.first?.isSuccess == true)
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["species"] == .text("Quercus"))
        #expect(record.attributes["height"] == .real(3))
        #expect(record.attributes["Creator"] == .text("ada"))
        #expect(record.attributes["Editor"] == .text("grace"))
        #expect(record.attributes["CreationDate"] == .integer(1_767_323_045_678))
        #expect(record.attributes["EditDate"] == .integer(1_767_323_105_678))
        #expect(record.geometry == Point(x: 1, y: 1, spatialReference: .webMercator))
    }

    @Test("An anonymous update sets the edit date and an empty editor")
    func anonymousUpdate() async throws {
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer")]), to: Samples.name)
        var batch = Samples.batch(
            updates: [FeatureEdit(objectID: 1, attributes: [("species", .text("Quercus"))])], editor: nil)
        batch.moment = Samples.moment.addingTimeInterval(120)
        let result = try await store.apply(batch, to: Samples.name)
        #expect(result.hasErrors == false)
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["Creator"] == .text("ada"))
        #expect(record.attributes["Editor"] == .text(""))
        #expect(record.attributes["EditDate"] == .integer(1_767_323_165_678))
    }

    @Test("A load keeps the creator and the creation date of its source; an edit does not", arguments: [true, false])
    func trackingOfALoad(isLoad: Bool) async throws {
        let told: [(name: String, value: AttributeValue)] = [
            ("Creator", .text("eve")), ("CreationDate", .integer(1_000)),
        ]
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer", told)], origin: isLoad ? .load : .edit), to: Samples.name)
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["Creator"] == .text(isLoad ? "eve" : "ada"))
        #expect(record.attributes["CreationDate"] == .integer(isLoad ? 1_000 : 1_767_323_045_678))
        #expect(record.attributes["Editor"] == .text("ada"))
    }

    @Test("A geometry can be moved and taken away, and the index follows")
    func moveAndRemoveGeometry() async throws {
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 1)]), to: Samples.name)
        let near = SpatialFilter(geometry: Envelope(xMin: 0, yMin: 0, xMax: 2, yMax: 2))
        let far = SpatialFilter(geometry: Envelope(xMin: 90, yMin: 90, xMax: 110, yMax: 110))
        #expect(try await store.objectIDs(FeatureQuery(spatialFilter: near), in: Samples.trees) == [1])
        _ = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: 1, geometry: .geometry(Point(x: 100, y: 100)))]),
            to: Samples.name)
        #expect(try await store.objectIDs(FeatureQuery(spatialFilter: near), in: Samples.trees) == [])
        #expect(try await store.objectIDs(FeatureQuery(spatialFilter: far), in: Samples.trees) == [1])
        _ = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: 1, geometry: .null)]), to: Samples.name)
        #expect(try await store.objectIDs(FeatureQuery(spatialFilter: far), in: Samples.trees) == [])
        #expect(try await store.records(FeatureQuery(), in: Samples.trees).first?.geometry == nil)
        #expect(try await store.check() == [])
    }

    @Test("Features are deleted by object id, by global id and by query")
    func delete() async throws {
        let ids = (0..<6).map { _ in UUID() }
        _ = try await store.apply(
            Samples.batch(
                adds: ids.enumerated().map {
                    Samples.tree("t\($0.offset)", x: Double($0.offset), globalID: $0.element)
                },
                usesGlobalIDs: true), to: Samples.name)
        let result = try await store.apply(
            Samples.batch(deletes: [.objectID(1), .globalID(ids[1])]), to: Samples.name)
        #expect(result.layers.first?.deletes.map(\.objectID) == [1, 2])
        #expect(result.layers.first?.deletes.map(\.globalID) == [ids[0], ids[1]])
        var batch = Samples.batch()
        batch.layers[0].deletes = .matching(
            FeatureQuery(condition: .binary(.greater, .field("OBJECTID"), .literal(.integer(4)))))
        let matched = try await store.apply(batch, to: Samples.name)
        #expect(matched.layers.first?.deletes.map(\.objectID) == [5, 6])
        #expect(try await store.objectIDs(FeatureQuery(), in: Samples.trees) == [3, 4])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 2)
        let added = try await store.apply(Samples.batch(adds: [Samples.tree("new")]), to: Samples.name)
        #expect(added.layers.first?.adds.first?.objectID == 7, "an object id is never used twice")
        #expect(try await store.check() == [])
    }

    @Test("An add whose global id is there already fails and names the feature that has it")
    func duplicateGlobalID() async throws {
        let id = UUID()
        let batch = Samples.batch(adds: [Samples.tree("Acer", globalID: id)], usesGlobalIDs: true)
        _ = try await store.apply(batch, to: Samples.name)
        let again = try await store.apply(batch, to: Samples.name)
        let result = try #require(again.layers.first?.adds.first)
        #expect(result.error?.code == 1016)
        #expect(result.objectID == 1)
        #expect(result.globalID == id)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 1)
    }

    @Test("Without useGlobalIds the store gives global ids of its own")
    func ownGlobalIDs() async throws {
        let id = UUID()
        let result = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer", globalID: id)]), to: Samples.name)
        #expect(result.layers.first?.adds.first?.globalID != id)
    }

    @Test("With useGlobalIds the global id names the feature of an update, whatever object id comes along")
    func updateByGlobalID() async throws {
        let ids = [UUID(), UUID()]
        _ = try await store.apply(
            Samples.batch(adds: ids.map { Samples.tree("Acer", globalID: $0) }, usesGlobalIDs: true), to: Samples.name)
        let edit = FeatureEdit(objectID: 2, globalID: ids[0], attributes: [("species", .text("Tilia"))])
        let result = try await store.apply(Samples.batch(updates: [edit], usesGlobalIDs: true), to: Samples.name)
        #expect(result.layers[0].updates.map(\.objectID) == [1])
        let species = try await store.records(FeatureQuery(), in: Samples.trees).map { $0.attributes["species"] }
        #expect(species == [.text("Tilia"), .text("Acer")])
    }

    @Test("Of two values for one field the last counts, in whichever case the field is named")
    func fieldNamedTwice() async throws {
        let twice: [(name: String, value: AttributeValue)] = [
            ("condition", .text("good")), ("CONDITION", .text("poor")),
        ]
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", twice)]), to: Samples.name)
        let again: [(name: String, value: AttributeValue)] = [("species", .text("Tilia")), ("Species", .text("Ulmus"))]
        let update = FeatureEdit(objectID: 1, attributes: again)
        _ = try await store.apply(Samples.batch(updates: [update]), to: Samples.name)
        let record = try #require(try await store.records(FeatureQuery(), in: Samples.trees).first)
        #expect(record.attributes["condition"] == .text("poor"))
        #expect(record.attributes["species"] == .text("Ulmus"))
    }

    @Test("A batch without rollback of which nothing succeeds is no generation")
    func nothingSucceeds() async throws {
        let result = try await store.apply(
            Samples.batch(
                updates: [FeatureEdit(objectID: 77, attributes: [("species", .text("x"))])], deletes: [.objectID(78)],
                rollsBackOnFailure: false), to: Samples.name)
        #expect(result.generation == nil)
        #expect(try await store.generation(of: Samples.name) == 0)
    }

    @Test("A failed item undoes the batch and is told apart from those that were rolled back with it")
    func rollback() async throws {
        let result = try await store.apply(
            Samples.batch(adds: [
                Samples.tree("fine"), Samples.tree("a name of more than twenty characters"), Samples.tree("fine too"),
            ]), to: Samples.name)
        let adds = try #require(result.layers.first?.adds)
        #expect(adds.map { $0.error?.code } == [1003, 1000, 1003])
        #expect(adds.allSatisfy { $0.objectID == nil })
        #expect(result.generation == nil)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 0)
        #expect(try await store.generation(of: Samples.name) == 0)
        #expect(try await store.changes(after: 0, in: Samples.trees, limit: 10) == [])
        #expect(try await store.check() == [])
    }

    @Test("Without rollback the good items stay")
    func withoutRollback() async throws {
        let result = try await store.apply(
            Samples.batch(
                adds: [Samples.tree("fine"), Samples.tree("bad", [("height", .real(121))])],
                updates: [FeatureEdit(objectID: 77, attributes: [("species", .text("x"))])], deletes: [.objectID(78)],
                rollsBackOnFailure: false), to: Samples.name)
        let layer = try #require(result.layers.first)
        #expect(layer.adds.map(\.isSuccess) == [true, false])
        #expect(layer.updates.map { $0.error?.code } == [1019])
        #expect(layer.deletes.map { $0.error?.code } == [1018])
        #expect(result.generation == 1)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 1)
    }

    static let refused: [(String, AttributeValue)] = [
        ("nowhere", .text("x")), ("height", .text("tall")), ("height", .real(.nan)), ("height", .real(.infinity)),
        ("height", .real(-0.1)), ("stems", .integer(40_000)), ("stems", .real(1.5)), ("stems", .null),
        ("condition", .text("splendid")), ("species", .text(String(repeating: "é", count: 21))),
        ("species", .integer(5)), ("planted", .text("yesterday")), ("planted", .integer(Int64.max)),
        ("species", .text("a\u{0}b")),
    ]

    @Test("A value that its field can't hold is refused, and nothing changes", arguments: refused)
    func refusedValue(name: String, value: AttributeValue) async throws {
        let add = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", [(name, value)])]), to: Samples.name)
        let error = try #require(add.layers.first?.adds.first?.error)
        #expect(error.code == 1000)
        #expect(error.description.contains(name), "the error names the field")
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer")]), to: Samples.name)
        let update = try await store.apply(
            Samples.batch(updates: [FeatureEdit(objectID: 1, attributes: [(name, value)])]), to: Samples.name)
        #expect(update.layers.first?.updates.first?.error != nil)
        #expect(
            try await store.records(FeatureQuery(), in: Samples.trees).first?.attributes["species"] == .text("Acer"))
        #expect(try await store.generation(of: Samples.name) == 1)
    }

    @Test("Twenty characters fit a field of twenty, however many bytes they take")
    func textOfFullLength() async throws {
        let result = try await store.apply(
            Samples.batch(adds: [Samples.tree(String(repeating: "é", count: 20))]), to: Samples.name)
        #expect(result.hasErrors == false)
    }

    @Test("A geometry of another kind, or with a coordinate that is no number, is refused")
    func refusedGeometry() async throws {
        for geometry in [
            Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1), Point(x: .infinity, y: 0),
            Polyline(points: [Point(x: 0, y: 0), Point(x: 1, y: 1)]),
        ] as [Geometry] {
            let result = try await store.apply(
                Samples.batch(adds: [FeatureEdit(geometry: .geometry(geometry))]), to: Samples.name)
            #expect(result.layers.first?.adds.first?.error != nil)
        }
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 0)
    }

    @Test("A whole batch for a layer that isn't there is refused")
    func unknownLayer() async throws {
        await #expect(throws: StoreError.self) {
            try await store.apply(Samples.batch(adds: [Samples.tree("x")], layerID: 9), to: Samples.name)
        }
        await #expect(throws: StoreError.self) {
            try await store.apply(Samples.batch(adds: []), to: ServiceName(name: "../etc/passwd"))
        }
    }

    @Test("Many clients at once: every acknowledged edit is there once, generations are distinct")
    func groupCommit() async throws {
        let generations = try await withThrowingTaskGroup(of: [Int64].self) { [store] group in
            for client in 0..<16 {
                group.addTask {
                    var seen: [Int64] = []
                    for number in 0..<25 {
                        let result = try await store.apply(
                            Samples.batch(adds: [Samples.tree("c\(client)-\(number)")]), to: Samples.name)
                        seen.append(try #require(result.generation))
                    }
                    return seen
                }
            }
            return try await group.reduce(into: [Int64]()) { $0 += $1 }
        }
        #expect(Set(generations).count == 400)
        #expect(generations.max() == 400)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 400)
        let names = try await store.records(FeatureQuery(outFields: ["species"]), in: Samples.trees)
            .compactMap { $0.attributes["species"]?.textValue }
        #expect(Set(names).count == 400)
        #expect(try await store.check() == [])
    }

    @Test("A batch that fails as a whole leaves nothing, and its neighbours in the same transaction alone")
    func groupCommitWithFailure() async throws {
        // Every fourth names a layer that isn't there; every other fourth has a feature that is taken and one that is refused.
        let failures = try await withThrowingTaskGroup(of: Bool.self) { [store] group in
            for number in 0..<40 {
                group.addTask {
                    var adds = [Samples.tree("t\(number)")]
                    if number % 4 == 1 { adds.append(Samples.tree("refused", [("condition", .text("unheard of"))])) }
                    do {
                        return try await store.apply(
                            Samples.batch(adds: adds, layerID: number % 4 == 0 ? 5 : 0), to: Samples.name
                        ).hasErrors
                    } catch is StoreError {
                        return true
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 20)
        let names = try await store.records(FeatureQuery(), in: Samples.trees).compactMap {
            $0.attributes["species"]?.textValue
        }
        let kept = (0..<40).filter { $0 % 4 > 1 }.map { "t\($0)" }
        #expect(names.sorted() == kept.sorted())
        #expect(try await store.check() == [])
    }

    @Test("What was acknowledged is there after the store was opened anew")
    func reopen() async throws {
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", x: 3, y: 4)]), to: Samples.name)
        // Not closed: the other store recovers from the log, as after a crash.
        let other = try await StoreKind.current.again(in: folder)
        #expect(try await other.count(FeatureQuery(), in: Samples.trees) == 1)
        #expect(try await other.generation(of: Samples.name) == 1)
        try await other.close()
        await #expect(throws: StoreError.self) { try await other.count(FeatureQuery(), in: Samples.trees) }
    }
}
