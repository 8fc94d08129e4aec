import Fieldwork
import Foundation

/// A photo of a damaged building: staged in a form, kept on this device, sent, read back.
@main
struct KeepPhoto {
    static func main() async throws {
        let services =
            ProcessInfo.processInfo.environment["FIELDWORK_SERVICES"] ?? "http://127.0.0.1:8080/arcgis/rest/services"
        guard let url = URL(string: "\(services)/DamageAssessment/FeatureServer/0") else { return }
        let geodatabase = ServiceGeodatabase(url: url)
        try await geodatabase.load()
        guard let table = geodatabase.table(withLayerID: 0), table.hasAttachments else {
            print("The layer takes no photos.")
            return
        }
        let place = Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator)
        guard let report = table.makeFeature(attributes: ["typdamage": "Major"], geometry: place) as? ArcGISFeature
        else { return }

        // A form keeps the feature first, then what was staged for it.
        let form = FeatureForm(feature: report)
        guard let photos = form.defaultAttachmentsElement else { return }
        let name = try await photos.makeDefaultName(contentType: "image/png")
        photos.addAttachment(name: name, contentType: "image/png", data: picture)
        try await form.finishEditing()
        print("kept: \(try await report.attachments.map(\.size)) bytes")
    }

    /// One dot.
    private static let picture: Data = {
        let text =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
            + "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return Data(base64Encoded: text) ?? Data()
    }()
}
