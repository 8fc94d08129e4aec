/// The tables that make a SQLite file a GeoPackage (OGC 12-128r18, version 1.3) and those that Fieldwork adds.
package enum GeoPackageSchema {
    /// "GPKG"
    static let applicationID = 0x4750_4B47
    static let userVersion = 10_300
    /// The version of the `fieldwork_*` tables.
    static let formatVersion: Int64 = 1

    package static func createCore(on connection: StoreConnection) throws {
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(userVersion)")
        for statement in coreTables { try connection.execute(statement) }
        try SpatialReferenceTable.addRequired(to: connection)
    }

    private static let coreTables = [
        """
        CREATE TABLE IF NOT EXISTS gpkg_spatial_ref_sys (
            srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
            organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT)
        """,
        """
        CREATE TABLE IF NOT EXISTS gpkg_contents (
            table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
            description TEXT DEFAULT '',
            last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
            min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
            CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))
        """,
        """
        CREATE TABLE IF NOT EXISTS gpkg_geometry_columns (
            table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
            srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
            CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
            CONSTRAINT uk_gc_table_name UNIQUE (table_name),
            CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
            CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id))
        """,
    ]

    /// What an existing GeoPackage may lack as well.
    static let extensionTables = [
        """
        CREATE TABLE IF NOT EXISTS gpkg_extensions (
            table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL,
            scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))
        """,
        """
        CREATE TABLE IF NOT EXISTS gpkg_data_columns (
            table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT, description TEXT,
            mime_type TEXT, constraint_name TEXT,
            CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name),
            CONSTRAINT gdc_tn UNIQUE (table_name, name))
        """,
        """
        CREATE TABLE IF NOT EXISTS gpkg_data_column_constraints (
            constraint_name TEXT NOT NULL, constraint_type TEXT NOT NULL, value TEXT, min NUMERIC,
            min_is_inclusive BOOLEAN, max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
            CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value))
        """,
    ]

    /// Catalogue, state and change log. A generation is one committed batch of edits, or one row that another program
    /// changed. `inside` is 1 only within a transaction of ours, and `muted` while state is taken over from a service:
    /// the triggers look at both.
    private static let fieldworkTables = [
        """
        CREATE TABLE IF NOT EXISTS fieldwork_service (
            id INTEGER PRIMARY KEY CHECK (id = 1), format_version INTEGER NOT NULL, folder TEXT, name TEXT NOT NULL,
            definition TEXT NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_layers (
            layer_id INTEGER PRIMARY KEY, position INTEGER NOT NULL, table_name TEXT NOT NULL UNIQUE,
            geometry_column TEXT, srs_id INTEGER NOT NULL, definition TEXT NOT NULL)
        """,
        "CREATE TABLE IF NOT EXISTS fieldwork_counts (layer_id INTEGER PRIMARY KEY, row_count INTEGER NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS fieldwork_state (
            id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, inside INTEGER NOT NULL,
            muted INTEGER NOT NULL, \(LogStamp.columns.joined(separator: ", ")))
        """,
        "INSERT OR IGNORE INTO fieldwork_state (id, generation, inside, muted, stamp) VALUES (1, 0, 0, 0, random())",
        LogStamp.trigger,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_generations (
            generation INTEGER PRIMARY KEY, moment TEXT NOT NULL, editor TEXT)
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork_changes (
            layer_id INTEGER NOT NULL, object_id INTEGER NOT NULL, generation INTEGER NOT NULL,
            operation INTEGER NOT NULL, changed_1 INTEGER, changed_2 INTEGER, changed_3 INTEGER, changed_4 INTEGER,
            PRIMARY KEY (layer_id, object_id, generation, operation)) WITHOUT ROWID
        """,
        """
        CREATE INDEX IF NOT EXISTS fieldwork_changes_since
        ON fieldwork_changes (layer_id, generation, object_id, operation, changed_1)
        """,
    ]

    static let fieldworkTableNames = [
        "fieldwork_service", "fieldwork_layers", "fieldwork_counts", "fieldwork_state", "fieldwork_generations",
        "fieldwork_changes",
    ]

    static func createBookkeeping(on connection: StoreConnection) throws {
        for statement in extensionTables + fieldworkTables { try connection.execute(statement) }
        for table in ["gpkg_data_columns", "gpkg_data_column_constraints"] {
            try register(
                "gpkg_schema", definition: "http://www.geopackage.org/spec121/#extension_schema", table: table,
                column: nil, on: connection)
        }
        for table in fieldworkTableNames { try registerOwn(table, on: connection) }
    }

    /// Declares a table of ours, so that other tools know that they may leave it alone.
    static func registerOwn(_ table: String, on connection: StoreConnection) throws {
        // A program that doesn't know them reads all else in the file as if they were not there.
        try register(
            "fieldwork_store", definition: "Documentation/storage.md", table: table, column: nil, scope: "write-only",
            on: connection)
    }

    /// Other programs list all tables of a file that names none without geometries, and ours among them.
    static func listOneTable(on connection: StoreConnection) throws {
        try connection.execute(
            """
            INSERT OR IGNORE INTO gpkg_contents (table_name, data_type, identifier, description)
            SELECT 'fieldwork_service', 'attributes', 'fieldwork_service', 'The service that these layers belong to'
            WHERE NOT EXISTS (SELECT 1 FROM gpkg_contents WHERE data_type IN ('attributes', 'aspatial'))
            """)
    }

    static func register(
        _ name: String, definition: String, table: String, column: String?, scope: String = "read-write",
        on connection: StoreConnection
    ) throws {
        let known = try connection.integer(
            """
            SELECT 1 FROM gpkg_extensions
            WHERE lower(table_name) = lower(?1) AND column_name IS ?2 AND extension_name = ?3
            """
        ) {
            try $0.bind(table, at: 1)
            try $0.bind(column, at: 2)
            try $0.bind(name, at: 3)
        }
        guard known == nil else { return }
        try connection.run(
            """
            INSERT INTO gpkg_extensions (table_name, column_name, extension_name, definition, scope)
            VALUES (?, ?, ?, ?, ?)
            """
        ) {
            for (index, value) in [table, column, name, definition, scope].enumerated() {
                try $0.bind(value, at: index + 1)
            }
        }
    }
}
