import FieldworkStore

/// The tables of a locator, which is a GeoPackage.
enum LocatorSchema {
    static let version: Int64 = 1

    static let tables = [
        "CREATE TABLE gc_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE gc_zone (id INTEGER PRIMARY KEY, neighborhood TEXT NOT NULL, city TEXT NOT NULL, subregion TEXT NOT NULL,
            region TEXT NOT NULL, postal TEXT NOT NULL, country TEXT NOT NULL, aliases TEXT NOT NULL)
        """,
        "CREATE TABLE gc_name (id INTEGER PRIMARY KEY, full TEXT NOT NULL, key TEXT NOT NULL, others TEXT)",
        """
        CREATE TABLE gc_road (id INTEGER PRIMARY KEY, name_id INTEGER NOT NULL, zone_id INTEGER NOT NULL, x REAL, y REAL,
            min_x REAL, min_y REAL, max_x REAL, max_y REAL)
        """,
        """
        CREATE TABLE gc_place (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL,
            key TEXT NOT NULL, others TEXT, zone_id INTEGER NOT NULL, weight REAL NOT NULL, reach REAL NOT NULL,
            geom BLOB NOT NULL, area BLOB)
        """,
        """
        CREATE TABLE gc_address (id INTEGER PRIMARY KEY, road_id INTEGER NOT NULL, number INTEGER NOT NULL, suffix TEXT,
            unit TEXT, zone_id INTEGER NOT NULL, geom BLOB NOT NULL)
        """,
        """
        CREATE TABLE gc_street (id INTEGER PRIMARY KEY, road_id INTEGER NOT NULL, left_from INTEGER, left_to INTEGER,
            left_parity TEXT, right_from INTEGER, right_to INTEGER, right_parity TEXT, geom BLOB NOT NULL)
        """,
        """
        CREATE TABLE gc_cross (id INTEGER PRIMARY KEY, name_a INTEGER NOT NULL, name_b INTEGER NOT NULL,
            zone_id INTEGER NOT NULL, geom BLOB NOT NULL)
        """,
        // In the order of importance: the index gives its rows in the order of their ids.
        "CREATE TABLE gc_doc (id INTEGER PRIMARY KEY, road_id INTEGER, place_id INTEGER)",
        """
        CREATE VIRTUAL TABLE gc_fts USING fts5(text, tokenize = "ascii tokenchars '-/'", prefix = '1 2 3', content = '', columnsize = 0,
            detail = none)
        """,
        "CREATE VIRTUAL TABLE gc_vocabulary USING fts5vocab(gc_fts, row)",
        "CREATE VIRTUAL TABLE rtree_gc_street USING rtree(id, min_x, max_x, min_y, max_y)",
        "CREATE VIRTUAL TABLE rtree_gc_place USING rtree(id, min_x, max_x, min_y, max_y)",
    ]

    /// Made when the rows are there.
    static let indexes = [
        "CREATE INDEX gc_address_number ON gc_address (road_id, number)",
        "CREATE INDEX gc_street_road ON gc_street (road_id)",
        "CREATE INDEX gc_cross_names ON gc_cross (name_a, name_b)",
    ]

    /// The tables that a GeoPackage announces, with their kind of geometry.
    static let features = [
        ("gc_address", "POINT"), ("gc_street", "LINESTRING"), ("gc_cross", "POINT"), ("gc_place", "POINT"),
    ]

    static func createCore(on connection: StoreConnection) throws { try GeoPackageSchema.createCore(on: connection) }

    static func register(
        _ extent: (xMin: Double, yMin: Double, xMax: Double, yMax: Double), on connection: StoreConnection
    )
        throws
    {
        for (table, kind) in features {
            try connection.run(
                """
                INSERT INTO gpkg_contents (table_name, data_type, identifier, min_x, min_y, max_x, max_y, srs_id)
                VALUES (?, 'features', ?, ?, ?, ?, ?, 4326)
                """
            ) {
                try $0.bind(table, at: 1)
                try $0.bind(table, at: 2)
                for (index, value) in [extent.xMin, extent.yMin, extent.xMax, extent.yMax].enumerated() {
                    try $0.bind(value, at: index + 3)
                }
            }
            try connection.run("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, 4326, 0, 0)") {
                try $0.bind(table, at: 1)
                try $0.bind(kind, at: 2)
            }
        }
    }
}
