import FieldworkREST

/// Takes one step back: each feature that it touched gets the values that it had before, from the history. What somebody
/// else (another program in the file, the service) has changed since stays as it is.
struct StepReversal {
    let step: UndoStep
    let catalogue: ServiceCatalogue
    let connection: StoreConnection

    /// Within a generation that its caller has opened.
    /// - Returns: the number of features that were changed.
    func apply() throws -> Int {
        var changed = 0
        for layer in catalogue.orderedLayers {
            let reversal = LayerReversal(step: step, layer: layer, connection: connection)
            let touches = try reversal.touches()
            // What goes makes room for what comes back under the same unique values.
            for touch in touches where !touch.existedBefore { changed += try reversal.remove(touch) }
            for touch in touches where touch.existedBefore { changed += try reversal.bringBack(touch) }
        }
        // Their features are there again.
        for layer in catalogue.orderedLayers where layer.definition.hasAttachments {
            changed += try AttachmentReversal(step: step, layer: layer, connection: connection).apply()
        }
        return changed
    }
}

/// The part of a step in one layer.
private struct LayerReversal {
    let step: UndoStep
    let layer: StoredLayer
    let connection: StoreConnection

    private var table: String { quoted(layer.tableName) }
    private var history: String { quoted(layer.historyTable) }
    private var key: String { quoted(layer.objectIDColumn) }
    private var columns: [String] { ChangeTriggers(layer: layer).historyColumns.map(quoted) }

    /// A feature that the step touched.
    struct Touch {
        var objectID: Int64
        var existedBefore: Bool
        var existedAfter: Bool
    }

    /// The features that the step touched and that are still the user's own.
    func touches() throws -> [Touch] {
        var touches: [Touch] = []
        try connection.run(
            """
            SELECT object_id, operation FROM fieldwork_changes
            WHERE layer_id = ? AND generation BETWEEN ? AND ? ORDER BY object_id, generation, operation
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(step.first, at: 2)
                try $0.bind(step.last, at: 3)
            },
            row: { row in
                let operation = FeatureChange.Operation(number: row.integer(1)) ?? .update
                let id = row.integer(0)
                if let last = touches.indices.last, touches[last].objectID == id {
                    touches[last].existedAfter = operation != .delete
                } else {
                    touches.append(
                        Touch(objectID: id, existedBefore: operation != .add, existedAfter: operation != .delete))
                }
            })
        let steps = UndoSteps(connection: connection)
        return try touches.filter { touch in
            try !steps.isBarred(touch.objectID, in: layer.definition.id, since: step.last)
        }
    }

    /// The version of the history that the step's first change of a feature ended.
    private func before(_ touch: Touch) throws -> Int64? {
        try version(of: touch, "fieldwork_generation BETWEEN ?2 AND ?3")
    }

    /// The version that the step left, when something has changed it since; nil when it stands.
    private func after(_ touch: Touch) throws -> Int64? {
        try version(of: touch, "fieldwork_generation > ?3 AND ?2 <= ?3")
    }

    private func version(of touch: Touch, _ condition: String) throws -> Int64? {
        try connection.integer(
            """
            SELECT fieldwork_version FROM \(history) WHERE fieldwork_object_id = ?1 AND \(condition)
            ORDER BY fieldwork_version LIMIT 1
            """
        ) {
            try $0.bind(touch.objectID, at: 1)
            try $0.bind(step.first, at: 2)
            try $0.bind(step.last, at: 3)
        }
    }

    /// Deletes what the step added, unless somebody has changed it since.
    func remove(_ touch: Touch) throws -> Int {
        guard touch.existedAfter else { return 0 }
        let differences = columns.map { "h.\($0) IS NOT \(table).\($0)" }.joined(separator: " OR ")
        try connection.run(
            """
            DELETE FROM \(table) WHERE \(key) = ?1 AND NOT EXISTS (
                SELECT 1 FROM \(history) AS h
                WHERE h.fieldwork_version = ?2 AND (\(differences.isEmpty ? "0" : differences)))
            """
        ) {
            try $0.bind(touch.objectID, at: 1)
            if let version = try after(touch) { try $0.bind(version, at: 2) } else { try $0.bindNull(at: 2) }
        }
        return connection.changedRows
    }

    func bringBack(_ touch: Touch) throws -> Int {
        guard let before = try before(touch) else { return 0 }
        return touch.existedAfter ? try restoreValues(touch, before) : try restoreRow(touch, before)
    }

    /// Puts what the step deleted back in its place, unless something else has come there.
    private func restoreRow(_ touch: Touch, _ before: Int64) throws -> Int {
        let list = ([key] + columns).joined(separator: ", ")
        let values = (["h.fieldwork_object_id"] + columns.map { "h.\($0)" }).joined(separator: ", ")
        var taken = "t.\(key) = h.fieldwork_object_id"
        if let globalID = layer.globalIDColumn.map(quoted) { taken += " OR t.\(globalID) = h.\(globalID)" }
        try connection.run(
            """
            INSERT INTO \(table) (\(list)) SELECT \(values) FROM \(history) AS h
            WHERE h.fieldwork_version = ? AND NOT EXISTS (SELECT 1 FROM \(table) AS t WHERE \(taken))
            """
        ) { try $0.bind(before, at: 1) }
        return connection.changedRows
    }

    /// Gives the fields that the step changed their former values, but for those that somebody has changed since.
    private func restoreValues(_ touch: Touch, _ before: Int64) throws -> Int {
        let after = try after(touch)
        let sets = columns.map { column in
            after == nil
                ? "\(column) = b.\(column)"
                : "\(column) = CASE WHEN t.\(column) IS a.\(column) THEN b.\(column) ELSE t.\(column) END"
        }
        let differs = columns.map { column in
            after == nil
                ? "t.\(column) IS NOT b.\(column)"
                : "(t.\(column) IS a.\(column) AND t.\(column) IS NOT b.\(column))"
        }
        guard !sets.isEmpty else { return 0 }
        let later = after == nil ? "" : ", \(history) AS a"
        try connection.run(
            """
            UPDATE \(table) AS t SET \(sets.joined(separator: ", ")) FROM \(history) AS b\(later)
            WHERE t.\(key) = ?1 AND b.fieldwork_version = ?2\(after == nil ? "" : " AND a.fieldwork_version = ?3")
                AND (\(differs.joined(separator: " OR ")))
            """
        ) {
            try $0.bind(touch.objectID, at: 1)
            try $0.bind(before, at: 2)
            if let after { try $0.bind(after, at: 3) }
        }
        return connection.changedRows
    }
}
