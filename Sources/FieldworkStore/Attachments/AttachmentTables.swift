import FieldworkREST

/// Where attachments lie. The bytes are one table of media, each content once, found by its SHA-256. Each layer with
/// attachments has a table of them that is the mapping of GeoPackage's related tables extension at the same time
/// (`base_id` is the feature, `related_id` the media row), so that other programs find the photos of a feature and may
/// relate more. Counts of uses, change log and history are kept by triggers, like those of features.
struct AttachmentTables {
    let layer: StoredLayer

    static let media = "fieldwork_media"
    static let uses = "fieldwork_media_uses"
    static let changes = "fieldwork_attachment_changes"

    private var id: Int { layer.definition.id }
    private var name: String { layer.attachmentTable }
    private var table: String { quoted(name) }
    private var history: String { quoted(layer.attachmentHistoryTable) }
    private var features: String { quoted(layer.tableName) }
    private var key: String { quoted(layer.objectIDColumn) }

    /// The columns that a superseded version keeps.
    static let kept = keptColumns.map(\.name)
    private static let keptColumns: [(name: String, type: String)] = [
        ("attachmentid", "INTEGER"), ("globalid", "TEXT(38)"), ("base_id", "INTEGER"), ("related_id", "INTEGER"),
        ("att_name", "TEXT"), ("content_type", "TEXT"), ("data_size", "INTEGER"), ("keywords", "TEXT"),
    ]

    // MARK: Making

    /// Adds what a file lacks for the layers that have attachments. Does nothing to one that has it all.
    static func prepare(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        guard try !lacking(catalogue, on: connection).isEmpty else { return }
        try connection.transaction { try create(for: catalogue, on: connection) }
    }

    /// The same within a transaction.
    static func create(for catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        let lacking = try lacking(catalogue, on: connection)
        guard !lacking.isEmpty else { return }
        guard connection.dialect.isSQLite else { return try PostgresAttachments.create(for: lacking, on: connection) }
        try createShared(on: connection)
        for layer in lacking { try AttachmentTables(layer: layer).create(on: connection) }
    }

    private static func lacking(
        _ catalogue: ServiceCatalogue, on connection: StoreConnection
    ) throws -> [StoredLayer] {
        try catalogue.definition.layers.compactMap { definition in
            guard definition.hasAttachments, let layer = catalogue.layers[definition.id] else { return nil }
            return try AttachmentTables(layer: layer).exists(on: connection) ? nil : layer
        }
    }

