import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// Maps that look at another place than where their features are.
@Suite struct FarViewTests {
    private struct MapDocument: Decodable {
        let whole: [[Double]]
    }

    private static let farView: KeyValuePairs = [
        "lon": "10", "lat": "0", "zoom": "1", "west": "-170", "south": "-70", "east": "175", "north": "75",
    ]

    @Test("A list by distance has its rows also when all features lie together far from the map's middle")
    func aClusterFarAway() async throws {
        try await DamageField.with(points: 500) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let view = try await visitor.post("/data/view", Self.farView)
            #expect(view.status == 200)
            #expect(view.text.contains("Cause "), "the list beside the map")
            for scope in ["view", "all"] {
                let list = try await visitor.get("/list/0?sort=distance&scope=\(scope)").text
                #expect(list.contains("50 of 500"), "\(scope)")
                #expect(list.matches(of: /class="open"/).count >= 50, "\(scope)")
                // From the middle of the map on, the first rows are the nearest: those in the south-east.
                #expect(list.contains(">Cause 5<"), "\(scope)")
            }
            let later = try await visitor.get("/list/0?sort=distance&scope=view&start=450").text
            #expect(later.contains("451 to 500 of 500") && later.contains("Previous") && !later.contains(">Next<"))
        }
    }

    @Test(
        "A GeoPackage of no service opens where its features are",
        .enabled(if: FileField.gdal != nil, "GDAL isn't installed"))
    func aPlainFile() async throws {
        try await DamageField.with(points: 1) { field in
            let file = field.deviceFolder.appending(path: "benches.gpkg")
            try await FileField.makeBenches(at: file)
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post("/start/file", ["path": file.path, "agreed": "yes"])
            let document = try JSONDecoder().decode(
                MapDocument.self, from: Data(try await visitor.get("/data/map").body))
            let corners = document.whole.flatMap(\.self)
            try #require(corners.count == 4)
            for (corner, expected) in zip(corners, [-97.92, 38.01, -97.91, 38.02]) {
                #expect(abs(corner - expected) < 0.0001, "\(corners)")
            }
        }
    }
}
