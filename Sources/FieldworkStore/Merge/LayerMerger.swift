import FieldworkREST
import Foundation

/// Merges the edits that a client handed in for one layer with what others did meanwhile: three-way and field by field,
/// the geometry being a field. Only reads; what it decides is applied like every other edit.
struct LayerMerger {
    let layer: StoredLayer
    let rules: RowRules
    let connection: StoreConnection
    let upload: ReplicaUpload
    private let versions: VersionReader
    private let authors: AuthorReader
    /// The log says nothing of what was changed before.
    private let floor: Int64
    /// What the upload reaches of the layer; nil for all.
    private let reach: ReachedFeatures?
    private var plan: MergePlan
    private var added: Set<UUID> = []
    private var deleted: Set<UUID> = []

    init(layer: StoredLayer, rules: RowRules, connection: StoreConnection, upload: ReplicaUpload) throws {
        self.layer = layer
        self.rules = rules
        self.connection = connection
        self.upload = upload
        versions = VersionReader(layer: layer, connection: connection)
        authors = AuthorReader(connection: connection)
        floor = try LogCompaction.floor(of: layer.definition.id, on: connection)
        reach = upload.scope?.conditions[layer.definition.id].map { ReachedFeatures($0, in: layer, on: connection) }
        plan = MergePlan(layerID: layer.definition.id)
    }

    mutating func merge(_ edits: ReplicaLayerUpload) throws -> MergePlan {
        deleted = Set(edits.deletes)
        for edit in edits.adds { plan.addOutcomes.append(try add(edit, edits)) }
        for edit in edits.updates { plan.updateOutcomes.append(try update(edit, edits)) }
        for globalID in edits.deletes { plan.deleteOutcomes.append(try delete(globalID, edits)) }
        if !edits.attachments.isEmpty {
            plan.attachments = try AttachmentMerger(
                layer: layer, connection: connection, upload: upload, decidedFeatures: deleted.union(added)
            ).merge(edits.attachments, base: base(of: nil, edits))
            let known = Set(plan.edits.restores)
            plan.edits.restores += plan.attachments.restores.filter { !known.contains($0) }
        }
        return plan
    }

    private func base(of edit: FeatureEdit?, _ edits: ReplicaLayerUpload) -> Int64? {
        guard let base = edit?.baseGeneration ?? edits.baseGeneration, base >= floor else { return nil }
        return base
    }

    // MARK: Adds

    private mutating func add(_ edit: FeatureEdit, _ edits: ReplicaLayerUpload) throws -> MergePlan.Outcome {
        guard edit.rejection == nil, let globalID = edit.globalID, !added.contains(globalID) else {
            return append(add: edit)
        }
        if let objectID = try find(globalID) {
            // It has come before, and its answer was lost: only what differs from what came then is new.
            let first = try addGeneration(of: objectID)
            return try update(edit, globalID, objectID, base: first ?? base(of: edit, edits))
        }
        guard let last = try versions.deleted(globalID), let base = base(of: edit, edits), last.generation > base else {
            added.insert(globalID)
            return append(add: edit)
        }
        if let first = try addGeneration(of: last.objectID), first > base {
            // It has come before as well, and somebody has deleted it since.
            return .decided(EditResult(objectID: last.objectID, globalID: globalID))
        }
        return try update(edit, globalID, deleted: last)
    }

    private mutating func append(add edit: FeatureEdit) -> MergePlan.Outcome {
        plan.edits.adds.append(edit)
        return .add(plan.edits.adds.count - 1)
    }

    private func find(_ globalID: UUID) throws -> Int64? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        return try connection.integer(
            "SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName)) WHERE \(column) = ?"
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
    }

    private func addGeneration(of objectID: Int64) throws -> Int64? {
        try connection.integer(
            "SELECT min(generation) FROM fieldwork_changes WHERE layer_id = ? AND object_id = ? AND operation = 0"
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(objectID, at: 2)
        }
    }

    // MARK: Updates

    private mutating func update(_ edit: FeatureEdit, _ edits: ReplicaLayerUpload) throws -> MergePlan.Outcome {
        var edit = edit
        // Object ids are each side's own.
        edit.objectID = nil
        guard edit.rejection == nil, let globalID = edit.globalID, !added.contains(globalID) else {
            return append(update: edit)
        }
        guard let objectID = try find(globalID) else {
            guard let last = try versions.deleted(globalID) else { return append(update: edit) }
            // The same client has deleted it: its last word.
            if deleted.contains(globalID) {
                return .decided(EditResult(objectID: last.objectID, globalID: globalID))
            }
            return try update(edit, globalID, deleted: last)
        }
        return try update(edit, globalID, objectID, base: base(of: edit, edits))
    }

    private mutating func append(update edit: FeatureEdit) -> MergePlan.Outcome {
        plan.edits.updates.append(edit)
        return .update(plan.edits.updates.count - 1)
    }

