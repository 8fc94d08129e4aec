import FieldworkREST

/// Takes a layer out of a service. Its features are deleted first, as an edit would delete them: they stay in the history
/// table and the change log, which are kept.
struct LayerRemoval {
    let layer: StoredLayer

    func apply(on connection: StoreConnection) throws {
        try connection.dialect.textIndex.write([], of: layer, on: connection)
        try connection.execute("DELETE FROM \(quoted(layer.tableName))")
        try connection.dialect.isSQLite
            ? removeFromFile(connection) : PostgresDefinitionChange(on: connection).remove(layer)
        for statement in [
            "DELETE FROM fieldwork_layers WHERE layer_id = ?", "DELETE FROM fieldwork_counts WHERE layer_id = ?",
        ] {
            try connection.run(statement) { try $0.bind(Int64(layer.definition.id), at: 1) }
        }
    }

    private func removeFromFile(_ connection: StoreConnection) throws {
        let table = quoted(layer.tableName)
        try AttachmentTables(layer: layer).detach(on: connection)
        if let index = layer.spatialIndex { try connection.execute("DROP TABLE IF EXISTS \(quoted(index))") }
        do {
            try connection.execute("DROP TABLE \(table)")
        } catch let error as StoreError where error.code == .failure {
            throw StoreError(
                .invalidDefinition,
                "Layer \(layer.definition.id) can't be removed: something else in the file uses it. \(error.message)")
        }
        for statement in [
            "DELETE FROM gpkg_geometry_columns WHERE lower(table_name) = lower(?)",
            "DELETE FROM gpkg_data_columns WHERE lower(table_name) = lower(?)",
            "DELETE FROM gpkg_extensions WHERE lower(table_name) = lower(?)",
            "DELETE FROM gpkg_contents WHERE lower(table_name) = lower(?)",
        ] {
            try connection.run(statement) { try $0.bind(layer.tableName, at: 1) }
        }
        // GDAL counts rows of its own accord, where it made the file.
        if try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'gpkg_ogr_contents'") != nil {
            try connection.run("DELETE FROM gpkg_ogr_contents WHERE lower(table_name) = lower(?)") {
                try $0.bind(layer.tableName, at: 1)
            }
        }
    }
}
