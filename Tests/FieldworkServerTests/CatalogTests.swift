import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Catalogue, services and layers", .fewAtATime)
struct CatalogTests {
    @Test("The server says who it is")
    func info() async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get("/arcgis/rest/info", ["f": "json"])
            #expect(answer.header("Content-Type") == "application/json;charset=UTF-8")
            let json = try answer.json
            #expect(json["currentVersion"] == .number(11.2))
            #expect(json["authInfo"]?["isTokenBasedSecurity"] == false)
        }
    }

    @Test("The catalogue lists folders and services; names in a folder include it")
    func catalog() async throws {
        try await TemporaryStore.serve { server, _ in
            let root = try await server.client.get("", ["f": "json"]).json
            #expect(root["folders"] == ["Old"])
            #expect(
                root["services"]?.arrayValue?.map { $0["name"] } == [
                    "Areas", "Areas", "Areas", "Trees", "Trees", "Trees",
                ])
            let folder = try await server.client.get("old/", ["f": "json"]).json
            #expect(folder["folders"] == [])
            #expect(
                folder["services"] == [
                    ["name": "Old/Archive", "type": "FeatureServer"], ["name": "Old/Archive", "type": "MapServer"],
                    ["name": "Old/Archive", "type": "VectorTileServer"],
                ])
            #expect(try await server.client.get("Nowhere", ["f": "json"]).errorCode == 404)
        }
    }

    @Test("A service lists its layers and tables, by GET and by POST", arguments: ["GET", "POST"])
    func service(method: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer =
                method == "GET"
                ? try await server.client.get("Trees/FeatureServer", ["f": "json"])
                : try await server.client.post("Trees/FeatureServer", ["f": "json"])
            let json = try answer.json
            #expect(json["layers"]?.arrayValue?.map { $0["id"] } == [0])
            #expect(json["tables"]?.arrayValue?.map { $0["name"] } == ["Inspections"])
            #expect(json["capabilities"]?.stringValue?.contains("Update") == true)
            #expect(json["maxRecordCount"]?.integerValue == 1_000)
            #expect(json["supportedQueryFormats"]?.stringValue?.contains("geoJSON") == true)
        }
    }

    @Test("A layer says what clients ask for")
    func layer() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let json = try await server.client.get("Trees/FeatureServer/0", ["f": "json"]).json
            #expect(json["type"] == "Feature Layer")
            #expect(json["objectIdField"] == "OBJECTID")
            #expect(json["globalIdField"] == "GlobalID")
            #expect(json["geometryType"] == "esriGeometryPoint")
            #expect(json["fields"]?.arrayValue?.count == 8)
            #expect(json["extent"]?["xmin"]?.doubleValue == 0)
            #expect(json["extent"]?["xmax"]?.doubleValue == 40)
            #expect(json["extent"]?["spatialReference"]?["latestWkid"]?.integerValue == 3_857)
            let table = try await server.client.get("Trees/FeatureServer/1", ["f": "json"]).json
            #expect(table["type"] == "Table")
        }
    }

    @Test("All layers and tables come at once")
    func layers() async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get("Trees/FeatureServer/layers", ["f": "json"]).json
            #expect(json["layers"]?.arrayValue?.map { $0["name"] } == ["Trees"])
            #expect(json["tables"]?.arrayValue?.map { $0["name"] } == ["Inspections"])
            let relationships = try await server.client.get("Trees/FeatureServer/relationships", ["f": "json"]).json
            #expect(relationships["relationships"] == [])
        }
    }

    @Test("A layer of a read-only service allows no more than the service")
    func capabilities() async throws {
        try await TemporaryStore.serve { server, _ in
            let json = try await server.client.get("Old/Archive/FeatureServer/0", ["f": "json"]).json
            #expect(json["capabilities"] == "Query")
        }
    }

    @Test("Addresses match without regard to case and extra slashes")
    func addresses() async throws {
        try await TemporaryStore.serve { server, _ in
            for path in [
                "/ARCGIS/rest/services/trees/featureserver/0/", "//arcgis//rest/Services/TREES//FeatureServer/0",
            ] {
                let json = try await server.client.get(path, ["F": "json"]).json
                #expect(json["name"] == "Trees")
            }
        }
    }

    @Test(
        "What does not exist is a clear error",
        arguments: [
            ("Nothing/FeatureServer", 404), ("Trees/FeatureServer/7", 404), ("Trees/FeatureServer/7/query", 404),
            ("Trees/FeatureServer/0/dance", 400), ("Trees/ImageServer", 404), ("Old/Archive/Deep/FeatureServer", 404),
            ("..%2F..%2Fetc/FeatureServer", 404), ("Trees/FeatureServer/0/%ZZ", 400),
        ])
    func unknown(path: String, code: Int) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get(path, ["f": "json"])
            #expect(answer.status == 200)
            #expect(answer.errorCode == code)
            let details = try answer.json["error"]?["details"]
            #expect(details?.arrayValue != nil)
        }
    }

    @Test(
        "An unknown format is refused",
        arguments: ["Trees/FeatureServer", "Trees/FeatureServer/0", "", "Trees/FeatureServer/0/query"])
    func unknownFormat(path: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get(path, ["f": "kmz"])
            #expect(answer.errorCode == 400)
        }
    }

    @Test("pjson is the same document, laid out")
    func pretty() async throws {
        try await TemporaryStore.serve { server, _ in
            let plain = try await server.client.get("Trees/FeatureServer/0", ["f": "json"])
            let pretty = try await server.client.get("Trees/FeatureServer/0", ["f": "pjson"])
            #expect(try plain.json == pretty.json)
            #expect(pretty.text.hasPrefix("{\n  \""))
        }
    }

    @Test("A changed definition is seen, and its tag changes")
    func changedDefinition() async throws {
        try await TemporaryStore.serve { server, store in
            let before = try await server.client.get("Trees/FeatureServer/0", ["f": "json"])
            var definition = TreesService.definition
            definition.layers[0].description = "Changed"
            try await store.updateService(definition)
            let after = try await server.client.get("Trees/FeatureServer/0", ["f": "json"])
            #expect(try after.json["description"] == "Changed")
            #expect(after.header("ETag") != before.header("ETag"))
        }
    }

    @Test(
        "A browser sees pages, with every value escaped",
        arguments: ["", "Old", "Trees/FeatureServer", "Trees/FeatureServer/0", "Trees/FeatureServer/0/query"])
    func pages(path: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await server.client.get(path, headers: [("Accept", "text/html,*/*;q=0.8")])
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "text/html;charset=utf-8")
            #expect(answer.header("Content-Security-Policy")?.contains("default-src 'none'") == true)
            #expect(answer.text.hasPrefix("<!DOCTYPE html>"))
            #expect(!answer.text.contains("Trees <of the> city"))
            if path == "Trees/FeatureServer/0" { #expect(answer.text.contains("Trees &lt;of the&gt; city")) }
        }
    }
}
