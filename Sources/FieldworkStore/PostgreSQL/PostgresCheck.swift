import FieldworkREST

/// Looks whether a layer in PostgreSQL is what it must be: its count, its triggers, its change log and history.
struct PostgresCheck {
    let layer: StoredLayer
    let connection: StoreConnection

    private var name: String { layer.definition.name }
    private var id: Int { layer.definition.id }

    func run() throws -> [String] { try count() + triggers() + generations() + history() }

    private func count() throws -> [String] {
        let found = try connection.integer("SELECT count(*) FROM \(quoted(layer.tableName))") ?? 0
        let kept = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = ?") {
            try $0.bind(Int64(id), at: 1)
        }
        return kept == found ? [] : ["\(name): \(kept ?? 0) rows are counted, \(found) are there."]
    }

    /// Without its triggers, what other programs edit is not synchronised.
    private func triggers() throws -> [String] {
        var wanted = [("fieldwork_\(id)_fill", layer.tableName), ("fieldwork_\(id)_log", layer.tableName)]
        if layer.definition.hasAttachments {
            wanted += ["fill", "log"].map { ("fieldwork_attachments_\(id)_\($0)", layer.attachmentTable) }
            wanted.append(("fieldwork_\(id)_attachments_follow", layer.tableName))
        }
        return try wanted.compactMap { trigger, table in
            let state = try connection.text(
                "SELECT tgenabled::text FROM pg_catalog.pg_trigger WHERE tgname = ? AND tgrelid = to_regclass(?)"
            ) {
                try $0.bind(trigger, at: 1)
                try $0.bind(quoted(table), at: 2)
            }
            guard let state else { return "\(name): the trigger \(trigger) is missing." }
            return ["O", "A"].contains(state) ? nil : "\(name): the trigger \(trigger) is disabled."
        }
    }

    private func generations() throws -> [String] {
        let newer = try connection.integer(
            """
            SELECT count(*) FROM fieldwork_changes
            WHERE layer_id = ? AND generation > (SELECT generation FROM fieldwork_state WHERE id = 1)
            """
        ) { try $0.bind(Int64(id), at: 1) }
        return newer == 0 ? [] : ["\(name): \(newer ?? 0) changes are newer than the service."]
    }

    /// Every update and delete in the log has its superseded version, unless the log was shortened.
    private func history() throws -> [String] {
        let lost = try connection.integer(
            """
            SELECT count(*) FROM fieldwork_changes AS l WHERE l.layer_id = ? AND l.operation IN (1, 2) AND NOT EXISTS (
                SELECT 1 FROM \(quoted(layer.historyTable)) AS h WHERE h.fieldwork_object_id = l.object_id
                    AND h.fieldwork_generation = l.generation AND h.fieldwork_operation = l.operation)
            """
        ) { try $0.bind(Int64(id), at: 1) }
        return lost == 0 ? [] : ["\(name): \(lost ?? 0) changes have no superseded version in the history."]
    }
}
