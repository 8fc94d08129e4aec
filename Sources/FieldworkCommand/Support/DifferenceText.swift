import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Edits of a file as lines for a person and as JSON for a script.
enum DifferenceText {
    /// The sign, the layer and the ids of an edit.
    static func title(_ difference: FeatureDifference) -> String {
        let sign =
            switch difference.operation {
            case .add: "+"
            case .update: "~"
            case .delete: "-"
            }
        let id = difference.globalID?.uuidString ?? ""
        return "\(sign) \(difference.layerName) \(difference.objectID) \(id)"
    }

    /// One line an edit, and one a value.
    static func lines(_ difference: FeatureDifference) -> [String] {
        var lines = [title(difference)]
        if let refusal = difference.refusal { lines.append("    refused by the service: \(refusal)") }
        if difference.changesGeometry { lines.append("    geometry") }
        let shown = ValueText(fields: difference.values.map(\.field))
        for value in difference.values {
            let name = value.field.name
            let (old, new) = (shown.text(name, value.old), shown.text(name, value.new))
            switch difference.operation {
            case .add: lines.append("    \(name): \(new)")
            case .delete: lines.append("    \(name): \(old)")
            case .update: lines.append("    \(name): \(old) → \(new)")
            }
        }
        return lines
    }

    /// The new values of an edit in one line.
    static func summary(_ difference: FeatureDifference) -> String {
        if difference.operation == .delete { return "deleted" }
        let shown = ValueText(fields: difference.values.map(\.field))
        var parts = difference.values.map { "\($0.field.name) = \(shown.text($0.field.name, $0.new))" }
        if difference.changesGeometry { parts.append("geometry") }
        return parts.joined(separator: ", ")
    }

    static func json(_ difference: FeatureDifference) -> JSONValue {
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
        if let refusal = difference.refusal { object.append("refused", .string(refusal)) }
        return .object(object)
    }
}
