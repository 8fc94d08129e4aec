import FieldworkGeometry
import FieldworkREST
import Foundation

/// Merges the attachments that a client handed in for one layer with what others did meanwhile (Documentation/conflicts.md).
/// A file is merged as a whole. Only reads; what it decides is applied like every other edit.
struct AttachmentMerger {
    let layer: StoredLayer
    let connection: SQLiteConnection
    let upload: ReplicaUpload

    /// The edits that are to be applied, and where the result of each handed-in item will be found.
    struct Plan {
        var edits = AttachmentEdits()
        var adds: [MergePlan.Outcome] = []
        var updates: [MergePlan.Outcome] = []
        var deletes: [MergePlan.Outcome] = []

        func results(_ applied: AttachmentEditResults?) -> AttachmentEditResults {
            func result(_ outcome: MergePlan.Outcome) -> EditResult {
                let nothing = EditResult(objectID: nil, globalID: nil, error: .rolledBack)
                switch outcome {
                case .add(let index): return applied?.adds[index] ?? nothing
                case .update(let index): return applied?.updates[index] ?? nothing
                case .delete(let index): return applied?.deletes[index] ?? nothing
                case .decided(let result): return result
                }
            }
            return AttachmentEditResults(
                adds: adds.map(result), updates: updates.map(result), deletes: deletes.map(result))
        }
    }

    /// - Parameter base: the generation that the client had; nil when that is not known.
    func merge(_ edits: AttachmentEdits, base: Int64?) throws -> Plan {
        var plan = Plan()
        guard layer.definition.hasAttachments else {
            // The writer says of each why it can't be.
            plan.edits = edits
            plan.adds = edits.adds.indices.map { .add($0) }
            plan.updates = edits.updates.indices.map { .update($0) }
            plan.deletes = edits.deletes.indices.map { .delete($0) }
            return plan
        }
        for edit in edits.adds { plan.adds.append(try add(edit, &plan)) }
        for edit in edits.updates { plan.updates.append(try update(edit, base, &plan)) }
        for delete in edits.deletes { plan.deletes.append(try self.delete(delete, base, &plan)) }
        return plan
    }

    private func add(_ edit: AttachmentEdit, _ plan: inout Plan) throws -> MergePlan.Outcome {
        // It has come before, and its answer was lost; if somebody has deleted it since, it stays deleted.
        if edit.rejection == nil, let globalID = edit.globalID,
            let known = try id(of: globalID, in: layer.attachmentTable)
                ?? id(of: globalID, in: layer.attachmentHistoryTable)
        {
            return .decided(EditResult(objectID: known, globalID: globalID))
        }
        var edit = edit
        if edit.rejection == nil, edit.globalID == nil {
            edit.rejection = EditError(code: 1016, description: "An attachment of a replica needs its global id.")
        }
        plan.edits.adds.append(edit)
        return .add(plan.edits.adds.count - 1)
    }

    private func update(_ edit: AttachmentEdit, _ base: Int64?, _ plan: inout Plan) throws -> MergePlan.Outcome {
        if edit.rejection == nil, let globalID = edit.globalID,
            let id = try id(of: globalID, in: layer.attachmentTable), try loses(id, base)
        {
            return .decided(EditResult(objectID: id, globalID: globalID, error: Self.contested))
        }
        plan.edits.updates.append(edit)
        return .update(plan.edits.updates.count - 1)
    }

    private func delete(_ delete: AttachmentDelete, _ base: Int64?, _ plan: inout Plan) throws -> MergePlan.Outcome {
        if case .globalID(let globalID) = delete.identifier {
            guard let id = try id(of: globalID, in: layer.attachmentTable) else {
                // Gone is gone, whoever did it.
                return .decided(EditResult(objectID: nil, globalID: globalID))
            }
            if try loses(id, base) {
                return .decided(EditResult(objectID: id, globalID: globalID, error: Self.contested))
            }
        }
        plan.edits.deletes.append(delete)
        return .delete(plan.edits.deletes.count - 1)
    }

    /// A refused edit stays with who made it: nothing of it is lost.
    private static let contested = EditError(
        code: 1000, description: "The attachment was changed on the service meanwhile; the service's version stands.")

    /// Whether others changed the attachment since the base, where the service's version wins.
    private func loses(_ id: Int64, _ base: Int64?) throws -> Bool {
        guard upload.rule != .lastInWins else { return false }
        return try connection.integer(
            """
            SELECT 1 FROM \(AttachmentTables.changes) AS c
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = c.generation
            WHERE c.layer_id = ? AND c.attachment_id = ? AND c.generation > ? AND o.replica_id IS NOT ? LIMIT 1
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(id, at: 2)
            try $0.bind(base ?? -1, at: 3)
            try $0.bind(upload.replicaID.uuidString, at: 4)
        } != nil
    }

    private func id(of globalID: UUID, in table: String) throws -> Int64? {
        try connection.integer("SELECT attachmentid FROM \(quoted(table)) WHERE globalid = ? LIMIT 1") {
            try $0.bind(GUID.normalForm(globalID), at: 1)
        }
    }
}
