import FieldworkREST
import Foundation

/// Writes the attachments of one layer's features within the transaction that its caller has opened. Whoever may update a
/// feature may change its attachments, and the feature says that it was edited.
struct AttachmentWriter {
    let features: LayerWriter

    var layer: StoredLayer { features.layer }
    var connection: StoreConnection { features.connection }
    private var batch: EditBatch { features.batch }
    var media: MediaStore { MediaStore(connection: connection) }
    var table: String { quoted(layer.attachmentTable) }

    func apply(_ edits: AttachmentEdits) throws -> AttachmentEditResults {
        AttachmentEditResults(
            adds: try edits.adds.map { edit in try result(edit.globalID, edit.id) { try add(edit) } },
            updates: try edits.updates.map { edit in try result(edit.globalID, edit.id) { try update(edit) } },
            deletes: try edits.deletes.map { delete in
                switch delete.identifier {
                case .id(let id): try result(nil, id) { try self.delete(delete) }
                case .globalID(let id): try result(id, nil) { try self.delete(delete) }
                }
            })
    }

    private func result(_ globalID: UUID?, _ id: Int64?, _ body: () throws -> EditResult) throws -> EditResult {
        do {
            guard layer.definition.hasAttachments else { throw Self.refused("The layer has no attachments.") }
            return try body()
        } catch let error as EditError {
            return EditResult(objectID: id, globalID: globalID, error: error)
        }
    }

    static func refused(_ why: String) -> EditError { EditError(code: 1000, description: why) }

    // MARK: The three edits

    private func add(_ edit: AttachmentEdit) throws -> EditResult {
        if let rejection = edit.rejection { throw rejection }
        guard let name = edit.name.flatMap(AttachmentTypes.plainName) else {
            throw Self.refused("An attachment needs a name.")
        }
        guard let content = edit.content else { throw Self.refused("An attachment needs a content.") }
        let type = try contentType(name: name, told: edit.contentType)
        try check(content)
        let keywords = try checked(edit.keywords ?? "")
        guard let parent = edit.parent else { throw Self.refused("An attachment needs the id of its feature.") }
        let globalID = newGlobalID(edit)
        // Sent again after the answer was lost: the result names what is there.
        if let known = try find(.globalID(globalID)) {
            if try cameWithFeature(known) { return try update(edit) }
            return EditResult(
                objectID: known.id, globalID: globalID,
                error: EditError(code: 1016, description: "An attachment with this global id exists already."))
        }
        let feature = try features.updatable(parent)
        try checkRoom(feature.objectID)
        let row = try media.keep(content, contentType: type)
        let statement = try connection.cached(
            """
            INSERT INTO \(table)
                (attachmentid, globalid, base_id, related_id, att_name, content_type, data_size, keywords)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)\(connection.dialect.returning("attachmentid"))
            """)
        defer { statement.finish() }
        if let id = edit.id, features.keepsObjectIDs || batch.origin != .edit { try statement.bind(id, at: 1) }
        try statement.bind(GUID.normalForm(globalID), at: 2)
        try statement.bind(feature.objectID, at: 3)
        try statement.bind(row, at: 4)
        try statement.bind(name, at: 5)
        try statement.bind(type, at: 6)
        try statement.bind(Int64(content.size), at: 7)
        try statement.bind(keywords, at: 8)
        switch try statement.execute() {
        case .done: break
        case .notUnique:
            try media.dropUnused(row)
            throw EditError(code: 1016, description: "An attachment with this id exists already.")
        case .refused(let message):
            try media.dropUnused(row)
            throw Self.refused(message)
        }
        // Before the feature is written: that insert may be no other's.
        let id = connection.lastInsertedRowID
        try features.touch(feature.objectID)
        return EditResult(objectID: id, globalID: globalID)
    }

    private func update(_ edit: AttachmentEdit) throws -> EditResult {
        if let rejection = edit.rejection { throw rejection }
        if let id = edit.globalID, features.reach != nil, let known = try find(.globalID(id)) ?? lastDeleted(id),
            try features.isOutOfReach(known.parentObjectID)
        {
            throw Self.refused("There is no attachment with this id.")
        }
        switch (edit.fate, edit.globalID) {
        case (.keptOnly, let id?): return try keep(edit, of: id)
        case (.restoresVersion(let version), let id?): return try restore(version: version, of: id)
        case (.restoresDeleted, let id?): try bringBack(id)
        case (_, _): break
        }
        let current = try current(identifier(of: edit), parent: edit.parent)
        let name = edit.name.flatMap(AttachmentTypes.plainName) ?? current.name
        // A new content has the type of its own name; a new name alone leaves it.
        var type = current.contentType
        if edit.content != nil || edit.name != nil || edit.contentType != nil {
            let told = edit.contentType ?? (edit.content == nil ? current.contentType : nil)
            type = try contentType(name: name, told: told)
        }
        let keywords = try checked(edit.keywords ?? current.keywords)
        _ = try features.updatable(.objectID(current.parentObjectID))
        var row = current.mediaRow
        var size = current.size
        if let content = edit.content {
            try check(content)
            row = try media.keep(content, contentType: type)
            size = Int64(content.size)
        }
        try connection.run(
            """
            UPDATE \(table) SET related_id = ?, att_name = ?, content_type = ?, data_size = ?, keywords = ?
            WHERE attachmentid = ?
            """
        ) {
            try $0.bind(row, at: 1)
            try $0.bind(name, at: 2)
            try $0.bind(type, at: 3)
            try $0.bind(size, at: 4)
            try $0.bind(keywords, at: 5)
            try $0.bind(current.id, at: 6)
        }
        try features.touch(current.parentObjectID)
        return EditResult(objectID: current.id, globalID: current.globalID)
    }

