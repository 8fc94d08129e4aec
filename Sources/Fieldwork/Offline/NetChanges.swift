import FieldworkREST
import FieldworkStore

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
            .prefix { $0.generation <= last }
        var net: [Int64: FeatureChange] = [:]
        var gone: Set<Int64> = []
        for change in all {
            guard let earlier = net[change.objectID] else {
                if !gone.contains(change.objectID) { net[change.objectID] = change }
                continue
            }
            var merged = change
            switch (earlier.operation, change.operation) {
            case (.add, .delete):
                net[change.objectID] = nil
                // A row that never left the device and is no more.
                gone.insert(change.objectID)
                continue
            case (.add, _): merged.operation = .add
            case (.delete, .add): merged.operation = .update
            case (_, .delete): break
            case (_, _):
                let known = Set(change.changedFields)
                merged.changedFields = change.changedFields + earlier.changedFields.filter { !known.contains($0) }
            }
            net[change.objectID] = merged
        }
        return net.values.sorted { ($0.generation, $0.objectID) < ($1.generation, $1.objectID) }
    }
}
