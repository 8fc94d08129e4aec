import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The administrative operations, requested as the vendor's Python client does: JSON in one field of a form.
@Suite("Administration", .fewAtATime)
struct AdministrationTests {
    private static let service = "/arcgis/rest/admin/services/Trees/FeatureServer"

    /// Runs a test against a server whose administration is on.
    private static func serve(
        trees: Int = 2, _ test: (TestClient, GeoPackageStore, _ key: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-key-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "key")
        let key = try AdministrationKey.writeNew(to: file)
        let configuration = ServerConfiguration(
            port: 0, definitionLifetime: .seconds(3_600), administrationKey: try AdministrationKey(file: file))
        try await TemporaryStore.serve(trees: trees, configuration: configuration) { server, store in
            try await test(server.client, store, key)
        }
    }

    private static func post(
        _ client: TestClient, _ path: String, _ operation: String, _ json: JSONValue, key: String
    ) async throws -> TestClient.Answer {
        try await client.post(
            "\(service)\(path)/\(operation)", [operation: json.text, "f": "json", "token": key])
    }

    @Test("It is off without a key, and shut without the right one")
    func authorization() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            let off = try await server.client.post("\(Self.service)/0/truncate", ["f": "json", "token": "x"])
            #expect(off.errorCode == 403)
            #expect(
                try await store.count(FeatureQuery(), in: LayerAddress(service: TreesService.name, layerID: 0)) == 1)
        }
        try await Self.serve { client, store, key in
            #expect(try await client.post("\(Self.service)/0/truncate", ["f": "json"]).errorCode == 499)
            #expect(
                try await client.post("\(Self.service)/0/truncate", ["f": "json", "token": key + "0"]).errorCode == 498)
            let get = try await client.get("\(Self.service)/0/truncate", ["f": "json", "token": key])
            #expect(get.errorCode == 405, "a link must not empty a layer")
            #expect(
                try await store.count(FeatureQuery(), in: LayerAddress(service: TreesService.name, layerID: 0)) == 2)
            let layer = try await client.get("\(Self.service)/0", ["f": "json", "token": key])
            #expect(try layer.json["name"] == "Trees")
        }
    }

    @Test("A definition is not changed with another key, however like the right one it is")
    func definitionsAreShut() async throws {
        try await Self.serve { client, _, key in
            let before = try await client.get("Trees/FeatureServer/0", ["f": "json"]).json
            for wrong in [String(key.dropLast()), key.uppercased(), key + key, "x"] {
                let answer = try await Self.post(
                    client, "/0", "updateDefinition", ["description": "changed"], key: wrong)
                #expect(answer.errorCode == 498, "\(wrong.count) characters")
            }
            #expect(try await client.get("Trees/FeatureServer/0", ["f": "json"]).json == before)
        }
    }

    @Test("The key's file holds no key, belongs to its owner, and is not written over")
    func keyFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-key-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let key = try AdministrationKey.writeNew(to: file)
        #expect(key.count == 64)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains(key))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(throws: CocoaError.self) { try AdministrationKey.writeNew(to: file) }
        #expect(try AdministrationKey(file: file).opens(with: key))
        try Data(key.utf8).write(to: file)
        #expect(throws: AdministrationKey.MalformedFile.self) { try AdministrationKey(file: file) }
    }

    @Test("Fields are added, changed and removed, and the next request sees it")
    func fields() async throws {
        try await Self.serve { client, store, key in
            let address = LayerAddress(service: TreesService.name, layerID: 0)
            let before = try await store.generation(of: TreesService.name)
            let query = "Trees/FeatureServer/0/query?where=1%3D1&outFields=*&f=json"
            let browser = [("User-Agent", "Mozilla/5.0")]
            let tag = try #require(try await client.get(query, headers: browser).header("ETag"))
            let added = try await Self.post(
                client, "/0", "addToDefinition",
                ["fields": [["name": "Crown", "type": "esriFieldTypeDouble", "alias": "Crown width"]]], key: key)
            #expect(try added.json["success"] == true, "\(added.text)")
            #expect(try await store.generation(of: TreesService.name) == before + 1)
            let stale = try await client.get(query, headers: browser + [("If-None-Match", tag)])
            #expect(stale.status == 200)
            #expect(stale.text.contains("\"Crown\""))

            let edit = try await client.post(
                "Trees/FeatureServer/0/updateFeatures",
                ["features": #"[{"attributes":{"OBJECTID":1,"Crown":4.5}}]"#, "f": "json"])
            #expect(edit.text.contains("\"success\":true"))
            let updated = try await Self.post(
                client, "/0", "updateDefinition",
                ["fields": [["name": "Crown", "alias": "Width"]], "minScale": 50_000], key: key)
            #expect(try updated.json["success"] == true, "\(updated.text)")
            let layer = try await client.get("Trees/FeatureServer/0?f=json").json
            #expect(layer["minScale"]?.doubleValue == 50_000)
            let crown = layer["fields"]?.arrayValue?.first { $0["name"] == "Crown" }
            #expect(crown?["alias"] == "Width")

            let removed = try await Self.post(
                client, "/0", "deleteFromDefinition", ["fields": [["name": "Crown"]]], key: key)
            #expect(try removed.json["success"] == true, "\(removed.text)")
            #expect(try await !client.get(query).text.contains("Crown"))
            #expect(try await store.history(of: .objectID(1), in: address).count == 2)
            #expect(try await store.check() == [])
        }
    }

    @Test("Layers and tables are added with what they lack, and removed with the ways to them")
    func layers() async throws {
        try await Self.serve { client, store, key in
            let added = try await Self.post(
                client, "", "addToDefinition",
                [
                    "layers": [
                        [
                            "name": "Benches", "type": "Feature Layer", "geometryType": "esriGeometryPoint",
                            "extent": [
                                "xmin": 0, "ymin": 0, "xmax": 1, "ymax": 1, "spatialReference": ["wkid": 4326],
                            ],
                            "fields": [["name": "Kind", "type": "esriFieldTypeString", "length": 20]],
                        ]
                    ],
                    "tables": [["name": "Notes", "fields": [["name": "Text", "type": "esriFieldTypeString"]]]],
                ], key: key)
            #expect(try added.json["layers"]?.arrayValue?.map { $0["id"]?.integerValue } == [2, 3], "\(added.text)")
            let bench = try await client.post(
                "Trees/FeatureServer/2/addFeatures",
                ["features": #"[{"attributes":{"Kind":"oak"},"geometry":{"x":0.5,"y":0.5}}]"#, "f": "json"])
            #expect(bench.text.contains("\"success\":true"), "\(bench.text)")
            let root = try await client.get("Trees/FeatureServer?f=json").json
            #expect(root["tables"]?.arrayValue?.map { $0["name"] } == ["Inspections", "Notes"])

            let removed = try await Self.post(
                client, "", "deleteFromDefinition", ["layers": [["id": "2"]], "tables": [["id": 3]]], key: key)
            #expect(try removed.json["success"] == true, "\(removed.text)")
            #expect(try await client.get("Trees/FeatureServer/2?f=json").errorCode == 404)
            let again = try await Self.post(
                client, "", "addToDefinition",
                ["tables": [["name": "Notes", "fields": [["name": "Text", "type": "esriFieldTypeString"]]]]], key: key)
            #expect(try again.json["layers"]?.arrayValue?.first?["id"] == 4, "ids are not given twice: \(again.text)")
            #expect(try await store.check() == [])
        }
    }

    @Test(
        "What can't be is told with its place, and nothing changes",
        arguments: [
            ("/0", "addToDefinition", #"{"fields":[{"name":"Height","type":"esriFieldTypeDouble"}]}"#, "height"),
            (
                "/0", "addToDefinition", #"{"fields":[{"name":"X","type":"esriFieldTypeNothing"}]}"#,
                "layers[0].fields[8]"
            ),
            ("/0", "updateDefinition", #"{"definitionExpression":"Nothing > 3"}"#, "layers[0].definitionExpression"),
            ("/0", "updateDefinition", #"{"definitionQuery":"Nothing > 3"}"#, "layers[0].definitionQuery"),
            ("/0", "updateDefinition", #"{"displayField":"Nothing","maxRecordCount":0}"#, "layers[0].maxRecordCount"),
            ("/0", "updateDefinition", #"{"fields":[{"name":"Stems","type":"esriFieldTypeDouble"}]}"#, "Stems"),
            ("/0", "updateDefinition", #"{"geometryType":"esriGeometryPolygon"}"#, "geometry type"),
            ("/0", "deleteFromDefinition", #"{"fields":[{"name":"OBJECTID"}]}"#, "objectIdField"),
            ("/0", "deleteFromDefinition", #"{"fields":[{"name":"None"}]}"#, "none"),
            ("", "updateDefinition", #"{"capabilities":"Query,Fly"}"#, "Fly"),
            ("", "deleteFromDefinition", #"{"layers":[{"id":9}]}"#, "9"),
            ("", "addToDefinition", "[]", "addToDefinition"),
        ])
    func refused(_ path: String, _ operation: String, _ json: String, _ hint: String) async throws {
        try await Self.serve { client, store, key in
            let before = try await store.service(TreesService.name)
            let answer = try await client.post(
                "\(Self.service)\(path)/\(operation)", [operation: json, "f": "json", "token": key])
            #expect(answer.errorCode.map { (400..<500).contains($0) } == true, "\(answer.text)")
            #expect(answer.text.contains(hint), "\(answer.text)")
            #expect(try await store.service(TreesService.name) == before)
        }
    }

    @Test("A definition expression holds for every query, and a layer is emptied with its history kept")
    func expressionAndTruncate() async throws {
        try await Self.serve(trees: 10) { client, store, key in
            let address = LayerAddress(service: TreesService.name, layerID: 0)
            let set = try await Self.post(
                client, "/0", "updateDefinition", ["definitionExpression": "Stems > 7"], key: key)
            #expect(try set.json["success"] == true, "\(set.text)")
            let path = "Trees/FeatureServer/0"
            #expect(try await client.get("\(path)/query?where=1%3D1&returnCountOnly=true&f=json").json["count"] == 3)
            #expect(try await client.get("\(path)/query?objectIds=1,9&returnCountOnly=true&f=json").json["count"] == 1)
            #expect(try await client.get("\(path)/1?f=json").errorCode == 404)
            // Layers of the protocol call it otherwise; both hold.
            let both = try await Self.post(
                client, "/0", "updateDefinition", ["definitionQuery": "Stems < 10"], key: key)
            #expect(try both.json["success"] == true, "\(both.text)")
            #expect(try await client.get("\(path)/query?where=1%3D1&returnCountOnly=true&f=json").json["count"] == 2)
            let deleted = try await client.post("\(path)/deleteFeatures", ["where": "1=1", "f": "json"])
            #expect(deleted.errorCode == nil)
            #expect(try await store.count(FeatureQuery(), in: address) == 8, "what is not seen is not deleted")

            let busy = try await client.post(
                "\(Self.service)/0/truncate", ["async": "true", "token": key, "f": "json"])
            #expect(busy.errorCode == 400)
            let empty = try await client.post("\(Self.service)/0/truncate", ["token": key, "f": "json"])
            #expect(try empty.json["success"] == true, "\(empty.text)")
            #expect(try await store.count(FeatureQuery(), in: address) == 0)
            #expect(try await store.history(of: .objectID(1), in: address).first?.endedBy == .delete)
            let refreshed = try await client.post("\(Self.service)/refresh", ["token": key, "f": "json"])
            #expect(try refreshed.json["success"] == true)
        }
    }
}
