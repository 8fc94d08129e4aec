import FieldworkREST

/// Makes in a copy what a new service has no tables for: layers and fields that are gone, attachments that a layer once had, and
/// what a file gets with its first use.
struct CopiedFormerLayers {
    let tables: ServiceTables
    /// Of the copy.
    let catalogue: ServiceCatalogue
    let target: StoreConnection

    private var former: FormerLayers { tables.former }

    func prepare() throws {
        if target.dialect.isSQLite {
            try DefinitionUpdate.prepare(on: target)
            try FieldSlots.prepare(on: target)
            try EditTurns(connection: target).prepare()
        }
        for (id, columns) in former.removedColumns.sorted(by: { $0.key < $1.key }) {
            let history = quoted(try catalogue.layer(id).historyTable)
            for column in columns {
                try target.execute("ALTER TABLE \(history) ADD COLUMN \(quoted(name(column)))\(type(of: column))")
            }
        }
        for history in former.histories { try make(history) }
        try prepareAttachments()
    }

    private func name(_ column: StoredColumn) throws -> String {
        if !target.dialect.isSQLite { try PostgresDefinitionChange.checkName(column.name) }
        return column.name
    }

    private func type(of column: StoredColumn) -> String {
        target.dialect.isSQLite ? "" : " \(PostgresTables.type(of: column))"
    }

    private func make(_ history: FormerLayers.History) throws {
        let table = history.table.name
        let values = try history.table.columns.dropFirst(FormerLayers.versionColumns.count).map { column in
            ", \(quoted(try name(column)))\(type(of: column))"
        }
        let (number, whole) =
            target.dialect.isSQLite
            ? ("INTEGER PRIMARY KEY AUTOINCREMENT", "INTEGER")
            : ("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "bigint")
        try target.execute(
            """
            CREATE TABLE \(quoted(table)) (
                fieldwork_version \(number), fieldwork_object_id \(whole) NOT NULL,
                fieldwork_generation \(whole) NOT NULL, fieldwork_operation \(whole) NOT NULL\(values.joined()))
            """)
        try target.execute(
            "CREATE INDEX \(quoted(table + "_by_object")) ON \(quoted(table)) (fieldwork_object_id)")
        if target.dialect.isSQLite { try GeoPackageSchema.registerOwn(table, on: target) }
    }

    // MARK: Attachments

    private func prepareAttachments() throws {
        for id in try tables.attachmentLayers() {
            let known = catalogue.layers[id]
            guard let layer = try known ?? formerLayer(id) else {
                throw StoreError(.corrupt, "Nothing tells of the layer \(id) that had attachments.")
            }
            let attachments = AttachmentTables(layer: layer)
            if try attachments.exists(on: target) { continue }
            if target.dialect.isSQLite {
                try AttachmentTables.createShared(on: target)
                try known == nil ? attachments.createTables(on: target) : attachments.create(on: target)
            } else if known != nil {
                try PostgresAttachments.create(for: [layer], on: target)
            } else {
                let schema = try PostgresDefinitionChange(on: target).schema
                try PostgresAttachments.createShared(in: schema, on: target)
                for statement in PostgresAttachments(layer: layer, schema: schema).tables {
                    try target.execute(statement)
                }
            }
        }
    }

    private func formerLayer(_ id: Int) throws -> StoredLayer? {
        guard let definition = former.histories.first(where: { $0.definition.id == id })?.definition else { return nil }
        return try StoredLayer(
            definition: definition, tableName: "fieldwork_former_\(id)",
            geometryColumn: definition.isTable ? nil : TableNames.geometryColumn(for: definition),
            srsID: SpatialReferenceTable.undefinedCartesian)
    }
}
