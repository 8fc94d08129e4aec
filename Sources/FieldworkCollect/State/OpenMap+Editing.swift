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
        let counter: EditEntry
        switch entry.kind {
        case .create:
            let found = try await find(entry.feature)
            try await found.layer.table.delete(found.feature)
            forget(found.reference)
            counter = try record(
                .delete, found.feature, layer: found.layer, reference: found.reference, session: nil,
                before: FeatureSnapshot(found.feature), detail: "Undo: \(entry.detail)", undoes: entry.id)
        case .update, .move:
            counter = try await undoUpdate(entry)
        case .delete:
            counter = try await undoDelete(entry)
        }
        try journal.setUndone(entry.id)
        await followIfAnswered(counter)
        return counter
    }

    /// The edit itself is safe: a rule that can't be followed without the server is no reason to refuse it.
    private func followIfAnswered(_ entry: EditEntry) async {
        guard !rules.follows.isEmpty, entry.follows == nil else { return }
        try? await follow(entry)
    }

    private func undoUpdate(_ entry: EditEntry) async throws -> EditEntry {
        guard let before = entry.before, let after = entry.after else {
            throw CollectError(.notAllowed, "What was there before isn't known any more.")
        }
        let found = try await find(entry.feature)
        let now = FeatureSnapshot(found.feature)
        let changed = Set(before.attributes.keys).union(after.attributes.keys).filter { name in
            before.attributes[name] != after.attributes[name]
                && found.layer.field(named: name)?.isEditable == true
        }
        for name in changed where now.attributes[name] != after.attributes[name] {
            throw CollectError(
                .notAllowed, "This \(found.layer.noun) was changed since.", nextStep: "Edit it to change it again.")
        }
        for name in changed {
            let value = before.attributes[name] ?? .null
            found.feature.setAttributeValue(value.value(for: found.layer.field(named: name)?.type), forKey: name)
        }
        if before.geometry != after.geometry {
            found.feature.geometry = try before.geometry.map { try Geometry.fromJSON($0) }
        }
        if FeatureSnapshot(found.feature) != now { try await found.layer.table.update(found.feature) }
        remember(found.feature, as: found.reference)
        let photos = try await undo(entry.photos ?? PhotoChanges(), of: found.feature)
        return try record(
            entry.kind, found.feature, layer: found.layer, reference: found.reference, session: nil, before: now,
            detail: "Undo: \(entry.detail)", undoes: entry.id, photos: photos)
    }

    private func undoDelete(_ entry: EditEntry) async throws -> EditEntry {
        guard let before = entry.before, let layer = layer(entry.feature.layer) else {
            throw CollectError(.notAllowed, "What was deleted isn't known any more.")
        }
        let feature = try remake(before, in: layer)
        try await layer.table.add(feature)
        guard let reference = layer.reference(of: feature) else {
            throw CollectError(.notFound, "The \(layer.noun) has no id.")
        }
        try journal.setAlias(journal.current(entry.feature), now: reference)
        remember(feature, as: reference)
        let photos = try await undoPhotos(of: entry, feature, in: layer)
        return try record(
            .create, feature, layer: layer, reference: reference, session: nil, before: nil,
            detail: "Undo: \(entry.detail)", undoes: entry.id, photos: photos)
    }

    /// Gives a feature that came back those of its photos that did not come with it.
    private func undoPhotos(of entry: EditEntry, _ feature: Feature, in layer: MapLayer) async throws -> PhotoChanges {
        guard let photos = entry.photos else { return PhotoChanges() }
        // Where the service was not told of the delete it is the same row again, with its photos.
        if layer.table is ServiceFeatureTable, layer.objectID(of: feature) == entry.objectID { return PhotoChanges() }
        return try await undo(photos, of: feature, cameBack: true)
    }

    /// The feature of a snapshot, ready to be added: with its global id; other managed fields are the server's.
    func remake(_ snapshot: FeatureSnapshot, in layer: MapLayer) throws -> Feature {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in snapshot.attributes {
            guard let field = layer.field(named: name), name != layer.objectIDField,
                let typed = value.value(for: field.type)
            else { continue }
            if field.isEditable || name == layer.globalIDField { attributes[name] = typed }
        }
        let geometry = try snapshot.geometry.map { try Geometry.fromJSON($0) }
        return layer.table.makeFeature(attributes: attributes, geometry: geometry)
    }

    /// Writes an edit down that the SDK has kept.
    func record(
        _ kind: EditEntry.Kind, _ feature: Feature, layer: MapLayer, reference: FeatureReference, session: String?,
        before: FeatureSnapshot?, detail: String, undoes: UUID? = nil,
        follows: UUID? = nil, photos: PhotoChanges = PhotoChanges()
    ) throws -> EditEntry {
        let entry = EditEntry(
            id: UUID(), kind: kind, session: session, feature: reference, objectID: layer.objectID(of: feature),
            title: FeatureTitle(layer: layer, feature: feature).title, detail: detail, date: Date(), before: before,
            after: kind == .delete ? nil : FeatureSnapshot(feature), progress: .onDevice, undoes: undoes,
            follows: follows, photos: photos.isEmpty ? nil : photos)
        try journal.append(entry)
        return entry
    }
}
