import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Other programs and the same file", .fewAtATime)
struct ForeignToolTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore
    private var path: String { folder.url.appending(path: "Trees.gpkg").path }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.store(in: folder)
        _ = try await store.apply(
            Samples.batch(adds: [
                Samples.tree("Acer", x: 1, y: 2, [("condition", .text("good")), ("planted", .integer(1_000))]),
                Samples.tree("Quercus", x: 3, y: 4),
            ]), to: Samples.name)
    }

    @Test("GDAL opens the file as it stands and counts the same", .enabled(if: ShellTool.exists("ogrinfo")))
    func ogrinfo() throws {
        let report = try ShellTool.run("ogrinfo", ["-al", "-so", path])
        #expect(report.contains("Layer name: Trees"))
        #expect(report.contains("Geometry: Point"))
        #expect(report.contains("Feature Count: 2"))
        #expect(report.contains("ID[\"EPSG\",3857]"))
        #expect(report.contains("FID Column = OBJECTID"))
        #expect(report.contains("Layer name: Visits"))
        #expect(report.contains("planted: DateTime"))
        #expect(report.contains("stems: Integer(Int16)"))
        #expect(!report.contains("Layer name: fieldwork_"), "our own tables are not shown as layers")
        let features = try ShellTool.run("ogrinfo", ["-al", path, "Trees"])
        #expect(features.contains("POINT (1 2)"))
        #expect(features.contains("1970/01/01 00:00:01"))
    }

    @Test("GDAL warns of nothing in a file with feature layers alone", .enabled(if: ShellTool.exists("ogrinfo")))
    func noWarnings() async throws {
        let alone = folder.url.appending(path: "Alone.gpkg")
        var service = Samples.service
        service.layers = service.layers.filter { $0.geometryType != nil }.map { layer in
            var layer = layer
            layer.relationships = []
            return layer
        }
        let file = try await GeoPackageStore.createFile(
            at: alone, definition: service, options: GeoPackageFile.Options())
        _ = try await file.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 2)]))
        await file.close()
        for arguments in [["-al", "-so"], ["-al", "-ro"], ["-al", "-so", "-oo", "LIST_ALL_TABLES=YES"]] {
            let report = try ShellTool.run("ogrinfo", arguments + [alone.path])
            #expect(!report.contains("Warning"), "\(arguments): \(report)")
        }
        let listed = try ShellTool.run("ogrinfo", [alone.path]).split(separator: "\n")
        let tables = listed.filter { $0.contains(": ") && $0.first?.isNumber == true }
        #expect(tables.count == service.layers.count + 1, "\(listed)")
        #expect(try ShellTool.run("ogrinfo", ["-so", alone.path, "Trees"]).contains("Extent: (1.000000, 2.000000)"))
    }

    @Test("The extent that GDAL leaves after an append holds all features", .enabled(if: ShellTool.exists("ogr2ogr")))
    func appendedExtent() async throws {
        let source = folder.url.appending(path: "far.geojson")
        let text = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"species":"Ulmus"},"geometry":{"type":"Point","coordinates":[0.001,0.001]}}]}
            """
        try Data(text.utf8).write(to: source)
        try await store.close()
        _ = try ShellTool.run(
            "ogr2ogr", ["-update", "-append", "-t_srs", "EPSG:3857", "-nln", "Trees", path, source.path])
        let report = try ShellTool.run("ogrinfo", ["-so", path, "Trees"])
        #expect(report.contains("Extent: (1.000000, 2.000000) - (111."), "\(report)")
    }

    @Test("GDAL finds the domain of a field", .enabled(if: ShellTool.exists("ogrinfo")))
    func ogrinfoDomain() throws {
        let report = try ShellTool.run("ogrinfo", ["-fielddomain", "fieldwork_0_condition", path])
        #expect(report.contains("good"))
        #expect(report.contains("Poor"))
    }

    @Test(
        "Rows that GDAL adds are in counts, index, change log, and get global ids",
        .enabled(if: ShellTool.exists("ogr2ogr")))
    func ogr2ogr() async throws {
        let source = folder.url.appending(path: "more.geojson")
        let text = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"species":"Ulmus","stems":2},"geometry":{"type":"Point","coordinates":[0.001,0.001]}},
            {"type":"Feature","properties":{"species":"Fagus","stems":3},"geometry":{"type":"Point","coordinates":[0.002,0.002]}}]}
            """
        try Data(text.utf8).write(to: source)
        _ = try ShellTool.run(
            "ogr2ogr", ["-update", "-append", "-t_srs", "EPSG:3857", "-nln", "Trees", path, source.path])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 4)
        let near = FeatureQuery(
            spatialFilter: SpatialFilter(geometry: Envelope(xMin: 100, yMin: 100, xMax: 300, yMax: 300)))
        #expect(try await store.objectIDs(near, in: Samples.trees) == [3, 4])
        let changes = try await store.changes(after: 1, in: Samples.trees, limit: 10)
        #expect(changes.map(\.operation) == [.add, .add])
        #expect(Set(changes.map(\.generation)).count == 2, "each row of another program is a generation")
        let ids = try await store.records(near, in: Samples.trees).compactMap(\.globalID)
        #expect(Set(ids).count == 2)
        #expect(try await store.check() == [])
    }

    @Test(
        "An edit by SQL of another program is logged with what it replaced", .enabled(if: ShellTool.exists("ogrinfo")))
    func ogrSQL() async throws {
        _ = try ShellTool.run(
            "ogrinfo", [path, "-sql", "UPDATE Trees SET species = 'Tilia' WHERE OBJECTID = 1"])
        _ = try ShellTool.run("ogrinfo", [path, "-sql", "UPDATE Trees SET stems = stems"])
        let changes = try await store.changes(after: 1, in: Samples.trees, limit: 10)
        #expect(changes.count == 1, "a statement that changes nothing is no change")
        #expect(changes.first?.operation == .update)
        #expect(changes.first?.changedFields == ["species"])
        #expect(changes.first?.globalID != nil)
        let versions = try await store.history(of: .objectID(1), in: Samples.trees)
        #expect(versions.map { $0.record.attributes["species"] } == [.text("Acer")])
        #expect(versions.first?.editor == nil)
        let record = try await store.records(FeatureQuery(objectIDs: [1]), in: Samples.trees).first
        #expect(record?.attributes["species"] == .text("Tilia"))
        #expect(try await store.check() == [])
    }

    @Test(
        "A program with no functions at all edits a table, and it is logged", .enabled(if: ShellTool.exists("sqlite3")))
    func plainSQLite() async throws {
        _ = try ShellTool.run(
            "sqlite3",
            [
                path,
                "INSERT INTO Visits (remark) VALUES ('seen'), ('gone'); UPDATE Visits SET remark = 'cut' WHERE OBJECTID = 2; DELETE FROM Visits WHERE OBJECTID = 1",
            ])
        let changes = try await store.changes(after: 1, in: Samples.visits, limit: 10)
        #expect(changes.map(\.operation) == [.add, .add, .update, .delete])
        #expect(changes.map(\.generation) == [2, 3, 4, 5])
        #expect(try await store.count(FeatureQuery(), in: Samples.visits) == 1)
        let versions = try await store.history(of: .objectID(1), in: Samples.visits)
        #expect(versions.map { $0.record.attributes["remark"] } == [.text("seen")])
        #expect(try await store.check() == [])
    }

    @Test(
        "A GeoPackage that GDAL made is published in place and can be edited", .enabled(if: ShellTool.exists("ogr2ogr"))
    )
    func attach() async throws {
        let source = folder.url.appending(path: "lines.geojson")
        let text = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"name":"a","size":5},"geometry":{"type":"LineString","coordinates":[[0,0],[1,1]]}},
            {"type":"Feature","properties":{"name":"b","size":7},"geometry":{"type":"LineString","coordinates":[[2,2],[3,1]]}}]}
            """
        try Data(text.utf8).write(to: source)
        let file = folder.url.appending(path: "elsewhere.data")
        _ = try ShellTool.run("ogr2ogr", ["-f", "GPKG", file.path, source.path, "-nln", "paths"])
        let name = ServiceName(name: "Paths")
        try await store.attach(file: file, as: name)
        #expect(try await store.serviceNames().map(\.name) == ["Paths", "Trees"])
        let layer = try #require(try await store.service(name).layers.first)
        #expect(layer.geometryType == .polyline)
        #expect(layer.objectIDField == "fid")
        #expect(layer.globalIDField == "GlobalID")
        #expect(layer.fields.map(\.type) == [.oid, .string, .integer, .globalID])
        let address = LayerAddress(service: name, layerID: 0)
        let line = Polyline(points: [Point(x: 5, y: 5), Point(x: 6, y: 7)], spatialReference: .wgs84)
        let result = try await store.apply(
            Samples.batch(
                adds: [FeatureEdit(attributes: [("name", .text("c"))], geometry: .geometry(line))],
                deletes: [.objectID(1)]), to: name)
        #expect(result.hasErrors == false)
        #expect(try await store.count(FeatureQuery(), in: address) == 2)
        let filter = SpatialFilter(geometry: Envelope(xMin: 5.4, yMin: 5, xMax: 5.6, yMax: 7))
        #expect(try await store.objectIDs(FeatureQuery(spatialFilter: filter), in: address) == [3])
        #expect(try await store.check() == [])
        let report = try ShellTool.run("ogrinfo", ["-al", "-so", file.path])
        #expect(report.contains("Feature Count: 2"))
    }
}
