import FieldworkGeometry
import FieldworkREST
import Foundation

/// Makes a GeoPackage of the rows of a replica: the file in which a client then works. SQLite copies the rows itself, as one
/// state of the service, and indexes are built over the finished tables: the cost is that of the bytes.
struct ReplicaFileWriter {
    let catalogue: ServiceCatalogue
    let source: Source
    /// The file that is made. Nobody else knows it yet: what breaks off is thrown away, so it needs no journal.
    let target: URL

    /// Where the rows come from.
    enum Source {
        case file(URL)
        case database(ConnectionSource)
    }

    private static let schema = "fieldwork_replica"

    /// - Parameters:
    ///   - definition: of the layers that the file gets.
    ///   - notes: what the file is to know about the state that was copied.
    /// - Returns: the generation of that state.
    func make(
        _ request: ChangeRequest, _ definition: ServiceDefinition, notes: (Int64) -> [(name: String, value: String)]
    ) throws -> Int64 {
        try NewFile.fill(target, definition)
        let copied = try onTarget { connection in
            let copied = try ServiceCatalogue.read(from: connection)
            try TableLoad.begin(copied.orderedLayers, bringsGlobalIDs: false, on: connection)
            return copied
        }
        let generation =
            switch source {
            case .file(let url):
                try connected(to: url) { connection in
                    try connection.watch.runAllowed(WorkAllowance.current) {
                        try copy(request, to: copied, on: connection)
                    }
                }
            case .database(let source):
                try onTarget {
                    try ReplicaFileLoader(
                        catalogue: catalogue, copied: copied, database: source.open(.readOnly), file: $0
                    ).load(request)
                }
            }
        try onTarget { connection in
            try TableLoad.end(copied.orderedLayers, on: connection)
            for note in notes(generation) { try FileNotes(connection: connection).keep(note.value, as: note.name) }
        }
        return generation
    }

    /// Every part on a connection of its own: one connection can't follow what another does to the tables.
    private func onTarget<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        let connection = try StoreConnection(path: target.path, mode: .readWrite)
        defer { connection.forgetStatements() }
        try connection.execute("PRAGMA journal_mode = OFF")
        try connection.execute("PRAGMA synchronous = OFF")
        try connection.execute("PRAGMA cache_size = -\(Limits.replicaFileCacheKibibytes)")
        return try connection.transaction { try body(connection) }
    }

    private func connected<Result>(to source: URL, _ body: (StoreConnection) throws -> Result) throws -> Result {
        let connection = try StoreConnection(path: source.path, mode: .readWrite)
        defer { connection.forgetStatements() }
        return try body(connection)
    }

    private func copy(
        _ request: ChangeRequest, to copied: ServiceCatalogue, on connection: StoreConnection
    ) throws -> Int64 {
        try connection.run("ATTACH ? AS \(Self.schema)") { try $0.bind(target.path, at: 1) }
        try connection.execute("PRAGMA \(Self.schema).journal_mode = OFF")
        try connection.execute("PRAGMA \(Self.schema).synchronous = OFF")
        try connection.execute("PRAGMA \(Self.schema).cache_size = -\(Limits.replicaFileCacheKibibytes)")
        // Not IMMEDIATE: the service's own file is only read, and its writer goes on.
        try connection.execute("BEGIN")
        do {
            let generation = try ChangeLog.generation(on: connection)
            let rows = ReplicaRowsReader(catalogue: catalogue, connection: connection, rows: request.rows)
            for part in request.layers {
                try copy(part.layerID, rows, to: copied, on: connection)
                if part.includesAttachments { try copyAttachments(part.layerID, to: copied, on: connection) }
            }
            try connection.execute("COMMIT")
            return generation
        } catch {
            connection.watch.cleaningUp {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            }
            throw error
        }
    }

    private func copy(
        _ layerID: Int, _ rows: ReplicaRowsReader, to copied: ServiceCatalogue, on connection: StoreConnection
    ) throws {
        let layer = try catalogue.layer(layerID)
        let target = try copied.layer(layerID)
        let compiler = QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
        for query in try rows.queries(of: layer) {
            let statement = try compiler.copy(query, to: target, in: Self.schema).statement(on: connection)
            defer { statement.finish() }
            while try statement.step() {}
        }
    }

    /// The attachments of the features that were copied, each content once.
    private func copyAttachments(
        _ layerID: Int, to copied: ServiceCatalogue, on connection: StoreConnection
    ) throws {
        let layer = try catalogue.layer(layerID)
        let target = try copied.layer(layerID)
        guard layer.definition.hasAttachments, target.definition.hasAttachments else { return }
        let schema = quoted(Self.schema)
        let source = """
            FROM main.\(quoted(layer.attachmentTable)) AS a WHERE a.base_id IN (
                SELECT \(quoted(target.objectIDColumn)) FROM \(schema).\(quoted(target.tableName)))
            """
        let columns = AttachmentTables.kept.joined(separator: ", ")
        // State of the service, and no edits: the triggers count uses and log nothing.
        try connection.execute("UPDATE \(schema).fieldwork_state SET inside = 1, muted = 1 WHERE id = 1")
        try connection.execute(
            """
            INSERT OR IGNORE INTO \(schema).\(AttachmentTables.media) (id, content_type, sha256, data)
            SELECT id, content_type, sha256, data FROM main.\(AttachmentTables.media)
            WHERE id IN (SELECT a.related_id \(source)) ORDER BY id
            """)
        try connection.execute(
            """
            INSERT INTO \(schema).\(quoted(target.attachmentTable)) (\(columns))
            SELECT \(columns) \(source) ORDER BY attachmentid
            """)
        try connection.execute("UPDATE \(schema).fieldwork_state SET inside = 0, muted = 0 WHERE id = 1")
    }
}

extension QueryCompiler {
    /// Copies features into the table of a layer with the same fields.
    fileprivate func copy(_ query: FeatureQuery, to target: StoredLayer, in schema: String) throws -> QueryPlan {
        let stored = layer.columns.filter(\.isStored)
        var names = stored.map(\.name)
        var values = names.map(column)
        if let geometryColumn = layer.geometryColumn, let targetColumn = target.geometryColumn {
            names.append(targetColumn)
            // The blob names the reference system by the number that it has in its own file.
            values.append(
                layer.srsID == target.srsID
                    ? column(geometryColumn) : "fieldwork_srs_id(\(column(geometryColumn)), \(target.srsID))")
        }
        let parts = try conditions(of: query)
        return QueryPlan(
            sql: """
                INSERT INTO \(quoted(schema)).\(quoted(target.tableName)) (\(names.map(quoted).joined(separator: ", ")))
                SELECT \(values.joined(separator: ", ")) FROM main.\(quoted(layer.tableName)) AS \(Self.alias)\(parts.whereClause)
                ORDER BY \(column(layer.objectIDColumn))
                """,
            arguments: parts.arguments, columns: [], hasGeometry: false)
    }
}
