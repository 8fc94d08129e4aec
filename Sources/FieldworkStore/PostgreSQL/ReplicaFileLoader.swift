import FieldworkGeometry
import FieldworkREST
import Foundation

/// Brings the rows of a replica from a database into the file that a client then works in, as one state of the service.
struct ReplicaFileLoader {
    let catalogue: ServiceCatalogue
    /// Of the file.
    let copied: ServiceCatalogue
    let database: StoreConnection
    let file: StoreConnection

    /// - Returns: the generation of the state that was copied.
    func load(_ request: ChangeRequest) throws -> Int64 {
        try database.watch.runAllowed(WorkAllowance.current) { try loadWatched(request) }
    }

    private func loadWatched(_ request: ChangeRequest) throws -> Int64 {
        try database.begin(database.dialect.beginReading)
        defer { database.watch.cleaningUp { try? database.rollBack() } }
        let generation = try ChangeLog.generation(on: database)
        let rows = ReplicaRowsReader(catalogue: catalogue, connection: database, rows: request.rows)
        for part in request.layers {
            let (layer, target) = (try catalogue.layer(part.layerID), try copied.layer(part.layerID))
            for query in try rows.queries(of: layer) { try load(query, layer, into: target) }
            if part.includesAttachments, layer.definition.hasAttachments, target.definition.hasAttachments {
                try loadAttachments(layer, into: target)
            }
        }
        return generation
    }

    // MARK: Features

    private func load(_ query: FeatureQuery, _ layer: StoredLayer, into target: StoredLayer) throws {
        let columns = layer.columns.filter(\.isStored)
        let geometryColumn = layer.geometryColumn.flatMap { _ in target.geometryColumn }
        let names = columns.map(\.name) + (geometryColumn.map { [$0] } ?? [])
        let plan = try QueryCompiler(layer: layer, connection: database, now: Date.now.milliseconds)
            .rows(query, of: columns, withGeometry: geometryColumn != nil)
        let source = try plan.statement(on: database)
        defer { source.finish() }
        source.stream()
        let insert = try file.cached(
            """
            INSERT INTO \(quoted(target.tableName)) (\(names.map(quoted).joined(separator: ", ")))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """)
        defer { insert.finish() }
        while try source.step() {
            for (index, column) in columns.enumerated() {
                let value = AttributeRules.storedAsIs(column.value(source, index), in: column)
                try insert.bind(value, at: index + 1)
            }
            if geometryColumn != nil { try bindGeometry(of: source, columns.count, target, to: insert) }
            _ = try insert.step()
            insert.reset()
        }
    }

    /// In the form in which the file's other geometries come.
    private func bindGeometry(
        of row: StoreStatement, _ index: Int, _ target: StoredLayer, to insert: StoreStatement
    ) throws {
        guard !row.isNull(index) else { return try insert.bindNull(at: index + 1) }
        let geometry: Geometry?
        do {
            geometry = try GeoPackageBinary.geometry(
                from: row.blob(index), spatialReference: target.definition.spatialReference)
        } catch {
            throw StoreError(.corrupt, "A geometry of \(target.definition.name) can't be read.")
        }
        guard let geometry else { return try insert.bindNull(at: index + 1) }
        let blob = GeoPackageBinary.blob(for: geometry, srsID: target.srsID, isMulti: true)
        try blob.withUnsafeBytes { try insert.bind(blob: $0, at: index + 1) }
    }

    // MARK: Attachments

    private func loadAttachments(_ layer: StoredLayer, into target: StoredLayer) throws {
        // State of the service, and no edits: the triggers count uses and log nothing.
        try file.execute("UPDATE fieldwork_state SET inside = 1, muted = 1 WHERE id = 1")
        let names = AttachmentTables.kept.joined(separator: ", ")
        var last = Int64.min
        var count = Limits.attachmentsOfPage
        while count == Limits.attachmentsOfPage {
            count = 0
            try database.run(
                """
                SELECT \(names) FROM \(quoted(layer.attachmentTable)) WHERE attachmentid > ?
                ORDER BY attachmentid LIMIT \(Limits.attachmentsOfPage)
                """, bind: { try $0.bind(last, at: 1) },
                row: { row in
                    last = row.integer(0)
                    count += 1
                    if try hasFeature(row.integer(2), target) { try load(attachment: row, names, into: target) }
                })
        }
        try file.execute("UPDATE fieldwork_state SET inside = 0, muted = 0 WHERE id = 1")
    }