    private func delete(_ delete: AttachmentDelete) throws -> EditResult {
        let found: Found
        do {
            found = try current(delete.identifier, parent: delete.parent)
        } catch let error as EditError {
            // A cache that lacks what its service has deleted is up to date; so is who deletes what went with its feature.
            let isGone = try delete.staysDeleted ? keepDeleted(delete.identifier) : wentWithFeature(delete.identifier)
            guard batch.origin == .cache || isGone else { throw error }
            switch delete.identifier {
            case .id(let id): return EditResult(objectID: id, globalID: nil)
            case .globalID(let id): return EditResult(objectID: nil, globalID: id)
            }
        }
        _ = try features.updatable(.objectID(found.parentObjectID))
        try connection.run("DELETE FROM \(table) WHERE attachmentid = ?") { try $0.bind(found.id, at: 1) }
        try features.touch(found.parentObjectID)
        return EditResult(objectID: found.id, globalID: found.globalID)
    }

    /// Whether the attachment's feature was deleted by the same edits.
    private func wentWithFeature(_ identifier: AttachmentIdentifier) throws -> Bool {
        guard case .globalID(let id) = identifier else { return false }
        return try connection.integer(
            """
            SELECT 1 FROM \(quoted(layer.attachmentHistoryTable))
            WHERE globalid = ? AND fieldwork_operation = 2 AND fieldwork_with_feature = 1
                AND fieldwork_generation = (SELECT generation FROM fieldwork_state WHERE id = 1)
            """
        ) { try $0.bind(GUID.normalForm(id), at: 1) } != nil
    }

