// swift-format-ignore-file: NeverForceUnwrap
// The words of README.md, where a reader sees at once that an address is one.

import Fieldwork
import Foundation

/// The example of README.md: that it stands here proves that it compiles. `ReadmeTests` compares the two.
enum ReadmeExample {
    static func run() async throws {
        let url = URL(string: "http://127.0.0.1:8080/arcgis/rest/services/DamageAssessment/FeatureServer/0")!
        let geodatabase = ServiceGeodatabase(url: url)
        try await geodatabase.load()
        let table = geodatabase.table(withLayerID: 0)!

        let point = Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator)
        let feature = table.makeFeature(attributes: ["typdamage": "Minor", "primcause": "Earthquake"], geometry: point)
        try await table.add(feature)  // on this device, durable
        _ = try await geodatabase.applyEdits()  // on the server
    }
}
