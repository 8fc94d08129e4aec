import FieldworkREST
import Foundation

/// Which services a database holds, and in which schema each lies.
struct PostgresCatalogue: Sendable {
    let connect: PostgresStore.Connect
    private let readers: ReaderPool

    init(connect: @escaping PostgresStore.Connect) {
        self.connect = connect
        let source = ConnectionSource { _ in
            StoreConnection(session: try connect(PostgresFunctions.schema, false))
        }
        readers = ReaderPool(source: source, readers: 1, streams: 1, isLimited: false)
    }

    /// The version of the tables and functions.
    private static let version: Int64 = 5

    // MARK: Preparing

    private static let tables =
        [
            "CREATE SCHEMA IF NOT EXISTS \(PostgresFunctions.schema)",
            "CREATE TABLE IF NOT EXISTS fieldwork.version (id bigint PRIMARY KEY CHECK (id = 1), version bigint NOT NULL)",
            """
            CREATE TABLE IF NOT EXISTS fieldwork.services (
                folder text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, schema_name text NOT NULL UNIQUE,
                is_listed boolean NOT NULL, PRIMARY KEY (folder, name))
            """,
            // Large objects of services that were deleted: they lie in no schema.
            "CREATE TABLE IF NOT EXISTS fieldwork.dropped_contents (content oid PRIMARY KEY)",
        ] + SharedWork.tables + SharedWork.uploadTables + SharedWork.resultTables + SharedWork.jobTables

    func initialize() async throws {
        try await inTransaction { connection in
            // Two at once would stand in each other's way.
            try connection.execute("SELECT pg_advisory_xact_lock(\(Self.lock))")
            guard try connection.integer("SELECT 1 FROM pg_extension WHERE extname = 'postgis'") != nil else {
                throw StoreError(
                    .notPrepared,
                    "The database has no PostGIS. Let an administrator run CREATE EXTENSION postgis in it.")
            }
            // Some of the functions call others that come after them.
            try connection.execute("SET LOCAL check_function_bodies = off")
            for statement in Self.tables + PostgresFunctions.statements { try connection.execute(statement) }
            try connection.execute(PlacedLayer.loggingByOwner)
            let version = try connection.integer("SELECT version FROM fieldwork.version WHERE id = 1")
            guard (version ?? 0) <= Self.version else { throw Self.isNewer }
            if version.map({ $0 < Self.version }) == true { try PostgresMigration(connection: connection).run() }
            try connection.run(
                """
                INSERT INTO fieldwork.version (id, version) VALUES (1, ?)
                ON CONFLICT (id) DO UPDATE SET version = excluded.version
                """
            ) { try $0.bind(Self.version, at: 1) }
        }
    }

    /// Any number that nobody else takes: "fw".
    private static let lock = 0x6677

    /// - Returns: whether the database was of an older version.
    func migrate() async throws -> Bool {
        let isOld = try await preparedVersion() < Self.version
        try await initialize()
        return isOld
    }

    private func preparedVersion() async throws -> Int64 {
        let version = try await read { connection in
            try connection.integer("SELECT 1 FROM pg_tables WHERE schemaname = 'fieldwork' AND tablename = 'version'")
                == nil
                ? nil : connection.integer("SELECT version FROM fieldwork.version WHERE id = 1")
        }
        guard let version else {
            throw StoreError(
                .notPrepared, "The database is not prepared for services: run `fieldwork store init` first.")
        }
        return version
    }

    func check() async throws {
        let version = try await preparedVersion()
        guard version >= Self.version else {
            throw StoreError(
                .unsupportedVersion,
                "The database was prepared by an older Fieldwork: run `fieldwork store migrate`.")
        }
        guard version <= Self.version else { throw Self.isNewer }
    }

    private static let isNewer = StoreError(.unsupportedVersion, "The database was prepared by a newer Fieldwork.")

