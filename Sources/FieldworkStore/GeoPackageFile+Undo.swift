package import Foundation

/// Undo and redo, in files that were opened with `Options.recordsUndo`.
extension GeoPackageFile {
    /// Whether there is something to undo and to redo.
    package func undoState() async throws -> UndoState {
        try await writer.inspect { try UndoSteps(connection: $0).state() }
    }

    /// Takes the last step back: an edit, or all edits of a transaction. The generations of an undo are logged like those
    /// of any edit.
    /// - Returns: whether a feature was changed; not so when others have changed all that the step touched, or when there
    ///   is no step.
    package func undo(at moment: Date) async throws -> Bool {
        try await writer.edit { try $0.reverse(.undo, at: moment) }
    }

    /// Does again what `undo` took back last.
    package func redo(at moment: Date) async throws -> Bool {
        try await writer.edit { try $0.reverse(.redo, at: moment) }
    }

    /// Takes features out of what can be undone, since their service gives them another state.
    package func barUndo(of objectIDs: [Int64], in layerID: Int) async throws {
        try await writer.write { try UndoSteps(connection: $0).bar(objectIDs, in: layerID) }
    }

    /// The same of attachments, by their ids.
    package func barUndo(ofAttachments ids: [Int64], in layerID: Int) async throws {
        try await writer.write { try UndoSteps(connection: $0).barAttachments(ids, in: layerID) }
    }
}

extension EditApplier {
    /// Reverses the newest step of a direction in the transaction of its caller. A step of which nothing can be reversed
    /// any more is forgotten, and the one before it is next.
    fileprivate func reverse(_ direction: UndoSteps.Direction, at moment: Date) throws -> Bool {
        let steps = UndoSteps(connection: connection)
        guard let step = try steps.pop(direction) else { return false }
        try connection.run("SAVEPOINT fieldwork_reversal")
        let generation = try openGeneration(editor: nil, moment: moment)
        let reversal = StepReversal(step: step, catalogue: catalogue, connection: connection)
        if try reversal.apply() > 0 {
            try connection.run("RELEASE fieldwork_reversal")
            try steps.push(UndoStep(first: generation, last: generation), on: direction == .undo ? .redo : .undo)
            return true
        }
        try connection.run("ROLLBACK TO fieldwork_reversal")
        try connection.run("RELEASE fieldwork_reversal")
        return false
    }
}
