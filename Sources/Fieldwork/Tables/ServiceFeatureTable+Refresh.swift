import FieldworkGeometry
import FieldworkREST
import Synchronization

/// What a service was asked for once, to be asked again.
struct Population: Sendable, Equatable {
    /// nil for all features.
    let parameters: QueryParameters.Values?

    static func == (one: Population, other: Population) -> Bool {
        switch (one.parameters, other.parameters) {
        case (nil, nil): true
        case (let first?, let second?):
            first.whereClause == second.whereClause && first.geometry == second.geometry
                && first.spatialRelationship == second.spatialRelationship && first.objectIDs == second.objectIDs
                && first.maxFeatures == second.maxFeatures && first.resultOffset == second.resultOffset
                && first.timeExtent == second.timeExtent
                && first.orderByFields.map(\.fieldName) == second.orderByFields.map(\.fieldName)
                && first.orderByFields.map(\.sortOrder) == second.orderByFields.map(\.sortOrder)
        default: false
        }
    }
}

extension ServiceFeatureTable {
    /// Brings to this device again what was brought before, as it is now. What the service has no more goes when one
    /// question meant all that is here; after several it stays until the cache is cleared, for nobody knows which of them it
    /// answered. Features with edits that were not applied stay as they are here.
    func populateAgain() async throws {
        guard featureRequestMode == .manualCache else { return }
        let populations = state.withLock { $0.populations }
        for population in populations {
            let parameters = population.parameters.map { values in
                let parameters = QueryParameters()
                parameters.replaceValues(values)
                return parameters
            }
            _ = try await populateFromService(
                using: parameters, clearCache: populations.count == 1, outFields: ["*"])
        }
    }

    /// Gives features all their attributes and their geometry as they are now, many with one question. Values that were
    /// changed on the objects since stay.
    /// - Returns: the features that are still there.
    func completeAll(_ features: [ArcGISFeature]) async throws -> [ArcGISFeature] {
        let source = try await loadedSource()
        let known = features.compactMap { feature in feature.objectID.map { (id: $0, feature: feature) } }
        var present: [ArcGISFeature] = []
        for start in stride(from: 0, to: known.count, by: Limits.idsPerCondition) {
            let some = known[start..<min(start + Limits.idsPerCondition, known.count)]
            var query = LayerQuery()
            query.objectIDs = some.map(\.id)
            query.isExact = true
            query.returnsGeometry = !source.layer.isTable
            let records = try await source.records(query, mode: featureRequestMode).records
            let byID = Dictionary(records.map { ($0.objectID, $0) }) { first, _ in first }
            for (id, feature) in some {
                guard let record = byID[resolved(id)] ?? byID[id] else { continue }
                feature.complete(with: record, layer: source.layer)
                present.append(feature)
            }
        }
        return present
    }

    /// The id under which a feature is known now: the service's for one that was added here.
    private func resolved(_ id: Int64) -> Int64 {
        serviceGeodatabase?.session?.local.resolved(.init(layerID: layerID, objectID: id)).objectID ?? id
    }
}
