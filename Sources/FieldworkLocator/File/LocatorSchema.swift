import FieldworkStore

/// The tables of a locator: a GeoPackage, so that any reader of GeoPackages knows what it is. Houses, pieces of streets and the places
/// of points stand several in one row (`HouseBlock`, `StreetBlock`, `PlaceBlock`); an R-tree has the box of each row. Streets and places
/// have one sequence of ids, in the order of their importance: the full-text index gives its rows in the order of their ids.
enum LocatorSchema {
    static let version: Int64 = 2

    /// Files up to this size have small pages.
    static let smallFileBytes: Int64 = 4 << 20
    static let smallPageBytes = 1_024

    static let tables = [
        "CREATE TABLE gc_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE gc_zone (id INTEGER PRIMARY KEY, neighborhood TEXT NOT NULL, city TEXT NOT NULL, subregion TEXT NOT NULL,
            region TEXT NOT NULL, postal TEXT NOT NULL, country TEXT NOT NULL, aliases TEXT NOT NULL)
        """,
        "CREATE TABLE gc_name (id INTEGER PRIMARY KEY, full TEXT NOT NULL, others TEXT)",
        // A place on the street, and how far its box reaches from there; all in ten-millionths of a degree.
        """
        CREATE TABLE gc_road (id INTEGER PRIMARY KEY, name_id INTEGER NOT NULL, zone_id INTEGER NOT NULL, x INTEGER, y INTEGER,
            west INTEGER, south INTEGER, east INTEGER, north INTEGER)
        """,
        "CREATE TABLE gc_kind (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, type TEXT NOT NULL)",
        """
        CREATE TABLE gc_place (id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL, name TEXT NOT NULL, others TEXT,
            zone_id INTEGER NOT NULL, weight REAL NOT NULL, reach REAL NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, area BLOB)
        """,
        "CREATE TABLE gc_house (id INTEGER PRIMARY KEY, houses BLOB NOT NULL)",
        "CREATE TABLE gc_street (id INTEGER PRIMARY KEY, pieces BLOB NOT NULL)",
        "CREATE TABLE gc_near (id INTEGER PRIMARY KEY, places BLOB NOT NULL)",
        """
        CREATE TABLE gc_cross (name_a INTEGER NOT NULL, name_b INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL,
            zone_id INTEGER NOT NULL, PRIMARY KEY (name_a, name_b, x, y)) WITHOUT ROWID
        """,
        """
        CREATE VIRTUAL TABLE gc_fts USING fts5(text, tokenize = "ascii tokenchars '-/'", prefix = '1 2 3', content = '', columnsize = 0,
            detail = none)
        """,
        "CREATE VIRTUAL TABLE gc_vocabulary USING fts5vocab(gc_fts, row)",
        // Words of towns, states and countries that so many streets and places have that the index leaves them out.
        "CREATE TABLE gc_common (word TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE rtree_gc_house USING rtree(id, min_x, max_x, min_y, max_y)",
        "CREATE VIRTUAL TABLE rtree_gc_street USING rtree(id, min_x, max_x, min_y, max_y)",
        "CREATE VIRTUAL TABLE rtree_gc_near USING rtree(id, min_x, max_x, min_y, max_y)",
    ]

    /// Houses and pieces of streets with what they lacked, on their way into the blocks.
    static let stages = [
        """
        CREATE TABLE stage_address (number INTEGER, suffix TEXT, unit TEXT, name INTEGER, zone INTEGER, x REAL, y REAL)
        """,
        """
        CREATE TABLE stage_street (name INTEGER, zone INTEGER, left_from INTEGER, left_to INTEGER, left_parity TEXT,
            right_from INTEGER, right_to INTEGER, right_parity TEXT, geom BLOB)
        """,
        """
        CREATE TABLE stage_place (id INTEGER PRIMARY KEY, kind TEXT, type TEXT, name TEXT, others TEXT, zone INTEGER, weight REAL,
            reach REAL, x REAL, y REAL, area BLOB)
        """,
        """
        CREATE TABLE stage_house (id INTEGER PRIMARY KEY, road_id INTEGER NOT NULL, number INTEGER NOT NULL, suffix TEXT, unit TEXT,
            zone_id INTEGER NOT NULL, x REAL, y REAL)
        """,
        """
        CREATE TABLE stage_piece (id INTEGER PRIMARY KEY, road_id INTEGER NOT NULL, left_from INTEGER, left_to INTEGER,
            left_parity TEXT, right_from INTEGER, right_to INTEGER, right_parity TEXT, geom BLOB NOT NULL)
        """,
        "CREATE TABLE stage_end (cell TEXT, name INTEGER, zone INTEGER, x REAL, y REAL)",
    ]

    static let stageTables = [
        "stage_address", "stage_street", "stage_place", "stage_house", "stage_piece", "stage_end", "stage_state",
        "stage_name", "stage_zone", "stage_learnt",
    ]

    /// The tables that a GeoPackage announces: they have no geometry that others read.
    static let announced = ["gc_road", "gc_place", "gc_name", "gc_zone"]

    static func createCore(on connection: StoreConnection) throws { try GeoPackageSchema.createCore(on: connection) }

    static func register(_ extent: PlaceExtent, on connection: StoreConnection) throws {
        for table in announced {
            try connection.run(
                """
                INSERT INTO gpkg_contents (table_name, data_type, identifier, min_x, min_y, max_x, max_y, srs_id)
                VALUES (?, 'attributes', ?, ?, ?, ?, ?, 4326)
                """
            ) {
                try $0.bind(table, at: 1)
                try $0.bind(table, at: 2)
                for (index, value) in [extent.xMin, extent.yMin, extent.xMax, extent.yMax].enumerated() {
                    try $0.bind(value, at: index + 3)
                }
            }
        }
    }
}
