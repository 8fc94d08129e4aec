import FieldworkREST

/// What the merge made of the edits of one layer: the edits that are to be applied, where the result of each handed-in
/// item will be found, and the conflicts.
struct MergePlan {
    enum Outcome {
        /// The result of an edit that is applied.
        case add(Int), update(Int), delete(Int)
        /// Nothing is to be applied.
        case decided(EditResult)
    }

    var layerID: Int
    var edits: LayerEdits
    var deletes: [FeatureIdentifier] = []
    var addOutcomes: [Outcome] = []
    var updateOutcomes: [Outcome] = []
    var deleteOutcomes: [Outcome] = []
    var attachments = AttachmentMerger.Plan()
    /// Conflicts, each with the outcome on whose success it depends.
    var conflicts: [(conflict: MergeConflict, outcome: Outcome)] = []

    init(layerID: Int) {
        self.layerID = layerID
        edits = LayerEdits(layerID: layerID)
    }

    /// The edits with all that is to be done.
    var layerEdits: LayerEdits {
        var edits = edits
        edits.deletes = .features(deletes)
        edits.attachments = attachments.edits
        return edits
    }

    var hasEdits: Bool {
        !edits.adds.isEmpty || !edits.updates.isEmpty || !deletes.isEmpty || !attachments.edits.isEmpty
    }

    /// The results in the order in which the items were handed in.
    func results(_ applied: LayerEditResults?) -> LayerEditResults {
        var results = LayerEditResults(
            layerID: layerID, adds: addOutcomes.map { result($0, applied) },
            updates: updateOutcomes.map { result($0, applied) }, deletes: deleteOutcomes.map { result($0, applied) })
        results.attachments = attachments.results(applied?.attachments)
        return results
    }

    func result(_ outcome: Outcome, _ applied: LayerEditResults?) -> EditResult {
        let nothing = EditResult(objectID: nil, globalID: nil, error: .rolledBack)
        switch outcome {
        case .add(let index): return applied?.adds[index] ?? nothing
        case .update(let index): return applied?.updates[index] ?? nothing
        case .delete(let index): return applied?.deletes[index] ?? nothing
        case .decided(let result): return result
        }
    }
}
