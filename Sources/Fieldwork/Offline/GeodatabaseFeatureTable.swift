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

    override func table(besideWithID layerID: Int) -> ArcGISFeatureTable? {
        layerID == id ? self : geodatabase?.featureTable(withServiceLayerID: layerID)
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
    public func queryAddedFeatures() async throws -> FeatureQueryResult { try await features(.add) }

    /// The features that were changed since the last sync.
    public func queryUpdatedFeatures() async throws -> FeatureQueryResult { try await features(.update) }

    /// The table of the same geodatabase that a relationship leads to.
    override func relatedTable(of info: RelationshipInfo) -> ArcGISFeatureTable? {
        if info.relatedTableID == id { return self }
        return geodatabase?.featureTable(withServiceLayerID: info.relatedTableID)
    }

    private func features(_ operation: FeatureChange.Operation) async throws -> FeatureQueryResult {
        let ids = try await changes().filter { $0.operation == operation }.map(\.objectID)
        let parameters = QueryParameters()
        parameters.addObjectIDs(ids)
        // No ids would mean all.
        if ids.isEmpty { parameters.whereClause = "1=0" }
        return try await queryFeatures(using: parameters)
    }

    private func changes() async throws -> [FeatureChange] { try await session.netChanges(of: id) }
}
