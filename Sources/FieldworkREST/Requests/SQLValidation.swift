package import FieldworkGeometry

/// `validateSQL` of a layer: whether a text would be taken as a condition or an expression.
package enum SQLValidation {
    private static let syntaxError = 3_001
    private static let meaningError = 3_008

    package static func answer(
        _ parameters: RequestParameters, layer: LayerDefinition
    ) throws(ServiceError) -> JSONValue {
        guard let text = parameters["sql"] else { throw .invalidParameter("'sql' is missing.") }
        let type = parameters["sqlType"]?.lowercased() ?? "where"
        guard type == "where" || type == "expression" else {
            throw .invalidParameter("'sqlType' must be 'where' or 'expression': statements are never run.")
        }
        let expression: SQLExpression
        do {
            expression = try SQLParser.parse(expression: text)
        } catch {
            return invalid(syntaxError, error.description)
        }
        do {
            _ = try expression.bound(to: layer)
        } catch {
            return invalid(meaningError, error.details.first ?? error.message)
        }
        return ["isValidSQL": true, "validationErrors": []]
    }

    private static func invalid(_ code: Int, _ description: String) -> JSONValue {
        [
            "isValidSQL": false,
            "validationErrors": [["errorCode": JSONValue(code), "description": .string(description)]],
        ]
    }
}
