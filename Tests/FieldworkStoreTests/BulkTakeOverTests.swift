import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Taking over many features of a service", .fewAtATime)
struct BulkTakeOverTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        url = folder.url.appending(path: "cache.gpkg")
        file = try await GeoPackageStore.createFile(
            at: url, definition: Samples.service, options: .init(keepsObjectIDs: true))
    }

    /// Whole rows, as a cache gets them. Each tenth has no place.
    private static func rows(_ ids: Range<Int64>, species: String = "oak") -> [FeatureEdit] {
        ids.map { id in
            let values: [String: AttributeValue] = [
                "species": .text(species), "height": id % 3 == 0 ? .integer(id % 100) : .real(Double(id) / 8),
                "stems": .integer(1), "planted": .integer(1_767_323_045_678),
            ]
            let place = Point(x: Double(id), y: -Double(id), spatialReference: .webMercator)
            return FeatureEdit(
                objectID: id,
                globalID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(id / 256), UInt8(id % 256))),
                attributes: Samples.treeFields.map { ($0.name, values[$0.name] ?? .null) },
                geometry: id % 10 == 0 ? .null : .geometry(place))
        }
    }

    private func take(_ rows: [FeatureEdit]) async throws -> EditBatchResult {
        try await file.apply(Samples.batch(adds: rows, origin: .cache))
    }

    /// What the file's tables, indexes and triggers are, in words.
    private func schema() throws -> [String] {
        try StoreConnection(path: url.path, mode: .readOnly)
            .texts("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master").sorted()
    }

    private func count(in box: Envelope) async throws -> Int {
        try await file.count(
            FeatureQuery(spatialFilter: SpatialFilter(geometry: box, relation: .intersects)), in: 0)
    }

    @Test("Rows, places and counts are as if each had come alone; nothing is logged; the file's triggers are as before")
    func manyRows() async throws {
        let before = try schema()
        #expect(!(try await take(Self.rows(1..<501)).hasErrors))
        #expect(try schema() == before)
        #expect(try await file.count(FeatureQuery(), in: 0) == 500)
        #expect(try await file.records(FeatureQuery(), in: 0).count == 500)
        let box = Envelope(xMin: 100.5, yMin: -120.5, xMax: 120.5, yMax: -100.5, spatialReference: .webMercator)
        #expect(try await count(in: box) == 18, "two of twenty have no place")
        #expect(try await file.changes(after: 0, in: 0, limit: 10).isEmpty)
        #expect(try await file.generation() == 0)
        #expect(try await file.check() == [])
        let third = try #require(try await file.records(FeatureQuery(objectIDs: [3]), in: 0).first)
        #expect(third.attributes["height"] == .real(3) && third.attributes["planted"] == .integer(1_767_323_045_678))
        // An edit afterwards is logged like any other.
        _ = try await file.apply(Samples.batch(adds: [Samples.tree("new", x: 110, y: -110)]))
        #expect(try await file.changes(after: 0, in: 0, limit: 10).count == 1)
        #expect(try await count(in: box) == 19)
        await file.close()
    }

    @Test("Rows that are known are replaced among those that are new, and counted once")
    func knownRows() async throws {
        let before = try schema()
        _ = try await take(Self.rows(1..<301))
        #expect(!(try await take(Self.rows(151..<601, species: "elm")).hasErrors))
        #expect(try schema() == before)
        #expect(try await file.count(FeatureQuery(), in: 0) == 600)
        let species = try await file.records(FeatureQuery(), in: 0).map { $0.attributes["species"] }
        #expect(species == Array(repeating: .text("oak"), count: 150) + Array(repeating: .text("elm"), count: 450))
        #expect(try await file.check() == [])
        await file.close()
    }

    @Test("A trigger that another program made sees each row")
    func foreignTrigger() async throws {
        let connection = try StoreConnection(path: url.path, mode: .readWrite)
        try connection.execute("CREATE TABLE seen (id INTEGER)")
        try connection.execute(
            "CREATE TRIGGER theirs AFTER INSERT ON Trees BEGIN INSERT INTO seen VALUES (NEW.OBJECTID); END")
        let before = try schema()
        _ = try await take(Self.rows(1..<401))
        #expect(try connection.integer("SELECT count(*) FROM seen") == 400)
        #expect(try schema() == before)
        await file.close()
    }

    @Test("When one can't be taken none is, and the triggers are there again")
    func refused() async throws {
        let before = try schema()
        var rows = Self.rows(1..<301)
        rows[250].geometry = .geometry(Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .webMercator))
        #expect(try await take(rows).hasErrors)
        #expect(try schema() == before)
        #expect(try await file.count(FeatureQuery(), in: 0) == 0)
        #expect(try await file.check() == [])
        await file.close()
    }
}
