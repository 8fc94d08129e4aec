import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Replicas with `dataFormat=sqlite`: a GeoPackage that the server makes.
@Suite("Replicas as files", .fewAtATime, .everyStore)
struct ReplicaFileTests {
    private func create(_ client: TestClient, _ extra: KeyValuePairs<String, String>) async throws -> TestClient.Answer
    {
        var form: [(String, String)] = [
            ("f", "json"), ("layers", "0,1"), ("dataFormat", "sqlite"), ("syncModel", "perLayer"),
        ]
        form += extra.map { ($0.key, $0.value) }
        let body = form.map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }.joined(separator: "&")
        return try await client.send(
            "POST", "createReplica", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
    }

    private static let byURL: KeyValuePairs = ["transportType": "esriTransportTypeUrl"]

    private func withFile(
        _ extra: KeyValuePairs<String, String>,
        _ body: (GeoPackageFile, JSONValue, WholeStore, TestClient) async throws -> Void
    ) async throws {
        try await SyncService.serve { client, store in
            let answer = try await create(client, extra).json
            let address = try #require(answer["resultUrl"]?.stringValue.flatMap(URL.init(string:)))
            #expect(address.pathExtension == "gpkg")
            let download = try await client.get("replicafiles/\(address.lastPathComponent)")
            #expect(download.header("content-type") == "application/geopackage+sqlite3")
            let url = FileManager.default.temporaryDirectory.appending(path: "replica-\(UUID().uuidString).gpkg")
            try Data(download.body).write(to: url)
            let file = try await GeoPackageFile.open(at: url)
            try await body(file, answer, store, client)
            await file.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        }
    }

    @Test("The file holds the rows with their ids, is whole and says which replica it is")
    func wholeService() async throws {
        try await withFile(Self.byURL) { file, answer, store, _ in
            #expect(try await file.check() == [])
            let trees = try await file.records(FeatureQuery(), in: 0)
            let own = try await store.records(FeatureQuery(), in: LayerAddress(service: SyncService.name, layerID: 0))
            #expect(trees == own && trees.count == 3)
            #expect(try await file.count(FeatureQuery(), in: 1) == 3)
            // Nothing is an edit of the device yet, and everything that it does from here on is one.
            #expect(try await file.changes(after: 0, in: 0, limit: 10).isEmpty)
            let note = try #require(try await file.note(ReplicaAnswer.fileNote))
            let document = try JSONParser.parse(note)
            #expect(document["replicaID"] == answer["replicaID"])
            #expect(document.generation() == 1 && answer.generation() == 1)
            let edit = FeatureEdit(
                attributes: [("Name", .text("New"))],
                geometry: .geometry(Point(x: 7, y: 7, spatialReference: .webMercator)))
            let result = try await file.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: [edit])], moment: TemporaryStore.moment))
            #expect(result.layers.first?.adds.first?.objectID == 4)
            #expect(try await file.changes(after: 0, in: 0, limit: 10).count == 1)
            let box = Envelope(xMin: 6, yMin: 6, xMax: 8, yMax: 8, spatialReference: .webMercator)
            #expect(try await file.count(FeatureQuery(spatialFilter: SpatialFilter(geometry: box)), in: 0) == 1)
            #expect(try await file.check() == [])
        }
    }

    @Test("An area and conditions choose the rows, and related rows come with them")
    func area() async throws {
        try await withFile([
            "transportType": "esriTransportTypeUrl", "geometry": "-10,-10,110,10",
            "geometryType": "esriGeometryEnvelope", "inSR": "102100",
            "layerQueries": #"{"0":{"queryOption":"useFilter","useGeometry":true,"where":"Name <> 'Tree 0'"}}"#,
        ]) { file, _, store, client in
            let trees = try await file.records(FeatureQuery(), in: 0)
            #expect(trees.map { $0.attributes["Name"] } == [.text("Tree 1")])
            let notes = try await file.records(FeatureQuery(), in: 1)
            #expect(notes.map { $0.attributes["Note"] } == [.text("Note 1")])
            #expect(try await file.count(FeatureQuery(), in: 0) == 1)
            // The replica is one like any other: what changes from here on comes as a delta.
            _ = try await client.post(
                "0/updateFeatures", ["f": "json", "features": #"[{"attributes":{"OBJECTID":2,"Height":7}}]"#])
            let replica = try #require(try await store.replicas(of: SyncService.name).first)
            let answer = try await client.post(
                "synchronizeReplica",
                [
                    "f": "json", "replicaID": replica.definition.id.uuidString, "syncDirection": "download",
                    "syncLayers": #"[{"id":0,"serverGen":1,"syncDirection":"download"}]"#,
                    "transportType": "esriTransportTypeEmbedded",
                ])
            #expect(try answer.json.element("edits", 0)?["features"]?["updates"]?.names == ["Tree 1"])
        }
    }

    @Test("GDAL reads the file as it stands", .enabled(if: Tool.isInstalled("ogrinfo"), "GDAL is not installed."))
    func foreignReader() async throws {
        try await withFile(Self.byURL) { file, _, _, _ in
            let output = try await Tool.run("ogrinfo", ["-ro", "-al", "-so", file.url.path])
            #expect(output.text.contains("Feature Count: 3"))
            #expect(output.text.contains("Extent: (0.000000, 0.000000) - (200.000000, 0.000000)"))
        }
    }

    @Test("A file in an answer, or geometries that a copy can't give, are refused, and no replica stays")
    func refusals() async throws {
        try await SyncService.serve { client, store in
            let embedded = try await create(client, ["transportType": "esriTransportTypeEmbedded"])
            #expect(embedded.errorCode == 400 && embedded.text.contains("transportType"))
            let projected = try await create(client, ["transportType": "esriTransportTypeUrl", "replicaSR": "4326"])
            #expect(projected.errorCode == 400 && projected.text.contains("replicaSR"))
            #expect(try await store.replicas(of: SyncService.name).isEmpty)
            for name in ["../x.gpkg", "x.gpkg", "\(UUID()).sqlite", "%2e%2e%2fField.gpkg"] {
                #expect(try await client.get("replicafiles/\(name)").errorCode != nil)
            }
        }
    }
}
