import FieldworkREST
import FieldworkStore
import Foundation

extension ArcGISFeatureTable {
    /// What a feature was before: the versions that edits replaced, the newest first. Not part of the vendor's API.
    ///
    /// A table of a service asks the service, which knows the edits that have reached it; a feature that was never sent has no
    /// history there. A table of a geodatabase asks the file: its history begins when the area was taken.
    /// - Parameter feature: a feature of this table that has been added; it may be deleted meanwhile.
    /// - Throws: `GeodatabaseError.itemNotFound` for a feature that hasn't been added; `ServiceError` when the service can't be
    ///   asked or keeps no history (those of other makers, and layers that show each user only some features).
    public func history(of feature: Feature) async throws -> FeatureHistory {
        let source = try await loadedSource()
        guard let origin = (feature as? ArcGISFeature)?.origin else {
            throw GeodatabaseError.itemNotFound(details: "The feature has not been added.")
        }
        return try await source.history(of: origin)
    }
}

extension ServiceTableSource {
    func history(of record: FeatureRecord) async throws -> FeatureHistory {
        let key = session.local.resolved(.init(layerID: layer.id, objectID: record.objectID))
        if key.objectID < 0 { return FeatureHistory([], layer: layer) }
        let url = session.remote.root.appending(path: "\(layer.id)/\(key.objectID)/history")
        return try FeatureHistory(
            json: try await session.remote.json(ServiceRequest(url, [("f", "json")])), layer: layer)
    }
}

extension GeodatabaseTableSource {
    func history(of record: FeatureRecord) async throws -> FeatureHistory {
        let versions = try await onDevice {
            try await session.file.history(of: .objectID(record.objectID), in: layer.id)
        }
        return FeatureHistory(versions, layer: layer)
    }
}