    private mutating func update(
        _ edit: FeatureEdit, _ globalID: UUID, _ objectID: Int64, base: Int64?
    ) throws -> MergePlan.Outcome {
        // What is out of reach is refused when it is written, and is nobody's conflict.
        guard try reach?.contains(objectID) != false, let current = try versions.current(objectID) else {
            return append(update: edit)
        }
        var fields = FieldMerger(layer: layer, rules: rules, current: current, uploadWins: upload.rule == .lastInWins)
        if let base {
            let timeline = try FeatureTimeline(
                of: objectID, in: layer, since: base, replicaID: upload.replicaID, on: connection)
            try fields.merge(edit, timeline, objectID, versions)
        } else {
            fields.merge(edit)
        }
        let outcome =
            fields.result.attributes.isEmpty && fields.result.geometry.isUnchanged
            ? .decided(EditResult(objectID: objectID, globalID: globalID)) : append(update: fields.result)
        if fields.hasConflict {
            let theirs = try authors.author(of: fields.otherGeneration, in: layer, objectID)
            addConflict(
                .fields, objectID, globalID, mine: side(fields.mine(layer)), theirs: fields.theirs(layer, theirs),
                base: fields.base, outcome)
        }
        return outcome
    }

    /// An update of a feature that has been deleted: with `lastInWins` the feature comes back.
    private mutating func update(
        _ edit: FeatureEdit, _ globalID: UUID, deleted last: VersionReader.Deleted
    ) throws -> MergePlan.Outcome {
        let outcome: MergePlan.Outcome
        if upload.rule == .lastInWins {
            plan.edits.restores.append(globalID)
            outcome = append(update: edit)
        } else {
            outcome = .decided(EditResult(objectID: last.objectID, globalID: globalID))
        }
        let deletion = try authors.author(of: last.generation, in: layer, last.objectID)
        addConflict(
            .updateOfDeleted, last.objectID, globalID, mine: side(FieldMerger.values(of: edit, layer)),
            theirs: deletion.side(attributes: nil), outcome)
        return outcome
    }

    // MARK: Deletes

    private mutating func delete(_ globalID: UUID, _ edits: ReplicaLayerUpload) throws -> MergePlan.Outcome {
        if added.contains(globalID) { return append(delete: globalID) }
        guard let objectID = try find(globalID), let current = try versions.current(objectID) else {
            // Gone is gone, whoever did it.
            return .decided(EditResult(objectID: nil, globalID: globalID))
        }
        guard try reach?.contains(objectID) != false else { return append(delete: globalID) }
        var contested = [FeatureTimeline.geometry] + layer.columns.indices
        var generation: Int64?
        if let base = base(of: nil, edits) {
            let timeline = try FeatureTimeline(
                of: objectID, in: layer, since: base, replicaID: upload.replicaID, on: connection)
            contested = contested.filter(timeline.isContested)
            generation = contested.compactMap(timeline.otherChange).max()
        }
        guard contested.contains(where: { $0 == FeatureTimeline.geometry || rules.accepts($0) }) else {
            return append(delete: globalID)
        }
        let outcome: MergePlan.Outcome =
            upload.rule == .lastInWins
            ? append(delete: globalID) : .decided(EditResult(objectID: objectID, globalID: globalID))
        let theirs = try authors.author(of: generation, in: layer, objectID)
        addConflict(
            .deleteOfUpdated, objectID, globalID, mine: side(nil),
            theirs: FieldMerger.side(of: current, contested.filter { $0 < 0 || rules.accepts($0) }, layer, theirs),
            outcome)
        return outcome
    }

    private mutating func append(delete globalID: UUID) -> MergePlan.Outcome {
        plan.deletes.append(.globalID(globalID))
        return .delete(plan.deletes.count - 1)
    }

    // MARK: Conflicts

    /// What the client has, with its name.
    private func side(_ values: FieldMerger.Values?) -> MergeConflict.Side {
        MergeConflict.Side(
            attributes: values?.attributes, geometry: values?.geometry, editor: upload.editor, moment: upload.moment,
            replicaID: upload.replicaID)
    }

    private mutating func addConflict(
        _ kind: MergeConflict.Kind, _ objectID: Int64, _ globalID: UUID, mine: MergeConflict.Side,
        theirs: MergeConflict.Side, base: MergeConflict.Base? = nil, _ outcome: MergePlan.Outcome
    ) {
        let uploadWins = upload.rule == .lastInWins
        plan.conflicts.append(
            (
                MergeConflict(
                    layerID: layer.definition.id, objectID: objectID, globalID: globalID, kind: kind,
                    rule: upload.rule, winner: uploadWins ? .upload : .service,
                    state: upload.rule == .holdForReview ? .open : .decided, lost: uploadWins ? theirs : mine,
                    won: uploadWins ? mine : theirs, base: base, moment: upload.moment), outcome
            ))
    }
}
