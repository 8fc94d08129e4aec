import FieldworkGeometry
import FieldworkREST
package import Foundation

/// The definition of a layer in GeoPackage's metadata extension, for a file that is given away: other programs show it or
/// pass it over, and Fieldwork makes the layer of it again that it was.
struct LayerNote {
    private static let standard = "urn:fieldwork:layer-definition"
    /// More than the largest definition that a service may have.
    private static let charactersMax = 16 << 20

    private static let tables = [
        """
        CREATE TABLE IF NOT EXISTS gpkg_metadata (
            id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL, md_scope TEXT NOT NULL DEFAULT 'dataset',
            md_standard_uri TEXT NOT NULL, mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL DEFAULT '')
        """,
        """
        CREATE TABLE IF NOT EXISTS gpkg_metadata_reference (
            reference_scope TEXT NOT NULL, table_name TEXT, column_name TEXT, row_id_value INTEGER,
            timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), md_file_id INTEGER NOT NULL,
            md_parent_id INTEGER, CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id),
            CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id))
        """,
    ]

    static func write(_ layer: StoredLayer, on connection: StoreConnection) throws {
        for statement in tables { try connection.execute(statement) }
        for table in ["gpkg_metadata", "gpkg_metadata_reference"] {
            try GeoPackageSchema.register(
                "gpkg_metadata", definition: "http://www.geopackage.org/spec121/#extension_metadata", table: table,
                column: nil, on: connection)
        }
        try connection.run(
            """
            INSERT INTO gpkg_metadata (md_scope, md_standard_uri, mime_type, metadata)
            VALUES ('dataset', ?, 'application/json', ?)
            """
        ) {
            try $0.bind(standard, at: 1)
            try $0.bind(layer.definition.storageJSON.text, at: 2)
        }
        try connection.run(
            """
            INSERT INTO gpkg_metadata_reference (reference_scope, table_name, md_file_id)
            VALUES ('table', ?, last_insert_rowid())
            """
        ) { try $0.bind(layer.tableName, at: 1) }
    }

    /// What a file says of a table; nil where it says nothing that can be read. Whoever made the file may have changed it
    /// since, or have written what he liked.
    static func read(table: String, on connection: StoreConnection) throws -> LayerDefinition? {
        guard try connection.hasTable("gpkg_metadata"), try connection.hasTable("gpkg_metadata_reference") else {
            return nil
        }
        let text = try connection.text(
            """
            SELECT m.metadata FROM gpkg_metadata AS m JOIN gpkg_metadata_reference AS r ON r.md_file_id = m.id
            WHERE m.md_standard_uri = ?1 AND r.reference_scope = 'table' AND lower(r.table_name) = lower(?2)
                AND typeof(m.metadata) = 'text' AND length(m.metadata) <= \(charactersMax)
            ORDER BY m.id DESC LIMIT 1
            """
        ) {
            try $0.bind(standard, at: 1)
            try $0.bind(table, at: 2)
        }
        guard let text, let json = try? JSONParser.parse(text),
            var definition = try? LayerDefinition(storageJSON: json)
        else { return nil }
        definition.relationships = []
        definition.hasAttachments = false
        let service = ServiceDefinition(name: ServiceName(name: "Layer"), layers: [definition])
        guard (try? DefinitionRules.check(service)) != nil else { return nil }
        return definition
    }
}

extension GeoPackageFile {
    /// The same for a file that may be of any program: only one that Fieldwork has prepared is changed.
    package static func makePlainWhereOwn(_ url: URL) async throws {
        let isOwn = try await OneTimeWorker().run {
            try ServiceCatalogue.exists(on: try StoreConnection(path: url.path, mode: .readWrite))
        }
        if isOwn { try await makePlain(url) }
    }

    /// Makes a file one that can be given away: a GeoPackage as any program makes them, without change log, history and
    /// whatever else is Fieldwork's own. `prepare` makes the same layers of it again. The file must not be open.
    package static func makePlain(_ url: URL) async throws {
        try await OneTimeWorker().run {
            let connection = try StoreConnection(path: url.path, mode: .readWrite)
            let catalogue = try ServiceCatalogue.read(from: connection)
            try connection.transaction {
                for layer in catalogue.orderedLayers { try LayerNote.write(layer, on: connection) }
                // Triggers and indexes stand on the tables of the layers, so they go by themselves.
                for kind in ["trigger", "view", "index", "table"] {
                    let names = try connection.texts(
                        "SELECT name FROM sqlite_master WHERE type = '\(kind)' AND name LIKE 'fieldwork\\_%' ESCAPE '\\'"
                    )
                    for name in names { try connection.execute("DROP \(kind) IF EXISTS \(quoted(name))") }
                }
                try connection.execute("DELETE FROM gpkg_extensions WHERE extension_name = 'fieldwork_store'")
                try connection.execute(
                    "DELETE FROM gpkg_contents WHERE table_name LIKE 'fieldwork\\_%' ESCAPE '\\'")
            }
            connection.forgetStatements()
            // A file in WAL mode can't be read where nothing can be written.
            try connection.execute("PRAGMA journal_mode = DELETE")
            try connection.execute("VACUUM")
        }
    }
}
