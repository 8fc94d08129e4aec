import FieldworkREST

extension LayerWriter {
    /// - Parameter isPartOfWhole: the row goes with one that it belongs to.
    func delete(_ identifier: FeatureIdentifier, isPartOfWhole: Bool = false) throws -> EditResult {
        guard let found = try isPartOfWhole ? findAny(identifier) : find(identifier) else {
            return missing(identifier)
        }
        var run: AttributeRuleRun?
        // Parts belong to whom their whole belongs.
        if !isPartOfWhole {
            do {
                try checkOwner(.delete, of: found)
                run = try deleteRun(of: found)
            } catch let error as EditError {
                return EditResult(objectID: found.objectID, globalID: found.globalID, error: error)
            }
        }
        do {
            return try carrying(run?.edits ?? []) { try remove(found) }
        } catch let error as EditError {
            return EditResult(objectID: found.objectID, globalID: found.globalID, error: error)
        }
    }

    /// The result for a feature that is not there.
    func missing(_ identifier: FeatureIdentifier) -> EditResult {
        var result = EditResult(objectID: nil, globalID: nil)
        switch identifier {
        case .objectID(let id): result.objectID = id
        case .globalID(let id): result.globalID = id
        }
        // A cache that lacks what its service has deleted is up to date.
        if batch.origin != .cache {
            result.error = EditError(code: 1018, description: "There is no feature with this id.")
        }
        return result
    }

    private func remove(_ found: Found) throws -> EditResult {
        let statement = try connection.cached("DELETE FROM \(table) WHERE \(key) = ?")
        defer { statement.finish() }
        try statement.bind(found.objectID, at: 1)
        var result = EditResult(objectID: found.objectID, globalID: found.globalID)
        switch try statement.execute() {
        case .done: break
        case .notUnique(let message), .refused(let message): result.error = EditError(code: 1018, description: message)
        }
        return result
    }

    /// The layer's rules, after they were asked; nil where none of them concerns deletes. Throws `EditError` where one keeps the
    /// feature.
    private func deleteRun(of found: Found) throws -> AttributeRuleRun? {
        guard let ruled, ruled.concerns(.delete) else { return nil }
        let blob = try storedGeometry(of: found.objectID)
        let run = try ruled.run(.delete, geometry: blob, original: (found.values, blob))
        var row = layer.columns.indices.map { found.values[$0] ?? .null }
        _ = try run?.calculate(&row)
        try run?.check(row)
        return run
    }

    /// Empties a column of the rows that hold a value there, since what it named is deleted.
    func clear(_ column: KeyColumn, holding value: AttributeValue) throws {
        let tracked = rules.tracked(in: batch)
        let sets = ["\(column.sql) = NULL"] + tracked.map { "\(quoted(layer.columns[$0.column].name)) = ?" }
        let statement = try connection.cached(
            "UPDATE \(table) SET \(sets.joined(separator: ", ")) WHERE \(column.sql) = ?")
        defer { statement.finish() }
        for (offset, assignment) in tracked.enumerated() { try statement.bind(assignment.value, at: offset + 1) }
        try statement.bind(value, at: tracked.count + 1)
        switch try statement.execute() {
        case .done: break
        case .notUnique(let message), .refused(let message): throw EditError(code: 1018, description: message)
        }
    }

    /// Gives the rows whose key was emptied in a generation their key again, since what it named is back. One that was changed since stays
    /// as it is, and so do all where the table does not take the key again.
    /// - Parameter rows: SQL for the object ids that the generation changed.
    func fill(
        _ column: KeyColumn, with value: AttributeValue, clearedIn generation: Int64, among rows: String
    ) throws {
        let tracked = rules.tracked(in: batch)
        let sets = ["\(column.sql) = ?"] + tracked.map { "\(quoted(layer.columns[$0.column].name)) = ?" }
        let history = quoted(layer.historyTable)
        let statement = try connection.cached(
            """
            UPDATE \(table) SET \(sets.joined(separator: ", ")) WHERE \(key) IN (\(rows)) AND \(column.sql) IS NULL AND EXISTS (
                SELECT 1 FROM \(history) AS h WHERE h.fieldwork_object_id = \(table).\(key) AND h.\(column.sql) = ?
                    AND h.fieldwork_operation = 1 AND h.fieldwork_generation = ?)
            AND NOT EXISTS (
                SELECT 1 FROM \(history) AS l WHERE l.fieldwork_object_id = \(table).\(key) AND l.fieldwork_generation > ?)
            """)
        defer { statement.finish() }
        try statement.bind(value, at: 1)
        for (offset, assignment) in tracked.enumerated() { try statement.bind(assignment.value, at: offset + 2) }
        let next = tracked.count + 2
        try statement.bind(value, at: next)
        try statement.bind(generation, at: next + 1)
        try statement.bind(generation, at: next + 2)
        _ = try statement.execute()
    }
}
