import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// What maps ask for all day: the points of a box, in pages.
@Suite("Points of a box", .fewAtATime, .everyStore)
struct BoxQueryTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
    }

    @Test("They come in the order of their ids, whether a page holds all of them or there are more")
    func order() async throws {
        _ = try await store.apply(
            Samples.batch(adds: (0..<60).map { Samples.tree("Tree \($0)", x: Double($0 % 2) * 10, y: Double($0)) }),
            to: Samples.name)
        // In a database a row that is changed lies elsewhere from then on.
        for id in [41, 3, 27, 9, 55] as [Int64] {
            _ = try await store.apply(
                Samples.batch(updates: [FeatureEdit(objectID: id, attributes: [("species", .text("New \(id)"))])]),
                to: Samples.name)
        }
        let all = (0..<30).map { Int64(2 * $0 + 1) }
        for limit in [1, 29, 30, 31, nil] {
            var query = FeatureQuery(
                spatialFilter: SpatialFilter(geometry: Envelope(xMin: -1, yMin: -1, xMax: 1, yMax: 100)),
                outFields: ["species", "OBJECTID"])
            query.limit = limit
            let expected = Array(all.prefix(limit ?? .max))
            #expect(try await store.records(query, in: Samples.trees).map(\.objectID) == expected)
            var ordered = query
            ordered.order = [.init(expression: .field("OBJECTID"), isDescending: false)]
            #expect(try await store.records(ordered, in: Samples.trees).map(\.objectID) == expected)
            let lines = try await store.lines(query)
            let ids = lines.compactMap { $0.firstMatch(of: #/^0=(\d+)/#).flatMap { Int64($0.output.1) } }
            #expect(ids == expected, "\(lines)")
            #expect(lines.contains { $0.contains("New 41") } == expected.contains(41))
            #expect((lines.last?.contains("more") == true) == (limit.map { $0 < 30 } ?? false), "\(lines)")
        }
    }

    /// Sides that 32 bits don't hold, near zero and where Web Mercator has them.
    private static let boxes: [(Double, Double, Double, Double)] = [
        (0.1, 0.1, 0.7, 0.7), (-13_655_000.123, 5_700_000.456, -13_654_000.789, 5_700_900.987),
        (-0.1, -0.3, 0.1, 0.3), (1 / 3, 1 / 7, 1 / 3, 5 / 7), (2 / 3, 2 / 7, 2 / 3, 2 / 7),
        (16_777_217, 0.5, 16_777_219, 1.5),
    ]

    @Test("Those on a side are in it and those beside it are not, to the last bit")
    func sides() async throws {
        for (number, (xMin, yMin, xMax, yMax)) in Self.boxes.enumerated() {
            let columns = [xMin.nextDown, xMin, xMin.nextUp, (xMin + xMax) / 2, xMax.nextDown, xMax, xMax.nextUp]
            let rows = [yMin.nextDown, yMin, yMin.nextUp, (yMin + yMax) / 2, yMax.nextDown, yMax, yMax.nextUp]
            let places = columns.flatMap { x in rows.map { (x: x, y: $0) } }
            _ = try await store.apply(
                Samples.batch(adds: places.map { Samples.tree("Box \(number)", x: $0.x, y: $0.y) }), to: Samples.name)
            let first = Int64(49 * number + 1)
            let expected = places.indices.filter {
                (xMin...xMax).contains(places[$0].x) && (yMin...yMax).contains(places[$0].y)
            }.map { first + Int64($0) }
            try #require(!expected.isEmpty && expected.count < places.count)
            for relation in [SpatialFilter.Relation.intersects, .envelopeIntersects] {
                let box = Envelope(xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax)
                var query = FeatureQuery(spatialFilter: SpatialFilter(geometry: box, relation: relation))
                query.condition = .binary(.equal, .field("species"), .literal(.string("Box \(number)")))
                #expect(try await store.objectIDs(query, in: Samples.trees) == expected, "\(relation) \(number)")
                #expect(try await store.count(query, in: Samples.trees) == expected.count)
                query.limit = 1_000
                query.outFields = ["OBJECTID"]
                let lines = try await store.lines(query)
                let ids = lines.compactMap { $0.firstMatch(of: #/^0=(\d+)/#).flatMap { Int64($0.output.1) } }
                #expect(ids == expected, "\(relation) \(number)")
            }
        }
    }
}
