import FieldworkREST

/// Makes the table of a layer one of so many partitions, by the hash of the object id, or a plain one again. The rows are copied, and
/// all that the table has is made again on the new one: triggers, indexes, rights.
///
/// Unique in a partitioned table can only be what its partitions are chosen by. So the global ids, which must be there once too, are
/// kept a second time in a plain table, by a trigger. Other values can't be unique, and no program can give a feature another object
/// id: to PostgreSQL it would be a delete, with which its attachments would go.
struct PostgresPartitioning {
    let layer: StoredLayer
    let schema: String
    let connection: StoreConnection

    private var id: Int { layer.definition.id }
    private var key: String { quoted(layer.objectIDColumn) }
    private var table: String { place(layer.tableName) }
    private var globalIDIndex: String { "fieldwork_global_id_\(id)" }
    private var globalIDs: String { place(Self.globalIDTable(id)) }
    private func place(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }

    static func globalIDTable(_ layer: Int) -> String { "fieldwork_global_ids_\(layer)" }
    /// Those of a partitioned table alone.
    static func triggerNames(_ layer: Int) -> [String] { ["fieldwork_\(layer)_global_id", "fieldwork_\(layer)_rekey"] }

    /// How many partitions a table has; 1 when it is a plain one.
    static func parts(of layer: StoredLayer, on connection: StoreConnection) throws -> Int {
        let count = try connection.integer(
            """
            SELECT count(i.inhrelid) FROM pg_catalog.pg_class AS c LEFT JOIN pg_catalog.pg_inherits AS i ON i.inhparent = c.oid
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ? AND c.relkind = 'p'
            """
        ) { try $0.bind(layer.tableName, at: 1) }
        return max(1, Int(count ?? 0))
    }

