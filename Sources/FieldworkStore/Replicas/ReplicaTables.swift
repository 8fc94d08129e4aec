import FieldworkREST

/// The tables of replicas, of what they handed in and of the conflicts that this made.
enum ReplicaTables {
    static let names = [
        "fieldwork_generation_origins", "fieldwork_log_floors", "fieldwork_replicas", "fieldwork_replica_layers",
        "fieldwork_uploads", "fieldwork_conflicts",
    ]

    private static let statements = [
        // From which replica a generation came; edits made on the service itself have no entry.
        """
        CREATE TABLE IF NOT EXISTS fieldwork_generation_origins (
            generation INTEGER PRIMARY KEY, replica_id TEXT NOT NULL)
        """,
        // Changes up to this generation are no longer in the log.
        """
        CREATE TABLE IF NOT EXISTS fieldwork_log_floors (
            layer_id INTEGER PRIMARY KEY, generation INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_replicas (
            replica_id TEXT PRIMARY KEY, name TEXT NOT NULL, definition TEXT NOT NULL, last_sync TEXT NOT NULL,
            state TEXT NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_replica_layers (
            replica_id TEXT NOT NULL, layer_id INTEGER NOT NULL, generation INTEGER NOT NULL,
            PRIMARY KEY (replica_id, layer_id)) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_uploads (
            replica_id TEXT NOT NULL, upload_id TEXT NOT NULL, moment TEXT NOT NULL, results TEXT NOT NULL,
            PRIMARY KEY (replica_id, upload_id)) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_conflicts (
            conflict_id INTEGER PRIMARY KEY AUTOINCREMENT, layer_id INTEGER NOT NULL, object_id INTEGER NOT NULL,
            global_id TEXT NOT NULL, kind TEXT NOT NULL, rule TEXT NOT NULL, winner TEXT NOT NULL,
            state TEXT NOT NULL, lost TEXT NOT NULL, won TEXT NOT NULL, moment TEXT NOT NULL)
        """,
    ]

    /// Adds what a file lacks. Does nothing to one that has it all.
    static func prepare(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        let last = try connection.integer(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fieldwork_conflicts'")
        guard last == nil else { return }
        try connection.transaction { try prepareInTransaction(catalogue, on: connection) }
    }

    static func prepareInTransaction(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        for statement in statements { try connection.execute(statement) }
        for layer in catalogue.orderedLayers { try ChangeTriggers(layer: layer).createDeletedIndex(on: connection) }
        for name in names { try GeoPackageSchema.registerOwn(name, on: connection) }
    }
}
