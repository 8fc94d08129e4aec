import FieldworkREST
import Foundation

/// What a view shows of its source, as edits and answers are held to it.
package struct ViewScope: Sendable {
    /// Of the view.
    let path: String
    /// By layer, for those that show some of their features.
    let conditions: [Int: SQLExpression]
    /// By layer, in lower case. Every shown layer has an entry.
    private let hidden: [Int: Set<String>]
    /// By layer: the words that no answer about it may have, in lower case. An edit may be refused for what a hidden field or a
    /// layer out of sight holds.
    private let unspeakable: [Int: Set<String>]
    /// The names of the layers that are not shown, in lower case.
    private let hiddenLayers: [String]

    /// - Parameter source: the layers of the service, with all their fields.
    init(path: String, conditions: [Int: SQLExpression], hidden: [Int: Set<String>], source: [LayerDefinition]) {
        self.path = path
        self.conditions = conditions
        self.hidden = hidden
        var all: Set<String> = []
        var shown: [Int: Set<String>] = [:]
        for layer in source {
            let names = Set(layer.fields.map { $0.name.lowercased() })
            all.formUnion(hidden[layer.id] ?? names)
            shown[layer.id] = names.subtracting(hidden[layer.id] ?? names)
        }
        unspeakable = shown.mapValues { all.subtracting($0) }
        hiddenLayers = source.filter { hidden[$0.id] == nil }.map { $0.name.lowercased() }
    }

    private func require(_ layerID: Int) throws {
        guard hidden[layerID] != nil else {
            throw StoreError(.layerNotFound, "\(path) has no layer or table \(layerID).")
        }
    }

    // MARK: Edits

    /// The batch as the view allows it: it reaches no feature that is not shown, and sets no field that is hidden.
    func restricted(_ batch: EditBatch) throws -> EditBatch {
        var batch = batch
        for index in batch.layers.indices {
            let id = batch.layers[index].layerID
            try require(id)
            batch.layers[index].adds = batch.layers[index].adds.map { restricted($0, id) }
            batch.layers[index].updates = batch.layers[index].updates.map { restricted($0, id) }
            batch.layers[index].calculation?.assignments.removeAll { isHidden($0.field, id) }
            guard let condition = conditions[id] else { continue }
            if case .matching(var query) = batch.layers[index].deletes {
                query.condition = query.condition.map { .binary(.and, condition, $0) } ?? condition
                batch.layers[index].deletes = .matching(query)
            }
            if let calculated = batch.layers[index].calculation?.features.condition {
                batch.layers[index].calculation?.features.condition = .binary(.and, condition, calculated)
            } else {
                batch.layers[index].calculation?.features.condition = condition
            }
        }
        batch.scope = EditScope(conditions: conditions)
        return batch
    }

    func restricted(_ upload: ReplicaUpload) throws -> ReplicaUpload {
        var upload = upload
        for index in upload.layers.indices {
            let id = upload.layers[index].layerID
            try require(id)
            upload.layers[index].adds = upload.layers[index].adds.map { restricted($0, id) }
            upload.layers[index].updates = upload.layers[index].updates.map { restricted($0, id) }
        }
        upload.scope = EditScope(conditions: conditions)
        return upload
    }

    private func restricted(_ edit: FeatureEdit, _ layerID: Int) -> FeatureEdit {
        guard hidden[layerID]?.isEmpty == false else { return edit }
        var edit = edit
        edit.attributes.removeAll { isHidden($0.name, layerID) }
        return edit
    }

    private func isHidden(_ field: String, _ layerID: Int) -> Bool {
        hidden[layerID]?.contains(field.lowercased()) ?? true
    }

    // MARK: Answers

    /// The results without what the view does not show: a rule that was broken may name a hidden field.
    func shown(_ result: EditBatchResult) -> EditBatchResult {
        var result = result
        for index in result.layers.indices { result.layers[index] = shown(result.layers[index]) }
        result.editedFeatures = result.editedFeatures.compactMap { edited in
            guard hidden[edited.layerID] != nil else { return nil }
            let ids = result.layers.first { $0.layerID == edited.layerID }.map { Set($0.all.compactMap(\.objectID)) }
            return shown(edited, of: ids ?? [])
        }
        return result
    }

    func shown(_ result: ReplicaUploadResult) -> ReplicaUploadResult {
        var result = result
        for index in result.layers.indices { result.layers[index] = shown(result.layers[index]) }
        return result
    }

    private func shown(_ results: LayerEditResults) -> LayerEditResults {
        let layerID = results.layerID
        var results = results
        func clean(_ list: inout [EditResult]) {
            for index in list.indices {
                guard let error = list[index].error, tells(error.description, layerID) else { continue }
                list[index].error?.description = "The edit breaks a rule of the layer."
            }
        }
        clean(&results.adds)
        clean(&results.updates)
        clean(&results.deletes)
        clean(&results.attachments.adds)
        clean(&results.attachments.updates)
        clean(&results.attachments.deletes)
        return results
    }

    /// Whether a text names what the view does not show.
    private func tells(_ text: String, _ layerID: Int) -> Bool {
        // A missing feature is said in words of the store's own, which a field may have for its name.
        guard !text.hasPrefix("There is no ") else { return false }
        let text = text.lowercased()
        let names = unspeakable[layerID] ?? []
        return text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { names.contains(String($0)) }
            || hiddenLayers.contains(where: text.contains)
    }

    /// - Parameter ids: the features that the edits named. What relationships took along may be out of sight.
    private func shown(_ edited: EditedFeatures, of ids: Set<Int64>) -> EditedFeatures {
        let layerID = edited.layerID
        var shown = edited
        if conditions[layerID] != nil {
            shown.adds.removeAll { !ids.contains($0.objectID) }
            shown.updates.removeAll { !ids.contains($0.current.objectID) }
            shown.deletes.removeAll { !ids.contains($0.objectID) }
        }
        shown.adds = shown.adds.map { self.shown($0, layerID) }
        shown.updates = shown.updates.map {
            EditedFeatures.Change(original: self.shown($0.original, layerID), current: self.shown($0.current, layerID))
        }
        shown.deletes = shown.deletes.map { self.shown($0, layerID) }
        return shown
    }

    private func shown(_ record: FeatureRecord, _ layerID: Int) -> FeatureRecord {
        guard hidden[layerID]?.isEmpty == false else { return record }
        var record = record
        record.attributes = record.attributes.filter { !isHidden($0.key, layerID) }
        return record
    }
}