    /// In the caller's transaction. Nobody writes to the layer until its end; it is read while its rows are copied.
    ///
    /// Rows of a table that is made anew are younger than the state of whoever began to read before: such a reader would find the
    /// table empty. Who reads one state of the data for long has therefore announced that before (`SQLDialect.beginReading`), and
    /// is waited for.
    /// - Parameter parts: 1 makes a plain table of it.
    func run(parts: Int) throws {
        guard !layer.isPlaced else {
            throw StoreError(
                .invalidDefinition,
                "The table of layer \(id) was published in its place: whoever made it decides how it is kept.")
        }
        try connection.execute("LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE")
        let before = try Self.parts(of: layer, on: connection)
        guard before != parts else { return }
        let (indexes, triggers) = (try indexes(isPlainWanted: parts == 1), try triggers())
        let rights = try rights()
        let copy = try freeNames(1 + (parts == 1 ? 0 : parts))
        try makeTable(copy[0], partitions: Array(copy.dropFirst()))
        try connection.execute("INSERT INTO \(place(copy[0])) SELECT * FROM \(table)")
        try connection.execute("LOCK TABLE \(place(PostgresTables.longReads)) IN ACCESS EXCLUSIVE MODE")
        try connection.execute("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        try connection.execute("ALTER SEQUENCE \(place("fieldwork_ids_\(id)")) OWNED BY \(place(copy[0])).\(key)")
        do {
            try connection.execute("DROP TABLE \(table)")
        } catch let error as StoreError where error.code == .failure {
            throw StoreError(
                .invalidDefinition,
                "The table of layer \(id) can't be made anew: something else in the database uses it. \(error.message)")
        }
        try connection.execute("ALTER TABLE \(place(copy[0])) RENAME TO \(quoted(layer.tableName))")
        try connection.execute("ALTER TABLE \(table) ADD PRIMARY KEY (\(key))")
        for statement in indexes + triggers { try connection.execute(statement) }
        if before > 1 { try removeGuards() }
        if parts > 1 { try makeGuards() }
        for statement in rights { try connection.execute(statement) }
        try connection.execute("ANALYZE \(table)")
    }

    // MARK: The table

    private func makeTable(_ name: String, partitions: [String]) throws {
        let clause = partitions.isEmpty ? "" : " PARTITION BY HASH (\(key))"
        try connection.execute(
            """
            CREATE TABLE \(place(name)) (LIKE \(table) INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS)\
            \(clause)
            """)
        for (remainder, partition) in partitions.enumerated() {
            try connection.execute(
                """
                CREATE TABLE \(place(partition)) PARTITION OF \(place(name))
                FOR VALUES WITH (MODULUS \(partitions.count), REMAINDER \(remainder))
                """)
        }
    }

    /// Names of tables that nobody has.
    private func freeNames(_ count: Int) throws -> [String] {
        var names = TableNames(longest: Limits.sessionNameBytes)
        try connection.run(
            "SELECT lower(relname::text) FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace",
            row: { names.used.insert($0.text(0)) })
        return (0..<count).map { names.next(for: "\(layer.tableName.prefix(40))_part_\($0)", otherwise: "part_") }
    }

    // MARK: What it has

    private func indexes(isPlainWanted: Bool) throws -> [String] {
        var found: [(name: String, isUnique: Bool, sql: String)] = []
        try connection.run(
            """
            SELECT c.relname::text, i.indisunique::int::bigint, pg_catalog.pg_get_indexdef(c.oid) FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid = to_regclass(?) AND NOT i.indisprimary ORDER BY c.relname
            """, bind: { try $0.bind(table, at: 1) },
            row: { found.append(($0.text(0), $0.integer(1) == 1, $0.text(2))) })
        return try found.map { index in
            // Of a partitioned table it is said to be of that alone, not of its partitions.
            let sql = index.sql.replacing(" ON ONLY ", with: " ON ", maxReplacements: 1)
            if index.name == globalIDIndex {
                let column = quoted(layer.globalIDColumn ?? "")
                return "CREATE \(isPlainWanted ? "UNIQUE " : "")INDEX \(quoted(globalIDIndex)) ON \(table) (\(column))"
            }
            guard isPlainWanted || !index.isUnique else {
                throw StoreError(
                    .invalidDefinition,
                    "The index \(index.name) of layer \(id) says that values are there once, which partitions can't keep."
                )
            }
            return sql
        }
    }

    private func triggers() throws -> [String] {
        let own = Self.triggerNames(id)
        var found: [(name: String, sql: String)] = []
        try connection.run(
            """
            SELECT tgname::text, pg_catalog.pg_get_triggerdef(oid) FROM pg_catalog.pg_trigger
            WHERE tgrelid = to_regclass(?) AND NOT tgisinternal ORDER BY tgname
            """, bind: { try $0.bind(table, at: 1) }, row: { found.append(($0.text(0), $0.text(1))) })
        return found.filter { !own.contains($0.name) }.map(\.sql)
    }

    /// Who else than its owner may do what with the table and its columns.
    private func rights() throws -> [String] {
        let isGuarded = try connection.integer(
            "SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(?) AND relrowsecurity"
        ) { try $0.bind(table, at: 1) }
        guard isGuarded == nil else {
            throw StoreError(.invalidDefinition, "The table of layer \(id) has row security, which is not taken over.")
        }
        let owner = try connection.text(
            "SELECT relowner::regrole::text FROM pg_catalog.pg_class WHERE oid = to_regclass(?) AND relowner <> current_user::regrole"
        ) { try $0.bind(table, at: 1) }
        if let owner {
            throw StoreError(.invalidDefinition, "The table of layer \(id) belongs to \(owner): connect as that role.")
        }
        let who = "CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END"
        let passing = "CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END"
        return try connection.texts(
            """
            SELECT format('GRANT %s ON TABLE %s TO %s%s', a.privilege_type, \(literal(table)), \(who), \(passing))
            FROM pg_catalog.pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = \(literal(table))::regclass
            UNION ALL
            SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', a.privilege_type, t.attname, \(literal(table)), \(who), \(passing))
            FROM pg_catalog.pg_attribute AS t, aclexplode(t.attacl) AS a WHERE t.attrelid = \(literal(table))::regclass
            """)
    }

    // MARK: What partitions can't keep

    private func makeGuards() throws {
        let names = Self.triggerNames(id).map { quoted($0) }
        if let globalID = layer.globalIDColumn.map(quoted) {
            try connection.execute("CREATE TABLE \(globalIDs) (global_id text COLLATE \"C\" PRIMARY KEY)")
            try connection.execute(
                "INSERT INTO \(globalIDs) SELECT \(globalID) FROM \(table) WHERE \(globalID) IS NOT NULL")
            let body = """
                BEGIN
                    IF TG_OP <> 'INSERT' THEN DELETE FROM \(globalIDs) WHERE global_id = OLD.\(globalID); END IF;
                    IF TG_OP <> 'DELETE' AND NEW.\(globalID) IS NOT NULL THEN
                        INSERT INTO \(globalIDs) VALUES (NEW.\(globalID));
                    END IF;
                    RETURN NULL;
                END
                """
            try makeTrigger(names[0], "AFTER INSERT OR DELETE OR UPDATE OF \(globalID)", "", body)
            try connection.execute("ANALYZE \(globalIDs)")
        }
        let refusal = """
            BEGIN
                RAISE EXCEPTION 'The object id % of a partitioned table can''t change.', OLD.\(key)
                    USING ERRCODE = 'feature_not_supported';
            END
            """
        try makeTrigger(
            names[1], "BEFORE UPDATE OF \(key)", "WHEN (OLD.\(key) IS DISTINCT FROM NEW.\(key))", refusal)
    }

    private func makeTrigger(_ name: String, _ event: String, _ condition: String, _ body: String) throws {
        let function = "\(quoted(schema)).\(name)"
        try connection.execute("CREATE FUNCTION \(function) () RETURNS trigger LANGUAGE plpgsql AS \(literal(body))")
        try connection.execute(
            "CREATE TRIGGER \(name) \(event) ON \(table) FOR EACH ROW \(condition) EXECUTE FUNCTION \(function) ()")
    }

    private func removeGuards() throws {
        try connection.execute("DROP TABLE IF EXISTS \(globalIDs)")
        for name in Self.triggerNames(id) { try connection.execute("DROP FUNCTION IF EXISTS \(place(name)) ()") }
    }
}

extension PostgresStore {
    /// How many partitions the table of a layer has; 1 when it is a plain one. Throws `StoreError.serviceNotFound`,
    /// `StoreError.layerNotFound`.
    package func parts(of layer: LayerAddress) async throws -> Int {
        try await onTable(of: layer) { try PostgresPartitioning.parts(of: $0.layer, on: $0.connection) }
    }

