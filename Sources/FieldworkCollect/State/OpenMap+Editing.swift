import Fieldwork
import Foundation

/// What came of an edit.
struct EditOutcome: Sendable {
    let entry: EditEntry
    /// Where the feature is now; for a deleted one where it was.
    let reference: FeatureReference
}

/// Edits go through the SDK's table first, which returns once they are safe on this device; then into the journal; then
/// to the server. The caller lets one edit through at a time.
extension OpenMap {
    /// Adds a feature that is ready to be added.
    /// - Parameter photos: kept with it.
    func create(
        _ feature: Feature, in layer: MapLayer, session: String?, photos: PhotoEdits = PhotoEdits()
    ) async throws -> EditEntry {
        guard layer.isAddable else {
            throw CollectError(.notAllowed, "This layer doesn't let you add.")
        }
        try await layer.table.add(feature)
        guard let reference = layer.reference(of: feature) else {
            throw CollectError(.notFound, "The new \(layer.noun) has no id.")
        }
        remember(feature, as: reference)
        let changes = try await commit(photos, of: feature)
        let detail = ["New \(layer.noun)", changes.words].filter { !$0.isEmpty }.joined(separator: ", ")
        let entry = try record(
            .create, feature, layer: layer, reference: reference, session: session, before: nil,
            detail: detail, photos: changes)
        await followIfAnswered(entry)
        return entry
    }

    /// Writes the object's changed values or geometry.
    func update(
        _ found: FoundFeature, kind: EditEntry.Kind, before: FeatureSnapshot, session: String?, detail: String,
        follows: UUID? = nil, photos: PhotoEdits = PhotoEdits()
    ) async throws -> EditEntry {
        guard found.layer.table.canUpdate(found.feature) else {
            throw CollectError(.notAllowed, "This \(found.layer.noun) can't be changed.")
        }
        // Photos alone are no change of the feature.
        if photos.isEmpty || FeatureSnapshot(found.feature) != before {
            try await found.layer.table.update(found.feature)
        }
        remember(found.feature, as: found.reference)
        let changes = try await commit(photos, of: found.feature)
        let entry = try record(
            kind, found.feature, layer: found.layer, reference: found.reference, session: session, before: before,
            detail: [detail, changes.words].filter { !$0.isEmpty }.joined(separator: ", "), follows: follows,
            photos: changes)
        await followIfAnswered(entry)
        return entry
    }

    func delete(_ found: FoundFeature, session: String?) async throws -> EditEntry {
        guard found.layer.table.canDelete(found.feature) else {
            throw CollectError(.notAllowed, "This \(found.layer.noun) can't be deleted.")
        }
        let before = FeatureSnapshot(found.feature)
        let photos = try await keepPhotos(of: found)
        try await found.layer.table.delete(found.feature)
        forget(found.reference)
        let entry = try record(
            .delete, found.feature, layer: found.layer, reference: found.reference, session: session, before: before,
            detail: "Deleted", photos: photos)
        await followIfAnswered(entry)
        return entry
    }

    /// Takes an edit back by an edit of its own, which is sent like any other.
    func undo(_ entry: EditEntry) async throws -> EditEntry {
        guard entry.canUndo else { throw CollectError(.notAllowed, "This edit was already taken back.") }
        guard let layer = layer(entry.feature.layer) else {
            throw CollectError(.notFound, "The map has no layer \(entry.feature.layer).")
        }
        let feature = entry.kind == .delete ? nil : try await find(entry.feature).feature
        let undone: EditJournal.Undone
        do {
            undone = try await journal.undo(entry, of: feature) { FeatureTitle(layer: layer, feature: $0).title }
        } catch EditJournalError.changedSince {
            throw CollectError(
                .notAllowed, "This \(layer.noun) was changed since.", nextStep: "Edit it to change it again.")
        }
        if undone.entry.kind == .delete {
            forget(undone.entry.feature)
        } else {
            remember(undone.feature, as: undone.entry.feature)
        }
        await followIfAnswered(undone.entry)
        return undone.entry
    }

    /// The edit itself is safe: a rule that can't be followed without the server is no reason to refuse it.
    private func followIfAnswered(_ entry: EditEntry) async {
        guard !rules.follows.isEmpty, entry.follows == nil else { return }
        try? await follow(entry)
    }

    /// Writes an edit down that the SDK's table has kept.
    func record(
        _ kind: EditEntry.Kind, _ feature: Feature, layer: MapLayer, reference: FeatureReference, session: String?,
        before: FeatureSnapshot?, detail: String, follows: UUID? = nil, photos: EditJournal.AttachmentChanges = .init()
    ) throws -> EditEntry {
        try journal.record(
            kind, of: feature, as: reference, before: before, title: FeatureTitle(layer: layer, feature: feature).title,
            detail: detail, session: session, follows: follows, photos: photos)
    }
}
