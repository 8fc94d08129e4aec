/// GeoPackage's extension for related tables (OGC 18-000): which rows of one table belong to which of another stands in a
/// mapping table or view with the columns `base_id` and `related_id`.
enum RelatedTables {
    struct Relation {
        var baseTable: String
        var baseColumn: String
        var relatedTable: String
        var relatedColumn: String
        /// `features`, `attributes`, `media`, `simple_attributes`, `tiles`, or a name of our own that starts with `x-`.
        var name: String
        var mappingTable: String
    }

    private static let extensionName = "gpkg_related_tables"
    private static let definition = "http://www.geopackage.org/18-000.html"

    /// Enters a relation whose mapping table or view is there, or is about to be; in place of what was said of that mapping
    /// before.
    static func register(_ relation: Relation, on connection: StoreConnection) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS gpkgext_relations (
                id INTEGER PRIMARY KEY AUTOINCREMENT, base_table_name TEXT NOT NULL,
                base_primary_column TEXT NOT NULL DEFAULT 'id', related_table_name TEXT NOT NULL,
                related_primary_column TEXT NOT NULL DEFAULT 'id', relation_name TEXT NOT NULL,
                mapping_table_name TEXT NOT NULL UNIQUE)
            """)
        for table in ["gpkgext_relations", relation.mappingTable] {
            try GeoPackageSchema.register(
                extensionName, definition: definition, table: table, column: nil, on: connection)
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO gpkgext_relations (base_table_name, base_primary_column, related_table_name,
                related_primary_column, relation_name, mapping_table_name)
            VALUES (?, ?, ?, ?, ?, ?)
            """
        ) {
            let values = [
                relation.baseTable, relation.baseColumn, relation.relatedTable, relation.relatedColumn, relation.name,
                relation.mappingTable,
            ]
            for (index, value) in values.enumerated() { try $0.bind(value, at: index + 1) }
        }
    }

    /// Takes back what `register` entered; the mapping itself is the caller's.
    static func unregister(mappingTable: String, on connection: StoreConnection) throws {
        guard try exists(on: connection) else { return }
        try connection.run("DELETE FROM gpkgext_relations WHERE mapping_table_name = ?") {
            try $0.bind(mappingTable, at: 1)
        }
        try connection.run("DELETE FROM gpkg_extensions WHERE table_name = ? AND extension_name = ?") {
            try $0.bind(mappingTable, at: 1)
            try $0.bind(extensionName, at: 2)
        }
    }

    static func exists(on connection: StoreConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'gpkgext_relations'") != nil
    }
}
