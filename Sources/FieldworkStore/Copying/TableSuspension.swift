import FieldworkREST

/// Takes away what each row would cost while a service that nobody sees yet is loaded, and brings it back: triggers, which would
/// log what is no edit, indexes, which are made faster at once, and R-trees.
struct TableSuspension {
    private let connection: StoreConnection
    /// Statements that bring back what was taken.
    private let restoring: [String]

    init(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        self.connection = connection
        restoring =
            try connection.dialect.isSQLite
            ? Self.suspendFile(catalogue, connection) : Self.suspendSchema(connection)
    }

    func end() throws {
        for statement in restoring { try connection.execute(statement) }
        // Only now the change log knows which bits fields have.
        for layer in try ServiceCatalogue.read(from: connection).orderedLayers {
            if connection.dialect.isSQLite {
                try ChangeTriggers(layer: layer).drop(on: connection)
                try ChangeTriggers(layer: layer).create(on: connection)
                try SpatialIndex(layer: layer)?.create(on: connection)
                try FeatureTable(layer: layer).writeExtent(on: connection)
            } else {
                try PostgresDefinitionChange(on: connection).replaceTriggerFunctions(of: layer)
            }
            try DeclaredIndexes(layer: layer).write(on: connection)
        }
        // Else the first queries would be planned for empty tables.
        if !connection.dialect.isSQLite {
            for table in try connection.texts(Self.tablesOfSchema) {
                try connection.execute("ANALYZE \(quoted(table))")
            }
        }
    }

    // MARK: Files

    private static func suspendFile(
        _ catalogue: ServiceCatalogue, _ connection: StoreConnection
    ) throws -> [String] {
        for layer in catalogue.orderedLayers { try SpatialIndex(layer: layer)?.drop(on: connection) }
        var found: [(type: String, name: String, sql: String)] = []
        try connection.run(
            """
            SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
            ORDER BY type, name
            """, row: { found.append(($0.text(0), $0.text(1), $0.text(2))) })
        for object in found { try connection.execute("DROP \(object.type) \(quoted(object.name))") }
        return found.map(\.sql)
    }

    // MARK: PostgreSQL

    private static let tablesOfSchema = """
        SELECT relname::text FROM pg_catalog.pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname
        """

    private static func suspendSchema(_ connection: StoreConnection) throws -> [String] {
        var statements: [String] = []
        var indexes: [String] = []
        try connection.run(
            """
            SELECT c.relname::text, pg_catalog.pg_get_indexdef(c.oid) FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
                AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS k WHERE k.conindid = c.oid) ORDER BY c.relname
            """,
            row: { row in
                indexes.append(row.text(0))
                statements.append(row.text(1))
            })
        for index in indexes { try connection.execute("DROP INDEX \(quoted(index))") }
        for table in try connection.texts(tablesOfSchema) {
            try connection.execute("ALTER TABLE \(quoted(table)) DISABLE TRIGGER USER")
            statements.append("ALTER TABLE \(quoted(table)) ENABLE TRIGGER USER")
        }
        return statements
    }
}
