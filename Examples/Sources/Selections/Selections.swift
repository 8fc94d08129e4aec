import Fieldwork
import Foundation

/// Features by condition: counted, selected, drawn and labelled.
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

        layer.addLabelDefinition(
            LabelDefinition(
                labelExpression: SimpleLabelExpression(simpleExpression: "[fulladdr] CONCAT \": \" CONCAT [numoccup]"),
                textSymbol: TextSymbol(color: .black, size: 9)))
        layer.labelsAreEnabled = true
        for feature in try await layer.selectedFeatures.features().prefix(5) {
            let labels = try await layer.labels(for: feature).map(\.text)
            let symbol = layer.renderer?.symbol(for: feature) as? SimpleMarkerSymbol
            print(labels.joined(separator: " "), symbol.map { "\($0.style)" } ?? "")
        }
        layer.clearSelection()
    }
}
