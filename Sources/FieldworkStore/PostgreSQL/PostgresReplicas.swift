import FieldworkREST

/// The tables of `ReplicaTables` in a schema of PostgreSQL.
enum PostgresReplicas {
    private static let text = "text COLLATE \"C\""

    static let statements = [
        """
        CREATE TABLE fieldwork_replicas (
            replica_id \(text) PRIMARY KEY, name \(text) NOT NULL, definition \(text) NOT NULL,
            last_sync \(text) NOT NULL, state \(text) NOT NULL)
        """,
        """
        CREATE TABLE fieldwork_replica_layers (
            replica_id \(text) NOT NULL, layer_id bigint NOT NULL, generation bigint NOT NULL,
            PRIMARY KEY (replica_id, layer_id))
        """,
        """
        CREATE TABLE fieldwork_uploads (
            replica_id \(text) NOT NULL, upload_id \(text) NOT NULL, moment \(text) NOT NULL, results \(text) NOT NULL,
            PRIMARY KEY (replica_id, upload_id))
        """,
        """
        CREATE TABLE fieldwork_conflicts (
            conflict_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, layer_id bigint NOT NULL,
            object_id bigint NOT NULL, global_id \(text) NOT NULL, kind \(text) NOT NULL, rule \(text) NOT NULL,
            winner \(text) NOT NULL, state \(text) NOT NULL, lost \(text) NOT NULL, won \(text) NOT NULL,
            moment \(text) NOT NULL)
        """,
    ]

    /// Adds what a service lacks that an earlier version made.
    static func prepare(_ source: ConnectionSource) throws {
        if try isThere(on: source.open(.readOnly)) { return }
        let connection = try source.open(.readWrite)
        try connection.transaction {
            // Another process may have been faster.
            if try isThere(on: connection) { return }
            for statement in statements { try connection.execute(statement) }
        }
    }

    private static func isThere(on connection: StoreConnection) throws -> Bool {
        try connection.hasTable("fieldwork_conflicts")
    }
}
