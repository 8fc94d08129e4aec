import FieldworkGeometry
import FieldworkREST
import Foundation

/// Reads what attachments are and were, for the merge of what clients hand in.
struct AttachmentVersionReader {
    let layer: StoredLayer
    let connection: StoreConnection

    /// How the history marks a version that lost a conflict before it was ever the attachment's state.
    static let keptOnly: Int64 = 3

    struct Found {
        var id: Int64
        var parentObjectID: Int64
        var value: MergeConflict.AttachmentValue
        /// The generation that ended it; 0 for what is there.
        var generation: Int64 = 0
    }

    private static let columns = "attachmentid, base_id, globalid, att_name, content_type, data_size, keywords"

    /// The attachment as it is; nil when there is none.
    func current(_ globalID: UUID) throws -> Found? {
        try find(
            "SELECT \(Self.columns), 0 FROM \(quoted(layer.attachmentTable)) WHERE globalid = ?", globalID)
    }

    /// What was last deleted under a global id.
    func deleted(_ globalID: UUID) throws -> Found? {
        try find(
            """
            SELECT \(Self.columns), fieldwork_generation FROM \(quoted(layer.attachmentHistoryTable))
            WHERE globalid = ? AND fieldwork_operation = 2 ORDER BY fieldwork_version DESC LIMIT 1
            """, globalID)
    }

    /// Whether what was last deleted under a global id went with its feature.
    func wentWithFeature(_ globalID: UUID) throws -> Bool {
        try connection.integer(
            """
            SELECT fieldwork_with_feature FROM \(quoted(layer.attachmentHistoryTable))
            WHERE globalid = ? AND fieldwork_operation = 2 ORDER BY fieldwork_version DESC LIMIT 1
            """
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) } == 1
    }

    private func find(_ sql: String, _ globalID: UUID) throws -> Found? {
        var found: Found?
        try connection.run(
            sql, bind: { try $0.bind(GUID.normalForm(globalID), at: 1) },
            row: { row in
                let value = MergeConflict.AttachmentValue(
                    globalID: globalID, name: row.optionalText(3) ?? "", contentType: row.optionalText(4) ?? "",
                    size: row.integer(5), keywords: row.optionalText(6) ?? "")
                found = Found(
                    id: row.integer(0), parentObjectID: row.integer(1), value: value, generation: row.integer(7))
            })
        return found
    }

    /// What an edit makes of an attachment.
    func value(
        of edit: AttachmentEdit, over known: MergeConflict.AttachmentValue?
    ) -> MergeConflict.AttachmentValue? {
        guard let globalID = edit.globalID else { return nil }
        return MergeConflict.AttachmentValue(
            globalID: globalID, name: edit.name ?? known?.name ?? "",
            contentType: edit.contentType ?? known?.contentType ?? "",
            size: edit.content.map { Int64($0.size) } ?? known?.size ?? 0,
            keywords: edit.keywords ?? known?.keywords ?? "")
    }

    /// The global id of an attachment's feature, also of one that is gone.
    func parent(of found: Found) throws -> UUID? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        return try connection.text(
            """
            SELECT coalesce(
                (SELECT \(column) FROM \(quoted(layer.tableName)) WHERE \(quoted(layer.objectIDColumn)) = ?1),
                (SELECT \(column) FROM \(quoted(layer.historyTable)) WHERE fieldwork_object_id = ?1
                    ORDER BY fieldwork_version DESC LIMIT 1))
            """
        ) { try $0.bind(found.parentObjectID, at: 1) }.flatMap(GUID.parse)
    }

    /// The version of the history that a generation made of an attachment: what it replaced, deleted or kept.
    func version(of globalID: UUID, endedIn generation: Int64) throws -> Int64? {
        try connection.integer(
            """
            SELECT fieldwork_version FROM \(quoted(layer.attachmentHistoryTable))
            WHERE globalid = ? AND fieldwork_generation = ? ORDER BY fieldwork_version DESC LIMIT 1
            """
        ) {
            try $0.bind(GUID.normalForm(globalID), at: 1)
            try $0.bind(generation, at: 2)
        }
    }
}
