import FieldworkREST

/// Looks whether the attachments of a layer are whole: each belongs to a feature, has its content, and the content is what
/// was stored; contents are counted right.
struct AttachmentCheck {
    let connection: StoreConnection
    private static let findingsPerCheck = 20

    func run(_ layer: StoredLayer) throws -> [String] {
        guard try AttachmentTables(layer: layer).exists(on: connection) else {
            return layer.definition.hasAttachments
                ? ["\(layer.definition.name): the table of attachments is missing."] : []
        }
        var findings: [String] = []
        let name = layer.definition.name
        let table = quoted(layer.attachmentTable)
        try connection.run(
            """
            SELECT attachmentid FROM \(table) WHERE base_id NOT IN (
                SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName))) LIMIT \(Self.findingsPerCheck)
            """, row: { findings.append("\(name): attachment \($0.integer(0)) belongs to no feature.") })
        try connection.run(
            """
            SELECT attachmentid FROM \(table) AS a LEFT JOIN \(AttachmentTables.media) AS m ON m.id = a.related_id
            WHERE m.id IS NULL OR a.data_size IS NULL OR \(connection.dialect.contentSize) <> a.data_size LIMIT \(Self.findingsPerCheck)
            """, row: { findings.append("\(name): attachment \($0.integer(0)) has not its content.") })
        return findings
    }

    /// All contents, whosever attachments they are.
    func contents() throws -> [String] {
        guard try connection.hasTable(AttachmentTables.media) else { return [] }
        var findings: [String] = []
        // Layers that were removed have left their history.
        let tables = try connection.texts(connection.dialect.attachmentTables)
        let references =
            tables
            .map { "SELECT related_id FROM \(quoted($0))" }.joined(separator: " UNION ALL ")
        try connection.run(
            """
            SELECT m.id FROM \(AttachmentTables.media) AS m
            LEFT JOIN \(AttachmentTables.uses) AS u ON u.media_id = m.id
            LEFT JOIN (SELECT related_id, count(*) AS n FROM (\(references)) AS each_use GROUP BY related_id) AS r
                ON r.related_id = m.id
            WHERE coalesce(u.uses, 0) <> coalesce(r.n, 0) LIMIT \(Self.findingsPerCheck)
            """, row: { findings.append("The uses of content \($0.integer(0)) are counted wrong.") })
        var rows: [(id: Int64, sha256: String?)] = []
        try connection.run(
            "SELECT id, sha256 FROM \(AttachmentTables.media)",
            row: { rows.append(($0.integer(0), $0.optionalText(1))) })
        for row in rows where findings.count < Self.findingsPerCheck {
            let blob = try BlobHandle(media: row.id, on: connection)
            do {
                try MediaStore.verify(blob, sha256: row.sha256)
            } catch let error as StoreError where error.code == .corrupt {
                findings.append("Content \(row.id) of attachments has changed on the disk.")
            }
        }
        return findings
    }
}
