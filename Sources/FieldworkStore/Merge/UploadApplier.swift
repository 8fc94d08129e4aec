import FieldworkREST
import FieldworkGeometry
import Foundation

/// Takes in what an offline client did: merges it, applies it like every other edit, and records results, origin and
/// conflicts, all in the transaction that its caller has opened.
struct UploadApplier {
    let applier: EditApplier

    private var connection: StoreConnection { applier.connection }

    func apply(_ upload: ReplicaUpload) throws -> ReplicaUploadResult {
        if let recorded = try recorded(upload) { return recorded }
        let plans = try upload.layers.map { edits in
            let layer = try applier.catalogue.layer(edits.layerID)
            var merger = try LayerMerger(
                layer: layer, rules: applier.rules[edits.layerID] ?? RowRules(layer: layer), connection: connection,
                upload: upload)
            return try merger.merge(edits)
        }
        var batch = EditBatch(
            layers: plans.map(\.layerEdits), usesGlobalIDs: true, rollsBackOnFailure: upload.rollsBackOnFailure,
            editor: upload.editor, moment: upload.moment)
        batch.scope = upload.scope
        var applied: EditBatchResult?
        if plans.contains(where: \.hasEdits) { applied = try applier.applyInSavepoint(batch) }
        var result = ReplicaUploadResult(
            layers: plans.enumerated().map { index, plan in plan.results(applied?.layers[index]) },
            generation: applied?.generation)
        if upload.rollsBackOnFailure, result.hasErrors {
            // Nothing happened, and nothing is recorded: the client may try again.
            result.markUndone()
            return result
        }
        try recordOrigin(result.generation, upload)
        result.conflicts = try recordConflicts(plans, applied)
        try record(result, of: upload)
        return result
    }

    private func recordOrigin(_ generation: Int64?, _ upload: ReplicaUpload) throws {
        guard let generation else { return }
        try connection.run("INSERT INTO fieldwork_generation_origins (generation, replica_id) VALUES (?, ?)") {
            try $0.bind(generation, at: 1)
            try $0.bind(upload.replicaID.uuidString, at: 2)
        }
    }

    /// The conflicts of edits that could be applied: what failed is still the client's.
    private func recordConflicts(_ plans: [MergePlan], _ applied: EditBatchResult?) throws -> [Int64] {
        let log = ConflictLog(connection: connection)
        var ids: [Int64] = []
        for (index, plan) in plans.enumerated() {
            for (conflict, outcome) in plan.conflicts where plan.result(outcome, applied?.layers[index]).isSuccess {
                ids.append(try log.add(conflict))
            }
            for (conflict, outcome) in plan.attachments.conflicts
            where plan.attachments.result(outcome, applied?.layers[index].attachments).isSuccess {
                ids.append(try log.add(try withVersion(conflict, applied?.generation)))
            }
        }
        return ids
    }

    /// Names the version of the history that the loser is by now.
    private func withVersion(_ conflict: MergeConflict, _ generation: Int64?) throws -> MergeConflict {
        guard let generation, conflict.lost.attributes != nil, let lost = conflict.lost.attachment else {
            return conflict
        }
        var conflict = conflict
        let layer = try applier.catalogue.layer(conflict.layerID)
        conflict.lost.attachment?.version = try AttachmentVersionReader(layer: layer, connection: connection)
            .version(of: lost.globalID, endedIn: generation)
        return conflict
    }

    // MARK: Exactly once

    private func recorded(_ upload: ReplicaUpload) throws -> ReplicaUploadResult? {
        guard let id = upload.id else { return nil }
        let text = try connection.text(
            "SELECT results FROM fieldwork_uploads WHERE replica_id = ? AND upload_id = ?"
        ) {
            try $0.bind(upload.replicaID.uuidString, at: 1)
            try $0.bind(id.uuidString, at: 2)
        }
        guard let text else { return nil }
        do {
            return ReplicaUploadResult(storageJSON: try JSONParser.parse(text))
        } catch {
            throw StoreError(.corrupt, "The results of an upload can't be read: \(error).")
        }
    }

    private func record(_ result: ReplicaUploadResult, of upload: ReplicaUpload) throws {
        guard let id = upload.id else { return }
        try connection.run(
            "INSERT INTO fieldwork_uploads (replica_id, upload_id, moment, results) VALUES (?, ?, ?, ?)"
        ) {
            try $0.bind(upload.replicaID.uuidString, at: 1)
            try $0.bind(id.uuidString, at: 2)
            try $0.bind(DateText.text(milliseconds: upload.moment.milliseconds), at: 3)
            try $0.bind(result.storageJSON.text, at: 4)
        }
    }
}

extension ReplicaUploadResult {
    /// Everything was undone because of what failed.
    fileprivate mutating func markUndone() {
        generation = nil
        func mark(_ results: inout [EditResult]) {
            for index in results.indices where results[index].isSuccess { results[index].error = .rolledBack }
        }
        for index in layers.indices {
            mark(&layers[index].adds)
            mark(&layers[index].updates)
            mark(&layers[index].deletes)
            mark(&layers[index].attachments.adds)
            mark(&layers[index].attachments.updates)
            mark(&layers[index].attachments.deletes)
        }
    }
}
