import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// A service's style and tiles, drawn by MapLibre's native renderer, beside the service's own images of the same place: two programs
/// that read one renderer.
@Suite(
    "Styles beside images, drawn by MapLibre Native", .fewAtATime,
    .enabled(if: NativeRenderer.isInstalled, "pymgl is not installed; run scripts/setup test"),
    .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
struct NativeStyleTests {
    /// Three layers: points, lines and areas, with a field of kinds from 1 to 3.
    private static func service(_ renderers: [JSONValue]) -> ServiceDefinition {
        let types: [LayerGeometryType] = [.point, .polyline, .polygon]
        return ServiceDefinition(
            name: ServiceName(name: "Looks"), maxRecordCount: 1_000, spatialReference: .webMercator,
            layers: types.enumerated().map { index, type in
                LayerDefinition(
                    id: index, name: "Layer \(index)", geometryType: type, spatialReference: .webMercator,
                    fields: [
                        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                        FieldDefinition(
                            name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                        FieldDefinition(name: "Kind", type: .integer),
                    ], globalIDField: "GlobalID",
                    drawingInfo: ["renderer": renderers[index]])
            })
    }

    private static let geometries: [[String]] = [
        (0..<9).map { "{\"x\":\(-110 + $0 % 3 * 60),\"y\":\(-90 + $0 / 3 * 60)}" },
        (0..<4).map { "{\"paths\":[[[\(-140),\(-120 + $0 * 70)],[0,\(-100 + $0 * 70)],[140,\(-60 + $0 * 60)]]]}" },
        (0..<3).map { number in
            let (west, south) = (-120 + number * 90, -100 + number * 50)
            return
                "{\"rings\":[[[\(west),\(south)],[\(west),\(south + 80)],[\(west + 70),\(south + 60)],[\(west),\(south)]]]}"
        },
    ]

    private static func marker(_ color: [Int], _ style: String = "esriSMSCircle") -> JSONValue {
        [
            "type": "esriSMS", "style": .string(style), "color": .array(color.map { JSONValue($0) }), "size": 15,
            "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": [20, 20, 20, 255], "width": 1.5],
        ]
    }

    private static func line(_ color: [Int], _ style: String = "esriSLSSolid") -> JSONValue {
        ["type": "esriSLS", "style": .string(style), "color": .array(color.map { JSONValue($0) }), "width": 4.5]
    }

    private static func area(_ color: [Int]) -> JSONValue {
        [
            "type": "esriSFS", "style": "esriSFSSolid", "color": .array(color.map { JSONValue($0) }),
            "outline": line([60, 60, 60, 255]),
        ]
    }

    private static func kinds(_ symbol: ([Int]) -> JSONValue) -> JSONValue {
        let colors = [[200, 30, 30, 255], [30, 140, 60, 255], [40, 60, 200, 255]]
        return [
            "type": "uniqueValue", "field1": "Kind",
            "uniqueValueInfos": .array(
                colors.enumerated().map { ["value": .string("\($0 + 1)"), "symbol": symbol($1)] }),
        ]
    }

    private static let nothing: JSONValue = ["type": "simple", "symbol": ["type": "esriSMS", "size": 0]]

    struct Look: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var layer: Int
        var renderer: JSONValue
    }

    private static let looks = [
        Look(testDescription: "circles of three kinds", layer: 0, renderer: kinds { marker($0) }),
        Look(testDescription: "squares", layer: 0, renderer: kinds { marker($0, "esriSMSSquare") }),
        Look(testDescription: "triangles", layer: 0, renderer: kinds { marker($0, "esriSMSTriangle") }),
        Look(
            testDescription: "sizes by a value", layer: 0,
            renderer: [
                "type": "simple", "symbol": marker([200, 30, 30, 255]),
                "visualVariables": [
                    [
                        "type": "sizeInfo", "field": "Kind",
                        "stops": [
                            ["value": 1, "size": 8], ["value": 3, "size": 28],
                        ],
                    ]
                ],
            ]),
        Look(
            testDescription: "a heat map", layer: 0,
            renderer: [
                "type": "heatmap", "field": "Kind", "radius": 30, "maxDensity": .number(3 / (.pi * 1_600) * 3),
                "colorStops": [["ratio": 0, "color": [255, 0, 0, 0]], ["ratio": 0.6, "color": [255, 0, 0, 255]]],
            ]),
        Look(testDescription: "lines", layer: 1, renderer: kinds { line($0) }),
        Look(testDescription: "areas with outlines", layer: 2, renderer: kinds { area($0) }),
    ]

    @Test("Each look covers the same pixels in the same colours", arguments: looks)
    func alike(_ look: Look) async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            var renderers = [JSONValue](repeating: Self.nothing, count: 3)
            renderers[look.layer] = look.renderer
            try await store.createService(Self.service(renderers))
            let features = Self.geometries[look.layer].enumerated().map { index, geometry in
                "{\"attributes\":{\"Kind\":\(index % 3 + 1)},\"geometry\":\(geometry)}"
            }
            let added = try await server.client.post(
                "Looks/FeatureServer/\(look.layer)/addFeatures",
                ["f": "json", "features": "[\(features.joined(separator: ","))]"])
            try #require(added.text.contains("\"success\":true"), "\(added.text)")
            // The library's tiles are 512 pixels wide: 256 pixels are half of one.
            let half = 20_037_508.342789244 / Double(1 << 16) / 2
            let own = try await server.client.get(
                "Looks/MapServer/export",
                [
                    "f": "image", "bbox": "\(-half),\(-half),\(half),\(half)", "size": "256,256", "format": "png32",
                    "transparent": "true",
                ])
            let drawn = try await MapImages.pixels(own.body)
            let address = "http://127.0.0.1:\(server.running.port)/arcgis/rest/services/Looks/VectorTileServer"
            let native = try await MapImages.pixels(
                try await NativeRenderer.image("\(address)/resources/styles/maplibre.json", zoom: 16))
            try #require(drawn.count == 65_536 && native.count == 65_536)
            try Self.compare(drawn, native)
        }
    }

    /// Edges are smoothed by each in its own way: a pixel counts as covered where it is so by more than half.
    private static func compare(_ own: [[UInt8]], _ native: [[UInt8]]) throws {
        let both = own.indices.filter { own[$0][3] > 127 && native[$0][3] > 127 }
        let either = own.indices.filter { own[$0][3] > 127 || native[$0][3] > 127 }
        try #require(either.count > 300, "hardly anything is drawn")
        #expect(Double(both.count) / Double(either.count) > 0.85, "\(both.count) of \(either.count) pixels")
        let distances = both.map { index in
            (0..<3).reduce(0) { $0 + abs(Int(own[index][$1]) - Int(native[index][$1])) }
        }
        #expect(Double(distances.reduce(0, +)) / Double(max(both.count, 1)) < 45, "the colours differ")
    }
}

/// MapLibre's native renderer, in the Python package pymgl.
enum NativeRenderer {
    private static let packages = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".fieldwork/native")

    static var isInstalled: Bool {
        Tool.isInstalled("python3")
            && FileManager.default.fileExists(atPath: packages.appending(path: "pymgl/__init__.py").path)
    }

    /// 256 by 256 pixels around the origin.
    private static let script = """
        import sys, urllib.request, pymgl
        with urllib.request.urlopen(sys.argv[1]) as answer: style = answer.read().decode()
        with open(sys.argv[3], "wb") as out:
            out.write(pymgl.Map(style, 256, 256, 1, 0, 0, float(sys.argv[2])).renderPNG())
        """

    /// - Parameter zoom: the library's level.
    static func image(_ style: String, zoom: Int) async throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-native-\(UUID().uuidString).png")
        defer { try? FileManager.default.removeItem(at: file) }
        // Drawn by the processor, without a screen.
        let output = try await Tool.run(
            "python3", ["-c", script, style, "\(zoom)", file.path],
            environment: ["PYTHONPATH": packages.path, "EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"])
        try #require(output.status == 0, "\(output.standardError)")
        return Array(try Data(contentsOf: file))
    }
}
