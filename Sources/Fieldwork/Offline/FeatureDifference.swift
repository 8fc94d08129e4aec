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
}

extension Geodatabase {
    /// The edits since the last sync, table by table, each with the values before and after it. Throws as `load` does.
    package func differences() async throws -> [FeatureDifference] {
        try await load()
        let session = try openSession()
        var differences: [FeatureDifference] = []
        for layer in session.file.definition.layers {
            for change in try await session.netChanges(of: layer.id) {
                differences.append(try await difference(change, layer, session))
            }
        }
        return differences
    }

    private func difference(
        _ change: FeatureChange, _ layer: LayerDefinition, _ session: GeodatabaseSession
    ) async throws -> FeatureDifference {
        let id = FeatureIdentifier.objectID(change.objectID)
        let base = session.replica?.sentGeneration(of: layer.id) ?? 0
        let (now, past) = try await onDevice {
            (
                try await session.file.records(FeatureQuery(objectIDs: [change.objectID]), in: layer.id).first,
                try await session.file.history(of: id, in: layer.id)
            )
        }
        // The oldest version that an edit after the base ended is what the service had.
        let before = past.last { $0.toGeneration > base }?.record
        let values = layer.fields.compactMap { field -> FeatureDifference.Value? in
            guard field.type != .geometry, field.name != layer.objectIDField, field.name != layer.globalIDField else {
                return nil
            }
            let (old, new) = (before?.attributes[field.name] ?? .null, now?.attributes[field.name] ?? .null)
            switch change.operation {
            case .add: return new.isNull ? nil : .init(field: field, old: .null, new: new)
            case .delete: return old.isNull ? nil : .init(field: field, old: old, new: .null)
            case .update: return old == new ? nil : .init(field: field, old: old, new: new)
            }
        }
        return FeatureDifference(
            layerName: layer.name, operation: FeatureDifference.Operation(change.operation), objectID: change.objectID,
            globalID: change.globalID, values: values,
            changesGeometry: change.operation == .update && before?.geometry != now?.geometry)
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
