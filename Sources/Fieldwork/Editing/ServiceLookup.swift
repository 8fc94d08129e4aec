import FieldworkGeometry
import FieldworkREST
import Foundation

/// Looks up in the service what there is of features that were edited here.
struct ServiceLookup: Sendable {
    let session: ServiceSession

    /// The rows of edited features as they stand in the service; none for a feature that is not there.
    /// - Parameter objectIDs: the service's ids of features that have temporary ones here, as far as they are known.
    func rows(
        of edits: [LocalEdit], in layer: LayerDefinition, objectIDs: [LocalEdit.Key: Int64] = [:]
    ) async throws -> [LocalEdit.Key: FeatureRecord] {
        var result: [LocalEdit.Key: FeatureRecord] = [:]
        for start in stride(from: 0, to: edits.count, by: Limits.idsPerCondition) {
            let piece = Array(edits[start..<min(start + Limits.idsPerCondition, edits.count)])
            if session.keepsGlobalIDs(layer), let field = layer.globalIDField {
                let keys = Dictionary(piece.compactMap { edit in edit.globalID.map { ($0, edit.key) } }) { $1 }
                if keys.isEmpty { continue }
                for row in try await rows(in: layer, globalIDs: Array(keys.keys), field) {
                    if let key = row.globalID.flatMap({ keys[$0] }) { result[key] = row }
                }
            } else {
                let ids = piece.map { ($0.key, objectIDs[$0.key] ?? $0.key.objectID) }.filter { $0.1 >= 0 }
                let keys = Dictionary(ids.map { ($0.1, $0.0) }) { $1 }
                if keys.isEmpty { continue }
                for row in try await rows(in: layer, objectIDs: Array(keys.keys)) {
                    if let key = keys[row.objectID] { result[key] = row }
                }
            }
        }
        return result
    }

    private func rows(in layer: LayerDefinition, globalIDs: [UUID], _ field: String) async throws -> [FeatureRecord] {
        var query = LayerQuery()
        // A UUID's own text can hold nothing but digits, letters and hyphens.
        query.condition = "\(field) IN (\(globalIDs.map { "'\(GUID.normalForm($0))'" }.joined(separator: ",")))"
        query.isExact = true
        return try await session.remote.features(query, in: layer).records
    }

    private func rows(in layer: LayerDefinition, objectIDs: [Int64]) async throws -> [FeatureRecord] {
        var query = LayerQuery()
        query.objectIDs = objectIDs
        query.isExact = true
        return try await session.remote.features(query, in: layer).records
    }
}
