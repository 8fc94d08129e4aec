import FieldworkREST

/// Loads a new file that nobody has opened yet: triggers, the R-tree and the index of global ids are dropped at the beginning and made at
/// the end, when all rows are there, since they cost more row by row. A file whose load does not end must not be used.
enum TableLoad {
    /// - Parameter bringsGlobalIDs: whether the rows bring global ids, so that one may come twice, which its row is refused for.
    static func begin(_ layers: [StoredLayer], bringsGlobalIDs: Bool, on connection: StoreConnection) throws {
        for layer in layers {
            let table = FeatureTable(layer: layer)
            try table.dropTracking(on: connection)
            if bringsGlobalIDs { try table.indexGlobalIDs(on: connection) }
        }
    }

    static func end(_ layers: [StoredLayer], on connection: StoreConnection) throws {
        for layer in layers {
            try SpatialIndex(layer: layer)?.create(on: connection)
            try FeatureTable(layer: layer).prepareTracking(on: connection)
            try FeatureTable(layer: layer).writeExtent(on: connection)
        }
    }

    /// Whether a load of the layer has begun and not ended: its rows are not logged by the table itself.
    static func isUnderWay(_ layer: StoredLayer, on connection: StoreConnection) throws -> Bool {
        guard let find = connection.dialect.triggerNamed else { return false }
        return try connection.integer(find) {
            try $0.bind(ChangeTriggers.namesAfterInsert(layer.definition.id).counting, at: 1)
        } == nil
    }
}

extension GeoPackageFile {
    /// Makes a new file ready for many features. Until `endLoad` nothing but batches of the origin `load` may be applied to it.
    /// - Parameter bringsGlobalIDs: whether the features bring global ids.
    package func beginLoad(bringsGlobalIDs: Bool) async throws {
        let layers = catalogueSnapshot.orderedLayers
        try await writer.write { try TableLoad.begin(layers, bringsGlobalIDs: bringsGlobalIDs, on: $0) }
    }

    /// Makes the indexes of what was loaded, and has the file log edits from here on.
    package func endLoad() async throws {
        let layers = catalogueSnapshot.orderedLayers
        try await writer.write { try TableLoad.end(layers, on: $0) }
    }
}
