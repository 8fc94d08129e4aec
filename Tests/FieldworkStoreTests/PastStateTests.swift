import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// What a layer was at other moments, against a model that remembers every state.
@Suite("Features at another moment", .fewAtATime, .everyStore)
struct PastStateTests {
    private static let origin: Int64 = 1_700_000_000_000
    /// The order of a state: what a query without an order answers.
    private typealias State = [Int64: String]

    /// A day after day's edits, each a generation an hour apart.
    private struct Diary {
        var states: [State] = [[:]]
        var generator: SeededGenerator

        func moment(_ step: Int) -> Date { PastStateTests.moment(step) }
    }

    private static func moment(_ hour: Int) -> Date {
        Date(timeIntervalSince1970: Double(origin) / 1_000 + Double(hour) * 3_600)
    }

    private static func place(_ step: Int) -> Geometry {
        Point(x: Double(step) * 10, y: 0, spatialReference: .webMercator)
    }

    /// Adds, updates and deletes at random, several of one feature in one batch too.
    private static func live(_ store: any FeatureStore, steps: Int, seed: UInt64) async throws -> Diary {
        var diary = Diary(generator: SeededGenerator(seed: seed))
        for step in 1...steps {
            var state = diary.states[step - 1]
            var edits = LayerEdits(layerID: 0)
            var deleted: [FeatureIdentifier] = []
            for number in 0..<Int.random(in: 1...3, using: &diary.generator) {
                edits.adds.append(
                    FeatureEdit(
                        attributes: [("species", .text("new \(step).\(number)"))], geometry: .geometry(place(step))))
            }
            var left = state.keys.sorted().shuffled(using: &diary.generator)
            for _ in 0..<min(left.count, Int.random(in: 0...4, using: &diary.generator)) {
                guard let id = left.popLast() else { break }
                if Bool.random(using: &diary.generator) {
                    edits.updates.append(
                        FeatureEdit(
                            objectID: id, attributes: [("species", .text("changed \(step)"))],
                            geometry: .geometry(place(step))))
                    state[id] = "changed \(step)"
                    // Now and then it is deleted in the generation that changed it.
                    guard Int.random(in: 0..<4, using: &diary.generator) == 0 else { continue }
                }
                deleted.append(.objectID(id))
                state[id] = nil
            }
            edits.deletes = .features(deleted)
            let result = try await store.apply(
                EditBatch(layers: [edits], moment: diary.moment(step)), to: Samples.name)
            try #require(!result.hasErrors)
            for (number, added) in (result.layers.first?.adds ?? []).enumerated() {
                let id = try #require(added.objectID)
                state[id] = "new \(step).\(number)"
            }
            diary.states.append(state)
        }
        return diary
    }

    private static func state(_ store: any FeatureStore, _ query: FeatureQuery) async throws -> State {
        let records = try await store.records(query, in: Samples.trees)
        return Dictionary(
            records.map { ($0.objectID, $0.attributes["species"]?.textValue ?? "") },
            uniquingKeysWith: { first, _ in
                first + " twice"
            })
    }