    /// How many standbys follow, and whether nobody waits for any of them. Who they are is for the eyes of few; that they are
    /// there, anybody may see.
    func replication() async throws -> (standbys: Int64, waitsForNone: Bool) {
        try await read { connection in
            let count = try connection.integer(
                """
                SELECT count(*) FROM pg_catalog.pg_stat_replication
                WHERE application_name IS DISTINCT FROM 'pg_basebackup'
                """)
            return (
                count ?? 0, try connection.text("SELECT current_setting('synchronous_standby_names')")?.isEmpty ?? true
            )
        }
    }

    // MARK: Services

    func names() async throws -> [ServiceName] {
        try await read { connection in
            var names: [ServiceName] = []
            try connection.run(
                "SELECT nullif(folder, ''), name FROM fieldwork.services WHERE is_listed",
                row: { names.append(ServiceName(folder: $0.optionalText(0), name: $0.text(1))) })
            return names.sorted { $0.path < $1.path }
        }
    }

    /// Throws `StoreError.serviceNotFound`.
    func schema(of name: ServiceName) async throws -> String {
        let found = try await read { try Self.schema(of: name, on: $0, isListed: true) }
        guard let found else { throw StoreError(.serviceNotFound, "There is no service \(name.path).") }
        return found
    }

    private static func schema(
        of name: ServiceName, on connection: StoreConnection, isListed: Bool = false
    ) throws -> String? {
        try connection.text(
            "SELECT schema_name FROM fieldwork.services WHERE folder = ? AND name = ?\(isListed ? " AND is_listed" : "")"
        ) {
            try $0.bind(name.folder ?? "", at: 1)
            try $0.bind(name.name, at: 2)
        }
    }

    /// Makes a service with its empty layers, or nothing.
    func create(_ definition: ServiceDefinition) async throws {
        try await inTransaction { connection in
            try connection.execute("SELECT pg_advisory_xact_lock(\(Self.lock))")
            _ = try Self.create(definition, on: connection)
        }
    }

    /// The same in a transaction of the caller's, whose search path begins with the new schema from then on. Who comes with the
    /// same name meanwhile waits for its end.
    static func create(_ definition: ServiceDefinition, on connection: StoreConnection) throws -> ServiceCatalogue {
        try checkNames(definition)
        return try createLayers(
            definition, in: createSchema(for: definition.name, on: connection), on: connection)
    }

    /// Makes a service without layers: a schema with the tables that all services have, first in the search path from then on.
    static func createSchema(for name: ServiceName, on connection: StoreConnection) throws -> String {
        guard try schema(of: name, on: connection) == nil else {
            throw StoreError(.serviceExists, "There is a service \(name.path) already, or one that is unpublished.")
        }
        let schema = try freeSchema(for: name, on: connection)
        try connection.run("INSERT INTO fieldwork.services VALUES (?, ?, ?, true)") {
            try $0.bind(name.folder ?? "", at: 1)
            try $0.bind(name.name, at: 2)
            try $0.bind(schema, at: 3)
        }
        try connection.execute("CREATE SCHEMA \(quoted(schema))")
        try connection.run("SELECT set_config('search_path', ? || ', ' || current_setting('search_path'), true)") {
            try $0.bind(quoted(schema), at: 1)
        }
        for statement in PostgresTables.bookkeeping { try connection.execute(statement) }
        return schema
    }

    /// Lets everybody see a service, or nobody.
    /// - Returns: whether it was seen so far; nil when there is no such service.
    func list(_ name: ServiceName, _ isListed: Bool = true) async throws -> Bool? {
        try await inTransaction { connection in
            func bind(_ statement: StoreStatement) throws {
                try statement.bind(name.folder ?? "", at: 1)
                try statement.bind(name.name, at: 2)
            }
            let was = try connection.integer(
                "SELECT is_listed::integer FROM fieldwork.services WHERE folder = ? AND name = ? FOR UPDATE", bind: bind
            )
            try connection.run(
                "UPDATE fieldwork.services SET is_listed = \(isListed) WHERE folder = ? AND name = ?", bind: bind)
            return was.map { $0 == 1 }
        }
    }

