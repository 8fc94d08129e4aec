package import FieldworkGeometry
package import Foundation

/// A `calculate` of a layer or table: fields of all features that meet a condition get a value or that of
/// an expression over the feature as it was before.
package struct CalculateRequest: Sendable {
    package var batch: EditBatch
    package var returnsEditMoment: Bool

    package init(
        parameters: RequestParameters, layer: LayerDefinition, moment: Date, editor: String? = nil
    ) throws(ServiceError) {
        guard parameters["where"] != nil else { throw .invalidParameter("'where' is required.") }
        try parameters.refuse(
            ["objectIds", "globalIds", "geometry"] + RequestParameters.narrowing, in: "calculate")
        for name in ["gdbVersion", "sessionID"]
        where parameters[name].map({ !["null", "sde.default"].contains($0.lowercased()) }) == true {
            throw .invalidParameter("'\(name)' is not supported.")
        }
        if try parameters.bool("async") == true { throw .invalidParameter("'async' is not supported.") }
        if parameters["sqlFormat"]?.lowercased() == "native" {
            throw .invalidParameter("'sqlFormat' must be 'standard' or 'none'.")
        }
        var query = FeatureQuery()
        if let text = parameters["where"] {
            query.condition = try FeatureQuery.condition(text, layer, parameter: "where")
        }
        query.restrict(to: layer)
        var edits = LayerEdits(layerID: layer.id)
        edits.calculation = FieldCalculation(
            features: query, assignments: try Self.assignments(try parameters.json("calcExpression"), layer))
        batch = EditBatch(layers: [edits], editor: editor, moment: moment)
        returnsEditMoment = try parameters.bool("returnEditMoment") ?? false
    }

    private static func assignments(
        _ json: JSONValue?, _ layer: LayerDefinition
    ) throws(ServiceError) -> [FieldCalculation.Assignment] {
        let elements = json?.arrayValue ?? json.map { [$0] } ?? []
        guard !elements.isEmpty, elements.count <= Limits.calculatedFields else {
            throw .invalidParameter("'calcExpression' must be a list of one to \(Limits.calculatedFields) fields.")
        }
        var assignments: [FieldCalculation.Assignment] = []
        for element in elements {
            guard let object = element.objectValue, let name = object.string("field"),
                let field = layer.field(named: name)
            else {
                throw .invalidParameter("'calcExpression' names a field that the layer does not have.")
            }
            guard layer.allowsCalculation(of: field) else {
                throw .invalidParameter("'calcExpression': the field \(field.name) can't be changed.")
            }
            guard !assignments.contains(where: { $0.field == field.name }) else {
                throw .invalidParameter("'calcExpression' names the field \(field.name) twice.")
            }
            assignments.append(.init(field: field.name, value: try value(object, field, layer)))
        }
        return assignments
    }

    private static func value(
        _ object: JSONObject, _ field: FieldDefinition, _ layer: LayerDefinition
    ) throws(ServiceError) -> FieldCalculation.Value {
        if let text = object.string("sqlExpression") {
            guard object["value"] == nil else {
                throw .invalidParameter("'calcExpression': \(field.name) has a value and an expression.")
            }
            do {
                return .expression(try SQLParser.parse(expression: text).bound(to: layer))
            } catch let error as SQLParseError {
                throw .invalidParameter("'calcExpression', \(field.name): \(error.description)")
            } catch let error as ServiceError {
                throw error
            } catch {
                throw .invalidParameter("'calcExpression': the expression of \(field.name) can't be read.")
            }
        }
        guard let value = object["value"], value.objectValue == nil, value.arrayValue == nil else {
            throw .invalidParameter("'calcExpression': \(field.name) needs a 'value' or an 'sqlExpression'.")
        }
        return .constant(AttributeValue(json: value))
    }

    /// The answer. Throws when a feature can't take its value: nothing was changed then.
    package func answer(_ result: EditBatchResult) throws(ServiceError) -> JSONValue {
        let updates = result.layers.flatMap(\.updates)
        if result.hasErrors {
            // The others say only that they were rolled back with it.
            let reasons = updates.compactMap { update -> String? in
                guard let error = update.error, error != .rolledBack else { return nil }
                return "Feature \(update.objectID ?? -1): \(error.description)"
            }
            throw ServiceError(
                code: 400, message: "The calculation was not done.",
                details: Array(reasons.prefix(Limits.calculationReasons)))
        }
        var object = JSONObject()
        object.append("success", true)
        object.append("updatedFeatureCount", JSONValue(updates.count))
        if returnsEditMoment {
            object.append("editMoment", .integer(Int64((result.moment.timeIntervalSince1970 * 1_000).rounded())))
        }
        return .object(object)
    }
}

extension LayerDefinition {
    /// Ids and what editor tracking fills in are the server's.
    fileprivate func allowsCalculation(of field: FieldDefinition) -> Bool {
        let tracked = [
            editFields?.creationDateField, editFields?.creatorField, editFields?.editDateField, editFields?.editorField,
        ]
        let isTracked = tracked.contains { $0?.lowercased() == field.name.lowercased() }
        return field.isEditable && !isTracked && ![.oid, .globalID, .geometry].contains(field.type)
    }
}
