import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// How the features of a box are found in a file's R-tree.
@Suite("Candidates of a box", .fewAtATime)
struct CandidateListTests {
    private let folder: TemporaryFolder
    private var places: [(x: Double, y: Double)] = []

    init() throws {
        folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: 5)
        // Enough for a tree with nodes between its root and its leaves.
        places = (0..<5_000).map { _ in
            (Double.random(in: -100...100, using: &generator), Double.random(in: -100...100, using: &generator))
        }
    }

    private func filled() async throws -> GeoPackageStore {
        let store = try await Samples.store(in: folder)
        _ = try await store.apply(
            Samples.batch(adds: places.map { Samples.tree("Tree", x: $0.x, y: $0.y) }), to: Samples.name)
        return store
    }

    private func query(_ box: Envelope) -> FeatureQuery {
        FeatureQuery(spatialFilter: SpatialFilter(geometry: box), outFields: ["OBJECTID"])
    }

    private func ids(_ box: Envelope, _ store: GeoPackageStore) async throws -> [Int64] {
        try await store.lines(query(box)).compactMap { $0.firstMatch(of: #/^0=(\d+)/#).flatMap { Int64($0.output.1) } }
    }

    @Test("They are those that a look at each point finds, in the order of their ids, also after edits")
    func same() async throws {
        let store = try await filled()
        var places = places
        var generator = SeededGenerator(seed: 6)
        for round in 0..<40 {
            let side = Double.random(in: 0...60, using: &generator)
            let (x, y) = (
                Double.random(in: -100...70, using: &generator), Double.random(in: -100...70, using: &generator)
            )
            let expected = places.indices.filter {
                (x...x + side).contains(places[$0].x) && (y...y + side).contains(places[$0].y)
            }.map { Int64($0 + 1) }
            #expect(try await ids(Envelope(xMin: x, yMin: y, xMax: x + side, yMax: y + side), store) == expected)
            // The next round finds this one where it is now.
            let moved = Int.random(in: places.indices, using: &generator)
            places[moved] = (Double(round), Double(round))
            let geometry = Point(x: Double(round), y: Double(round), spatialReference: .webMercator)
            _ = try await store.apply(
                Samples.batch(updates: [FeatureEdit(objectID: Int64(moved + 1), geometry: .geometry(geometry))]),
                to: Samples.name)
        }
        #expect(try await ids(Envelope(xMin: 500, yMin: 500, xMax: 501, yMax: 501), store).isEmpty)
    }

    @Test(
        "An index whose nodes lead round in a circle, or are cut, is an error and no endless walk",
        arguments: [true, false])
    func damaged(isCircle: Bool) async throws {
        try await filled().close()
        let file = try #require(
            FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
                .first { $0.pathExtension == "gpkg" })
        let connection = try StoreConnection(path: file.path, mode: .readWrite)
        let table = try #require(
            try connection.text("SELECT name FROM sqlite_master WHERE name LIKE 'rtree\\_%\\_node' ESCAPE '\\'"))
        let hex = try #require(try connection.text("SELECT hex(data) FROM \"\(table)\" WHERE nodeno = 1"))
        // The first cell of the root leads to the root itself; or all after its head is gone.
        let node = isCircle ? hex.prefix(8) + "0000000000000001" + hex.dropFirst(24) : hex.prefix(8)
        try connection.execute("UPDATE \"\(table)\" SET data = X'\(node)' WHERE nodeno = 1")
        let store = try await GeoPackageStore.open(at: folder.url)
        var errors = 0
        for x in stride(from: -100.0, to: 100, by: 20) {
            for y in stride(from: -100.0, to: 100, by: 20) {
                do {
                    _ = try await ids(Envelope(xMin: x, yMin: y, xMax: x + 20, yMax: y + 20), store)
                } catch let error as StoreError {
                    #expect(error.code == .corrupt, "\(error)")
                    errors += 1
                }
            }
        }
        #expect(errors > 0)
        try await store.close()
    }
}