    private func hasFeature(_ objectID: Int64, _ target: StoredLayer) throws -> Bool {
        try file.integer(
            "SELECT 1 FROM \(quoted(target.tableName)) WHERE \(quoted(target.objectIDColumn)) = ?"
        ) { try $0.bind(objectID, at: 1) } != nil
    }

    /// - Parameter row: the columns of `AttachmentTables.kept`.
    private func load(attachment row: StoreStatement, _ names: String, into target: StoredLayer) throws {
        try loadContent(row.integer(3))
        try file.run(
            "INSERT INTO \(quoted(target.attachmentTable)) (\(names)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ) {
            for index in [0, 2, 3, 6] where !row.isNull(index) { try $0.bind(row.integer(index), at: index + 1) }
            for index in [1, 4, 5, 7] { try $0.bind(row.optionalText(index), at: index + 1) }
        }
    }

    /// Each content once, piece by piece, under its own number.
    private func loadContent(_ row: Int64) throws {
        let known = try file.integer("SELECT 1 FROM \(AttachmentTables.media) WHERE id = ?") {
            try $0.bind(row, at: 1)
        }
        if known != nil { return }
        let cursor = try MediaCursor(mediaRow: row, range: nil, on: database)
        var description: (type: String, hash: String?) = ("", nil)
        try database.run(
            "SELECT content_type, sha256 FROM \(AttachmentTables.media) WHERE id = ?",
            bind: { try $0.bind(row, at: 1) }, row: { description = ($0.text(0), $0.optionalText(1)) })
        try file.run(
            "INSERT INTO \(AttachmentTables.media) (id, content_type, sha256, data) VALUES (?, ?, ?, zeroblob(?))"
        ) {
            try $0.bind(row, at: 1)
            try $0.bind(description.type, at: 2)
            try $0.bind(description.hash, at: 3)
            try $0.bind(Int64(cursor.count), at: 4)
        }
        let target = try BlobHandle(media: row, isWritten: true, on: file)
        var written = 0
        while !cursor.isAtEnd {
            let piece = try cursor.piece(of: Limits.mediaPiece)
            try piece.withUnsafeBytes { try target.write($0, at: written) }
            written += piece.count
        }
    }
}

extension ReplicaRowsReader {
    /// Queries that choose all rows of a layer that belong to the replica.
    func queries(of layer: StoredLayer) throws -> [FeatureQuery] {
        switch rows[layer.definition.id] ?? .none {
        case .none: []
        case .matching(let query): [query]
        case .related(let relations):
            try relatedIDs(relations, in: layer).sorted().chunks(of: Limits.idsPerStatement)
                .map { FeatureQuery(objectIDs: $0) }
        }
    }
}

extension QueryCompiler {
    /// Columns as they are stored, the geometry last.
    fileprivate func rows(
        _ query: FeatureQuery, of columns: [StoredColumn], withGeometry: Bool
    ) throws -> QueryPlan {
        var values = columns.map { column($0.name) }
        if withGeometry, let geometryColumn = layer.geometryColumn { values.append(column(geometryColumn)) }
        let parts = try conditions(of: query)
        return QueryPlan(
            sql: """
                SELECT \(values.joined(separator: ", ")) FROM \(quoted(layer.tableName)) AS \(Self.alias)\(parts.whereClause)
                ORDER BY \(column(layer.objectIDColumn))
                """,
            arguments: parts.arguments, columns: [], hasGeometry: false)
    }
}
