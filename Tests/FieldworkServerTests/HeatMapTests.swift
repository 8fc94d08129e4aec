import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Images of layers whose points add up, read again by GDAL.
@Suite(
    "Heat maps in images", .fewAtATime,
    .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
struct HeatMapTests {
    /// 15 points are 20 pixels, at whose middle one point has a density of 3/(π · 20²).
    private static let peak = 3 / (Double.pi * 400)

    private static func definition(_ more: [String: JSONValue]) -> ServiceDefinition {
        var definition = TreesService.definition
        var renderer = JSONObject()
        renderer["type"] = "heatmap"
        renderer["colorStops"] = [["ratio": 0, "color": [0, 0, 255, 0]], ["ratio": 1, "color": [255, 0, 0, 255]]]
        for (name, value) in more { renderer[name] = value }
        definition.layers[0].drawingInfo = ["renderer": .object(renderer)]
        return definition
    }

    private static func pixels(_ server: TestServer, _ more: [String: String] = [:]) async throws -> [[UInt8]] {
        let parameters = [
            "f": "image", "bbox": "-50,-50,50,50", "size": "100,100", "format": "png32", "layers": "show:0",
            "transparent": "true",
        ].merging(more) { $1 }
        let query = parameters.map { "\($0.key)=\(TestClient.escape($0.value))" }.joined(separator: "&")
        let answer = try await server.client.get("Trees/MapServer/export?\(query)")
        return try await MapImages.pixels(answer.body)
    }

    private static func add(_ places: [(x: Double, y: Double, stems: Int)], to server: TestServer) async throws {
        let features = places.map {
            "{\"attributes\":{\"Stems\":\($0.stems)},\"geometry\":{\"x\":\($0.x),\"y\":\($0.y)}}"
        }
        let answer = try await server.client.post(
            "Trees/FeatureServer/0/addFeatures", ["f": "json", "features": "[\(features.joined(separator: ","))]"])
        try #require(!answer.text.contains("\"success\":false"), "\(answer.text)")
    }

    /// How red and how opaque the middle of the image is.
    private static func middle(_ pixels: [[UInt8]]) throws -> [UInt8] {
        try #require(pixels.count == 10_000)
        return pixels[50 * 100 + 50]
    }

    @Test("One point has the last colour where its density is the greatest, less around it, and none beyond its radius")
    func onePoint() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(Self.definition(["radius": 15, "maxDensity": .number(Self.peak)]))
            try await Self.add([(0.5, -0.5, 1)], to: server)
            let pixels = try await Self.pixels(server)
            #expect(try Self.middle(pixels)[3] >= 254)
            let row = (50..<75).map { pixels[50 * 100 + $0][3] }
            #expect(row == row.sorted(by: >), "\(row)")
            // At half of the radius (1 − ¼)² = 0.5625 are left.
            #expect(abs(Int(row[10]) - 143) <= 2, "\(row)")
            #expect(row[20] == 0)
            #expect(pixels[30 * 100 + 50][3] == 0)
        }
    }

    @Test("Points add up, and each counts as often as its field says")
    func weights() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            let most = JSONValue.number(4 * Self.peak)
            try await store.updateService(Self.definition(["radius": 15, "maxDensity": most]))
            try await Self.add([(0.5, -0.5, 1), (0.5, -0.5, 3)], to: server)
            let two = try Self.middle(try await Self.pixels(server))[3]
            #expect(abs(Int(two) - 128) <= 2)
            try await store.updateService(
                Self.definition(["radius": 15, "maxDensity": most, "field": "stems"]))
            let four = try Self.middle(try await Self.pixels(server))[3]
            #expect(four >= 254)
        }
    }

    @Test("The older form, a sum of bell curves, is drawn as well")
    func blur() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(
                Self.definition(["blurRadius": 10, "minPixelIntensity": 0, "maxPixelIntensity": 2]))
            try await Self.add([(0.5, -0.5, 1), (0.5, -0.5, 1)], to: server)
            let pixels = try await Self.pixels(server)
            #expect(try Self.middle(pixels)[3] >= 254)
            // At one deviation, the half of the radius, e^-½ are left.
            #expect(abs(Int(pixels[50 * 100 + 55][3]) - 155) <= 2)
            #expect(pixels[50 * 100 + 66][3] == 0)
        }
    }

    @Test(
        "The legend shows the way of the colours, the greatest at the top, and its picture can be fetched by its name")
    func legend() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(
                Self.definition(["radius": 15, "legendOptions": ["maxLabel": "Many", "minLabel": "few"]]))
            let answer = try await server.client.get("Trees/MapServer/legend", ["f": "json"]).json
            let entries = try #require(answer["layers"]?.arrayValue?.first?["legend"]?.arrayValue)
            let entry = try #require(entries.first)
            #expect(entries.count == 1 && entry["label"] == "Many to few")
            let bytes = try #require(entry["imageData"]?.stringValue.flatMap { Data(base64Encoded: $0) })
            let pixels = try await MapImages.pixels(Array(bytes))
            try #require(pixels.count == 400)
            let column = (0..<20).map { pixels[$0 * 20 + 10] }
            #expect(column.first.map { $0[0] > 240 && $0[3] > 240 } == true, "\(column)")
            #expect(column.map { $0[3] } == column.map { $0[3] }.sorted(by: >) && column[19][3] < 15, "\(column)")
            let name = try #require(entry["url"]?.stringValue)
            let image = try await server.client.get("Trees/MapServer/0/images/\(name)")
            #expect(Data(image.body) == bytes)
        }
    }

    @Test("A finer image shows the same, also where its points reach far")
    func finer() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(Self.definition(["radius": 15, "maxDensity": .number(Self.peak)]))
            try await Self.add([(0.5, -0.5, 1), (20, 10, 1), (-200, 0, 1)], to: server)
            let coarse = try await Self.pixels(server)
            let fine = try await Self.pixels(server, ["size": "400,400", "dpi": "384"])
            try #require(fine.count == 160_000)
            for (row, column) in [(50, 50), (50, 60), (40, 70), (30, 70), (60, 55), (10, 10)] {
                let (a, b) = (coarse[row * 100 + column][3], fine[(row * 4 + 2) * 400 + column * 4 + 2][3])
                #expect(abs(Int(a) - Int(b)) <= 6, "\(row), \(column): \(a) and \(b)")
            }
        }
    }

    @Test("Documents and tiles have heat maps too", arguments: ["svg", "pdf", "jpg"])
    func formats(name: String) async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(Self.definition(["radius": 15, "maxDensity": .number(Self.peak)]))
            let base = "Trees/MapServer/export?f=image&bbox=-50,-50,50,50&size=100,100&layers=show:0&format=\(name)"
            let without = try await server.client.get(base).body
            try await Self.add([(0, 0, 1)], to: server)
            let with = try await server.client.get(base).body
            #expect(with != without)
        }
    }

    @Test(
        "A heat map with numbers of any size is drawn as far as it can be",
        arguments: ["radius", "blurRadius", "maxDensity", "minDensity", "maxPixelIntensity"],
        [1e308, -1e308, 1e-308, 0])
    func immense(member: String, number: Double) async throws {
        try await TemporaryStore.serve(trees: 3) { server, store in
            try await store.updateService(Self.definition([member: .number(number), "field": "Stems"]))
            #expect(try await Self.pixels(server).count == 10_000)
        }
    }
}
