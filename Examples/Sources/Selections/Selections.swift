import Fieldwork
import Foundation

/// Features by condition: counted, selected and drawn.
@main
struct Selections {
    static func main() async throws {
        let services =
            ProcessInfo.processInfo.environment["FIELDWORK_SERVICES"] ?? "http://127.0.0.1:8080/arcgis/rest/services"
        guard let url = URL(string: "\(services)/DamageAssessment/FeatureServer/0") else { return }
        let table = ServiceFeatureTable(url: url)
        let layer = FeatureLayer(featureTable: table)
        try await layer.load()

        let destroyed = QueryParameters()
        destroyed.whereClause = "typdamage = 'Destroyed' AND numoccup > 5"
        print("\(try await table.queryFeatureCount(using: destroyed)) reports")
        try await layer.selectFeatures(withQuery: destroyed, mode: .new)

        for feature in try await layer.selectedFeatures.features().prefix(5) {
            let symbol = layer.renderer?.symbol(for: feature) as? SimpleMarkerSymbol
            print(feature.attributeValue(forKey: "fulladdr") ?? "", symbol.map { "\($0.style)" } ?? "")
        }
        layer.clearSelection()
    }
}