    private static func createLayers(
        _ definition: ServiceDefinition, in schema: String, on connection: StoreConnection
    ) throws -> ServiceCatalogue {
        var names = TableNames(longest: Limits.sessionNameBytes)
        var catalogue = ServiceCatalogue(definition: definition, layers: [:])
        for layerDefinition in definition.layers {
            let layer = try StoredLayer(adding: layerDefinition, names: &names, on: connection)
            catalogue.layers[layerDefinition.id] = layer
            try PostgresLayerTable(layer: layer).create(in: schema, on: connection)
        }
        try catalogue.write(on: connection)
        return catalogue
    }

    private static func checkNames(_ definition: ServiceDefinition) throws {
        for field in definition.layers.flatMap(\.fields) { try PostgresDefinitionChange.checkName(field.name) }
    }

    /// The service's own name where it is free, so that the database reads well.
    private static func freeSchema(for name: ServiceName, on connection: StoreConnection) throws -> String {
        var names = TableNames(longest: Limits.sessionNameBytes)
        try connection.run("SELECT lower(nspname::text) FROM pg_namespace", row: { names.used.insert($0.text(0)) })
        let plain = [name.folder, name.name].compactMap(\.self).joined(separator: "_").lowercased()
        return names.next(for: plain.hasPrefix("pg_") ? "service_" + plain : plain, otherwise: "service_")
    }

    func delete(_ name: ServiceName) async throws {
        try await inTransaction { connection in
            try connection.execute("SELECT pg_advisory_xact_lock(\(Self.lock))")
            guard let schema = try Self.schema(of: name, on: connection) else {
                throw StoreError(.serviceNotFound, "There is no service \(name.path).")
            }
            try connection.run("DELETE FROM fieldwork.services WHERE schema_name = ?") { try $0.bind(schema, at: 1) }
            let hasContents = try connection.integer(
                "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = '\(AttachmentTables.media)'"
            ) { try $0.bind(schema, at: 1) }
            if hasContents != nil {
                try connection.execute(
                    """
                    INSERT INTO fieldwork.dropped_contents SELECT content FROM \(quoted(schema)).\(AttachmentTables.media)
                    ON CONFLICT DO NOTHING
                    """)
            }
            let takingBack = try PlacedLayer.takingBack(schema: schema, on: connection)
            try connection.execute("DROP SCHEMA \(quoted(schema)) CASCADE")
            for statement in takingBack { try connection.execute(statement) }
        }
        while try await unlinkContents() {}
    }

    /// Frees some of what deleted services have left. Each large object is a lock, of which a transaction has some thousands.
    /// - Returns: whether there may be more.
    private func unlinkContents() async throws -> Bool {
        try await inTransaction { connection in
            var count = 0
            try connection.run(
                """
                DELETE FROM fieldwork.dropped_contents WHERE content IN (
                    SELECT content FROM fieldwork.dropped_contents LIMIT \(Limits.contentsPerUnlinking)
                    FOR UPDATE SKIP LOCKED)
                RETURNING (SELECT lo_unlink(m.oid) FROM pg_catalog.pg_largeobject_metadata AS m WHERE m.oid = content)
                """, row: { _ in count += 1 })
            return count == Limits.contentsPerUnlinking
        }
    }

    // MARK: Connections

    func close() async { await readers.close() }

    private func read<Result: Sendable>(
        _ body: @escaping @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        do {
            return try await readers.read(body)
        } catch let error as StoreError where error.code == .busy {
            // The database has been started anew since: the connection is too.
            return try await readers.read(body)
        }
    }

    private func inTransaction<Result: Sendable>(
        _ body: @escaping @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        try await OneTimeWorker().run {
            let connection = StoreConnection(session: try connect(PostgresFunctions.schema, true))
            return try connection.transaction(SQLDialect.beginPlainly) { try body(connection) }
        }
    }
}
