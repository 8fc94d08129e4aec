import FieldworkGeometry
import FieldworkREST
import Foundation

/// What the merge of handed-in attachments does with versions: brings one back, or keeps one that lost.
extension AttachmentWriter {
    private var history: String { quoted(layer.attachmentHistoryTable) }
    private static let columns = AttachmentTables.kept.joined(separator: ", ")

    /// Puts back what was last deleted under a global id, if its feature is there.
    func bringBack(_ globalID: UUID) throws {
        try connection.run(
            """
            INSERT INTO \(table) (\(Self.columns)) SELECT \(Self.columns) FROM \(history) AS h
            WHERE fieldwork_version = (
                SELECT max(fieldwork_version) FROM \(history) WHERE globalid = ?1 AND fieldwork_operation = 2)
                AND NOT EXISTS (SELECT 1 FROM \(table) WHERE globalid = ?1)
                AND EXISTS (SELECT 1 FROM \(quoted(layer.tableName)) WHERE \(quoted(layer.objectIDColumn)) = h.base_id)
            """
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
    }

    /// Makes a superseded version the attachment's state again; what stands now goes to the history.
    func restore(version: Int64, of globalID: UUID) throws -> EditResult {
        try bringBack(globalID)
        let found = try current(.globalID(globalID), parent: nil)
        _ = try features.updatable(.objectID(found.parentObjectID))
        let sets = ["related_id", "att_name", "content_type", "data_size", "keywords"]
            .map { "\($0) = h.\($0)" }.joined(separator: ", ")
        try connection.run(
            """
            UPDATE \(table) SET \(sets) FROM \(history) AS h
            WHERE \(table).attachmentid = ?1 AND h.fieldwork_version = ?2 AND h.globalid = ?3
            """
        ) {
            try $0.bind(found.id, at: 1)
            try $0.bind(version, at: 2)
            try $0.bind(GUID.normalForm(globalID), at: 3)
        }
        guard connection.changedRows > 0 else { throw Self.refused("The version of the attachment is not there.") }
        try features.touch(found.parentObjectID)
        return EditResult(objectID: found.id, globalID: globalID)
    }

    /// Keeps an update that lost to what the service has: in the history, with its bytes.
    func keep(_ edit: AttachmentEdit, of globalID: UUID) throws -> EditResult {
        let known = try find(.globalID(globalID)) ?? lastDeleted(globalID)
        guard let known else { throw Self.refused("There is no attachment with this id.") }
        let name = edit.name.flatMap(AttachmentTypes.plainName) ?? known.name
        let type = edit.contentType ?? known.contentType
        var (row, size) = (known.mediaRow, known.size)
        if let content = edit.content {
            try check(content)
            row = try media.keep(content, contentType: type)
            size = Int64(content.size)
        }
        let keywords = try checked(edit.keywords ?? known.keywords)
        try addUse(of: row)
        try connection.run(
            """
            INSERT INTO \(history) (fieldwork_generation, fieldwork_operation, fieldwork_with_feature, \(Self.columns))
            SELECT generation, ?, 0, ?, ?, ?, ?, ?, ?, ?, ? FROM fieldwork_state WHERE id = 1
            """
        ) {
            try $0.bind(AttachmentVersionReader.keptOnly, at: 1)
            try $0.bind(known.id, at: 2)
            try $0.bind(GUID.normalForm(globalID), at: 3)
            try $0.bind(known.parentObjectID, at: 4)
            try $0.bind(row, at: 5)
            try $0.bind(name, at: 6)
            try $0.bind(type, at: 7)
            try $0.bind(size, at: 8)
            try $0.bind(keywords, at: 9)
        }
        return EditResult(objectID: known.id, globalID: globalID)
    }

    private func addUse(of mediaRow: Int64) throws {
        try connection.run(
            """
            INSERT INTO \(AttachmentTables.uses) AS u VALUES (?, 1)
            ON CONFLICT (media_id) DO UPDATE SET uses = u.uses + 1
            """
        ) { try $0.bind(mediaRow, at: 1) }
    }

    /// Has an attachment that went with its feature stay deleted when the feature comes back: in the history and the change log
    /// it is deleted once more, for itself.
    /// - Returns: false when there is none that went like this.
    func keepDeleted(_ identifier: AttachmentIdentifier) throws -> Bool {
        guard case .globalID(let globalID) = identifier, let known = try lastDeleted(globalID),
            try AttachmentVersionReader(layer: layer, connection: connection).wentWithFeature(globalID)
        else { return false }
        try addUse(of: known.mediaRow)
        try connection.run(
            """
            INSERT INTO \(history) (fieldwork_generation, fieldwork_operation, fieldwork_with_feature, \(Self.columns))
            SELECT s.generation, 2, 0, \(AttachmentTables.kept.map { "h.\($0)" }.joined(separator: ", "))
            FROM \(history) AS h, fieldwork_state AS s
            WHERE s.id = 1 AND h.fieldwork_version = (
                SELECT max(fieldwork_version) FROM \(history) WHERE globalid = ?1 AND fieldwork_operation = 2)
            """
        ) { try $0.bind(GUID.normalForm(globalID), at: 1) }
        try connection.run(
            """
            INSERT INTO \(AttachmentTables.changes) SELECT ?1, ?2, generation, ?3, 0 FROM fieldwork_state WHERE id = 1
            ON CONFLICT DO NOTHING
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(known.id, at: 2)
            try $0.bind(FeatureChange.Operation.delete.number, at: 3)
        }
        return true
    }

    func lastDeleted(_ globalID: UUID) throws -> Found? {
        try find(
            from: """
                (SELECT * FROM \(history) WHERE globalid = ? AND fieldwork_operation = 2
                    ORDER BY fieldwork_version DESC LIMIT 1) AS deleted
                """, .text(GUID.normalForm(globalID)))
    }
}
