import Fieldwork
import Foundation

/// A visit to a tree: what is known of it, and what was found today.
@main
struct InspectTree {
    static func main() async throws {
        let path = CommandLine.arguments.dropFirst().first ?? "Fieldwork-data/maps/TreesOfPortland.webmap.json"
        let map = try Map.fromJSON(Data(contentsOf: URL(filePath: path)))
        try await map.load()
        guard let center = map.initialViewpoint?.targetGeometry.extent.center else { return }

        // There is no view: the caller says how many metres its tolerance is.
        let found = try await map.identify(at: center, tolerance: 100, returnPopupsOnly: true, scale: 4_000)
        guard let popup = found.first?.popups.first, let tree = popup.geoElement as? ArcGISFeature else {
            print("There is no tree here.")
            return
        }
        try await popup.evaluateExpressions()
        print(popup.title)
        for case let fields as FieldsPopupElement in popup.evaluatedElements {
            for (label, value) in zip(fields.labels, fields.formattedValues) { print("  \(label): \(value)") }
        }
    }
}