    /// Keeps the table of a layer in so many partitions, or in one piece again. Whole or not at all; edits of the layer wait
    /// meanwhile, queries at the end. Throws `StoreError.invalidDefinition` for what can't be kept in partitions.
    package func partition(_ layer: LayerAddress, into parts: Int) async throws {
        guard (1...Limits.partitions).contains(parts) else {
            throw StoreError(.invalidDefinition, "A table has 1 to \(Limits.partitions) parts.")
        }
        try await onTable(of: layer) { try $0.run(parts: parts) }
    }

    private func onTable<Result: Sendable>(
        of address: LayerAddress, _ body: @escaping @Sendable (PostgresPartitioning) throws -> Result
    ) async throws -> Result {
        let schema = try await catalogue.schema(of: address.service)
        return try await OneTimeWorker().run { [connect] in
            let connection = StoreConnection(session: try connect(schema, true))
            // Each statement sees what was committed while the lock was waited for, whatever the database's own default is.
            let opening =
                "BEGIN ISOLATION LEVEL READ COMMITTED; \(SQLDialect.withoutTimeLimits); SET LOCAL lock_timeout = 0"
            return try connection.transaction(opening) {
                guard let layer = try ServiceCatalogue.read(from: connection).layers[address.layerID] else {
                    throw StoreError(.layerNotFound, "\(address.service.path) has no layer \(address.layerID).")
                }
                return try body(PostgresPartitioning(layer: layer, schema: schema, connection: connection))
            }
        }
    }
}
