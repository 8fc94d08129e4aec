import FieldworkGeometry
import FieldworkREST
import Foundation

/// Merges the attachments that a client handed in for one layer with what others did meanwhile (Documentation/conflicts.md).
/// A file is merged as a whole. Only reads; what it decides is applied like every other edit.
struct AttachmentMerger {
    let layer: StoredLayer
    let connection: StoreConnection
    let upload: ReplicaUpload
    /// The features that the same client adds or deletes: those come or go by that.
    let decidedFeatures: Set<UUID>

    private var versions: AttachmentVersionReader { AttachmentVersionReader(layer: layer, connection: connection) }
    private var uploadWins: Bool { upload.rule == .lastInWins }

    /// The edits that are to be applied, and where the result of each handed-in item will be found.
    struct Plan {
        var edits = AttachmentEdits()
        var adds: [MergePlan.Outcome] = []
        var updates: [MergePlan.Outcome] = []
        var deletes: [MergePlan.Outcome] = []
        /// Deleted features that come back because their attachments were edited.
        var restores: Set<UUID> = []
        /// Conflicts, each with the outcome on whose success it depends.
        var conflicts: [(conflict: MergeConflict, outcome: MergePlan.Outcome)] = []

        func results(_ applied: AttachmentEditResults?) -> AttachmentEditResults {
            AttachmentEditResults(
                adds: adds.map { result($0, applied) }, updates: updates.map { result($0, applied) },
                deletes: deletes.map { result($0, applied) })
        }

        func result(_ outcome: MergePlan.Outcome, _ applied: AttachmentEditResults?) -> EditResult {
            let nothing = EditResult(objectID: nil, globalID: nil, error: .rolledBack)
            switch outcome {
            case .add(let index): return applied?.adds[index] ?? nothing
            case .update(let index): return applied?.updates[index] ?? nothing
            case .delete(let index): return applied?.deletes[index] ?? nothing
            case .decided(let result): return result
            }
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
        for edit in edits.adds { plan.adds.append(try add(edit, base, &plan)) }
        for edit in edits.updates { plan.updates.append(try update(edit, base, &plan)) }
        for delete in edits.deletes { plan.deletes.append(try self.delete(delete, base, &plan)) }
        return plan
    }

    // MARK: Adds

    private func add(_ edit: AttachmentEdit, _ base: Int64?, _ plan: inout Plan) throws -> MergePlan.Outcome {
        var edit = edit
        guard edit.rejection == nil, let globalID = edit.globalID else {
            if edit.rejection == nil {
                edit.rejection = EditError(code: 1016, description: "An attachment of a replica needs its global id.")
            }
            return append(add: edit, &plan)
        }
        // It has come before, and its answer was lost.
        if let known = try versions.current(globalID) {
            return .decided(EditResult(objectID: known.id, globalID: globalID))
        }
        // If somebody has deleted it since, it stays deleted; what the client knows to be deleted it brings back.
        if let last = try versions.deleted(globalID), try !isKnown(last.generation, base) {
            return .decided(EditResult(objectID: last.id, globalID: globalID))
        }
        let outcome = append(add: edit, &plan)
        try bringBackFeature(edit.parent, for: edit, outcome, &plan)
        return outcome
    }

    /// Whether the client knows of a generation: it has it, or made it.
    private func isKnown(_ generation: Int64, _ base: Int64?) throws -> Bool {
        if let base, generation <= base { return true }
        return try connection.integer(
            "SELECT 1 FROM fieldwork_generation_origins WHERE generation = ? AND replica_id = ?"
        ) {
            try $0.bind(generation, at: 1)
            try $0.bind(upload.replicaID.uuidString, at: 2)
        } != nil
    }

    private func append(add edit: AttachmentEdit, _ plan: inout Plan) -> MergePlan.Outcome {
        plan.edits.adds.append(edit)
        return .add(plan.edits.adds.count - 1)
    }

    /// An attachment for a feature that others have deleted: with `lastInWins` the feature comes back.
    private func bringBackFeature(
        _ parent: FeatureIdentifier?, for edit: AttachmentEdit, _ outcome: MergePlan.Outcome, _ plan: inout Plan
    ) throws {
        guard uploadWins, case .globalID(let parent)? = parent, !decidedFeatures.contains(parent),
            !plan.restores.contains(parent), try feature(parent) == nil,
            let last = try VersionReader(layer: layer, connection: connection).deleted(parent)
        else { return }
        plan.restores.insert(parent)
        let author = try AuthorReader(connection: connection).author(of: last.generation, in: layer, last.objectID)
        plan.conflicts.append(
            (
                conflict(
                    .updateOfDeleted, last.objectID, parent, mine: mine([:], versions.value(of: edit, over: nil)),
                    theirs: author.side(attributes: nil)), outcome
            ))
    }

    private func feature(_ globalID: UUID) throws -> Int64? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        return try connection.integer(
            "SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName)) WHERE \(column) = ?"
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
    }

    // MARK: Updates

