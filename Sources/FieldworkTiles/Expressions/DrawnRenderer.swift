package import FieldworkGeometry
import FieldworkREST

/// A renderer whose expressions have been evaluated: it looks at the attributes that `DrawnExpressions` gives to features.
package enum DrawnRenderer {
    /// Whether an expression chooses the classes.
    static func hasClassExpression(_ renderer: JSONValue?) -> Bool {
        hasExpression(renderer) && ["uniqueValue", "classBreaks"].contains(renderer?["type"]?.stringValue ?? "")
    }

    private static func hasExpression(_ json: JSONValue?) -> Bool {
        json?["valueExpression"]?.stringValue?.isEmpty == false
    }

    /// The renderer as it is where it has no expression.
    package static func evaluated(_ renderer: JSONValue?) -> JSONValue? {
        guard var object = renderer?.objectValue else { return renderer }
        if hasClassExpression(renderer) {
            let classes = RendererClasses(renderer, maximum: Limits.styleClasses)
            object["type"] = "uniqueValue"
            for member in ["field2", "field3", "field", "uniqueValueGroups", "classBreakInfos", "valueExpression"] {
                object[member] = nil
            }
            object["field1"] = .string(DrawnExpressions.classAttribute)
            object["uniqueValueInfos"] = .array(
                classes.entries.enumerated().map { number, entry in
                    ["value": .string(String(number)), "label": .string(entry.label), "symbol": entry.symbol]
                })
        }
        if let variables = object["visualVariables"]?.arrayValue {
            object["visualVariables"] = .array(
                variables.enumerated().map { number, variable in
                    guard hasExpression(variable), var own = variable.objectValue else { return variable }
                    own["valueExpression"] = nil
                    own["normalizationField"] = nil
                    own["field"] = .string(DrawnExpressions.variableAttribute(number))
                    return .object(own)
                })
        }
        return .object(object)
    }
}
