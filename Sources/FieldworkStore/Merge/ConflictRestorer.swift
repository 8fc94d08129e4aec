import FieldworkREST
import Foundation

/// Brings back what lost in a conflict, as an edit of its own: what stands now goes to the history like any other.
struct ConflictRestorer {
    let applier: EditApplier

    func restore(_ id: Int64, editor: String?, moment: Date) throws -> EditResult {
        let log = ConflictLog(connection: applier.connection)
        guard let conflict = try log.conflict(id) else {
            throw StoreError(.invalidQuery, "There is no conflict \(id).")
        }
        let layer = try applier.catalogue.layer(conflict.layerID)
        var edits = LayerEdits(layerID: conflict.layerID)
        if conflict.kind.isOfAttachment {
            return try restoreAttachment(conflict, editor: editor, moment: moment, log)
        }
        if let attributes = conflict.lost.attributes {
            edits.restores = [conflict.globalID]
            edits.updates = [edit(conflict, attributes)]
        } else {
            edits.deletes = .features([.globalID(conflict.globalID)])
        }
        let exists = try VersionReader(layer: layer, connection: applier.connection).current(conflict.objectID) != nil
        guard exists || conflict.lost.attributes != nil else {
            // What was to be deleted is gone already.
            try log.set(.restored, of: id)
            return EditResult(objectID: conflict.objectID, globalID: conflict.globalID)
        }
        let batch = EditBatch(layers: [edits], usesGlobalIDs: true, editor: editor, moment: moment)
        let result = try applier.applyInSavepoint(batch)
        let item = result.layers.first.flatMap { ($0.updates + $0.deletes).first }
        guard let item else { throw StoreError(.failure, "The conflict \(id) could not be restored.") }
        if item.isSuccess { try log.set(.restored, of: id) }
        return item
    }

    private func restoreAttachment(
        _ conflict: MergeConflict, editor: String?, moment: Date, _ log: ConflictLog
    ) throws -> EditResult {
        guard let lost = conflict.lost.attachment else {
            throw StoreError(.corrupt, "The conflict \(conflict.id) does not say which attachment it is about.")
        }
        let layer = try applier.catalogue.layer(conflict.layerID)
        var edits = LayerEdits(layerID: conflict.layerID)
        if conflict.lost.attributes == nil {
            let reader = AttachmentVersionReader(layer: layer, connection: applier.connection)
            guard try reader.current(lost.globalID) != nil else {
                try log.set(.restored, of: conflict.id)
                return EditResult(objectID: nil, globalID: lost.globalID)
            }
            edits.attachments.deletes = [AttachmentDelete(.globalID(lost.globalID))]
        } else {
            guard let version = lost.version else {
                throw StoreError(.corrupt, "The conflict \(conflict.id) has not kept what lost.")
            }
            var edit = AttachmentEdit(globalID: lost.globalID)
            edit.fate = .restoresVersion(version)
            edits.restores = [conflict.globalID]
            edits.attachments.updates = [edit]
        }
        let batch = EditBatch(layers: [edits], usesGlobalIDs: true, editor: editor, moment: moment)
        guard let item = try applier.applyInSavepoint(batch).layers.first?.attachments.all.first else {
            throw StoreError(.failure, "The conflict \(conflict.id) could not be restored.")
        }
        if item.isSuccess { try log.set(.restored, of: conflict.id) }
        return item
    }

    private func edit(_ conflict: MergeConflict, _ attributes: [String: AttributeValue]) -> FeatureEdit {
        var edit = FeatureEdit(globalID: conflict.globalID)
        edit.attributes = attributes.keys.sorted().map { ($0, attributes[$0] ?? .null) }
        if let geometry = conflict.lost.geometry {
            edit.geometry = geometry.geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null
        }
        return edit
    }
}
