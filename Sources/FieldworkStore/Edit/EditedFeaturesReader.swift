import FieldworkREST

/// Reads what a batch did, from the change log of its own generation and before it is committed: nobody else's edit can
/// stand between.
struct EditedFeaturesReader {
    let catalogue: ServiceCatalogue
    let connection: StoreConnection

    /// Layers that the batch left as they were are left out. Throws when there is more than an answer may hold.
    func read(_ generation: Int64, editor: String?) throws -> [EditedFeatures] {
        var result: [EditedFeatures] = []
        var count = 0
        for definition in catalogue.definition.layers {
            let layer = try catalogue.layer(definition.id)
            let log = ChangeLog(layer: layer, connection: connection)
            let changes = try log.changes(after: generation - 1, limit: Limits.editedFeatures - count + 1)
            count += changes.count
            guard count <= Limits.editedFeatures else {
                throw StoreError(
                    .invalidQuery,
                    "The edits change more than \(Limits.editedFeatures) features: they can't all be returned.")
            }
            let edited = try edited(changes, layer, log, editor)
            if !edited.isEmpty { result.append(edited) }
        }
        return result
    }

    private func edited(
        _ changes: [FeatureChange], _ layer: StoredLayer, _ log: ChangeLog, _ editor: String?
    ) throws -> EditedFeatures {
        var edited = EditedFeatures(layerID: layer.definition.id)
        guard !changes.isEmpty else { return edited }
        let ids = changes.filter { $0.operation != .delete }.map(\.objectID)
        let current = try RecordReader(layer: layer, connection: connection).records(FeatureQuery(objectIDs: ids))
        let currentByID = Dictionary(current.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        for change in changes {
            let now = currentByID[change.objectID]
            let before = try change.operation == .add ? nil : original(of: change, log)
            guard isVisible(now ?? before, layer, editor) else { continue }
            switch (change.operation, before, now) {
            case (.add, _, let now?): edited.adds.append(now)
            case (.update, let before?, let now?): edited.updates.append(.init(original: before, current: now))
            case (.delete, let before?, _): edited.deletes.append(before)
            default: throw StoreError(.corrupt, "The change log of \(layer.definition.name) contradicts its table.")
            }
        }
        return edited
    }

    /// The version that stood before the generation: the first of those that it ended.
    private func original(of change: FeatureChange, _ log: ChangeLog) throws -> FeatureRecord? {
        try log.history(of: .objectID(change.objectID)).last { $0.toGeneration == change.generation }?.record
    }

    /// Features of others that the editor may not see are not told to him here either.
    private func isVisible(_ record: FeatureRecord?, _ layer: StoredLayer, _ editor: String?) -> Bool {
        guard let access = layer.definition.ownershipAccess, !access.allows(.query, by: editor),
            let editFields = layer.definition.editFields, let creator = editFields.creatorField
        else { return true }
        guard let editor, let index = layer.index(of: creator) else { return false }
        return record?.attributes[layer.columns[index].name] == .text(editFields.name(of: editor))
    }
}
