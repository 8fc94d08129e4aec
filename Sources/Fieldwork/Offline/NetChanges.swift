import FieldworkREST
import FieldworkStore
import Foundation

extension GeodatabaseSession {
    /// What became of each feature since the service had the file's edits, in the order of the last change: what was added
    /// and changed was added, what was added and deleted was never there.
    func netChanges(of layerID: Int) async throws -> [FeatureChange] {
        try await netChanges(of: layerID, after: replica?.sentGeneration(of: layerID) ?? 0)
    }

    /// - Parameter last: the last generation that counts. What came later is netted for itself: a feature that was edited
    ///   before and after it has a change on either side.
    func netChanges(
        of layerID: Int, after base: Int64, through last: Int64 = .max
    ) async throws -> [FeatureChange] {
        let all = try await onDevice { try await file.changes(after: base, in: layerID, limit: .max) }
        guard let layer = file.definition.layer(id: layerID) else { return [] }
        var net = NetChanges(layer: layer)
        for change in all where change.generation <= last {
            // Somebody may have put another feature in the place of one that was deleted.
            var former: UUID?
            if net.isDeleted(change.objectID), change.operation == .add {
                former = try await lastDeleted(change.objectID, in: layerID)
            }
            net.take(change, former: former)
        }
        return try await withoutUndoneDeletes(net.changes, all.filter { $0.generation > last }, in: layerID)
    }

    /// A feature that was deleted here and is here all the same has come back by the service's word, which kept it for the sake of another's
    /// edit. When the service is put back to an earlier state, its delete must not go again: what was changed before it does.
    /// - Parameter later: changes that don't count. What was brought back by one of them is still deleted.
    private func withoutUndoneDeletes(
        _ changes: [FeatureChange], _ later: [FeatureChange], in layerID: Int
    ) async throws -> [FeatureChange] {
        let deleted = changes.filter { $0.operation == .delete }.compactMap(\.globalID)
        let broughtBack = Set(later.filter { $0.operation == .add }.compactMap(\.globalID))
        let here = try await rows(of: deleted.filter { !broughtBack.contains($0) }, in: layerID)
        if here.isEmpty { return changes }
        return changes.compactMap { change in
            guard change.operation == .delete, let row = change.globalID.flatMap({ here[$0] }) else { return change }
            if change.changedFields.isEmpty { return nil }
            var update = change
            (update.operation, update.objectID) = (.update, row)
            return update
        }
    }

    /// What became of each attachment since the service had the file's edits. Those that went with their feature are not
    /// among them: the service knows without being told. One that was deleted before its feature is: the feature may stay.
    /// - Parameter last: the last generation that counts.
    func netAttachmentChanges(of layerID: Int, through last: Int64 = .max) async throws -> [AttachmentChange] {
        try await netAttachmentChanges(
            of: layerID, after: replica?.sentGeneration(of: layerID) ?? 0, through: last)
    }

    func netAttachmentChanges(
        of layerID: Int, after base: Int64, through last: Int64 = .max
    ) async throws -> [AttachmentChange] {
        let all = try await onDevice {
            try await file.netAttachmentChanges(after: base, through: last, in: layerID)
        }
        let gone = all.filter { $0.operation == .delete && $0.wentWithFeature }
        if gone.isEmpty { return all }
        let parents = try await present(Array(Set(gone.map(\.parentObjectID))), in: layerID)
        return all.filter {
            $0.operation != .delete || !$0.wentWithFeature || parents.contains($0.parentObjectID)
        }
    }

    /// The changes whose features are on this device or were deleted here. What the service took from this device since is nothing of this
    /// device's any more, also when the service has it again, after a backup was put back, and tells of it as new.
    func kept(_ changes: [FeatureChange], in layerID: Int, since base: Int64) async throws -> [FeatureChange] {
        let ids = changes.filter { $0.operation != .delete }.map(\.objectID)
        let here = try await present(ids, in: layerID)
        if ids.allSatisfy(here.contains) { return changes }
        let deletedHere = try await deleted(in: layerID, since: base)
        return changes.filter {
            $0.operation == .delete || here.contains($0.objectID) || deletedHere.contains($0.objectID)
        }
    }

