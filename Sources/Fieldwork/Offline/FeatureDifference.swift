import FieldworkGeometry
package import FieldworkREST
import FieldworkStore
package import Foundation

/// What became of one feature of a geodatabase since its service had the edits.
package struct FeatureDifference: Sendable {
    package enum Operation: String, Sendable {
        case add, update, delete
    }

    package struct Value: Sendable {
        package var field: FieldDefinition
        package var old: AttributeValue
        package var new: AttributeValue
    }

    package var layerName: String
    package var operation: Operation
    package var objectID: Int64
    package var globalID: UUID?
    /// The changed values of an update; all values of an add, and of what a delete took away.
    package var values: [Value]
    package var changesGeometry: Bool
    /// Why the service refused the edit, in its own words; nil for one that it has not decided about.
    package var refusal: String?
}

extension Geodatabase {
    /// The edits that the service has not taken, table by table, each with the values before and after it: those since the
    /// last sync, and those that the service refused. Throws as `load` does.
    package func differences() async throws -> [FeatureDifference] {
        try await load()
        return try await openSession().differences()
    }

    /// The same of a file that is not changed for it, not even where it is one that can't be written. Throws
    /// `StoreError.notAGeoPackage` for a file that Fieldwork has not prepared for edits: nothing is known of its edits.
    package static func differences(in fileURL: URL) async throws -> [FeatureDifference] {
        let session = try await GeodatabaseSession.look(at: fileURL)
        do {
            let differences = try await session.differences()
            await session.file.close()
            return differences
        } catch {
            await session.file.close()
            throw error
        }
    }
}

extension GeodatabaseSession {
    func differences() async throws -> [FeatureDifference] {
        var differences: [FeatureDifference] = []
        let waiting = try await waitingChanges()
        for layer in file.definition.layers {
            for change in waiting[layer.id] ?? [] { differences.append(try await difference(change, layer)) }
        }
        return differences
    }

    func localEditsCount() async throws -> Int {
        var count = 0
        let document = replica.map {
            ReplicaUploadDocument(session: self, record: $0, parameters: SyncGeodatabaseParameters())
        }
        for layer in file.definition.layers {
            let waiting =
                if let document {
                    try await document.changes(of: layer, through: .max)
                } else {
                    try await netChanges(of: layer.id)
                }
            count += waiting.count
        }
        return count
    }

    /// By layer. Of a replica what its next sync would send.
    private func waitingChanges() async throws -> [Int: [FeatureChange]] {
        var changes: [Int: [FeatureChange]] = [:]
        if let replica {
            let document = ReplicaUploadDocument(
                session: self, record: replica, parameters: SyncGeodatabaseParameters())
            for edit in try await document.edits(through: .max) {
                var change = edit.change
                change.globalID = edit.globalID
                changes[edit.layerID, default: []].append(change)
            }
        } else {
            for layer in file.definition.layers { changes[layer.id] = try await netChanges(of: layer.id) }
        }
        return changes
    }

    private func difference(_ change: FeatureChange, _ layer: LayerDefinition) async throws -> FeatureDifference {
        let refusal = change.globalID.flatMap { replica?.refusals[$0] }
        let base = refusal?.base ?? replica?.sentGeneration(of: layer.id) ?? 0
        let (now, past) = try await versions(change, layer)
        // The oldest version that an edit after the base ended is what the service had.
        let before = past.last { $0.toGeneration > base }?.record
        // Of a refused update other fields may be as the service has set them since.
        let fields = refusal == nil ? nil : Set(change.changedFields)
        let values = layer.fields.compactMap { field -> FeatureDifference.Value? in
            guard field.type != .geometry, field.name != layer.objectIDField, field.name != layer.globalIDField else {
                return nil
            }
            let (old, new) = (before?.attributes[field.name] ?? .null, now?.attributes[field.name] ?? .null)
            switch change.operation {
            case .add: return new.isNull ? nil : .init(field: field, old: .null, new: new)
            case .delete: return old.isNull ? nil : .init(field: field, old: old, new: .null)
            case .update:
                guard old != new, fields?.contains(field.name) ?? true else { return nil }
                return .init(field: field, old: old, new: new)
            }
        }
        let moves = fields?.contains(FeatureChange.geometryName) ?? true
        return FeatureDifference(
            layerName: layer.name, operation: FeatureDifference.Operation(change.operation),
            objectID: now?.objectID ?? past.first?.record.objectID ?? change.objectID, globalID: change.globalID,
            values: values,
            changesGeometry: change.operation == .update && moves && before?.geometry != now?.geometry,
            refusal: refusal?.reason)
    }

    /// The feature as it is, and as it was, the newest first.
    private func versions(
        _ change: FeatureChange, _ layer: LayerDefinition
    ) async throws -> (now: FeatureRecord?, past: [FeatureVersion]) {
        // A refused deletion is known by its global id alone: its row is gone.
        let isKnownByRow = change.objectID > 0
        let id = isKnownByRow ? .objectID(change.objectID) : change.globalID.map(FeatureIdentifier.globalID)
        guard let id else { return (nil, []) }
        return try await onDevice {
            let rows =
                isKnownByRow ? try await file.records(FeatureQuery(objectIDs: [change.objectID]), in: layer.id) : []
            return (rows.first, try await file.history(of: id, in: layer.id))
        }
    }
}

extension FeatureDifference.Operation {
    fileprivate init(_ operation: FeatureChange.Operation) {
        switch operation {
        case .add: self = .add
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}
