import FieldworkREST

/// What a change of a definition does to the tables of a service in PostgreSQL, where `DefinitionUpdate` would speak to the
/// catalogue of a GeoPackage. Within its transaction.
struct PostgresDefinitionChange {
    let connection: StoreConnection
    let schema: String

    init(on connection: StoreConnection) throws {
        guard let schema = try connection.text("SELECT current_schema()::text") else {
            throw StoreError(.failure, "The schema of the service is gone.")
        }
        self.connection = connection
        self.schema = schema
    }

    /// A large layer takes its time; it has been asked for.
    func begin() throws { try connection.execute("SET LOCAL statement_timeout = 0") }

    // MARK: Layers

    func add(_ definition: LayerDefinition) throws -> StoredLayer {
        var names = TableNames(longest: Limits.sessionNameBytes)
        try connection.run(
            "SELECT lower(relname::text) FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace",
            row: { names.used.insert($0.text(0)) })
        let layer = try StoredLayer(adding: definition, names: &names, on: connection)
        try PostgresLayerTable(layer: layer).create(in: schema, on: connection)
        return layer
    }

    /// The layer's features were deleted before.
    func remove(_ layer: StoredLayer) throws {
        let id = layer.definition.id
        // The table of attachments stays, empty now, and so does the history: no id is given twice.
        for function in [
            "fieldwork_\(id)_fill", "fieldwork_\(id)_log", "fieldwork_attachments_\(id)_fill",
            "fieldwork_attachments_\(id)_log", "fieldwork_\(id)_attachments_follow",
        ] + PostgresPartitioning.triggerNames(id) {
            try connection.execute("DROP FUNCTION IF EXISTS \(place(function)) () CASCADE")
        }
        do {
            try connection.execute("DROP TABLE \(place(layer.tableName))")
            try connection.execute("DROP TABLE IF EXISTS \(place(PostgresPartitioning.globalIDTable(id)))")
        } catch let error as StoreError where error.code == .failure {
            throw StoreError(
                .invalidDefinition,
                "Layer \(id) can't be removed: something else in the database uses it. \(error.message)")
        }
    }

    // MARK: Fields

    /// Its indexes go with it.
    func remove(_ column: StoredColumn, slot: Int, from layer: StoredLayer, generation: Int64) throws {
        try connection.execute("ALTER TABLE \(place(layer.tableName)) DROP COLUMN \(quoted(column.name))")
        var kept = "fieldwork_removed_\(generation)_\(column.name)"
        if kept.utf8.count > Limits.sessionNameBytes { kept = "fieldwork_removed_\(generation)_\(slot)" }
        try connection.execute(
            "ALTER TABLE \(place(layer.historyTable)) RENAME COLUMN \(quoted(column.name)) TO \(quoted(kept))")
    }

    /// - Parameter clause: the value of features that are there.
    func add(_ column: StoredColumn, to layer: StoredLayer, _ clause: String) throws {
        try Self.checkName(column.name)
        let type = PostgresTables.type(of: column)
        try connection.execute(
            "ALTER TABLE \(place(layer.tableName)) ADD COLUMN \(quoted(column.name)) \(type)\(clause)")
        try connection.execute("ALTER TABLE \(place(layer.historyTable)) ADD COLUMN \(quoted(column.name)) \(type)")
    }

    static func checkName(_ name: String) throws {
        guard name.utf8.count > Limits.sessionNameBytes else { return }
        throw StoreError(
            .invalidDefinition,
            "PostgreSQL takes names of at most \(Limits.sessionNameBytes) bytes: \(name.prefix(80)).")
    }

    /// The triggers stay, and do what the new columns demand.
    func replaceTriggerFunctions(of layer: StoredLayer) throws {
        for statement in PostgresTriggers(layer: layer, schema: schema).functions { try connection.execute(statement) }
    }

    // MARK: Indexes

    /// The names of indexes that begin so.
    static func indexes(beginning prefix: String, on connection: StoreConnection) throws -> Set<String> {
        var names: Set<String> = []
        try connection.run(
            """
            SELECT indexname::text FROM pg_catalog.pg_indexes
            WHERE schemaname = current_schema() AND starts_with(indexname::text, ?)
            """, bind: { try $0.bind(prefix, at: 1) }, row: { names.insert($0.text(0)) })
        return names
    }

    /// Whether any value of a column fits into an index: an entry has at most a third of a page.
    static func canIndex(_ column: StoredColumn) -> Bool {
        switch column.kind {
        case .text: (1...Limits.sessionIndexCharacters).contains(column.field.length)
        case .data, .geometry: false
        default: true
        }
    }

    /// A name that other programs' search paths don't bear upon.
    private func place(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }
}
