import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Loading a new file", .fewAtATime)
struct TableLoadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Fields alone, as a published table has them.
    private static var plain: ServiceDefinition {
        let fields = [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
            FieldDefinition(name: "name", type: .string, length: 10), FieldDefinition(name: "size", type: .double),
            FieldDefinition(name: "count", type: .integer, isNullable: false),
            FieldDefinition(name: "seen", type: .date),
            FieldDefinition(name: "kind", type: .string, length: 5, defaultValue: .text("tree")),
        ]
        return ServiceDefinition(
            name: ServiceName(name: "Plain"), spatialReference: .webMercator,
            layers: [
                LayerDefinition(
                    id: 0, name: "Plain", geometryType: .point, spatialReference: .webMercator, fields: fields,
                    globalIDField: "GlobalID")
            ])
    }

    private static func features(_ count: Int, seed: UInt64, _ isPlain: Bool) -> [FeatureEdit] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let point = Point(
                x: Double.random(in: -1e6...1e6, using: &generator),
                y: Double.random(in: -1e6...1e6, using: &generator),
                spatialReference: .webMercator)
            let attributes: [(name: String, value: AttributeValue)] =
                isPlain
                ? [
                    ("count", number % 50 == 7 ? .null : .integer(Int64(number))),
                    ("name", .text(number % 40 == 3 ? "longer than ten" : number % 40 == 4 ? "a\0b" : "n\(number)")),
                    (
                        "Size",
                        number % 3 == 0 ? .integer(5) : number % 30 == 1 ? .text("far") : .real(Double(number) / 8)
                    ),
                    ("seen", number % 5 == 0 ? .null : .integer(1_767_323_045_678)),
                ] : [("species", .text("oak")), ("height", .real(Double(number % 130)))]
            return FeatureEdit(attributes: attributes, geometry: number % 10 == 9 ? .null : .geometry(point))
        }
    }

    private func file(_ name: String, _ definition: ServiceDefinition) async throws -> GeoPackageFile {
        try await GeoPackageStore.createFile(at: folder.url.appending(path: "\(name).gpkg"), definition: definition)
    }

    /// Everything but the ids that differ between two files.
    private static func content(_ file: GeoPackageFile) throws -> [String: [String]] {
        let connection = try file.source.open(.readOnly)
        let layer = try file.layer(0)
        let columns = layer.columns.filter { $0.isStored && $0.name != layer.globalIDColumn }.map { quoted($0.name) }
        let geometry = layer.geometryColumn.map(quoted) ?? "NULL"
        func rows(_ sql: String) throws -> [String] { try connection.texts(sql) }
        return [
            "schema": try rows("SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY name"),
            "rows": try rows(
                """
                SELECT \(columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")) || hex(\(geometry))
                FROM \(quoted(layer.tableName)) ORDER BY \(quoted(layer.objectIDColumn))
                """),
            "log": try rows(
                """
                SELECT layer_id || ' ' || object_id || ' ' || generation || ' ' || operation || coalesce(changed_1, 'none')
                FROM fieldwork_changes ORDER BY generation, object_id
                """),
            "counts": try rows("SELECT layer_id || ' ' || row_count FROM fieldwork_counts ORDER BY layer_id"),
            "history": try rows("SELECT 'a row' FROM \(quoted(layer.historyTable))"),
            "extent": try rows(
                "SELECT quote(min_x) || quote(min_y) || quote(max_x) || quote(max_y) FROM gpkg_contents WHERE data_type = 'features'"
            ),
            "boxes": try rows(
                "SELECT id || ' ' || minx || ' ' || maxx || ' ' || miny || ' ' || maxy FROM \(index(layer)) ORDER BY id"
            ),
            "index": try rows("SELECT rtreecheck('main', '\(SpatialIndex(layer: layer)?.name ?? "")')"),
        ]
    }

    private static func index(_ layer: StoredLayer) -> String {
        SpatialIndex(layer: layer).map { quoted($0.name) } ?? ""
    }

    @Test(
        "Rows, refusals, log, counts, indexes and triggers are as if each row had come with the triggers at work",
        arguments: [true, false])
    func same(isPlain: Bool) async throws {
        var contents: [[String: [String]]] = []
        var refusals: [[String]] = []
        for isLoad in [true, false] {
            let file = try await file("\(isLoad)", isPlain ? Self.plain : Samples.service)
            if isLoad { try await file.beginLoad(bringsGlobalIDs: false) }
            var told: [String] = []
            for (round, count) in [700, 1, 300].enumerated() {
                var features = Self.features(count, seed: UInt64(round), isPlain)
                // Ids that the file brings, some of them lower than those that are there, one of them twice.
                if round == 2 {
                    for index in features.indices { features[index].objectID = Int64(2_000 - index) }
                    features[5].objectID = 2_000
                    features[6].objectID = 1
                }
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: features)], rollsBackOnFailure: false, moment: Samples.moment,
                    origin: .load)
                let result = try await file.apply(batch)
                told += result.layers[0].adds.map { "\($0.objectID ?? 0) \($0.error?.description ?? "")" }
            }
            if isLoad { try await file.endLoad() }
            #expect(try await file.check() == [])
            contents.append(try Self.content(file))
            refusals.append(told)
            await file.close()
        }
        #expect(refusals[0] == refusals[1])
        #expect(contents[0]["rows"]?.isEmpty == false && contents[0]["index"] == ["ok"])
        for (name, content) in contents[0] { #expect(content == contents[1][name], "\(name)") }
    }

    @Test("A global id that a load brings twice is refused for the second row alone, in one batch and in the next")
    func twice() async throws {
        let file = try await file("twice", Self.plain)
        try await file.beginLoad(bringsGlobalIDs: true)
        let id = UUID()
        func load(_ globalIDs: [UUID]) async throws -> [EditResult] {
            let adds = globalIDs.map { FeatureEdit(globalID: $0, attributes: [("count", .integer(1))]) }
            let batch = EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, rollsBackOnFailure: false,
                moment: Samples.moment, origin: .load)
            return try await file.apply(batch).layers[0].adds
        }
        #expect(try await load([id, UUID(), id]).map(\.isSuccess) == [true, true, false])
        #expect(try await load([UUID(), id]).map(\.isSuccess) == [true, false])
        try await file.endLoad()
        #expect(try await file.count(FeatureQuery(), in: 0) == 3)
        #expect(try await file.changes(after: 0, in: 0, limit: 10).count == 3)
        #expect(try await file.check() == [])
        await file.close()
    }

    @Test("Places at the ends of what numbers hold are loaded and indexed")
    func extremes() async throws {
        let file = try await file("extremes", Self.plain)
        try await file.beginLoad(bringsGlobalIDs: false)
        let ends = [-1.7e308, -1e39, -1, 0, .leastNonzeroMagnitude, 1e39, 1.7e308]
        let adds = ends.flatMap { x in
            ends.map { y in
                FeatureEdit(
                    attributes: [("count", .integer(1))],
                    geometry: .geometry(Point(x: x, y: y, spatialReference: .webMercator)))
            }
        }
        // More than the root of the index holds.
        let result = try await file.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds + adds)], moment: Samples.moment, origin: .load))
        #expect(!result.hasErrors)
        try await file.endLoad()
        #expect(try Self.content(file)["index"] == ["ok"])
        let middle = Envelope(xMin: -2, yMin: -2, xMax: 2, yMax: 2, spatialReference: .webMercator)
        #expect(try await file.count(FeatureQuery(spatialFilter: SpatialFilter(geometry: middle)), in: 0) == 18)
        await file.close()
    }

    @Test("Edits after a load are logged, and find their features in the index", arguments: [0, 1, 51, 52, 2_500])
    func edits(count: Int) async throws {
        let file = try await file("\(count)", Self.plain)
        try await file.beginLoad(bringsGlobalIDs: false)
        var features = Self.features(count, seed: 3, true)
        for index in features.indices { features[index].attributes = [("count", .integer(1))] }
        if count > 0 {
            let result = try await file.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: features)], moment: Samples.moment, origin: .load))
            #expect(!result.hasErrors)
        }
        try await file.endLoad()
        let box = Envelope(xMin: -2e5, yMin: -2e5, xMax: 3e5, yMax: 4e5, spatialReference: .webMercator)
        let query = FeatureQuery(spatialFilter: SpatialFilter(geometry: box))
        let inside = features.count {
            guard case .geometry(let place) = $0.geometry else { return false }
            return (-2e5...3e5).contains(place.extent.xMin) && (-2e5...4e5).contains(place.extent.yMin)
        }
        #expect(try await file.count(query, in: 0) == inside)
        let ids = try await file.objectIDs(FeatureQuery(), in: 0)
        let moved = Point(x: 1, y: 1, spatialReference: .webMercator)
        let gone = ids.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
        let movers = ids.enumerated().filter { $0.offset % 3 == 1 }.map(\.element)
        let generation = try await file.generation()
        let result = try await file.apply(
            Samples.batch(
                adds: (0..<60).map { _ in FeatureEdit(attributes: [("count", .integer(2))], geometry: .geometry(moved))
                },
                updates: movers.map { FeatureEdit(objectID: $0, geometry: .geometry(moved)) },
                deletes: gone.map { .objectID($0) }))
        #expect(!result.hasErrors)
        let changes = try await file.changes(after: generation, in: 0, limit: 10_000)
        #expect(changes.count == 60 + movers.count + gone.count)
        #expect(try await file.count(FeatureQuery(), in: 0) == count + 60 - gone.count)
        let atPlace = Envelope(xMin: 0.5, yMin: 0.5, xMax: 1.5, yMax: 1.5, spatialReference: .webMercator)
        let found = try await file.count(FeatureQuery(spatialFilter: SpatialFilter(geometry: atPlace)), in: 0)
        #expect(found == 60 + movers.count)
        #expect(try Self.content(file)["index"] == ["ok"])
        #expect(try await file.check() == [])
        await file.close()
    }
}
