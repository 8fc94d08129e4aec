import FieldworkREST
import Synchronization

/// The objects that a client handed over with an edit, by feature: what the service makes of the edit is written back to
/// them. It does not keep them alive.
final class FeatureRegistry: Sendable {
    private struct Reference: Sendable {
        weak var feature: ArcGISFeature?
    }

    private let references = Mutex<[LocalEdit.Key: [Reference]]>([:])

    func note(_ feature: ArcGISFeature, as key: LocalEdit.Key) {
        references.withLock { references in
            var known = references[key, default: []].filter { $0.feature != nil }
            if !known.contains(where: { $0.feature === feature }) { known.append(Reference(feature: feature)) }
            references[key] = known
        }
    }

    /// The objects of a feature, which are no longer followed.
    func take(_ key: LocalEdit.Key) -> [ArcGISFeature] {
        references.withLock { $0.removeValue(forKey: key)?.compactMap(\.feature) ?? [] }
    }

    func forget(_ layerIDs: Set<Int>?) {
        references.withLock { references in
            references = references.filter { entry in layerIDs.map { !$0.contains(entry.key.layerID) } ?? false }
        }
    }
}
