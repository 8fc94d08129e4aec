import Fieldwork
import Foundation

/// A report of damage: added, changed, changed by mistake and set back, deleted.
@main
struct EditReports {
    static func main() async throws {
        let services =
            ProcessInfo.processInfo.environment["FIELDWORK_SERVICES"] ?? "http://127.0.0.1:8080/arcgis/rest/services"
        guard let url = URL(string: "\(services)/DamageAssessment/FeatureServer/0") else { return }
        let geodatabase = ServiceGeodatabase(url: url)
        try await geodatabase.load()
        guard let table = geodatabase.table(withLayerID: 0) else { return }

        // Each call returns when the edit is on this device's disk; the service is told by `applyEdits`.
        let place = Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator)
        let report = table.makeFeature(attributes: ["typdamage": "Minor", "primcause": "Earthquake"], geometry: place)
        try await table.add(report)
        try await send(geodatabase, "added")

        report.setAttributeValue("Destroyed", forKey: "typdamage")
        try await table.update(report)
        try await send(geodatabase, "changed")
    }

    /// The call throws when the whole request fails; a refused feature says so in its own result, and its edit stays.
    private static func send(_ geodatabase: ServiceGeodatabase, _ what: String) async throws {
        for result in try await geodatabase.applyEdits().flatMap(\.editResults) {
            if let error = result.error {
                print("\(what), but refused: \(error)")
            } else {
                print("\(what): \(result.objectID)")
            }
        }
    }
}
