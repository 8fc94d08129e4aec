import Foundation
import FieldworkGeometry

extension EditJournal {
    /// An edit that took another one back.
    public struct Undone: Sendable {
        /// Its own entry: it is sent like any other edit.
        public let entry: Entry
        /// The feature as it is now; where it had been added, as it was before it went.
        public let feature: Feature
    }

    /// Takes an edit back by an edit of its own, which the table keeps and sends like any other. When it returns both are on disk.
    ///
    /// A feature that was added is deleted; values and a geometry that were changed get back what they were, with the attachments; a feature
    /// that was deleted is added again with its values, its global id and its attachments.
    ///
    /// Throws ``EditJournalError``, and what the table throws.
    /// - Parameters:
    ///   - entry: One whose ``Entry/canUndo`` holds.
    ///   - feature: The feature as it is now, where the caller has it; nil: its table is asked.
    ///   - title: What the feature is called after the undo, for people; nil: as in the entry.
    @discardableResult
    public func undo(
        _ entry: Entry, of feature: Feature? = nil, title: ((Feature) -> String)? = nil
    ) async throws -> Undone {
        guard self.entry(id: entry.id)?.canUndo ?? entry.canUndo else {
            throw EditJournalError.notUndoable(details: "This edit was already taken back.")
        }
        let name = title ?? { _ in entry.title }
        let undone: Undone
        switch entry.kind {
        case .create:
            undone = try await undoAdd(entry, of: try await present(feature, entry), name)
        case .update, .move:
            undone = try await undoUpdate(entry, of: try await present(feature, entry), name)
        case .delete:
            undone = try await undoDelete(entry, name)
        }
        try setUndone(entry.id)
        return undone
    }

    private func present(_ feature: Feature?, _ entry: Entry) async throws -> Feature {
        if let feature { return feature }
        if let found = try await self.feature(entry.feature) { return found }
        throw EditJournalError.featureNotFound(details: "The feature isn't there any more.")
    }

    private func undoAdd(_ entry: Entry, of feature: Feature, _ title: (Feature) -> String) async throws -> Undone {
        try await table(of: entry).delete(feature)
        let counter = try record(
            .delete, of: feature, as: current(entry.feature), before: FeatureSnapshot(feature), title: title(feature),
            detail: "Undo: \(entry.detail)", undoes: entry.id, photos: AttachmentChanges())
        return Undone(entry: counter, feature: feature)
    }

    private func undoUpdate(_ entry: Entry, of feature: Feature, _ title: (Feature) -> String) async throws -> Undone {
        guard let before = entry.before, let after = entry.after else {
            throw EditJournalError.unknownBefore(details: "What was there before isn't known any more.")
        }
        let table = try table(of: entry)
        let now = FeatureSnapshot(feature)
        let changed = Self.editableChanges(from: before, to: after, in: table)
        // An edit that was made after this one stays.
        let isStillThere = before.geometry == after.geometry || Self.isSamePlace(now.geometry, after.geometry)
        let isUnchanged = changed.allSatisfy { now.attributes[$0] == after.attributes[$0] }
        guard isStillThere, isUnchanged else {
            throw EditJournalError.changedSince(details: "The feature was changed since.")
        }
        try Self.put(before, into: feature, changed: changed, movedFrom: after, in: table)
        if FeatureSnapshot(feature) != now { try await table.update(feature) }
        let photos = try await undo(entry.photos ?? AttachmentChanges(), of: feature)
        let counter = try record(
            entry.kind, of: feature, as: current(entry.feature), before: now, title: title(feature),
            detail: "Undo: \(entry.detail)", undoes: entry.id, photos: photos)
        return Undone(entry: counter, feature: feature)
    }

    private func undoDelete(_ entry: Entry, _ title: (Feature) -> String) async throws -> Undone {
        guard let before = entry.before else {
            throw EditJournalError.unknownBefore(details: "What was deleted isn't known any more.")
        }
        let table = try table(of: entry)
        let feature = try Self.remake(before, in: table)
        try await table.add(feature)
        let reference = try noteReturn(of: entry, as: feature)
        var photos = AttachmentChanges()
        // Where the service was not told of the delete it is the same row again, with its attachments.
        let isSameRow = FeatureReference.objectID(of: feature, field: table.objectIDField) == entry.objectID
        if let lost = entry.photos, !(table is ServiceFeatureTable && isSameRow) {
            photos = try await undo(lost, of: feature, cameBack: true)
        }
        let counter = try record(
            .create, of: feature, as: reference, before: nil, title: title(feature), detail: "Undo: \(entry.detail)",
            undoes: entry.id, photos: photos)
        return Undone(entry: counter, feature: feature)
    }

