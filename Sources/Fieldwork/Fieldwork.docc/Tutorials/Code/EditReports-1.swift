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
    }
}