    /// Whether the attachment has just come back with its feature, which the same edits add again: an undo, for one.
    private func cameWithFeature(_ found: Found) throws -> Bool {
        guard batch.origin != .cache else { return false }
        return try connection.integer(
            """
            SELECT 1 FROM \(AttachmentTables.changes)
            WHERE layer_id = ? AND generation = (SELECT generation FROM fieldwork_state WHERE id = 1)
                AND attachment_id = ? AND operation = 0
                AND EXISTS (
                    SELECT 1 FROM \(quoted(layer.attachmentHistoryTable))
                    WHERE globalid = ? AND fieldwork_operation = 2 AND fieldwork_with_feature = 1)
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(found.id, at: 2)
            try $0.bind(found.globalID.map(GUID.normalForm), at: 3)
        } != nil
    }

    // MARK: Rules

    /// What is taken over was judged where it comes from.
    private func contentType(name: String, told: String?) throws -> String {
        if batch.origin != .edit, let told { return told }
        return try AttachmentTypes.contentType(name: name, told: told)
    }

    func check(_ content: AttachmentContent) throws(EditError) {
        guard content.size <= FieldworkREST.Limits.attachmentBytes else {
            throw Self.refused("An attachment may have \(FieldworkREST.Limits.attachmentBytes) bytes.")
        }
    }

    func checked(_ keywords: String) throws(EditError) -> String {
        guard keywords.unicodeScalars.count <= FieldworkREST.Limits.attachmentKeywordsLength,
            !keywords.utf8.contains(0)
        else {
            throw Self.refused(
                "Keywords may have \(FieldworkREST.Limits.attachmentKeywordsLength) characters and no null characters.")
        }
        return keywords
    }

    private func checkRoom(_ objectID: Int64) throws {
        let count = try connection.integer("SELECT count(*) FROM \(table) WHERE base_id = ?") {
            try $0.bind(objectID, at: 1)
        }
        guard count ?? 0 < Int64(FieldworkREST.Limits.attachmentsPerFeature) else {
            throw Self.refused("A feature may have \(FieldworkREST.Limits.attachmentsPerFeature) attachments.")
        }
    }

    // MARK: Which attachment

    private func newGlobalID(_ edit: AttachmentEdit) -> UUID {
        if batch.usesGlobalIDs || batch.origin != .edit, let id = edit.globalID { return id }
        return GlobalIDSource().next()
    }

    private func identifier(of edit: AttachmentEdit) throws(EditError) -> AttachmentIdentifier {
        if batch.usesGlobalIDs, let id = edit.globalID { return .globalID(id) }
        if let id = edit.id { return .id(id) }
        if let id = edit.globalID { return .globalID(id) }
        throw Self.refused("An update needs the id of its attachment.")
    }

    struct Found {
        var id: Int64
        var globalID: UUID?
        var parentObjectID: Int64
        var mediaRow: Int64
        var name: String
        var contentType: String
        var size: Int64
        var keywords: String
    }

    func current(_ identifier: AttachmentIdentifier, parent: FeatureIdentifier?) throws -> Found {
        guard let found = try find(identifier) else { throw Self.refused("There is no attachment with this id.") }
        if let parent, try features.find(parent)?.objectID != found.parentObjectID {
            throw Self.refused("The attachment belongs to another feature.")
        }
        return found
    }

    func find(_ identifier: AttachmentIdentifier) throws -> Found? {
        switch identifier {
        case .id(let id): try find(from: "\(table) WHERE attachmentid = ?", .integer(id))
        case .globalID(let id): try find(from: "\(table) WHERE globalid = ?", .text(GUID.normalForm(id)))
        }
    }

    /// - Parameter source: what follows FROM, with one parameter.
    func find(from source: String, _ value: AttributeValue) throws -> Found? {
        var found: Found?
        let columns = AttachmentTables.kept.joined(separator: ", ")
        try connection.run(
            "SELECT \(columns) FROM \(source)", bind: { try $0.bind(value, at: 1) },
            row: { row in
                found = Found(
                    id: row.integer(0), globalID: row.optionalText(1).flatMap(GUID.parse),
                    parentObjectID: row.integer(2), mediaRow: row.integer(3), name: row.optionalText(4) ?? "",
                    contentType: row.optionalText(5) ?? "", size: row.integer(6), keywords: row.optionalText(7) ?? "")
            })
        return found
    }
}

extension LayerWriter {
    /// Whether a feature is there, but not for the batch.
    func isOutOfReach(_ objectID: Int64) throws -> Bool {
        guard reach != nil, try findAny(.objectID(objectID)) != nil else { return false }
        return try find(.objectID(objectID)) == nil
    }

    /// The feature, if whoever edits may update it.
    func updatable(_ identifier: FeatureIdentifier) throws -> Found {
        guard let found = try find(identifier) else {
            throw EditError(code: 1000, description: "There is no feature with this id.")
        }
        try checkOwner(.update, of: found)
        return found
    }

    /// Writes down that something that belongs to the feature was edited.
    func touch(_ objectID: Int64) throws {
        guard batch.origin == .edit else { return }
        let tracked = rules.tracked(in: batch)
        guard !tracked.isEmpty else { return }
        let sets = tracked.map { "\(quoted(layer.columns[$0.column].name)) = ?" }.joined(separator: ", ")
        try connection.run(
            "UPDATE \(quoted(layer.tableName)) SET \(sets) WHERE \(quoted(layer.objectIDColumn)) = ?"
        ) {
            for (offset, assignment) in tracked.enumerated() { try $0.bind(assignment.value, at: offset + 1) }
            try $0.bind(objectID, at: tracked.count + 1)
        }
    }

    /// Brings back the attachments that went with a feature when it was deleted.
    func restoreAttachments(of objectID: Int64) throws {
        guard layer.definition.hasAttachments else { return }
        let columns = AttachmentTables.kept.joined(separator: ", ")
        let history = quoted(layer.attachmentHistoryTable)
        try connection.run(
            """
            INSERT INTO \(quoted(layer.attachmentTable)) (\(columns))
            SELECT \(columns) FROM \(history) AS h WHERE base_id = ? AND fieldwork_operation = 2
                AND fieldwork_with_feature = 1 AND fieldwork_version = (
                    SELECT max(fieldwork_version) FROM \(history) WHERE attachmentid = h.attachmentid
                        AND fieldwork_operation <> \(AttachmentVersionReader.keptOnly))
            ON CONFLICT DO NOTHING
            """
        ) { try $0.bind(objectID, at: 1) }
    }

    /// A feature's attachments follow it to the object id that its service has given it.
    func moveAttachments(of globalID: UUID, to objectID: Int64) throws {
        guard layer.definition.hasAttachments, let column = layer.globalIDColumn.map(quoted) else { return }
        try connection.run(
            """
            UPDATE \(quoted(layer.attachmentTable)) SET base_id = ?1 WHERE base_id IN (
                SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName))
                WHERE \(column) = ?2 AND \(quoted(layer.objectIDColumn)) <> ?1)
            """
        ) {
            try $0.bind(objectID, at: 1)
            try $0.bind(GUID.normalForm(globalID), at: 2)
        }
    }
}
