import FieldworkREST

/// Makes a layer of a table that stays where it is. The service's schema gets a view of it, with the types that the tables of
/// services have, which writes to the table what is written to it; the table itself gets the triggers that log what anybody
/// changes, and what else it needs: ids that can be looked up as 64-bit numbers, global ids if they were asked for.
struct PlacedLayer {
    /// The tables in place of a service, by layer, and what they were given.
    static let catalogue = "fieldwork_placed"

    let table: PlacedTable
    let layer: StoredLayer
    /// The service's.
    let schema: String
    /// The column of global ids that the table was given.
    let globalID: String?

    private var id: Int { layer.definition.id }
    private var base: String { table.place }
    private var key: String { quoted(table.key.name) }
    private var view: String { place(layer.tableName) }
    private var sequence: String { place("fieldwork_ids_\(id)") }
    private func place(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }

    /// The columns that the view's writer sets.
    private var writable: [PlacedColumn] { table.columns.filter { !$0.isGenerated && $0.identity != "a" } }

    static func createCatalogue(on connection: StoreConnection) throws {
        try connection.execute(
            """
            CREATE TABLE \(catalogue) (
                layer_id bigint PRIMARY KEY, table_schema text NOT NULL, table_name text NOT NULL, added_column text,
                added_index text)
            """)
    }

    /// Adds a column of global ids that the table fills by itself, whoever inserts.
    static func addGlobalIDs(_ column: String, to table: PlacedTable, on connection: StoreConnection) throws {
        try connection.execute(
            """
            ALTER TABLE \(table.place) ADD COLUMN \(quoted(column)) text COLLATE "C" NOT NULL UNIQUE
            DEFAULT ('{' || upper(gen_random_uuid()::text) || '}')
            """)
    }

    func create(on connection: StoreConnection) throws {
        let index = try createKeyIndex(on: connection)
        try connection.execute("CREATE VIEW \(view) AS SELECT \(viewColumns.joined(separator: ", ")) FROM \(base) AS t")
        if !table.key.hasDefault {
            let newest = try connection.integer("SELECT max(\(key)) FROM \(base)") ?? 0
            try connection.execute("CREATE SEQUENCE \(sequence) START WITH \(max(newest, 0) + 1)")
        }
        try PostgresLayerTable(layer: layer).createHistory(on: connection)
        try connection.run("INSERT INTO fieldwork_counts (layer_id, row_count) SELECT ?, count(*) FROM \(base)") {
            try $0.bind(Int64(id), at: 1)
        }
        try createWriter(on: connection)
        for statement in triggers.placedStatements(truncated: truncated) { try connection.execute(statement) }
        try connection.run("INSERT INTO \(Self.catalogue) VALUES (?, ?, ?, ?, ?)") {
            try $0.bind(Int64(id), at: 1)
            try $0.bind(table.schema, at: 2)
            try $0.bind(table.name, at: 3)
            try $0.bind(globalID, at: 4)
            try $0.bind(index, at: 5)
        }
    }

    /// - Returns: the name of an index that the table was given; nil where its key is one of 64 bits.
    private func createKeyIndex(on connection: StoreConnection) throws -> String? {
        guard table.key.type != "int8" else { return nil }
        var names = TableNames(longest: Limits.sessionNameBytes)
        try connection.run(
            "SELECT lower(relname::text) FROM pg_catalog.pg_class", row: { names.used.insert($0.text(0)) })
        let name = names.next(for: "\(table.name)_fieldwork_key", otherwise: "key_")
        try connection.execute("CREATE UNIQUE INDEX \(quoted(name)) ON \(base) ((\(key)::bigint))")
        return name
    }

    // MARK: View

    private var viewColumns: [String] {
        var columns = ["t.\(key)::bigint AS \(key)"]
        columns += table.columns.map { "\($0.read(of: "t")) AS \(quoted($0.name))" }
        if let globalID { columns.append("t.\(quoted(globalID))") }
        // Of any type and dimension: what the column takes, it says itself when it is written to.
        if let geometry = table.geometry {
            columns.append("t.\(quoted(geometry.column))::geometry AS \(quoted(geometry.column))")
        }
        return columns
    }

    private func createWriter(on connection: StoreConnection) throws {
        let function = place("fieldwork_\(id)_write")
        try connection.execute(
            "CREATE FUNCTION \(function) () RETURNS trigger LANGUAGE plpgsql AS \(literal(writer))")
        try connection.execute(
            """
            CREATE TRIGGER fieldwork_\(id)_write INSTEAD OF INSERT OR UPDATE OR DELETE ON \(view)
            FOR EACH ROW EXECUTE FUNCTION \(function) ()
            """)
    }

    private var writer: String {
        let returned = "RETURNING \(key) INTO NEW.\(key)"
        return """
            BEGIN
                IF TG_OP = 'DELETE' THEN
                    DELETE FROM \(base) WHERE \(key)::bigint = OLD.\(key);
                    IF NOT FOUND THEN RETURN NULL; END IF;
                    RETURN OLD;
                ELSIF TG_OP = 'UPDATE' THEN
                    UPDATE \(base) AS t SET \(assignments.joined(separator: ", ")) WHERE t.\(key)::bigint = OLD.\(key);
                    IF NOT FOUND THEN RETURN NULL; END IF;
                    RETURN NEW;
                END IF;
                \(fillKey)
                INSERT INTO \(base) AS t (\(inserted.map(\.column).joined(separator: ", ")))
                    VALUES (\(inserted.map(\.value).joined(separator: ", "))) \(returned);
                RETURN NEW;
            END
            """
    }

