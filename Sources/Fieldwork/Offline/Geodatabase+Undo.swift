import FieldworkStore

/// Undo and redo. Not part of the vendor's API; the names are those of `GeometryEditor`.
///
/// A step is one call of `add`, `update` or `delete`, with all that went with it, or all edits of a transaction. Steps are
/// kept in the file: they can be undone after the app was started anew. Taking a step back is an edit like any other: it
/// is synced, and other crews see it when its step has been synced before.
extension Geodatabase {
    /// Whether there is a step that `undo` takes back.
    public var canUndo: Bool { undoState.canUndo }

    /// Whether there is a step that `redo` does again; not so after a new edit.
    public var canRedo: Bool { undoState.canRedo }

    private var undoState: UndoState { (try? openSession())?.undoState ?? UndoState() }

    /// Takes the last step back. Feature objects in hand are stale afterwards.
    ///
    /// What another program or the service has changed since in the same features stays as it is: an undo takes back only
    /// what this geodatabase's own edits did.
    /// - Returns: whether a feature was changed; false when there was nothing to undo, or nothing left of the step.
    /// - Throws: `CommonError.illegalState` while a transaction is open or a sync runs; `GeodatabaseError.databaseClosed`.
    @discardableResult
    public func undo() async throws -> Bool { try await openSession().step(back: true) }

    /// Does again what `undo` took back last. Feature objects in hand are stale afterwards.
    /// - Returns: whether a feature was changed.
    /// - Throws: as `undo`.
    @discardableResult
    public func redo() async throws -> Bool { try await openSession().step(back: false) }
}
