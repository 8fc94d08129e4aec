import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The Web Map Service, asked as its clients ask, and by GDAL's own.
@Suite("Web Map Service", .fewAtATime)
struct WMSTests {
    private static let path = "/arcgis/services/Trees/MapServer/WMSServer"

    /// A server with one red tree at the origin of Web Mercator.
    private static func serve(
        trees: Int = 1, _ test: @Sendable (TestServer, GeoPackageStore) async throws -> Void
    ) async throws {
        try await TemporaryStore.serve(trees: trees) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square))
            try await test(server, store)
        }
    }

    private static func get(
        _ server: TestServer, _ request: String, _ more: KeyValuePairs<String, String>
    ) async throws -> TestClient.Answer {
        try await server.client.get("\(path)?SERVICE=WMS&REQUEST=\(request)&\(TestClient.form(more))")
    }

    private static func map(
        _ server: TestServer, _ more: KeyValuePairs<String, String>
    ) async throws -> TestClient.Answer {
        try await server.client.get(
            "\(path)?SERVICE=WMS&REQUEST=GetMap&LAYERS=0&STYLES=&FORMAT=image/png&WIDTH=200&HEIGHT=100&\(TestClient.form(more))"
        )
    }

    @Test("Version 1.3.0 takes the latitude of EPSG:4326 first, version 1.1.1 and CRS:84 the longitude")
    func axisOrder() async throws {
        try await Self.serve { server, _ in
            let old = try await Self.map(
                server, ["VERSION": "1.1.1", "SRS": "EPSG:4326", "BBOX": "-0.002,-0.001,0.006,0.001"])
            let new = try await Self.map(
                server, ["VERSION": "1.3.0", "CRS": "EPSG:4326", "BBOX": "-0.001,-0.002,0.001,0.006"])
            let longitudeFirst = try await Self.map(
                server, ["VERSION": "1.3.0", "CRS": "CRS:84", "BBOX": "-0.002,-0.001,0.006,0.001"])
            #expect(old.header("Content-Type") == "image/png")
            #expect(old.body == new.body)
            #expect(old.body == longitudeFirst.body)
            let turned = try await Self.map(
                server, ["VERSION": "1.3.0", "CRS": "EPSG:4326", "BBOX": "-0.002,-0.001,0.006,0.001"])
            #expect(turned.body != new.body)
        }
    }

    @Test("A map shows what export shows of the same extent")
    func sameAsExport() async throws {
        try await Self.serve(trees: 50) { server, _ in
            let map = try await Self.map(
                server, ["VERSION": "1.3.0", "CRS": "EPSG:3857", "BBOX": "-100,-50,100,50", "TRANSPARENT": "TRUE"])
            let export = try await server.client.get(
                "Trees/MapServer/export",
                ["bbox": "-100,-50,100,50", "size": "200,100", "format": "png", "transparent": "true", "f": "image"])
            #expect(map.body == export.body)
        }
    }

    @Test(
        "The background has the colour that the client names",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
    func background() async throws {
        try await Self.serve { server, _ in
            let map = try await Self.map(
                server,
                [
                    "VERSION": "1.1.1", "SRS": "EPSG:3857", "BBOX": "-100,-50,100,50", "BGCOLOR": "0x0080FF",
                    "FORMAT": "image/png; mode=32bit",
                ])
            let pixels = try await MapImages.pixels(map.body)
            #expect(pixels[0] == [0, 128, 255, 255])
            #expect(pixels[50 * 200 + 100] == MapImages.red)
        }
    }

    @Test(
        "GDAL finds the layers in the capabilities, and reads a map in the order of axes of each version",
        .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"),
        arguments: [("1.1.1", "SRS=EPSG:4326"), ("1.3.0", "CRS=EPSG:4326"), ("1.3.0", "CRS=EPSG:3857")])
    func gdal(version: String, reference: String) async throws {
        try await Self.serve(trees: 50) { server, _ in
            let root = try #require(URL(string: server.client.base))
            let address = "http://\(try #require(root.host)):\(try #require(root.port))\(Self.path)"
            let told = try await Tool.run("gdalinfo", ["WMS:\(address)?VERSION=\(version)"])
            #expect(told.text.contains("SUBDATASET_1_DESC=Trees"), "\(told.text)\(told.standardError)")
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-wms-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let image = folder.appending(path: "map.png")
            let box = reference.hasSuffix("3857") ? "-100,-100,100,100" : "-0.001,-0.001,0.001,0.001"
            let dataset =
                "WMS:\(address)?SERVICE=WMS&VERSION=\(version)&REQUEST=GetMap&LAYERS=0&\(reference)&BBOX=\(box)&FORMAT=image/png"
            let read = try await Tool.run(
                "gdal_translate", ["-q", "-of", "PNG", "-outsize", "100", "100", dataset, image.path])
            try #require(read.status == 0, "\(read.standardError)")
            let middle = try await MapImages.pixels(Array(try Data(contentsOf: image)), bands: 3)[50 * 100 + 50]
            #expect(middle == [255, 0, 0])
        }
    }

    @Test("The capabilities tell each layer with its extents, in the order of axes of the version")
    func capabilities() async throws {
        try await Self.serve(trees: 50) { server, store in
            var definition = MapImages.drawn(MapImages.square)
            definition.layers[0].name = "Trees <&> \"shrubs\"\u{1}"
            definition.layers[0].minScale = 10_000
            try await store.updateService(definition)
            let new = try await Self.get(server, "GetCapabilities", [:])
            #expect(new.header("Content-Type")?.hasPrefix("text/xml") == true)
            #expect(new.text.contains("<Title>Trees &lt;&amp;&gt; &quot;shrubs&quot;</Title>"))
            #expect(new.text.contains("<CRS>CRS:84</CRS>"))
            #expect(
                new.text.contains(
                    "<BoundingBox CRS=\"EPSG:3857\" minx=\"0.0\" miny=\"0.0\" maxx=\"490.0\" maxy=\"0.0\"/>"))
            #expect(new.text.contains("<MaxScaleDenominator>9449"))
            let degrees = try #require(
                new.text.firstMatch(of: /CRS="EPSG:4326" minx="([^"]*)" miny="[^"]*" maxx="([^"]*)"/))
            #expect(Double(degrees.2) == 0, "the latitude does not stand first")
            let old = try await Self.get(server, "GetCapabilities", ["VERSION": "1.1.0"])
            #expect(old.text.contains("<WMT_MS_Capabilities version=\"1.1.1\""))
            #expect(old.text.contains("<SRS>EPSG:4326</SRS>"))
            #expect(XMLText.isWellFormed(new.body))
            #expect(XMLText.isWellFormed(old.body))
        }
    }

    @Test("The features at a pixel are told as text, as a page and as GeoJSON")
    func featureInfo() async throws {
        try await Self.serve { server, store in
            let edit = FeatureEdit(objectID: 1, attributes: [("Name", .text("<b>Elm</b>"))])
            _ = try await store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [edit])], moment: TemporaryStore.moment),
                to: TreesService.name)
            func info(_ format: String, _ column: String = "100") async throws -> TestClient.Answer {
                try await Self.get(
                    server, "GetFeatureInfo",
                    [
                        "VERSION": "1.3.0", "LAYERS": "0", "QUERY_LAYERS": "0", "CRS": "EPSG:3857",
                        "BBOX": "-100,-50,100,50", "WIDTH": "200", "HEIGHT": "100", "I": column, "J": "49",
                        "INFO_FORMAT": format, "FEATURE_COUNT": "5",
                    ])
            }
            let text = try await info("text/plain")
            #expect(text.text.contains("Common name = <b>Elm</b>"))
            let page = try await info("text/html")
            #expect(page.text.contains("<td>&lt;b&gt;Elm&lt;/b&gt;</td>"))
            #expect(page.header("Content-Security-Policy") != nil)
            let json = try await info("application/json").json
            let feature = try #require(json["features"]?.arrayValue?.first)
            #expect(feature["properties"]?["Name"] == "<b>Elm</b>")
            #expect(feature["geometry"]?["type"] == "Point")
            #expect(try await info("text/plain", "20").text.contains("No features"))
        }
    }

    @Test("A legend has a row for each class, and grows with its labels")
    func legend() async throws {
        try await Self.serve { server, store in
            func size() async throws -> (width: Int, height: Int) {
                let answer = try await Self.get(server, "GetLegendGraphic", ["LAYER": "0", "FORMAT": "image/png"])
                let head = answer.body.dropFirst(16).prefix(8).map(Int.init)
                try #require(answer.body.starts(with: [0x89, 0x50]) && head.count == 8, "\(answer.text)")
                return (head[2] << 8 | head[3], head[6] << 8 | head[7])
            }
            let one = try await size()
            var definition = MapImages.drawn(MapImages.square)
            let infos = ["Oak", "Lime tree of the southern avenue"].map { name -> JSONValue in
                ["value": .string(name), "label": .string(name), "symbol": MapImages.square]
            }
            definition.layers[0].drawingInfo = [
                "renderer": ["type": "uniqueValue", "field1": "Species", "uniqueValueInfos": .array(infos)]
            ]
            try await store.updateService(definition)
            let two = try await size()
            #expect(two.height == 2 * one.height)
            #expect(two.width > one.width || !Tool.isInstalled("fc-list"))
        }
    }

    @Test(
        "What can't be done is told in the standard's form",
        arguments: [
            ("LAYERS", "7", "LayerNotDefined"), ("STYLES", "pretty", "StyleNotDefined"),
            ("CRS", "EPSG:1", "InvalidCRS"),
            ("FORMAT", "image/x", "InvalidFormat"), ("WIDTH", "100000", "InvalidDimensionValue"),
            ("REQUEST", "GetMore", "OperationNotSupported"), ("LAYERS", "", "MissingParameterValue"),
            ("SERVICE", "WFS", "InvalidParameterValue"), ("BBOX", "1,2,3", nil), ("BBOX", "5,5,1,1", nil),
            ("BBOX", "nan,0,1,1", nil), ("TIME", "2024", nil), ("BGCOLOR", "red", nil), ("DPI", "100000", nil),
        ] as [(String, String, String?)])
    func exceptions(name: String, value: String, code: String?) async throws {
        try await Self.serve { server, _ in
            let answer = try await Self.map(
                server, ["VERSION": "1.3.0", "CRS": "EPSG:3857", "BBOX": "-1,-1,1,1", name: value])
            #expect(answer.header("Content-Type") == "text/xml;charset=utf-8")
            #expect(answer.text.contains("<ServiceExceptionReport version=\"1.3.0\""))
            let sign = code.map { "<ServiceException code=\"\($0)\">" } ?? "&#39;\(name)&#39;"
            #expect(answer.text.contains(sign), "\(answer.text)")
        }
    }

    @Test("A map of a secured service needs a token")
    func secured() async throws {
        try await PeopleServer.with { people in
            let path = "\(Self.path)?SERVICE=WMS&REQUEST=GetCapabilities"
            let refused = try await people.get(path, [:], as: nil)
            #expect(refused.text.contains("code=\"TokenRequired\""))
            let admitted = try await people.get(path, [:], as: "owner")
            #expect(admitted.text.contains("<WMS_Capabilities"))
        }
    }
}