    /// A table whose key nothing fills gets numbers from a sequence, past those that others have given.
    private var fillKey: String {
        if let given = table.key.defaultValue { return "NEW.\(key) := coalesce(NEW.\(key), \(given));" }
        if table.key.hasDefault {
            return """
                NEW.\(key) := coalesce(NEW.\(key),
                    nextval(pg_catalog.pg_get_serial_sequence(\(literal(base)), \(literal(table.key.name)))));
                """
        }
        return """
            WHILE NEW.\(key) IS NULL LOOP
                NEW.\(key) := nextval(\(literal(sequence)));
                IF EXISTS (SELECT 1 FROM \(base) WHERE \(key)::bigint = NEW.\(key)) THEN NEW.\(key) := NULL; END IF;
            END LOOP;
            """
    }

    private var inserted: [(column: String, value: String)] {
        var values = [(key, "NEW.\(key)")]
        for column in writable {
            let name = quoted(column.name)
            let value = column.written("NEW.\(name)")
            // A default is for those that leave a column out, which a writer of all columns can't.
            values.append(
                (
                    name,
                    column.defaultValue.map { "CASE WHEN NEW.\(name) IS NULL THEN \($0) ELSE \(value) END" } ?? value
                ))
        }
        if let name = globalID.map(quoted) {
            values.append((name, "coalesce(NEW.\(name), '{' || upper(gen_random_uuid()::text) || '}')"))
        }
        if let geometry = table.geometry {
            let name = quoted(geometry.column)
            values.append((name, geometry.written("NEW.\(name)")))
        }
        return values
    }

    /// What stays as it is keeps all that the table knows of it: digits of a number, microseconds of a moment.
    private var assignments: [String] {
        var assignments = ["\(key) = CASE WHEN OLD.\(key) = NEW.\(key) THEN t.\(key) ELSE NEW.\(key) END"]
        for column in writable {
            let name = quoted(column.name)
            assignments.append(
                """
                \(name) = CASE WHEN OLD.\(name) IS NOT DISTINCT FROM NEW.\(name) THEN t.\(name)
                    ELSE \(column.written("NEW.\(name)")) END
                """)
        }
        if let name = globalID.map(quoted) { assignments.append("\(name) = NEW.\(name)") }
        if let geometry = table.geometry {
            let name = quoted(geometry.column)
            assignments.append(
                """
                \(name) = CASE WHEN OLD.\(name)::bytea IS NOT DISTINCT FROM NEW.\(name)::bytea THEN t.\(name)
                    ELSE \(geometry.written("NEW.\(name)")) END
                """)
        }
        return assignments
    }

    // MARK: Log

    private var triggers: PostgresTriggers {
        var triggers = PostgresTriggers(layer: layer, schema: schema)
        triggers.placed = PostgresTriggers.Placed(
            table: base,
            values: Dictionary(table.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }))
        return triggers
    }

    /// No row's trigger would see it.
    private var truncated: String {
        let message = literal("\(base) is the table of a layer, whose change log would not see a TRUNCATE: use DELETE.")
        return "BEGIN RAISE EXCEPTION USING MESSAGE = \(message), ERRCODE = 'object_in_use'; END"
    }

    // MARK: Taking back

    /// Of a service's layers those whose tables lie elsewhere; none in a file.
    static func layerIDs(on connection: StoreConnection) throws -> Set<Int> {
        guard !connection.dialect.isSQLite, try connection.hasTable(catalogue) else { return [] }
        var ids: Set<Int> = []
        try connection.run("SELECT layer_id FROM \(catalogue)", row: { ids.insert(Int($0.integer(0))) })
        return ids
    }

    /// Lets what was published by an older Fieldwork log with the rights of its owner, too.
    static let loggingByOwner = """
        DO $$
        DECLARE
            logging regprocedure;
        BEGIN
            FOR logging IN
                SELECT f.oid::regprocedure FROM pg_catalog.pg_proc AS f
                JOIN pg_catalog.pg_namespace AS n ON n.oid = f.pronamespace
                JOIN fieldwork.services AS s ON s.schema_name = n.nspname
                JOIN pg_catalog.pg_tables AS t ON t.schemaname = n.nspname AND t.tablename = '\(catalogue)'
                WHERE f.proname ~ '^fieldwork_[0-9]+_log$' AND NOT f.prosecdef
                    AND pg_catalog.pg_has_role(f.proowner, 'USAGE')
            LOOP
                EXECUTE 'ALTER FUNCTION ' || logging || ' \(PostgresTriggers.ofOwner)';
                EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || logging || ' FROM PUBLIC';
            END LOOP;
        END
        $$
        """

    /// What the tables of a service were given besides triggers, which go with the functions in its schema: statements that take
    /// it away when the schema is gone.
    static func takingBack(schema: String, on connection: StoreConnection) throws -> [String] {
        let isThere = try connection.integer(
            "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = ?"
        ) {
            try $0.bind(schema, at: 1)
            try $0.bind(catalogue, at: 2)
        }
        guard isThere != nil else { return [] }
        var statements: [String] = []
        try connection.run(
            "SELECT table_schema, table_name, added_column, added_index FROM \(quoted(schema)).\(catalogue)",
            row: { row in
                let table = "\(quoted(row.text(0))).\(quoted(row.text(1)))"
                if let index = row.optionalText(3) {
                    statements.append("DROP INDEX IF EXISTS \(quoted(row.text(0))).\(quoted(index))")
                }
                if let column = row.optionalText(2) {
                    statements.append("ALTER TABLE IF EXISTS \(table) DROP COLUMN IF EXISTS \(quoted(column))")
                }
            })
        return statements
    }
}
