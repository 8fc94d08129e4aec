import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation

/// `fieldwork diff`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what was edited in a file since its service had the edits.",
        discussion: "One line an edit, and one a changed value: + was added, ~ was changed, - was deleted.")

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Argument(help: "The file that `fieldwork offline create` made, or any GeoPackage of Fieldwork.")
    var file: String

    @Option(help: "How to print it.")
    var format = Format.text

    func run() async throws {
        try await runVerb {
            let geodatabase = Geodatabase(fileURL: URL(filePath: (file as NSString).expandingTildeInPath))
            let differences = try await geodatabase.differences()
            geodatabase.close()
            switch format {
            case .text: for difference in differences { printText(difference) }
            case .json: Terminal.output(JSONValue.array(differences.map(json)).text)
            }
        }
    }

    private func printText(_ difference: FeatureDifference) {
        let sign =
            switch difference.operation {
            case .add: "+"
            case .update: "~"
            case .delete: "-"
            }
        let id = difference.globalID?.uuidString ?? ""
        Terminal.output("\(sign) \(difference.layerName) \(difference.objectID) \(id)")
        if difference.changesGeometry { Terminal.output("    geometry") }
        let shown = ValueText(fields: difference.values.map(\.field))
        for value in difference.values {
            let name = value.field.name
            let (old, new) = (shown.text(name, value.old), shown.text(name, value.new))
            switch difference.operation {
            case .add: Terminal.output("    \(name): \(new)")
            case .delete: Terminal.output("    \(name): \(old)")
            case .update: Terminal.output("    \(name): \(old) → \(new)")
            }
        }
    }

    private func json(_ difference: FeatureDifference) -> JSONValue {
        var values = JSONObject()
        for value in difference.values {
            values.append(value.field.name, ["old": value.old.json, "new": value.new.json])
        }
        var object = JSONObject()
        object.append("layer", .string(difference.layerName))
        object.append("operation", .string(difference.operation.rawValue))
        object.append("objectId", .integer(difference.objectID))
        if let id = difference.globalID { object.append("globalId", .string(id.uuidString)) }
        object.append("geometry", .bool(difference.changesGeometry))
        object.append("values", .object(values))
        return .object(object)
    }
}
