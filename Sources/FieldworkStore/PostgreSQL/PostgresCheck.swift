import FieldworkREST

/// Looks whether a layer in PostgreSQL is what it must be: its count, its triggers, its change log and history.
struct PostgresCheck {
    let layer: StoredLayer
    let connection: StoreConnection

    private var name: String { layer.definition.name }
    private var id: Int { layer.definition.id }

    func run() throws -> [String] { try count() + triggers() + partitions() + generations() + history() }

    private func count() throws -> [String] {
        let found = try connection.integer("SELECT count(*) FROM \(quoted(layer.tableName))") ?? 0
        let kept = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = ?") {
            try $0.bind(Int64(id), at: 1)
        }
        return kept == found ? [] : ["\(name): \(kept ?? 0) rows are counted, \(found) are there."]
    }

    /// Without its triggers, what other programs edit is not synchronised.
    private func triggers() throws -> [String] {
        var wanted = layer.isPlaced ? ["fieldwork_\(id)_write"] : ["fieldwork_\(id)_fill"]
        wanted.append("fieldwork_\(id)_log")
        if layer.definition.hasAttachments {
            wanted += ["fieldwork_attachments_\(id)_fill", "fieldwork_attachments_\(id)_log"]
            wanted.append("fieldwork_\(id)_attachments_follow")
        }
        if try PostgresPartitioning.parts(of: layer, on: connection) > 1 {
            let own = PostgresPartitioning.triggerNames(id)
            wanted += layer.globalIDColumn == nil ? Array(own.dropFirst()) : own
        }
        return try wanted.compactMap { trigger in
            // The function lies here, wherever the table does.
            let state = try connection.text(
                """
                SELECT t.tgenabled::text FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS f ON f.oid = t.tgfoid
                WHERE t.tgname = ? AND t.tgparentid = 0 AND f.pronamespace = current_schema()::regnamespace
                """
            ) { try $0.bind(trigger, at: 1) }
            guard let state else { return "\(name): the trigger \(trigger) is missing." }
            return ["O", "A"].contains(state) ? nil : "\(name): the trigger \(trigger) is disabled."
        }
    }

    /// What says that a global id is there once says so of each.
    private func partitions() throws -> [String] {
        guard let globalID = layer.globalIDColumn.map({ quoted($0) }),
            try PostgresPartitioning.parts(of: layer, on: connection) > 1
        else { return [] }
        let (table, ids) = (quoted(layer.tableName), quoted(PostgresPartitioning.globalIDTable(id)))
        let wrong = try connection.integer(
            """
            SELECT count(*) FROM \(table) AS t FULL JOIN \(ids) AS i ON i.global_id = t.\(globalID)
            WHERE i.global_id IS NULL AND t.\(globalID) IS NOT NULL OR t.\(globalID) IS NULL AND i.global_id IS NOT NULL
            """)
        return wrong == 0 ? [] : ["\(name): \(wrong ?? 0) global ids are not those of the partitions."]
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
