import FieldworkREST
import Foundation

/// Carries out what attribute rules ask for besides the edit that ran them, in the transaction of that edit: the layers that it
/// reaches keep their rules as well, and what those ask for follows. All of it is done, or nothing.
final class RuleCascade {
    /// How many edits one edit of a user has brought about.
    private final class Tally {
        var edits = 0
    }

    private let applier: EditApplier
    private let batch: EditBatch
    /// Rules that have called each other to come here.
    private let depth: Int
    private let tally: Tally
    private var writers: [Int: LayerWriter] = [:]

    convenience init(applier: EditApplier, batch: EditBatch) {
        var own = batch
        own.layers = []
        own.usesGlobalIDs = true
        own.isMadeByRule = true
        // A rule is the service's own, whichever view an edit came through: it reaches what its author meant.
        own.scope = nil
        self.init(applier: applier, batch: own, depth: 0, tally: Tally())
    }

    private init(applier: EditApplier, batch: EditBatch, depth: Int, tally: Tally) {
        self.applier = applier
        self.batch = batch
        self.depth = depth
        self.tally = tally
    }

    /// Writes a feature, then what its rules ask for. Where an edit of a rule is refused, the feature's own edit is undone and
    /// refused with it.
    func carry(_ edits: [RuleEdit], after write: () throws -> EditResult) throws -> EditResult {
        if depth == 0 { tally.edits = 0 }
        let connection = applier.connection
        let savepoint = "fieldwork_rules_\(depth)"
        try connection.run("SAVEPOINT \(savepoint)")
        func undo() throws {
            // Some failures (disk full) have ended the whole transaction already.
            guard connection.isInTransaction else { return }
            try connection.run("ROLLBACK TO \(savepoint)")
            try connection.run("RELEASE \(savepoint)")
        }
        do {
            let result = try write()
            guard result.isSuccess else {
                try undo()
                return result
            }
            for edit in edits { try carryOut(edit) }
            try connection.run("RELEASE \(savepoint)")
            return result
        } catch let error as EditError {
            try undo()
            throw error
        }
    }

    private func carryOut(_ edit: RuleEdit) throws {
        tally.edits += 1
        guard depth < Limits.ruleCascade, tally.edits <= Limits.ruleEdits else {
            throw EditError(
                code: 1000,
                description:
                    "The rule \(edit.rule) can't be kept: edits of rules call for more edits, more than \(Limits.ruleCascade) one "
                    + "after the other or \(Limits.ruleEdits) in all. Nothing of this edit was kept.")
        }
        let writer = try writer(edit.layerID)
        let result: EditResult
        switch edit.change {
        case .add(let feature): result = try writer.add(feature)
        case .update(let feature): result = try writer.updateWhatDiffers(feature)
        case .delete(let identifier):
            var deletes = RelatedDeletes(
                rules: applier.relationships, connection: applier.connection, batch: batch)
            result = try deletes.delete(identifier, from: edit.layerID, writer: self.writer)
        }
        if let error = result.error {
            throw EditError(
                code: error.code,
                description:
                    "The rule \(edit.rule) can't be kept: its edit of \(writer.layer.definition.name) was refused. "
                    + error.description)
        }
        try applier.reach(writer.layer.definition.id)
    }

    private func writer(_ layerID: Int) throws -> LayerWriter {
        if let made = writers[layerID] { return made }
        let next = RuleCascade(applier: applier, batch: batch, depth: depth + 1, tally: tally)
        let writer = try applier.writer(layerID, batch, cascade: next)
        writers[layerID] = writer
        return writer
    }
}