    /// Whether the table is there and at work.
    func exists(on connection: StoreConnection) throws -> Bool {
        guard connection.dialect.isSQLite else { return try connection.hasTable(name) }
        return try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? LIMIT 1") {
            try $0.bind(name, at: 1)
        } != nil
    }

    /// Lets go of a layer that is being removed, after its features were deleted: the table, empty now, and the history stay,
    /// so that no id is given twice.
    func detach(on connection: StoreConnection) throws {
        for trigger in try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '\(name)'")
        {
            try connection.execute("DROP TRIGGER \(quoted(trigger))")
        }
        try RelatedTables.unregister(mappingTable: name, on: connection)
    }

    static func createShared(on connection: StoreConnection) throws {
        // The bytes come last: what stands before them is read without them.
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(media) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, content_type TEXT NOT NULL, sha256 TEXT UNIQUE, data BLOB NOT NULL)
            """)
        // Apart from the media: an update of a row writes all of it anew.
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS \(uses) (media_id INTEGER PRIMARY KEY, uses INTEGER NOT NULL)")
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(changes) (
                layer_id INTEGER NOT NULL, attachment_id INTEGER NOT NULL, generation INTEGER NOT NULL,
                operation INTEGER NOT NULL, changed_content INTEGER NOT NULL,
                PRIMARY KEY (layer_id, generation, attachment_id, operation)) WITHOUT ROWID
            """)
        for table in [uses, changes] { try GeoPackageSchema.registerOwn(table, on: connection) }
        try connection.run(
            """
            INSERT OR IGNORE INTO gpkg_contents (table_name, data_type, identifier, description)
            VALUES (?1, 'attributes', ?1, 'The contents of attachments')
            """
        ) { try $0.bind(media, at: 1) }
    }

    func create(on connection: StoreConnection) throws {
        try createTables(on: connection)
        try RelatedTables.register(
            RelatedTables.Relation(
                baseTable: layer.tableName, baseColumn: layer.objectIDColumn, relatedTable: Self.media,
                relatedColumn: "id", name: "media", mappingTable: name), on: connection)
        for trigger in triggers { try connection.execute(trigger) }
    }

    /// Not at work: what stays of a layer that was removed.
    func createTables(on connection: StoreConnection) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table) (
                attachmentid INTEGER PRIMARY KEY AUTOINCREMENT, globalid TEXT(38) UNIQUE, base_id INTEGER NOT NULL,
                related_id INTEGER NOT NULL, att_name TEXT, content_type TEXT, data_size INTEGER,
                keywords TEXT NOT NULL DEFAULT '')
            """)
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(history) (
                fieldwork_version INTEGER PRIMARY KEY AUTOINCREMENT, fieldwork_generation INTEGER NOT NULL,
                fieldwork_operation INTEGER NOT NULL, fieldwork_with_feature INTEGER NOT NULL,
                \(Self.keptColumns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")))
            """)
        for (name, table, column) in [
            ("_by_feature", table, "base_id"), ("_history", history, "attachmentid"),
            ("_history_by_feature", history, "base_id"),
            ("_history_by_global_id", history, "globalid"),
        ] {
            try connection.execute(
                "CREATE INDEX IF NOT EXISTS \(quoted(layer.attachmentTable + name)) ON \(table) (\(column))")
        }
        try GeoPackageSchema.registerOwn(layer.attachmentHistoryTable, on: connection)
    }

    // MARK: Triggers

    private var triggers: [String] {
        [
            trigger("insert", "INSERT", when: nil, [change(.add, "NEW", "1"), take("NEW"), fill]),
            trigger(
                "update", "UPDATE", when: "OLD.globalid IS NOT NULL AND (\(differs))",
                [
                    change(.update, "NEW", "OLD.related_id IS NOT NEW.related_id"), keep(.update), take("NEW"),
                ] + drop),
            trigger("delete", "DELETE", when: nil, [change(.delete, "OLD", "0"), keep(.delete)] + drop),
            // Parts go with their feature, and follow it when another program gives it another id.
            """
            CREATE TRIGGER IF NOT EXISTS \(quoted("fieldwork_\(id)_attachments_delete")) AFTER DELETE ON \(features)
            BEGIN DELETE FROM \(table) WHERE base_id = OLD.\(key); END
            """,
            """
            CREATE TRIGGER IF NOT EXISTS \(quoted("fieldwork_\(id)_attachments_rekey"))
            AFTER UPDATE OF \(key) ON \(features) WHEN OLD.\(key) IS NOT NEW.\(key)
            BEGIN UPDATE \(table) SET base_id = NEW.\(key) WHERE base_id = OLD.\(key); END
            """,
        ]
    }

    private func trigger(_ suffix: String, _ event: String, when condition: String?, _ statements: [String]) -> String {
        """
        CREATE TRIGGER IF NOT EXISTS \(quoted("\(name)_\(suffix)")) AFTER \(event) ON \(table)
        \(condition.map { "WHEN \($0)" } ?? "")
        BEGIN \((ChangeTriggers.openGeneration + statements).joined(separator: "; ")); END
        """
    }

    private var differs: String { Self.kept.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ") }

    private func change(_ operation: FeatureChange.Operation, _ row: String, _ changesContent: String) -> String {
        """
        INSERT INTO \(Self.changes)
        SELECT \(id), \(row).attachmentid, generation, \(operation.number), \(changesContent)
        FROM fieldwork_state WHERE id = 1 AND muted = 0
        ON CONFLICT DO UPDATE SET changed_content = changed_content | excluded.changed_content
        """
    }

    private func keep(_ operation: FeatureChange.Operation) -> String {
        let values = Self.kept.map { "OLD.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO \(Self.uses) SELECT OLD.related_id, 1 FROM fieldwork_state WHERE id = 1 AND muted = 0
            ON CONFLICT (media_id) DO UPDATE SET uses = uses + 1;
            INSERT INTO \(history) (fieldwork_generation, fieldwork_operation, fieldwork_with_feature,
                \(Self.kept.joined(separator: ", ")))
            SELECT generation, \(operation.number),
                NOT EXISTS (SELECT 1 FROM \(features) WHERE \(key) = OLD.base_id), \(values)
            FROM fieldwork_state WHERE id = 1 AND muted = 0
            """
    }

    private func take(_ row: String) -> String {
        """
        INSERT INTO \(Self.uses) VALUES (\(row).related_id, 1) ON CONFLICT (media_id) DO UPDATE SET uses = uses + 1
        """
    }

    /// A content that neither an attachment nor the history uses any longer is gone.
    private var drop: [String] {
        [
            "UPDATE \(Self.uses) SET uses = uses - 1 WHERE media_id = OLD.related_id",
            """
            DELETE FROM \(Self.media) WHERE id = OLD.related_id
                AND EXISTS (SELECT 1 FROM \(Self.uses) WHERE media_id = OLD.related_id AND uses <= 0)
            """,
            "DELETE FROM \(Self.uses) WHERE media_id = OLD.related_id AND uses <= 0",
        ]
    }

    /// What another program leaves out when it relates a media row to a feature.
    private var fill: String {
        """
        UPDATE \(table) SET globalid = coalesce(NEW.globalid, \(ChangeTriggers.newGlobalID)),
            att_name = coalesce(NEW.att_name, 'Attachment' || NEW.attachmentid),
            content_type = coalesce(NEW.content_type, (SELECT content_type FROM \(Self.media) WHERE id = NEW.related_id),
                'application/octet-stream'),
            data_size = coalesce(NEW.data_size, (SELECT length(data) FROM \(Self.media) WHERE id = NEW.related_id), 0)
        WHERE attachmentid = NEW.attachmentid AND (NEW.globalid IS NULL OR NEW.att_name IS NULL
            OR NEW.content_type IS NULL OR NEW.data_size IS NULL)
        """
    }
}

extension StoredLayer {
    var attachmentTable: String { "fieldwork_attachments_\(definition.id)" }
    var attachmentHistoryTable: String { "fieldwork_attachment_history_\(definition.id)" }
}
