import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Map service face", .fewAtATime)
struct MapServiceTests {
    @Test("The root lists the same layers, and the images that are drawn")
    func root() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let map = try await server.client.get("Trees/MapServer", ["f": "json"]).json
            let features = try await server.client.get("Trees/FeatureServer", ["f": "json"]).json
            #expect(map["layers"] == features["layers"])
            #expect(map["tables"] == features["tables"])
            #expect(map["fullExtent"] == features["fullExtent"])
            #expect(map["capabilities"] == "Map,Query,Data")
            #expect(map["supportedImageFormatTypes"] == "PNG32,PNG24,PNG8,PNG,JPG,SVG,PDF")
            #expect(map["singleFusedMapCache"] == false)
            #expect(map["mapName"] == "Trees")
            let layers = try await server.client.get("Trees/MapServer/layers", ["f": "json"]).json
            #expect(layers["layers"]?.arrayValue?.count == 1)
            #expect(layers["tables"]?.arrayValue?.count == 1)
        }
    }

    @Test("A layer shows its fields and nothing of editing")
    func layer() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let map = try await server.client.get("Trees/MapServer/0", ["f": "json"]).json
            let features = try await server.client.get("Trees/FeatureServer/0", ["f": "json"]).json
            #expect(map["fields"] == features["fields"])
            #expect(map["extent"] == features["extent"])
            #expect(map["capabilities"] == "Map,Query,Data")
            #expect(map["templates"] == nil)
            #expect(map["allowGeometryUpdates"] == nil)
            #expect(features["allowGeometryUpdates"] != nil)
        }
    }

    @Test("query answers as under the feature service")
    func query() async throws {
        try await TemporaryStore.serve(trees: 50) { server, _ in
            let asked: KeyValuePairs = ["where": "Stems > 40", "outFields": "*", "f": "json"]
            let map = try await server.client.get("Trees/MapServer/0/query", asked)
            let features = try await server.client.get("Trees/FeatureServer/0/query", asked)
            #expect(map.body == features.body)
            #expect(try map.json["features"]?.arrayValue?.count == 10)
            let one = try await server.client.get("Trees/MapServer/0/3", ["f": "json"]).json
            #expect(one["feature"]?["attributes"]?["Stems"] == 3)
        }
    }

    @Test(
        "Nothing can be edited or packed",
        arguments: [
            "0/addFeatures", "0/applyEdits", "applyEdits", "exportTiles", "generateKml", "0/deleteFeatures",
        ])
    func refused(path: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let answer = try await server.client.post(
                "Trees/MapServer/\(path)", ["f": "json", "where": "1=1", "adds": "[]"])
            #expect(answer.errorCode == 400)
            let count = try await server.client.get(
                "Trees/MapServer/0/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try count.json["count"] == 3)
        }
    }

    // MARK: identify

    /// The map shows 1000 by 1000 metres on as many pixels.
    private static let map: [(name: String, value: String)] = [
        ("f", "json"), ("mapExtent", "0,0,1000,1000"), ("imageDisplay", "1000,1000,96"), ("tolerance", "3"),
        ("geometryType", "esriGeometryPoint"),
    ]

    private static func identify(
        _ server: TestServer, _ more: KeyValuePairs<String, String>
    ) async throws -> TestClient.Answer {
        let base = map.map { "\($0.name)=\(TestClient.escape($0.value))" }.joined(separator: "&")
        return try await server.client.get("Trees/MapServer/identify?\(base)&\(TestClient.form(more))")
    }

    @Test("identify finds what is within the tolerance, under aliases and as text")
    func identify() async throws {
        try await TemporaryStore.serve(trees: 50) { server, _ in
            let answer = try await Self.identify(server, ["geometry": "22,1", "layers": "all"]).json
            let results = try #require(answer["results"]?.arrayValue)
            #expect(results.count == 1)
            let result = try #require(results.first)
            #expect(result["layerName"] == "Trees")
            #expect(result["value"] == "Tree 3")
            #expect(result["displayFieldName"] == "Name")
            #expect(result["attributes"]?["Common name"] == "Tree 3")
            #expect(result["attributes"]?["Stems"] == "3")
            #expect(result["attributes"]?["Planted"] == "2020-09-13T12:26:40Z")
            #expect(result["geometry"]?["x"]?.doubleValue == 20)
            #expect(result["geometry"]?["spatialReference"]?["latestWkid"] == 3_857)
            let none = try await Self.identify(server, ["geometry": "25,5", "layers": "all"]).json
            #expect(none["results"] == [])
        }
    }

    @Test("identify answers stored names and values when asked, in the reference of sr")
    func identifyRaw() async throws {
        try await TemporaryStore.serve(trees: 50) { server, _ in
            let json = try await server.client.get(
                "Trees/MapServer/identify",
                [
                    "f": "json", "geometry": "{\"x\":0.00018,\"y\":0}", "sr": "4326", "tolerance": "1",
                    "mapExtent": "-0.01,-0.01,0.01,0.01", "imageDisplay": "600,600,96", "returnFieldName": "true",
                    "returnUnformattedValues": "true", "layerDefs": "{\"0\":\"Stems = 3\"}",
                ]
            ).json
            let results = try #require(json["results"]?.arrayValue)
            #expect(results.count == 1)
            #expect(results.first?["attributes"]?["Name"] == "Tree 3")
            #expect(results.first?["attributes"]?["Stems"] == 3)
            let x = try #require(results.first?["geometry"]?["x"]?.doubleValue)
            #expect(abs(x - 0.000179663) < 1e-8)
        }
    }

    @Test(
        "identify refuses what is missing and what it can't do, by name",
        arguments: [
            ("tolerance", ""), ("mapExtent", "1,1"), ("imageDisplay", "600"), ("geometry", ""), ("layers", "some"),
            ("dynamicLayers", "[{\"id\":0}]"), ("time", "1,2"), ("gdbVersion", "SDE.Mine"), ("layerDefs", "0"),
        ])
    func identifyRefuses(name: String, value: String) async throws {
        try await TemporaryStore.serve { server, _ in
            let answer = try await Self.identify(server, ["geometry": "22,1", name: value])
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains("'\(name)'"))
        }
    }

    @Test("A layer outside of its range of scales is not identified")
    func scales() async throws {
        try await TemporaryStore.serve(trees: 5) { server, store in
            var definition = TreesService.definition
            // A metre a pixel is about one to 3780.
            definition.layers[0].minScale = 3_000
            try await store.updateService(definition)
            let far = try await Self.identify(server, ["geometry": "0,0"])
            #expect(try far.json["results"] == [])
            definition.layers[0].minScale = 5_000
            try await store.updateService(definition)
            let near = try await Self.identify(server, ["geometry": "0,0"])
            #expect(try near.json["results"]?.arrayValue?.count == 1)
        }
    }

    // MARK: find

    @Test("find looks for a part of a value in any case, or for the whole value")
    func find() async throws {
        try await TemporaryStore.serve(trees: 20) { server, _ in
            func names(_ more: KeyValuePairs<String, String>) async throws -> [String] {
                let answer = try await server.client.get("Trees/MapServer/find", more)
                let results = try #require(try answer.json["results"]?.arrayValue, "\(answer.text)")
                return results.compactMap { $0["value"]?.stringValue }
            }
            let part = try await names(
                ["f": "json", "searchText": "tree 1", "layers": "0", "searchFields": "Name"])
            #expect(part.sorted() == (["Tree 1"] + (10...19).map { "Tree \($0)" }).sorted())
            let whole = try await names(
                ["f": "json", "searchText": "Tree 1", "layers": "0", "searchFields": "Name", "contains": "false"])
            #expect(whole == ["Tree 1"])
            let number = try await names(
                ["f": "json", "searchText": "17", "layers": "0", "contains": "false", "searchFields": "Stems"])
            #expect(number == ["17"])
            let literal = try await names(["f": "json", "searchText": "%", "layers": "0"])
            #expect(literal.isEmpty)
        }
    }

    @Test("find refuses a request without a text or without layers")
    func findRefuses() async throws {
        try await TemporaryStore.serve { server, _ in
            let noText = try await server.client.get("Trees/MapServer/find", ["f": "json", "layers": "0"])
            #expect(noText.errorCode == 400)
            #expect(noText.text.contains("'searchText'"))
            let noLayers = try await server.client.get("Trees/MapServer/find", ["f": "json", "searchText": "a"])
            #expect(noLayers.errorCode == 400)
            #expect(noLayers.text.contains("'layers'"))
        }
    }

    // MARK: legend

    @Test("legend draws a swatch for each symbol, and serves it at its own address")
    func legend() async throws {
        try await TemporaryStore.serve { server, store in
            var definition = TreesService.definition
            func marker(_ color: JSONValue) -> JSONValue {
                ["type": "esriSMS", "style": "esriSMSSquare", "color": color, "size": 9]
            }
            definition.layers[0].drawingInfo = [
                "renderer": [
                    "type": "uniqueValue", "field1": "Species",
                    "uniqueValueInfos": [
                        ["value": "Oak", "label": "Oaks", "symbol": marker([255, 0, 0, 255])],
                        ["value": "Lime", "label": "Limes", "symbol": marker([0, 0, 255, 128])],
                    ],
                    "defaultSymbol": marker([9, 9, 9, 255]), "defaultLabel": "Others",
                ]
            ]
            try await store.updateService(definition)
            let json = try await server.client.get("Trees/MapServer/legend", ["f": "json"]).json
            #expect(json["layers"]?.arrayValue?.count == 1)
            let entries = try #require(json["layers"]?.arrayValue?.first?["legend"]?.arrayValue)
            #expect(entries.map { $0["label"] } == ["Oaks", "Limes", "Others"])
            #expect(entries.first?["values"] == ["Oak"])
            let url = try #require(entries.first?["url"]?.stringValue)
            let image = try await server.client.get("Trees/MapServer/0/images/\(url)")
            #expect(image.header("Content-Type") == "image/png")
            #expect(image.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(Data(image.body).base64EncodedString() == entries.first?["imageData"]?.stringValue)
            #expect(try await server.client.get("Trees/MapServer/0/images/other").errorCode == 404)
        }
    }
}