    private func update(_ edit: AttachmentEdit, _ base: Int64?, _ plan: inout Plan) throws -> MergePlan.Outcome {
        guard edit.rejection == nil, let globalID = edit.globalID else { return append(update: edit, &plan) }
        guard let current = try versions.current(globalID) else { return try update(deleted: edit, globalID, &plan) }
        guard let generation = try contested(current.id, base) else { return append(update: edit, &plan) }
        var edit = edit
        if !uploadWins { edit.fate = .keptOnly }
        let outcome = append(update: edit, &plan)
        let author = try author(of: generation)
        var theirs = author.side(attributes: [:])
        theirs.attachment = current.value
        try addConflict(
            .attachment, current, mine: mine([:], versions.value(of: edit, over: current.value)), theirs: theirs,
            outcome, &plan)
        return outcome
    }

    /// An update of an attachment that others have deleted: with `lastInWins` it comes back.
    private func update(
        deleted edit: AttachmentEdit, _ globalID: UUID, _ plan: inout Plan
    ) throws -> MergePlan.Outcome {
        guard let last = try versions.deleted(globalID) else { return append(update: edit, &plan) }
        var edit = edit
        edit.fate = uploadWins ? .restoresDeleted : .keptOnly
        let outcome = append(update: edit, &plan)
        try bringBackFeature(edit.parent, for: edit, outcome, &plan)
        var theirs = try author(of: last.generation).side(attributes: nil)
        theirs.attachment = last.value
        try addConflict(
            .updateOfDeletedAttachment, last, mine: mine([:], versions.value(of: edit, over: last.value)),
            theirs: theirs, outcome, &plan)
        return outcome
    }

    private func append(update edit: AttachmentEdit, _ plan: inout Plan) -> MergePlan.Outcome {
        plan.edits.updates.append(edit)
        return .update(plan.edits.updates.count - 1)
    }

    // MARK: Deletes

    private func delete(_ delete: AttachmentDelete, _ base: Int64?, _ plan: inout Plan) throws -> MergePlan.Outcome {
        guard case .globalID(let globalID) = delete.identifier else { return append(delete: delete, &plan) }
        guard let current = try versions.current(globalID) else {
            // Gone is gone, whoever did it; but what went with its feature would come back with it.
            guard try versions.wentWithFeature(globalID) else {
                return .decided(EditResult(objectID: nil, globalID: globalID))
            }
            var delete = delete
            delete.staysDeleted = true
            return append(delete: delete, &plan)
        }
        guard let generation = try contested(current.id, base) else { return append(delete: delete, &plan) }
        let outcome =
            uploadWins
            ? append(delete: delete, &plan) : .decided(EditResult(objectID: current.id, globalID: globalID))
        var theirs = try author(of: generation).side(attributes: [:])
        theirs.attachment = current.value
        try addConflict(
            .deleteOfUpdatedAttachment, current, mine: mine(nil, current.value), theirs: theirs, outcome, &plan)
        return outcome
    }

    private func append(delete: AttachmentDelete, _ plan: inout Plan) -> MergePlan.Outcome {
        plan.edits.deletes.append(delete)
        return .delete(plan.edits.deletes.count - 1)
    }

    // MARK: Conflicts

    /// The last generation since the base in which others changed the attachment.
    private func contested(_ id: Int64, _ base: Int64?) throws -> Int64? {
        try connection.integer(
            """
            SELECT max(c.generation) FROM \(AttachmentTables.changes) AS c
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = c.generation
            WHERE c.layer_id = ? AND c.attachment_id = ? AND c.generation > ?
                AND (o.replica_id IS NULL OR o.replica_id <> ?)
            HAVING count(*) > 0
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(id, at: 2)
            try $0.bind(base ?? -1, at: 3)
            try $0.bind(upload.replicaID.uuidString, at: 4)
        }
    }

    private func author(of generation: Int64) throws -> AuthorReader.Author {
        try AuthorReader(connection: connection).author(of: generation, in: layer, 0)
    }

    private func mine(
        _ attributes: [String: AttributeValue]?, _ attachment: MergeConflict.AttachmentValue?
    ) -> MergeConflict.Side {
        var side = MergeConflict.Side(
            attributes: attributes, editor: upload.editor, moment: upload.moment, replicaID: upload.replicaID)
        side.attachment = attachment
        return side
    }

    private func addConflict(
        _ kind: MergeConflict.Kind, _ found: AttachmentVersionReader.Found, mine: MergeConflict.Side,
        theirs: MergeConflict.Side, _ outcome: MergePlan.Outcome, _ plan: inout Plan
    ) throws {
        guard let parent = try versions.parent(of: found) else { return }
        plan.conflicts.append((conflict(kind, found.parentObjectID, parent, mine: mine, theirs: theirs), outcome))
    }

    private func conflict(
        _ kind: MergeConflict.Kind, _ objectID: Int64, _ globalID: UUID, mine: MergeConflict.Side,
        theirs: MergeConflict.Side
    ) -> MergeConflict {
        MergeConflict(
            layerID: layer.definition.id, objectID: objectID, globalID: globalID, kind: kind, rule: upload.rule,
            winner: uploadWins ? .upload : .service, state: upload.rule == .holdForReview ? .open : .decided,
            lost: uploadWins ? theirs : mine, won: uploadWins ? mine : theirs, moment: upload.moment)
    }
}
