import FieldworkREST
import FieldworkStore
public import Foundation

/// A table of a geodatabase. Queries give complete features; edits are in the file when their call returns, or belong to
/// the transaction that is open, and are recorded for the next sync.
///
/// It adds no state that changes to its parent's.
public final class GeodatabaseFeatureTable: ArcGISFeatureTable, @unchecked Sendable {
    private struct Owner: Sendable {
        weak let geodatabase: Geodatabase?
    }

    private let owner: Owner
    private let session: GeodatabaseSession
    private let id: Int

    init(geodatabase: Geodatabase, layer: LayerDefinition, session: GeodatabaseSession) {
        owner = Owner(geodatabase: geodatabase)
        self.session = session
        id = layer.id
        super.init(source: GeodatabaseTableSource(layer: layer, session: session))
    }

    /// The geodatabase of the table, as long as somebody holds it.
    public var geodatabase: Geodatabase? { owner.geodatabase }

    override var bar: String? { session.bar }

    override var serviceAddress: URL? { session.replica?.serviceURL }

    override func table(besideWithID layerID: Int) -> ArcGISFeatureTable? {
        layerID == id ? self : geodatabase?.featureTable(withServiceLayerID: layerID)
    }

    override var tablesBeside: [ArcGISFeatureTable] {
        [self] + (geodatabase?.featureTables ?? []).filter { $0 !== self }
    }

    /// Whether the table has edits since the last sync. Not part of the vendor's API: asks the file.
    public func hasLocalEdits() async throws -> Bool { try await !changes().isEmpty }

    /// When the table was synced last; nil for a table that is no replica's.
    public var lastSyncDate: Date? { session.replica?.lastSync }

    /// The number of features that were added since the last sync.
    public func addedFeaturesCount() async throws -> Int { try await changes().count { $0.operation == .add } }

    /// The number of features that were changed since the last sync.
    public func updatedFeaturesCount() async throws -> Int { try await changes().count { $0.operation == .update } }

    /// The number of features that were deleted since the last sync.
    public func deletedFeaturesCount() async throws -> Int { try await changes().count { $0.operation == .delete } }

    /// The features that were added since the last sync.
    /// - Parameter date: counts only what was done since then, by the device's clock; nil for all.
    public func queryAddedFeatures(since date: Date? = nil) async throws -> FeatureQueryResult {
        try await features(.add, since: date)
    }

    /// The features that were changed since the last sync.
    /// - Parameter date: counts only what was done since then, by the device's clock; nil for all.
    public func queryUpdatedFeatures(since date: Date? = nil) async throws -> FeatureQueryResult {
        try await features(.update, since: date)
    }

    /// The features that were deleted since the last sync, as they were. They can't be edited.
    /// - Parameter date: counts only what was done since then, by the device's clock; nil for all.
    public func queryDeletedFeatures(since date: Date? = nil) async throws -> FeatureQueryResult {
        let source = try await loadedSource()
        var features: [Feature] = []
        for change in try await changes(since: date) where change.operation == .delete {
            let past = try await onDevice {
                try await session.file.history(of: .objectID(change.objectID), in: id)
            }
            guard let version = past.first(where: { $0.endedBy == .delete }) else { continue }
            features.append(
                ArcGISFeature(table: self, record: version.record, layer: source.layer, isComplete: true))
        }
        return FeatureQueryResult(
            features: features, fields: fields, spatialReference: spatialReference, geometryType: geometryType)
    }

    /// The table of the same geodatabase that a relationship leads to.
    override func relatedTable(of info: RelationshipInfo) -> ArcGISFeatureTable? {
        if info.relatedTableID == id { return self }
        return geodatabase?.featureTable(withServiceLayerID: info.relatedTableID)
    }

    private func features(
        _ operation: FeatureChange.Operation, since date: Date?
    ) async throws -> FeatureQueryResult {
        let ids = try await changes(since: date).filter { $0.operation == operation }.map(\.objectID)
        let parameters = QueryParameters()
        parameters.addObjectIDs(ids)
        // No ids would mean all.
        if ids.isEmpty { parameters.whereClause = "1=0" }
        return try await queryFeatures(using: parameters)
    }

    private func changes(since date: Date? = nil) async throws -> [FeatureChange] {
        let sent = session.replica?.sentGeneration(of: id) ?? 0
        guard let date else { return try await session.netChanges(of: id, after: sent) }
        let before = try await onDevice { try await session.file.generation(before: date) }
        return try await session.netChanges(of: id, after: max(sent, before))
    }
}
