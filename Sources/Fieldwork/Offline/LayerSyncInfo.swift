public import Foundation

/// How far a layer of a geodatabase and its service have been brought together.
public final class LayerSyncInfo: Sendable {
    /// The layer's id in the service.
    public let layerID: Int
    /// The replica's id at the service; of a geodatabase that is synced as a whole, that of the whole.
    public let syncID: UUID
    /// The newest generation of the service that the layer has.
    public let serverGeneration: Int64
    /// When the layer was synced last; nil for never.
    public let lastSyncDate: Date?

    init(layerID: Int, syncID: UUID, serverGeneration: Int64, lastSyncDate: Date?) {
        self.layerID = layerID
        self.syncID = syncID
        self.serverGeneration = serverGeneration
        self.lastSyncDate = lastSyncDate
    }
}

extension Geodatabase {
    /// How far a layer has been synced; nil for a layer that there is not, and in a file that is no replica.
    public func syncInfo(forLayerID layerID: Int) -> LayerSyncInfo? {
        guard let replica, featureTable(withServiceLayerID: layerID) != nil else { return nil }
        return LayerSyncInfo(
            layerID: layerID, syncID: replica.replicaID,
            serverGeneration: replica.layerGenerations[layerID] ?? replica.serverGeneration,
            lastSyncDate: replica.lastSync)
    }

    /// The tables of annotations: a GeoPackage of ours has none.
    public var annotationTables: [GeodatabaseFeatureTable] { [] }

    /// The table of annotations of a name: nil, since there are none.
    public func annotationTable(named name: String) -> GeodatabaseFeatureTable? {
        annotationTables.first { $0.tableName == name }
    }

    /// The tables of dimensions: a GeoPackage of ours has none.
    public var dimensionTables: [GeodatabaseFeatureTable] { [] }
}
