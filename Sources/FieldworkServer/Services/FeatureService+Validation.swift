import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

extension FeatureService {
    /// `evaluate` of the validation service: what features do not keep the validation rules of their layers. What is found is
    /// answered and kept nowhere: it can't grow old.
    func evaluate(_ published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let service = published.definition
        let asked = try EvaluateRequest(parameters: request.parameters, service: service)
        var (violations, features, hasMore): ([JSONValue], Int, Bool) = ([], 0, false)
        for element in asked.elements {
            try Permissions(service: service, layer: element.layer).require(.query)
            let room = FieldworkREST.Limits.violations - violations.count
            guard room > 0 else {
                hasMore = true
                break
            }
            let found = try await store.validate(
                element.features, in: LayerAddress(service: service.name, layerID: element.layer.id), most: room)
            violations += found.violations.map { $0.json(of: element.layer) }
            features += found.features
            hasMore = hasMore || found.hasMore
        }
        let answer = JSONObject([
            "success": true, "moment": .integer(Int64((now().timeIntervalSince1970 * 1_000).rounded(.down))),
            "evaluatedFeatures": JSONValue(features),
            "validationErrors": .array(violations), "exceededTransferLimit": .bool(hasMore),
        ])
        let format = try request.format()
        return .json(.object(answer), format: format == .html ? .json : format)
    }

    /// What can be asked of the validation service.
    static let validationResource: JSONValue = [
        "name": "Validation Server", "type": "Map Server Extension",
        "capabilities": [
            "supportsTopologyValidation": false, "supportsTopologyErrorModification": false,
            "supportsWriteErrors": false, "supportsWriteErrorsWithSketchGeometries": false,
        ],
    ]
}

extension RuleViolation {
    fileprivate func json(of layer: LayerDefinition) -> JSONValue {
        var object = JSONObject(["layerId": JSONValue(layer.id), "objectId": .integer(objectID)])
        if let globalID { object.append("globalId", .string(GUID.normalForm(globalID))) }
        object.append("ruleName", .string(rule))
        object.append("errorNumber", JSONValue(errorNumber))
        object.append("errorMessage", .string(message))
        if let severity { object.append("severity", JSONValue(severity)) }
        return .object(object)
    }
}
