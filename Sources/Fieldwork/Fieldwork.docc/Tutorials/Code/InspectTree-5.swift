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

        let manager = PopupManager(popup: popup)
        try await manager.relationships?.load()
        for species in manager.relationships?.manyToOne ?? [] {
            print("  \(species.table.displayName): \(species.relatedPopup?.title ?? "none")")
        }
        guard let inspections = manager.relationships?.oneToMany.first else { return }
        for inspection in inspections.relatedPopups { print("  Inspected \(inspection.title)") }

        // A record is edited in a session of its own. The map's rule gives its condition to the tree.
        let record = try manager.makeRecord(in: inspections)
        for field in record.editableDisplayFields {
            switch field.fieldName {
            case "Inspected": try record.updateValue(Date.now, field: field)
            case "Condition": try record.updateValue("Fair", field: field)
            case "DBH":
                do {
                    try record.updateValue(1_000.0, field: field)
                } catch let error as FeatureFormError {
                    print("Not valid: \(error.details)")
                    try record.updateValue(17.5, field: field)
                }
            default: break
            }
        }
        try await record.finishEditing()
        print("The tree is \(tree.attributeValue(forKey: "Condition") ?? "unknown") now.")
        _ = try await (tree.table as? ServiceFeatureTable)?.serviceGeodatabase?.applyEdits()
    }
}
