import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Images of maps, read again by GDAL.
@Suite("Images of maps", .fewAtATime)
struct MapImageTests {
    /// A red square of 12 pixels at 96 to the inch.
    private static let square: JSONValue = [
        "type": "esriSMS", "style": "esriSMSSquare", "color": [255, 0, 0, 255], "size": 9,
    ]

    private static func drawn(_ symbol: JSONValue, labels: Bool = false) -> ServiceDefinition {
        var definition = TreesService.definition
        var info: JSONObject = ["renderer": ["type": "simple", "symbol": symbol]]
        if labels {
            info["labelingInfo"] = [
                [
                    "labelExpression": "[Name]", "labelPlacement": "esriServerPointLabelPlacementAboveCenter",
                    "symbol": ["type": "esriTS", "color": [0, 0, 255, 255], "font": ["size": 12]],
                ]
            ]
        }
        definition.layers[0].drawingInfo = .object(info)
        return definition
    }

    private static func export(
        _ server: TestServer, _ more: KeyValuePairs<String, String>
    ) async throws -> TestClient.Answer {
        let base = "f=image&bbox=-50,-50,50,50&size=100,100&format=png32&layers=show:0"
        return try await server.client.get("Trees/MapServer/export?\(base)&\(TestClient.form(more))")
    }

