import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Images of maps that are turned, read again by GDAL.
@Suite(
    "Turned images of maps", .fewAtATime,
    .enabled(if: Tool.isInstalled("gdal_translate"), "gdal-bin is not installed"))
struct TurnedMapTests {
    /// 100 by 100 pixels of the plane around the origin, one unit each.
    private static func pixels(
        _ server: TestServer, rotation: String, dpi: String = "96"
    ) async throws -> [[UInt8]] {
        let answer = try await server.client.get(
            "Trees/MapServer/export",
            [
                "f": "image", "bbox": "-50,-50,50,50", "size": "100,100", "format": "png32", "layers": "show:0",
                "rotation": rotation, "dpi": dpi,
            ])
        let pixels = try await MapImages.pixels(answer.body)
        try #require(pixels.count == 10_000, "\(answer.text.prefix(300))")
        return pixels
    }

    private static func add(_ places: [(x: Double, y: Double)], to server: TestServer) async throws {
        let features = places.map { "{\"attributes\":{\"Stems\":1},\"geometry\":{\"x\":\($0.x),\"y\":\($0.y)}}" }
        let answer = try await server.client.post(
            "Trees/FeatureServer/0/addFeatures", ["f": "json", "features": "[\(features.joined(separator: ","))]"])
        try #require(!answer.text.contains("\"success\":false"), "\(answer.text)")
    }

    @Test(
        "A positive rotation turns the map against the clock about the middle of the image",
        arguments: [
            ("0", 80, 50), ("90", 50, 20), ("180", 20, 50), ("-90", 50, 80), ("450", 50, 20), ("-360", 80, 50),
        ])
    func turn(rotation: String, column: Int, row: Int) async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square))
            // East of the middle.
            try await Self.add([(30, 0)], to: server)
            let pixels = try await Self.pixels(server, rotation: rotation)
            #expect(pixels[row * 100 + column] == MapImages.red)
            #expect(pixels.count { $0 == MapImages.red } > 50)
            #expect(pixels.count { $0 == MapImages.red } < 200)
        }
    }

    @Test("A turned image shows what comes into its corners from beyond the box")
    func corners() async throws {
        try await TemporaryStore.serve(trees: 0) { server, store in
            try await store.updateService(MapImages.drawn(MapImages.square))
            // Out of the box to the east; turned by 45 degrees, it is in the upper right corner.
            try await Self.add([(65, 0)], to: server)
            let straight = try await Self.pixels(server, rotation: "0")
            #expect(!straight.isEmpty && straight.allSatisfy { $0 == MapImages.white })
            let pixels = try await Self.pixels(server, rotation: "45")
            #expect(pixels[4 * 100 + 96] == MapImages.red)
        }
    }

    @Test("A rotation that is no number of degrees is refused by its name", arguments: ["north", "nan", "1e400"])
    func refused(rotation: String) async throws {
        try await TemporaryStore.serve(trees: 0) { server, _ in
            let answer = try await server.client.get(
                "Trees/MapServer/export", ["f": "image", "bbox": "-50,-50,50,50", "rotation": rotation])
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains("'rotation'"), "\(answer.text)")
        }
    }
}
