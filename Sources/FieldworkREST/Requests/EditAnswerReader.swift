package import FieldworkGeometry
package import Foundation

/// The client's side of an edit's answer: what became of each item that was sent.
///
/// An answer that does not account for every item is refused as a whole: a client that guessed would forget an edit or
/// send it twice.
package enum EditAnswerReader {
    /// Reads the answer of the service's `applyEdits`.
    ///
    /// - Parameter moment: when the answer came; the service's own `editMoment` goes before it.
    /// - Throws: the service's error, or code 500 for an answer that does not fit the batch.
    package static func read(
        service answer: JSONValue, to batch: EditBatch, moment: Date
    ) throws(ServiceError) -> EditBatchResult {
        if let error = ServiceError(answer: answer) { throw error }
        guard let elements = answer.arrayValue ?? answer["editResults"]?.arrayValue else {
            throw misfit("it is no list of layers")
        }
        var layers: [LayerEditResults] = []
        for edits in batch.layers {
            let element = elements.first { $0["id"]?.integerValue == Int64(edits.layerID) }
            layers.append(try read(element ?? .object(JSONObject()), edits))
        }
        let moments = [answer["editMoment"]] + elements.map { $0["editMoment"] }
        return EditBatchResult(
            layers: layers, generation: nil, moment: moments.compactMap { date($0) }.first ?? moment)
    }

    /// Reads the answer of one layer's `applyEdits`.
    package static func read(
        layer answer: JSONValue, to edits: LayerEdits, moment: Date
    ) throws(ServiceError) -> EditBatchResult {
        if let error = ServiceError(answer: answer) { throw error }
        return EditBatchResult(
            layers: [try read(answer, edits)], generation: nil, moment: date(answer["editMoment"]) ?? moment)
    }

    private static func read(_ answer: JSONValue, _ edits: LayerEdits) throws(ServiceError) -> LayerEditResults {
        var deleteCount: Int?
        if case .features(let identifiers) = edits.deletes { deleteCount = identifiers.count }
        return LayerEditResults(
            layerID: edits.layerID, adds: try results(answer, "addResults", edits.adds.count),
            updates: try results(answer, "updateResults", edits.updates.count),
            deletes: try results(answer, "deleteResults", deleteCount))
    }

    private static func results(
        _ answer: JSONValue, _ name: String, _ count: Int?
    ) throws(ServiceError) -> [EditResult] {
        let items = answer[name]?.arrayValue ?? []
        if let count, items.count != count { throw misfit("'\(name)' has \(items.count) results for \(count) items") }
        var results: [EditResult] = []
        for item in items {
            guard item["success"]?.boolValue != nil else { throw misfit("'\(name)' has an item without result") }
            results.append(result(item))
        }
        return results
    }

    /// Reads what became of one item, a feature or an attachment. What is not said to have succeeded has failed.
    package static func result(_ item: JSONValue) -> EditResult {
        EditResult(
            objectID: item["objectId"]?.integerValue.flatMap { $0 >= 0 ? $0 : nil },
            globalID: item["globalId"]?.stringValue.flatMap(GUID.parse),
            error: item["success"]?.boolValue == true ? nil : error(item["error"]))
    }

    private static func error(_ json: JSONValue?) -> EditError {
        EditError(
            code: json?["code"]?.integerValue.flatMap { Int(exactly: $0) } ?? 1000,
            description: json?["description"]?.stringValue ?? json?["message"]?.stringValue
                ?? "The service did not say why.")
    }

    private static func date(_ json: JSONValue?) -> Date? {
        json?.doubleValue.map { Date(timeIntervalSince1970: $0 / 1_000) }
    }

    private static func misfit(_ reason: String) -> ServiceError {
        ServiceError(
            code: 500, message: "The service's answer does not fit the edits that it was sent.", details: [reason])
    }
}