    /// The pixels of an image of red, green, blue and opacity, as GDAL reads it, row by row.
    private static func pixels(_ image: [UInt8]) async throws -> [[UInt8]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-image-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, raw) = (folder.appending(path: "a.png"), folder.appending(path: "a.bin"))
        try Data(image).write(to: source)
        let output = try await Tool.run(
            "gdal_translate", ["-q", "-of", "ENVI", "-co", "INTERLEAVE=BIP", source.path, raw.path])
        try #require(output.status == 0, "\(output.standardError)")
        let bytes = Array(try Data(contentsOf: raw))
        return stride(from: 0, to: bytes.count - 3, by: 4).map { Array(bytes[$0..<$0 + 4]) }
    }

    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let clear: [UInt8] = [0, 0, 0, 0]
    private static let white: [UInt8] = [255, 255, 255, 255]

    @Test(
        "A feature is drawn at its place in its symbol's colour, on white or on nothing",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
    func place() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(Self.drawn(Self.square))
            let opaque = try await Self.export(server, [:])
            #expect(opaque.header("Content-Type") == "image/png")
            let pixels = try await Self.pixels(opaque.body)
            try #require(pixels.count == 10_000)
            #expect(pixels[50 * 100 + 50] == Self.red)
            #expect(pixels[50 * 100 + 45] == Self.red)
            #expect(pixels[50 * 100 + 60] == Self.white)
            let transparent = try await Self.pixels(try await Self.export(server, ["transparent": "true"]).body)
            #expect(transparent[50 * 100 + 50] == Self.red)
            #expect(transparent[0] == Self.clear)
        }
    }

    @Test(
        "A swatch of the legend has the pixels that the image has of the symbol",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"),
        arguments: ["esriSMSCircle", "esriSMSSquare", "esriSMSDiamond", "esriSMSTriangle", "esriSMSCross", "esriSMSX"])
    func legend(style: String) async throws {
        let symbol: JSONValue = [
            "type": "esriSMS", "style": .string(style), "color": [30, 140, 60, 200], "size": 10, "angle": 20,
            "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": [20, 20, 20, 255], "width": 1],
        ]
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(Self.drawn(symbol))
            let json = try await server.client.get("Trees/MapServer/legend", ["f": "json"]).json
            let data = json["layers"]?.arrayValue?.first?["legend"]?.arrayValue?.first?["imageData"]?.stringValue
            let swatch = try await Self.pixels(Array(try #require(data.flatMap { Data(base64Encoded: $0) })))
            let image = try await Self.pixels(try await Self.export(server, ["transparent": "true"]).body)
            let part = (40..<60).flatMap { row in image[row * 100 + 40..<row * 100 + 60] }
            #expect(swatch.contains { $0[3] > 0 })
            #expect(swatch == Array(part))
        }
    }

    @Test("The extent is made larger where its sides are not as those of the image, and the answer says so")
    func extent() async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            let answer = try await server.client.get(
                "Trees/MapServer/export",
                ["bbox": "0,0,100,50", "size": "100,100", "format": "png32", "f": "json", "dpi": "96"])
            let json = try answer.json
            #expect(json["extent"]?["xmin"]?.doubleValue == 0)
            #expect(json["extent"]?["ymin"]?.doubleValue == -25)
            #expect(json["extent"]?["ymax"]?.doubleValue == 75)
            #expect(json["width"] == 100)
            let scale = try #require(json["scale"]?.doubleValue)
            #expect(abs(scale - 96 / 0.0254) < 1e-6)
            let address = try #require(json["href"]?.stringValue.flatMap { URL(string: $0) })
            let image = try await server.client.get(address.path)
            let same = try await server.client.get(
                "Trees/MapServer/export", ["bbox": "0,0,100,50", "size": "100,100", "format": "png32", "f": "image"])
            #expect(image.body == same.body)
            let other = try await server.client.get("/arcgis/rest/directories/output/\(UUID().uuidString)")
            #expect(other.errorCode == 404)
        }
    }

    @Test("layers, layerDefs and dynamicLayers choose what is drawn, and how")
    func choice() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(Self.drawn(Self.square))
            let all = try await Self.export(server, [:]).body
            let empty = try await Self.export(server, ["layers": "hide:0"]).body
            #expect(all != empty)
            #expect(try await Self.export(server, ["layerDefs": "0:Stems > 1"]).body == empty)
            #expect(try await Self.export(server, ["layerDefs": "{\"0\":\"Stems = 1\"}"]).body == all)
            func dynamic(_ more: String) async throws -> [UInt8] {
                let layers = "[{\"id\":0,\"source\":{\"type\":\"mapLayer\",\"mapLayerId\":0}\(more)}]"
                return try await Self.export(server, ["dynamicLayers": layers]).body
            }
            #expect(try await dynamic("") == all)
            #expect(try await dynamic(",\"definitionExpression\":\"Stems > 1\"") == empty)
            let blue = "{\"type\":\"esriSMS\",\"style\":\"esriSMSSquare\",\"color\":[0,0,255,255],\"size\":9}"
            let renderer = "{\"renderer\":{\"type\":\"simple\",\"symbol\":\(blue)}}"
            let recoloured = try await dynamic(",\"drawingInfo\":\(renderer)")
            #expect(recoloured != all)
            #expect(recoloured != empty)
        }
    }

    @Test("Labels are drawn above their features", .enabled(if: Tool.isInstalled("fc-list"), "there are no fonts"))
    func labels() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(Self.drawn(Self.square, labels: true))
            let labelled = try await Self.pixels(try await Self.export(server, [:]).body)
            let above = labelled[(20 * 100)..<(44 * 100)]
            #expect(above.contains { $0[2] > 200 && $0[0] < 100 }, "no blue letters above the square")
        }
    }

    @Test(
        "Each format is what it says",
        arguments: [
            ("png", "image/png", [0x89, 0x50] as [UInt8]), ("png8", "image/png", [0x89, 0x50]),
            ("png24", "image/png", [0x89, 0x50]), ("jpg", "image/jpeg", [0xFF, 0xD8]),
            ("svg", "image/svg+xml", Array("<?xml".utf8)), ("pdf", "application/pdf", Array("%PDF".utf8)),
        ])
    func formats(name: String, type: String, start: [UInt8]) async throws {
        try await TemporaryStore.serve(trees: 20) { server, store in
            try await store.updateService(Self.drawn(Self.square, labels: true))
            let answer = try await Self.export(server, ["format": name])
            #expect(answer.header("Content-Type") == type)
            #expect(answer.body.starts(with: start))
            guard type.hasPrefix("image/png") || type == "image/jpeg", Tool.isInstalled("gdalinfo") else { return }
            let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString).img")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(answer.body).write(to: file)
            let told = try await Tool.run("gdalinfo", [file.path])
            #expect(told.text.contains("Size is 100, 100"), "\(told.standardError)")
        }
    }

    @Test(
        "What can't be drawn is refused, by name",
        arguments: [
            ("size", "5000,10"), ("size", "0,10"), ("dpi", "0"), ("dpi", "10000"), ("format", "bmp"), ("bbox", "1,2"),
            ("layers", "0"), ("layers", "top:0"), ("rotation", "30"), ("dynamicLayers", "[{\"id\":7}]"),
            ("layerDefs", "0"),
        ])
    func refused(name: String, value: String) async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            let answer = try await Self.export(server, [name: value])
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains("'\(name)'"), "\(answer.text)")
        }
    }

    @Test("A client that has the image is told so, until a feature changes")
    func tags() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            func get(_ path: String, _ tag: String?) async throws -> TestClient.Answer {
                try await server.client.get(
                    path, headers: tag.map { [("If-None-Match", $0)] } ?? [("If-None-Match", "\"none\"")])
            }
            let paths = [
                "Trees/MapServer/export?f=image&bbox=-50,-50,50,50&size=64,64", "Trees/MapServer/tile/16/32767/32768",
            ]
            var tags: [String] = []
            for path in paths {
                let tag = try #require(try await get(path, nil).header("ETag"))
                #expect(try await get(path, tag).status == 304)
                tags.append(tag)
            }
            let edit = FeatureEdit(
                objectID: 1, attributes: [],
                geometry: .geometry(Point(x: 15, y: 5, spatialReference: .webMercator)))
            _ = try await store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [edit])], moment: TemporaryStore.moment),
                to: TreesService.name)
            for (path, tag) in zip(paths, tags) { #expect(try await get(path, tag).status == 200) }
        }
    }

    @Test("A tile of a feature service is an image of its square; where nothing is it is clear")
    func tile() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(Self.drawn(Self.square))
            let tile = try await server.client.get("Trees/MapServer/tile/16/32767/32768")
            #expect(tile.header("Content-Type") == "image/png")
            let elsewhere = try await server.client.get("Trees/MapServer/tile/16/100/100")
            #expect(elsewhere.body.starts(with: [0x89, 0x50]))
            #expect(tile.body != elsewhere.body)
            #expect(try await server.client.get("Trees/MapServer/tile/40/0/0").errorCode == 404)
        }
    }

    @Test("An image of a secured service needs a token, and its address none")
    func secured() async throws {
        try await PeopleServer.with { people in
            let path = "Trees/MapServer/export?f=json&bbox=-50,-50,50,50&size=64,64"
            #expect(try await people.get(path, [:], as: nil).errorCode == 499)
            let json = try await people.get(path, [:], as: "owner").json
            let address = try #require(json["href"]?.stringValue.flatMap { URL(string: $0) })
            let image = try await people.client.get(address.path)
            #expect(image.status == 200)
            #expect(image.body.starts(with: [0x89, 0x50]))
        }
    }
}
