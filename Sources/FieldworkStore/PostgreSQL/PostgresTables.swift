import FieldworkREST

/// The tables of one service in a schema of PostgreSQL: those of `storage.md`, with PostgreSQL's types. The schema is the first of
/// the connection's search path.
enum PostgresTables {
    private static let text = "text COLLATE \"C\""

    /// Holds nothing: its lock says that somebody reads one state of the service for long.
    static let longReads = "fieldwork_long_reads"
    static let makingLongReads = "CREATE TABLE IF NOT EXISTS \(longReads) ()"

    /// Catalogue, state and change log. `counted` is the generation up to which `fieldwork_counts` has been kept, and
    /// `writer` the transaction of another program that opened the last generation: all that it does is one.
    static let bookkeeping =
        [
            """
            CREATE TABLE gpkg_spatial_ref_sys (
                srs_name \(text) NOT NULL, srs_id bigint PRIMARY KEY, organization \(text) NOT NULL,
                organization_coordsys_id bigint NOT NULL, definition \(text) NOT NULL, description \(text))
            """,
            """
            CREATE TABLE fieldwork_service (
                id bigint PRIMARY KEY CHECK (id = 1), format_version bigint NOT NULL, folder \(text), name \(text) NOT NULL,
                definition \(text) NOT NULL)
            """,
            """
            CREATE TABLE fieldwork_layers (
                layer_id bigint PRIMARY KEY, position bigint NOT NULL, table_name \(text) NOT NULL UNIQUE,
                geometry_column \(text), srs_id bigint NOT NULL, definition \(text) NOT NULL)
            """,
            "CREATE TABLE fieldwork_counts (layer_id bigint PRIMARY KEY, row_count bigint NOT NULL)",
            """
            CREATE TABLE fieldwork_state (
                id bigint PRIMARY KEY CHECK (id = 1), generation bigint NOT NULL, inside bigint NOT NULL,
                muted bigint NOT NULL, counted bigint NOT NULL, writer bigint NOT NULL)
            """,
            "INSERT INTO fieldwork_state (id, generation, inside, muted, counted, writer) VALUES (1, 0, 0, 0, 0, 0)",
            "CREATE TABLE fieldwork_generations (generation bigint PRIMARY KEY, moment \(text) NOT NULL, editor \(text))",
            "CREATE INDEX ON fieldwork_generations (moment)",
            """
            CREATE TABLE fieldwork_changes (
                layer_id bigint NOT NULL, object_id bigint NOT NULL, generation bigint NOT NULL,
                operation bigint NOT NULL, changed_1 bigint, changed_2 bigint, changed_3 bigint, changed_4 bigint,
                PRIMARY KEY (layer_id, object_id, generation, operation))
            """,
            "CREATE INDEX ON fieldwork_changes (layer_id, generation) INCLUDE (object_id, operation, changed_1)",
            """
            CREATE TABLE fieldwork_field_slots (
                layer_id bigint NOT NULL, slot bigint NOT NULL, field \(text), PRIMARY KEY (layer_id, slot))
            """,
            "CREATE TABLE fieldwork_edit_turns (sender \(text) PRIMARY KEY, turn bigint NOT NULL, moment \(text) NOT NULL)",
            "CREATE TABLE fieldwork_definitions (generation bigint PRIMARY KEY, definition \(text) NOT NULL)",
            "CREATE TABLE fieldwork_generation_origins (generation bigint PRIMARY KEY, replica_id \(text) NOT NULL)",
            "CREATE TABLE fieldwork_log_floors (layer_id bigint PRIMARY KEY, generation bigint NOT NULL)",
            makingLongReads,
        ] + PostgresReplicas.statements

    /// A column's type. Whole numbers are of one type and real ones too, so that an expression means the same whatever its
    /// fields are; texts are compared by their bytes.
    static func type(of column: StoredColumn) -> String {
        switch column.kind {
        case .objectID, .integer: "bigint"
        case .real: "double precision"
        case .date: "timestamptz"
        case .data: "bytea"
        case .geometry: "geometry"
        case .text, .guid, .globalID, .dateOnly, .timeOnly, .timestampOffset: text
        }
    }
}

/// Makes the table of a layer in PostgreSQL: columns, indexes, history, triggers.
struct PostgresLayerTable {
    let layer: StoredLayer

    private var table: String { quoted(layer.tableName) }
    private var history: String { quoted(layer.historyTable) }
    private var key: String { quoted(layer.objectIDColumn) }
    private var sequence: String { "fieldwork_ids_\(layer.definition.id)" }

    func create(in schema: String, on connection: StoreConnection) throws {
        // Ids come from a sequence: none is given twice, and one that was not kept in the end is not given again.
        try connection.execute("CREATE SEQUENCE \(sequence)")
        try connection.execute("CREATE TABLE \(table) (\(columns.joined(separator: ", ")))")
        try connection.execute("ALTER SEQUENCE \(sequence) OWNED BY \(table).\(key)")
        if let geometry = layer.geometryColumn {
            try connection.execute("CREATE INDEX ON \(table) USING gist (\(quoted(geometry)))")
        }
        if let globalID = layer.globalIDColumn {
            try connection.execute(
                """
                CREATE UNIQUE INDEX fieldwork_global_id_\(layer.definition.id) ON \(table) (\(quoted(globalID)))
                """)
        }
        try createHistory(on: connection)
        try connection.run("INSERT INTO fieldwork_counts (layer_id, row_count) VALUES (?, 0)") {
            try $0.bind(Int64(layer.definition.id), at: 1)
        }
        for statement in PostgresTriggers(layer: layer, schema: schema).statements { try connection.execute(statement) }
    }

    private var columns: [String] {
        var columns = layer.columns.filter(\.isStored).map { column in
            if column.kind == .objectID, column.name == layer.objectIDColumn {
                return "\(key) bigint PRIMARY KEY DEFAULT nextval('\(sequence)')"
            }
            return "\(quoted(column.name)) \(PostgresTables.type(of: column))\(defaultClause(of: column))"
        }
        if let geometry = layer.geometryColumn { columns.append("\(quoted(geometry)) geometry") }
        return columns
    }

    private func defaultClause(of column: StoredColumn) -> String {
        FeatureTable.defaultClause(AttributeRules.storedAsIs(column.field.defaultValue, in: column))
    }

    func createHistory(on connection: StoreConnection) throws {
        var columns = layer.columns.filter { $0.isStored && $0.name != layer.objectIDColumn }.map {
            ", \(quoted($0.name)) \(PostgresTables.type(of: $0))"
        }
        if let geometry = layer.geometryColumn { columns.append(", \(quoted(geometry)) geometry") }
        try connection.execute(
            """
            CREATE TABLE \(history) (
                fieldwork_version bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fieldwork_object_id bigint NOT NULL,
                fieldwork_generation bigint NOT NULL, fieldwork_operation bigint NOT NULL\(columns.joined()))
            """)
        try connection.execute("CREATE INDEX ON \(history) (fieldwork_object_id)")
        guard let globalID = layer.globalIDColumn else { return }
        // Finds what became of a feature that an offline client still names. Only deletes are in it.
        try connection.execute("CREATE INDEX ON \(history) (\(quoted(globalID))) WHERE fieldwork_operation = 2")
    }
}