    /// Writes down under which name a feature is found that was added again.
    func noteReturn(of entry: Entry, as feature: Feature) throws -> FeatureReference {
        guard let reference = FeatureReference(feature, layer: entry.feature.layer) else {
            throw EditJournalError.featureNotFound(details: "The feature that was added again has no id.")
        }
        try setAlias(current(entry.feature), now: reference)
        return reference
    }

    // MARK: Features and snapshots

    func table(of entry: Entry) throws -> ArcGISFeatureTable {
        guard let table = tables[entry.feature.layer] else {
            throw EditJournalError.featureNotFound(
                details: "The journal has no table of the number \(entry.feature.layer).")
        }
        return table
    }

    /// A feature as its table has it now: of a service with what is unsent on this device, and with all fields.
    ///
    /// Throws what the table's query throws: `ServiceError.connectionFailed` where a service does not answer.
    /// - Returns: nil where the table does not have the feature, and for a number without a table.
    public func feature(_ reference: FeatureReference) async throws -> Feature? {
        let reference = current(reference)
        guard let table = tables[reference.layer] else { return nil }
        let parameters = QueryParameters()
        switch reference.key {
        case .global(let id):
            guard !table.globalIDField.isEmpty else { return nil }
            parameters.whereClause = "\(table.globalIDField) = '{\(id.uuidString.uppercased())}'"
        case .object(let id):
            parameters.addObjectIDs([id])
        }
        parameters.maxFeatures = 1
        let result =
            if let service = table as? ServiceFeatureTable {
                try await service.queryFeatures(using: parameters, queryFeatureFields: .loadAll)
            } else {
                try await table.queryFeatures(using: parameters)
            }
        return result.features().first { _ in true }
    }

    /// The feature of a snapshot, ready to be added: with its global id. Other fields that the service fills are its own.
    static func remake(_ snapshot: FeatureSnapshot, in table: ArcGISFeatureTable) throws -> Feature {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in snapshot.attributes {
            guard let field = table.field(named: name), name != table.objectIDField,
                let typed = value.value(for: field.type)
            else { continue }
            if field.isEditable || name == table.globalIDField { attributes[name] = typed }
        }
        return table.makeFeature(
            attributes: attributes, geometry: try snapshot.geometry.map { try Geometry.fromJSON($0) })
    }

    /// The editable fields whose values differ, in the order of their names.
    static func editableChanges(
        from before: FeatureSnapshot, to after: FeatureSnapshot, in table: ArcGISFeatureTable
    ) -> [String] {
        before.changedFields(to: after).filter { table.field(named: $0)?.isEditable == true }.sorted()
    }

    /// Whether a geometry is where another one is: a service may have rounded it, or give it in another spatial reference.
    private static func isSamePlace(_ one: Data?, _ other: Data?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        if one == other { return true }
        guard let here = try? Geometry.fromJSON(one), let there = try? Geometry.fromJSON(other),
            let reference = here.spatialReference, let projected = GeometryEngine.project(there, into: reference)
        else { return false }
        let centimetre = reference.isGeographic ? 1e-7 : 0.01
        return here.isEqual(to: projected, tolerance: centimetre)
            || GeometryEngine.isGeometry(here, equivalentTo: projected)
    }

    /// Gives a feature the values of a snapshot in some fields, and its geometry where that differs from another's.
    static func put(
        _ snapshot: FeatureSnapshot, into feature: Feature, changed: [String], movedFrom other: FeatureSnapshot,
        in table: ArcGISFeatureTable
    ) throws {
        for name in changed {
            let value = snapshot.attributes[name] ?? .null
            feature.setAttributeValue(value.value(for: table.field(named: name)?.type), forKey: name)
        }
        if snapshot.geometry != other.geometry {
            feature.geometry = try snapshot.geometry.map { try Geometry.fromJSON($0) }
        }
    }
}
