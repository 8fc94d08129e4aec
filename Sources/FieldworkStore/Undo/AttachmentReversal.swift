import FieldworkREST

/// Takes back what a step did to the attachments of one layer. What somebody else has changed since stays as it is.
struct AttachmentReversal {
    let step: UndoStep
    let layer: StoredLayer
    let connection: StoreConnection

    private var table: String { quoted(layer.attachmentTable) }
    private var history: String { quoted(layer.attachmentHistoryTable) }
    private static let columns = AttachmentTables.kept.filter { $0 != "attachmentid" }

    private struct Touch {
        var id: Int64
        var existedBefore: Bool
        var existedAfter: Bool
    }

    /// - Returns: the number of attachments that were changed.
    func apply() throws -> Int {
        let touches = try touches()
        var changed = 0
        for touch in touches where !touch.existedBefore && touch.existedAfter { changed += try remove(touch) }
        for touch in touches where touch.existedBefore {
            guard let before = try version(of: touch, "fieldwork_generation BETWEEN ?2 AND ?3") else { continue }
            changed += touch.existedAfter ? try restoreValues(touch, before) : try restoreRow(before)
        }
        return changed
    }

    private func touches() throws -> [Touch] {
        var touches: [Touch] = []
        try connection.run(
            """
            SELECT attachment_id, operation FROM \(AttachmentTables.changes)
            WHERE layer_id = ? AND generation BETWEEN ? AND ? ORDER BY attachment_id, generation, operation
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(step.first, at: 2)
                try $0.bind(step.last, at: 3)
            },
            row: { row in
                let (id, operation) = (row.integer(0), FeatureChange.Operation(number: row.integer(1)) ?? .update)
                if let last = touches.indices.last, touches[last].id == id {
                    touches[last].existedAfter = operation != .delete
                } else {
                    touches.append(Touch(id: id, existedBefore: operation != .add, existedAfter: operation != .delete))
                }
            })
        let steps = UndoSteps(connection: connection)
        return try touches.filter { try !steps.isAttachmentBarred($0.id, in: layer.definition.id, since: step.last) }
    }

    /// The first version that an edit of a time ended.
    private func version(of touch: Touch, _ condition: String) throws -> Int64? {
        try connection.integer(
            """
            SELECT fieldwork_version FROM \(history) WHERE attachmentid = ?1 AND \(condition)
            ORDER BY fieldwork_version LIMIT 1
            """
        ) {
            try $0.bind(touch.id, at: 1)
            try $0.bind(step.first, at: 2)
            try $0.bind(step.last, at: 3)
        }
    }

    /// The version that the step left, when something has changed it since; nil when it stands.
    private func after(_ touch: Touch) throws -> Int64? {
        try version(of: touch, "fieldwork_generation > ?3 AND ?2 <= ?3")
    }

    private func remove(_ touch: Touch) throws -> Int {
        try connection.run(
            """
            DELETE FROM \(table) WHERE attachmentid = ?1 AND NOT EXISTS (
                SELECT 1 FROM \(history) AS h WHERE h.fieldwork_version = ?2 AND (\(Self.differs("h", table))))
            """
        ) {
            try $0.bind(touch.id, at: 1)
            if let version = try after(touch) { try $0.bind(version, at: 2) } else { try $0.bindNull(at: 2) }
        }
        return connection.changedRows
    }

    /// Puts back what the step deleted, if its feature is there.
    private func restoreRow(_ version: Int64) throws -> Int {
        let list = AttachmentTables.kept.joined(separator: ", ")
        try connection.run(
            """
            INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(history) AS h WHERE h.fieldwork_version = ?
                AND EXISTS (SELECT 1 FROM \(quoted(layer.tableName)) WHERE \(quoted(layer.objectIDColumn)) = h.base_id)
                AND NOT EXISTS (
                    SELECT 1 FROM \(table) AS t WHERE t.attachmentid = h.attachmentid OR t.globalid = h.globalid)
            """
        ) { try $0.bind(version, at: 1) }
        return connection.changedRows
    }

    /// A file is one thing: it gets its former state unless somebody has changed it since.
    private func restoreValues(_ touch: Touch, _ before: Int64) throws -> Int {
        let sets = Self.columns.map { "\($0) = b.\($0)" }.joined(separator: ", ")
        try connection.run(
            """
            UPDATE \(table) AS t SET \(sets) FROM \(history) AS b
            WHERE t.attachmentid = ?1 AND b.fieldwork_version = ?2 AND (\(Self.differs("b", "t"))) AND NOT EXISTS (
                SELECT 1 FROM \(history) AS a WHERE a.fieldwork_version = ?3 AND (\(Self.differs("a", "t"))))
            """
        ) {
            try $0.bind(touch.id, at: 1)
            try $0.bind(before, at: 2)
            if let version = try after(touch) { try $0.bind(version, at: 3) } else { try $0.bindNull(at: 3) }
        }
        return connection.changedRows
    }

    private static func differs(_ one: String, _ other: String) -> String {
        columns.map { "\(one).\($0) IS NOT \(other).\($0)" }.joined(separator: " OR ")
    }
}