    /// Those of some features that are there.
    private func present(_ objectIDs: [Int64], in layerID: Int) async throws -> Set<Int64> {
        var found: Set<Int64> = []
        for start in stride(from: 0, to: objectIDs.count, by: Limits.idsPerCondition) {
            let part = Array(objectIDs[start..<min(start + Limits.idsPerCondition, objectIDs.count)])
            found.formUnion(
                try await onDevice { try await file.objectIDs(FeatureQuery(objectIDs: part), in: layerID) })
        }
        return found
    }

    /// The object ids of those of some features that are there.
    private func rows(of globalIDs: [UUID], in layerID: Int) async throws -> [UUID: Int64] {
        var found: [UUID: Int64] = [:]
        for start in stride(from: 0, to: globalIDs.count, by: Limits.idsPerCondition) {
            let part = Array(globalIDs[start..<min(start + Limits.idsPerCondition, globalIDs.count)])
            let query = FeatureQuery(globalIDs: part, returnsGeometry: false)
            for row in try await onDevice({ try await file.records(query, in: layerID) }) {
                if let id = row.globalID { found[id] = row.objectID }
            }
        }
        return found
    }

    /// The global id of the feature that was last deleted under an object id.
    private func lastDeleted(_ objectID: Int64, in layerID: Int) async throws -> UUID? {
        let past = try await onDevice { try await file.history(of: .objectID(objectID), in: layerID) }
        return past.first { $0.endedBy == .delete }?.record.globalID
    }
}

/// Folds the entries of a change log, oldest first, into one a feature.
struct NetChanges {
    private let everyField: [String]
    private var net: [Int64: FeatureChange] = [:]
    /// Deleted features in whose place another one is now.
    private var replaced: [FeatureChange] = []
    /// Rows that were added and are no more.
    private var gone: Set<Int64> = []

    init(layer: LayerDefinition) {
        let fields = layer.fields.filter { $0.type != .geometry && $0.name != layer.objectIDField }.map(\.name)
        everyField = layer.isTable ? fields : fields + [FeatureChange.geometryName]
    }

    func isDeleted(_ objectID: Int64) -> Bool { net[objectID]?.operation == .delete }

    /// - Parameter former: the global id of the feature that was last deleted under the object id.
    mutating func take(_ change: FeatureChange, former: UUID? = nil) {
        guard let earlier = net[change.objectID] else {
            // What was added and deleted may come back: an undo, or a redo.
            if gone.contains(change.objectID), change.operation != .add { return }
            net[change.objectID] = change
            return
        }
        var merged = change
        switch (earlier.operation, change.operation) {
        case (.add, .delete):
            net[change.objectID] = nil
            gone.insert(change.objectID)
            return
        case (.add, _): merged.operation = .add
        case (.delete, .add):
            if let former, former != change.globalID {
                var deletion = earlier
                deletion.globalID = former
                replaced.append(deletion)
            } else {
                // It is back, and nobody knows with which of its values: the service finds out.
                merged.operation = .update
                merged.changedFields = everyField
            }
        case (_, _):
            let known = Set(change.changedFields)
            merged.changedFields = change.changedFields + earlier.changedFields.filter { !known.contains($0) }
        }
        net[change.objectID] = merged
    }

    /// One entry a feature, in the order of its last change.
    var changes: [FeatureChange] {
        var result = Array(net.values) + replaced
        // A program may have given a feature another object id: it was deleted and added under the same global id.
        let added = Set(result.filter { $0.operation == .add }.compactMap(\.globalID))
        let moved = Set(result.filter { $0.operation == .delete }.compactMap(\.globalID)).intersection(added)
        if !moved.isEmpty {
            result = result.compactMap { change in
                guard let id = change.globalID, moved.contains(id) else { return change }
                guard change.operation == .add else { return nil }
                var update = change
                update.operation = .update
                update.changedFields = everyField
                return update
            }
        }
        return result.sorted { ($0.generation, $0.objectID) < ($1.generation, $1.objectID) }
    }
}
