import FieldworkREST
import Foundation

/// Reads what the triggers of `AttachmentTables` wrote.
struct AttachmentLog {
    let layer: StoredLayer
    let connection: StoreConnection

    private var table: String { quoted(layer.attachmentTable) }
    private var history: String { quoted(layer.attachmentHistoryTable) }

    // MARK: Changes

    /// One entry an attachment and generation, oldest first. What was added and deleted in one was never there.
    func changes(after generation: Int64, limit: Int) throws -> [AttachmentChange] {
        guard layer.definition.hasAttachments else { return [] }
        var changes: [AttachmentChange] = []
        try connection.run(
            """
            SELECT c.generation, c.attachment_id, min(c.operation), max(c.operation), max(c.changed_content),
                max(coalesce(a.globalid, h.globalid)), max(coalesce(a.base_id, h.base_id))
            FROM \(AttachmentTables.changes) AS c
            LEFT JOIN \(table) AS a ON a.attachmentid = c.attachment_id
            LEFT JOIN \(history) AS h ON h.fieldwork_version = (
                SELECT max(fieldwork_version) FROM \(history) WHERE attachmentid = c.attachment_id)
            WHERE c.layer_id = ?1 AND c.generation > ?2
            GROUP BY c.generation, c.attachment_id
            HAVING NOT (min(c.operation) = 0 AND max(c.operation) = 2)
            ORDER BY c.generation, c.attachment_id LIMIT ?3
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(generation, at: 2)
                try $0.bind(Int64(min(limit, Limits.attachmentChanges)), at: 3)
            },
            row: { row in
                let isAdd = row.integer(2) == FeatureChange.Operation.add.number
                guard let operation = FeatureChange.Operation(number: isAdd ? 0 : row.integer(3)) else { return }
                changes.append(
                    AttachmentChange(
                        generation: row.integer(0), operation: operation, id: row.integer(1),
                        globalID: row.optionalText(5).flatMap(GUID.parse), parentObjectID: row.integer(6),
                        changesContent: row.integer(4) != 0))
            })
        return changes
    }

    /// What became of each attachment from one generation to another, in the order of the ids: what was added and deleted
    /// between was never there, what was deleted and came back was changed, also when it is as it was: a service that was put back to a
    /// backup may lack it, and has it again by this edit.
    func net(after base: Int64, through last: Int64) throws -> [AttachmentChange] {
        guard layer.definition.hasAttachments else { return [] }
        var changes: [AttachmentChange] = []
        try connection.run(
            """
            SELECT c.attachment_id, min(c.generation), max(c.generation), max(c.changed_content),
                (SELECT min(operation) FROM \(AttachmentTables.changes) WHERE layer_id = ?1
                    AND attachment_id = c.attachment_id AND generation = min(c.generation)),
                (SELECT max(operation) FROM \(AttachmentTables.changes) WHERE layer_id = ?1
                    AND attachment_id = c.attachment_id AND generation = max(c.generation)),
                max(coalesce(a.globalid, h.globalid)), max(coalesce(a.base_id, h.base_id)),
                max(CASE WHEN a.attachmentid IS NULL AND h.fieldwork_with_feature = 1 THEN 1 ELSE 0 END)
            FROM \(AttachmentTables.changes) AS c
            LEFT JOIN \(table) AS a ON a.attachmentid = c.attachment_id
            LEFT JOIN \(history) AS h ON h.fieldwork_version = (
                SELECT max(fieldwork_version) FROM \(history) WHERE attachmentid = c.attachment_id)
            WHERE c.layer_id = ?1 AND c.generation > ?2 AND c.generation <= ?3
            GROUP BY c.attachment_id ORDER BY c.attachment_id
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(base, at: 2)
                try $0.bind(last, at: 3)
            },
            row: { row in
                guard let operation = Self.net(first: row.integer(4), last: row.integer(5)) else { return }
                changes.append(
                    AttachmentChange(
                        generation: row.integer(2), operation: operation, id: row.integer(0),
                        globalID: row.optionalText(6).flatMap(GUID.parse), parentObjectID: row.integer(7),
                        changesContent: row.integer(3) != 0, wentWithFeature: row.integer(8) != 0))
            })
        return changes
    }

    /// nil for what was never there.
    private static func net(first: Int64, last: Int64) -> FeatureChange.Operation? {
        let isNew = first == FeatureChange.Operation.add.number
        let isGone = last == FeatureChange.Operation.delete.number
        return isGone ? (isNew ? nil : .delete) : (isNew ? .add : .update)
    }

    // MARK: History

    /// The superseded versions of a feature's attachments, newest first.
    func history(of objectID: Int64) throws -> [AttachmentVersion] {
        guard layer.definition.hasAttachments else { return [] }
        var versions: [AttachmentVersion] = []
        let columns = AttachmentTables.kept.map { "h.\($0)" }.joined(separator: ", ")
        try connection.run(
            """
            SELECT h.fieldwork_version, h.fieldwork_generation, h.fieldwork_operation, g.moment, g.editor, \(columns)
            FROM \(history) AS h LEFT JOIN fieldwork_generations AS g ON g.generation = h.fieldwork_generation
            WHERE h.base_id = ?1 ORDER BY h.fieldwork_version DESC LIMIT ?2
            """,
            bind: {
                try $0.bind(objectID, at: 1)
                try $0.bind(Int64(Limits.attachmentChanges), at: 2)
            },
            row: { row in
                let info = AttachmentInfo(
                    id: row.integer(5), globalID: row.optionalText(6).flatMap(GUID.parse),
                    parentObjectID: row.integer(7), parentGlobalID: nil, name: row.optionalText(9) ?? "",
                    contentType: row.optionalText(10) ?? "", size: row.integer(11),
                    keywords: row.optionalText(12) ?? "")
                versions.append(
                    AttachmentVersion(
                        version: row.integer(0), info: info, toGeneration: row.integer(1),
                        endedBy: FeatureChange.Operation(number: row.integer(2)) ?? .update,
                        endedAt: Date(
                            timeIntervalSince1970: Double(row.optionalText(3).flatMap(DateText.milliseconds) ?? 0)
                                / 1_000),
                        editor: row.optionalText(4)))
            })
        return versions
    }

    /// The row of the content of a superseded version.
    func mediaRow(ofVersion version: Int64) throws -> Int64? {
        guard layer.definition.hasAttachments else { return nil }
        return try connection.integer("SELECT related_id FROM \(history) WHERE fieldwork_version = ?") {
            try $0.bind(version, at: 1)
        }
    }

    /// Drops the entries up to a generation; the history stays.
    static func compact(layerID: Int, upTo generation: Int64, on connection: StoreConnection) throws {
        guard try connection.hasTable(AttachmentTables.changes) else { return }
        try connection.run("DELETE FROM \(AttachmentTables.changes) WHERE layer_id = ? AND generation <= ?") {
            try $0.bind(Int64(layerID), at: 1)
            try $0.bind(generation, at: 2)
        }
    }
}