    @Test("Every state that was is answered, whole and through every question", arguments: [1, 7, 99] as [UInt64])
    func states(seed: UInt64) async throws {
        guard StoreKind.current == .geoPackage || seed == 7 else { return }
        let folder = try TemporaryFolder()
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(Samples.service)
        let steps = 40
        let diary = try await Self.live(store, steps: steps, seed: seed)
        for step in 0...steps {
            let expected = diary.states[step]
            // At the edit's moment, and half an hour later.
            for delay in [0, 1_800_000] as [Int64] {
                let moment = Self.origin + Int64(step) * 3_600_000 + delay
                let query = FeatureQuery(moment: moment)
                #expect(try await Self.state(store, query) == expected, "step \(step)")
                #expect(try await store.count(query, in: Samples.trees) == expected.count)
                #expect(try await store.objectIDs(query, in: Samples.trees) == expected.keys.sorted())
                var chosen = query
                chosen.condition = .like(
                    .field("species"), pattern: .literal(.string("new%")), escape: nil, negated: false)
                #expect(
                    try await Self.state(store, chosen) == expected.filter { $0.value.hasPrefix("new") })
            }
        }
        try await store.close()
    }

    @Test("Geometries, extents, pages and statistics are of the moment as well")
    func questions() async throws {
        let folder = try TemporaryFolder()
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(Samples.service)
        func edit(_ edits: LayerEdits, hour: Int) async throws {
            let result = try await store.apply(
                EditBatch(
                    layers: [edits], moment: Self.moment(hour)), to: Samples.name)
            try #require(!result.hasErrors)
        }
        func tree(_ id: Int64?, _ x: Double, _ stems: Int64) -> FeatureEdit {
            FeatureEdit(
                objectID: id, attributes: [("species", .text("Oak")), ("stems", .integer(stems))],
                geometry: .geometry(Point(x: x, y: 0, spatialReference: .webMercator)))
        }
        try await edit(LayerEdits(layerID: 0, adds: [tree(nil, 0, 1), tree(nil, 10, 2), tree(nil, 20, 3)]), hour: 1)
        try await edit(
            LayerEdits(
                layerID: 0, adds: [tree(nil, 500, 50)], updates: [tree(2, 1_000, 20)],
                deletes: .features([.objectID(3)])), hour: 2)
        let before = Self.origin + 3_600_000
        let extent = try await store.extent(FeatureQuery(moment: before), in: Samples.trees)
        #expect(extent.count == 3)
        #expect(extent.extent?.xMax == 20)
        var near = FeatureQuery(moment: before)
        near.spatialFilter = SpatialFilter(
            geometry: Envelope(xMin: 5, yMin: -1, xMax: 25, yMax: 1, spatialReference: .webMercator))
        #expect(try await store.objectIDs(near, in: Samples.trees) == [2, 3])
        near.moment = nil
        #expect(try await store.objectIDs(near, in: Samples.trees) == [])
        var page = FeatureQuery(
            returnsGeometry: false, order: [.init(expression: .field("stems"), isDescending: true)], offset: 1,
            limit: 1,
            moment: before)
        #expect(try await store.records(page, in: Samples.trees).map(\.objectID) == [2])
        page.moment = Self.origin + 2 * 3_600_000
        #expect(try await store.records(page, in: Samples.trees).map(\.objectID) == [2])
        page.offset = 0
        #expect(try await store.records(page, in: Samples.trees).map(\.objectID) == [4])
        let sum = StatisticsQuery(
            features: FeatureQuery(moment: before),
            statistics: [
                .init(kind: .sum, value: .field("stems"), field: FieldDefinition(name: "total", type: .double))
            ])
        var bytes: [UInt8] = []
        for try await piece in try await store.encodedStatistics(sum, in: Samples.trees, encoder: TextEncoder()) {
            bytes += piece
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "begin\n0=6.0\nend\n")
        try await store.close()
    }

    @Test("A moment before what the shortened log reaches is refused, not guessed")
    func shortenedLog() async throws {
        let folder = try TemporaryFolder()
        let store = try await Samples.replicaStore(in: folder)
        #expect(try await store.historyStart(in: Samples.trees) == -1)
        let diary = try await Self.live(store, steps: 12, seed: 5)
        #expect(try await store.historyStart(in: Samples.trees) == Self.origin + 3_600_000)
        let kept = diary.moment(7)
        let dropped = try await store.compactLog(of: Samples.name, silentSince: kept, olderThan: kept)
        #expect(dropped > 0)
        let first = try await store.historyStart(in: Samples.trees)
        let start = try #require(first)
        #expect(start == Self.origin + 6 * 3_600_000)
        #expect(try await Self.state(store, FeatureQuery(moment: start)) == diary.states[6])
        await #expect(throws: StoreError.self) {
            try await store.count(FeatureQuery(moment: start - 1), in: Samples.trees)
        }
        try await store.close()
    }
}
