package import FieldworkGeometry
import Foundation

/// The answers to requests that edit.
package enum EditAnswer {
    /// The operations of a layer or table that edit features, spelled as in their addresses.
    package enum Operation: String, Sendable {
        case addFeatures, updateFeatures, deleteFeatures, applyEdits
    }

    /// The answer of an operation of a layer.
    package static func json(_ result: EditBatchResult, to request: ApplyEditsRequest, _ operation: Operation)
        -> JSONValue
    {
        guard request.returnsResults else { return ["success": .bool(!result.hasErrors)] }
        let layer = result.layers.first ?? LayerEditResults(layerID: 0)
        var answer = JSONObject()
        if operation == .applyEdits { answer.append("id", JSONValue(layer.layerID)) }
        if operation == .addFeatures || operation == .applyEdits { answer.append("addResults", results(layer.adds)) }
        if operation == .updateFeatures || operation == .applyEdits {
            answer.append("updateResults", results(layer.updates))
        }
        if operation == .deleteFeatures || operation == .applyEdits {
            answer.append("deleteResults", results(layer.deletes))
        }
        appendAttachments(of: layer, to: &answer)
        if request.returnsEditMoment { answer.append("editMoment", moment(result)) }
        return .object(answer)
    }

    /// The answer of the service's `applyEdits`: one element a layer, in the order of the request.
    package static func json(
        _ result: EditBatchResult, to request: ApplyEditsRequest, of service: ServiceDefinition
    ) -> JSONValue {
        guard request.returnsResults else { return ["success": .bool(!result.hasErrors)] }
        // Layers that only relationships reached follow those of the request.
        let named = Set(result.layers.map(\.layerID))
        let reached = result.editedFeatures.map(\.layerID).filter { !named.contains($0) }
        return .array(
            (result.layers + reached.map { LayerEditResults(layerID: $0) }).map { layer in
                var answer = JSONObject()
                answer.append("id", JSONValue(layer.layerID))
                answer.append("addResults", results(layer.adds))
                answer.append("updateResults", results(layer.updates))
                answer.append("deleteResults", results(layer.deletes))
                appendAttachments(of: layer, to: &answer)
                if request.batch.returnsEditedFeatures, let definition = service.layer(id: layer.layerID) {
                    let edited = result.editedFeatures.first { $0.layerID == layer.layerID }
                    answer.append(
                        "editedFeatures",
                        EditedFeaturesAnswer.json(edited ?? EditedFeatures(layerID: layer.layerID), layer: definition))
                }
                if request.returnsEditMoment { answer.append("editMoment", moment(result)) }
                return .object(answer)
            })
    }

    /// Told when there were any: an answer to the edits of features alone stays what it is.
    private static func appendAttachments(of layer: LayerEditResults, to answer: inout JSONObject) {
        guard !layer.attachments.all.isEmpty else { return }
        answer.append("attachments", AttachmentAnswer.results(layer.attachments))
    }

    static func moment(_ result: EditBatchResult) -> JSONValue {
        .integer(Int64((result.moment.timeIntervalSince1970 * 1_000).rounded()))
    }

    private static func results(_ results: [EditResult]) -> JSONValue { .array(results.map(json)) }

    /// What is told of one item.
    package static func json(_ result: EditResult) -> JSONValue {
        var object = JSONObject()
        object.append("objectId", .integer(result.objectID ?? -1))
        object.append("uniqueId", .integer(result.objectID ?? -1))
        object.append("globalId", result.globalID.map { .string(GUID.normalForm($0)) } ?? .null)
        object.append("success", .bool(result.isSuccess))
        if let error = result.error {
            object.append("error", ["code": JSONValue(error.code), "description": .string(error.description)])
        }
        return .object(object)
    }
}
