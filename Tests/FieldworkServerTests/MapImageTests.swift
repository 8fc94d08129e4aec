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
    private static func export(
        _ server: TestServer, _ more: KeyValuePairs<String, String>
    ) async throws -> TestClient.Answer {
        let base = "f=image&bbox=-50,-50,50,50&size=100,100&format=png32&layers=show:0"
        return try await server.client.get("Trees/MapServer/export?\(base)&\(TestClient.form(more))")
    }

    @Test(
        "A feature is drawn at its place in its symbol's colour, on white or on nothing",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
    func place() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square))
            let opaque = try await Self.export(server, [:])
            #expect(opaque.header("Content-Type") == "image/png")
            let pixels = try await MapImages.pixels(opaque.body)
            try #require(pixels.count == 10_000)
            #expect(pixels[50 * 100 + 50] == MapImages.red)
            #expect(pixels[50 * 100 + 45] == MapImages.red)
            #expect(pixels[50 * 100 + 60] == MapImages.white)
            let transparent = try await MapImages.pixels(try await Self.export(server, ["transparent": "true"]).body)
            #expect(transparent[50 * 100 + 50] == MapImages.red)
            #expect(transparent[0] == MapImages.clear)
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
            try await store.updateService(MapImages.drawn(symbol))
            let json = try await server.client.get("Trees/MapServer/legend", ["f": "json"]).json
            let data = json["layers"]?.arrayValue?.first?["legend"]?.arrayValue?.first?["imageData"]?.stringValue
            let swatch = try await MapImages.pixels(Array(try #require(data.flatMap { Data(base64Encoded: $0) })))
            let image = try await MapImages.pixels(try await Self.export(server, ["transparent": "true"]).body)
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
            try await store.updateService(MapImages.drawn(MapImages.square))
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

    @Test(
        "A layer that is half transparent is drawn in half its opacity",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
    func transparency() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            var definition = MapImages.drawn(MapImages.square)
            var info = try #require(definition.layers[0].drawingInfo?.objectValue)
            info["transparency"] = 60
            definition.layers[0].drawingInfo = .object(info)
            try await store.updateService(definition)
            let image = try await Self.export(server, ["transparent": "true"])
            let pixels = try await MapImages.pixels(image.body)
            #expect(pixels[50 * 100 + 50] == [255, 0, 0, 102])
            #expect(pixels[0] == MapImages.clear)
        }
    }

    @Test("Labels are drawn above their features", .enabled(if: Tool.isInstalled("fc-list"), "there are no fonts"))
    func labels() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square, labels: true))
            let labelled = try await MapImages.pixels(try await Self.export(server, [:]).body)
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
            try await store.updateService(MapImages.drawn(MapImages.square, labels: true))
            let answer = try await Self.export(server, ["format": name])
            #expect(answer.header("Content-Type") == type)
            #expect(answer.body.starts(with: start))
        }
    }

    @Test(
        "GDAL reads the images of pixels in their size",
        .enabled(if: Tool.isInstalled("gdalinfo"), "gdal-bin is not installed"),
        arguments: ["png", "png8", "png24", "png32", "jpg"])
    func readable(name: String) async throws {
        try await TemporaryStore.serve(trees: 20) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square, labels: true))
            let answer = try await Self.export(server, ["format": name])
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
            ("layers", "0"), ("layers", "top:0"), ("rotation", "north"), ("dynamicLayers", "[{\"id\":7}]"),
            ("layerDefs", "0"),
        ])
    func refused(name: String, value: String) async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            let answer = try await Self.export(server, [name: value])
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains("'\(name)'"), "\(answer.text)")
        }
    }

    @Test(
        "A symbol with numbers of any size is drawn as far as it can be",
        arguments: ["esriSMS", "esriPMS", "esriSLS", "esriSFS", "esriPFS"], [1e308, -1e308, 1e-308])
    func immense(type: String, number: Double) async throws {
        let size = JSONValue.number(number)
        let symbol: JSONValue = [
            "type": .string(type), "size": size, "width": size, "height": size, "angle": size, "xoffset": size,
            "yoffset": size, "color": [size, size, size, size],
            "outline": ["type": "esriSLS", "style": "esriSLSDot", "color": [0, 0, 0, 255], "width": size],
            "imageData": .string(
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
        ]
        try await TemporaryStore.serve(trees: 3) { server, store in
            try await store.updateService(MapImages.drawn(symbol))
            for (format, start) in [("png32", [0x89, 0x50] as [UInt8]), ("svg", Array("<?xml".utf8))] {
                let answer = try await Self.export(server, ["format": format])
                #expect(answer.body.starts(with: start), "\(answer.text.prefix(300))")
            }
            let legend = try await server.client.get("Trees/MapServer/legend", ["f": "json", "size": "30,30"])
            #expect(legend.errorCode == nil, "\(legend.text.prefix(300))")
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
            try await store.updateService(MapImages.drawn(MapImages.square))
            let tile = try await server.client.get("Trees/MapServer/tile/16/32767/32768")
            #expect(tile.header("Content-Type") == "image/png")
            let elsewhere = try await server.client.get("Trees/MapServer/tile/16/100/100")
            #expect(elsewhere.body.starts(with: [0x89, 0x50]))
            #expect(tile.body != elsewhere.body)
            #expect(try await server.client.get("Trees/MapServer/tile/40/0/0").errorCode == 404)
        }
    }

    @Test("Nothing shows a feature that the layer leaves out, nor a layer that may not be read")
    func withheld() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            func images() async throws -> [[UInt8]] {
                let map =
                    "/arcgis/services/Trees/MapServer/WMSServer?SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=Trees"
                let box = "SRS=EPSG:3857&BBOX=-50,-50,50,50&WIDTH=100&HEIGHT=100&FORMAT=image/png"
                let dynamic = "[{\"id\":5,\"source\":{\"type\":\"mapLayer\",\"mapLayerId\":0}}]"
                return [
                    try await Self.export(server, [:]).body,
                    try await Self.export(server, ["dynamicLayers": dynamic, "layers": "show:5"]).body,
                    try await server.client.get("Trees/MapServer/tile/16/32767/32768").body,
                    try await server.client.get("\(map)&\(box)").body,
                ]
            }
            try await store.updateService(MapImages.drawn(MapImages.square))
            let whole = try await images()
            var view = MapImages.drawn(MapImages.square)
            view.layers[0].unknownMembers["definitionExpression"] = "Stems > 1"
            try await store.updateService(view)
            let left = try await images()
            for (before, after) in zip(whole, left) {
                #expect(before != after)
                #expect(after.starts(with: [0x89, 0x50]))
            }
            #expect(left[0] == left[1])
            view.layers[0].capabilities = []
            try await store.updateService(view)
            for answer in try await images() { #expect(!answer.starts(with: [0x89, 0x50])) }
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
