import FieldworkREST

/// Deletes features with what their relationships ask for: parts go with their whole, the keys of others that named it are
/// emptied, pairs of a many-to-many relationship end. All or nothing for each feature.
struct RelatedDeletes {
    let rules: RelationshipRules
    let connection: SQLiteConnection
    let batch: EditBatch
    /// Rows that went with another one: whoever deletes them by name in the same batch has his way already.
    private var gone: [Int: [FeatureIdentifier: EditResult]] = [:]

    init(rules: RelationshipRules, connection: SQLiteConnection, batch: EditBatch) {
        self.rules = rules
        self.connection = connection
        self.batch = batch
    }

    private struct Row {
        var layerID: Int
        var objectID: Int64
    }

    /// - Parameter writer: gives the writer of a layer.
    mutating func delete(
        _ identifier: FeatureIdentifier, from layerID: Int, writer: (Int) throws -> LayerWriter
    ) throws -> EditResult {
        if let result = gone[layerID]?[identifier] { return result }
        let own = try writer(layerID)
        // A cache takes over what its service did, related rows and all.
        guard batch.origin != .cache, rules.layer(layerID)?.isOrigin == true, let found = try own.find(identifier)
        else {
            return try own.delete(identifier)
        }
        try connection.run("SAVEPOINT fieldwork_delete")
        do {
            let deleted = try deleteWhole(Row(layerID: layerID, objectID: found.objectID), writer)
            try connection.run("RELEASE fieldwork_delete")
            for (layerID, result) in deleted.dropFirst() { remember(result, layerID) }
            return EditResult(objectID: found.objectID, globalID: found.globalID)
        } catch let error as EditError {
            try connection.run("ROLLBACK TO fieldwork_delete")
            try connection.run("RELEASE fieldwork_delete")
            return EditResult(objectID: found.objectID, globalID: found.globalID, error: error)
        }
    }

    private mutating func remember(_ result: EditResult, _ layerID: Int) {
        if let id = result.objectID { gone[layerID, default: [:]][.objectID(id)] = result }
        if let id = result.globalID { gone[layerID, default: [:]][.globalID(id)] = result }
    }

    /// Deletes a row and, one after the other, what goes with it. A list, not the call stack: parts may have parts.
    private func deleteWhole(_ root: Row, _ writer: (Int) throws -> LayerWriter) throws -> [(Int, EditResult)] {
        var waiting = [root]
        var deleted: [(Int, EditResult)] = []
        while let row = waiting.popLast() {
            let own = try writer(row.layerID)
            guard let held = try keys(of: row) else { continue }
            let result = try own.delete(.objectID(row.objectID), isPartOfWhole: !deleted.isEmpty)
            if let error = result.error { throw error }
            deleted.append((row.layerID, result))
            for key in held { waiting += try release(key, writer) }
            guard deleted.count + waiting.count <= Limits.rowsPerDelete else {
                throw EditError(
                    code: 1018, description: "More than \(Limits.rowsPerDelete) related rows would be deleted with it.")
            }
        }
        return deleted
    }

    private struct Key {
        var value: AttributeValue
        var child: StoredRelationship?
        var holder: KeyColumn
    }

    /// The keys of a row that other rows may hold; nil when the row is gone.
    private func keys(of row: Row) throws -> [Key]? {
        guard let relationships = rules.layer(row.layerID) else { return [] }
        var keys: [Key] = []
        let columns: [(own: KeyColumn, child: StoredRelationship?, holder: KeyColumn)] =
            relationships.children.map { ($0.origin, $0, $0.destination) }
            + relationships.links.map { ($0.own, nil, $0.inTable) }
        for column in columns {
            var isThere = false
            try connection.run(
                """
                SELECT \(column.own.sql), EXISTS (SELECT 1 FROM \(column.own.table) AS other
                    WHERE other.\(column.own.sql) = row.\(column.own.sql)
                        AND other.\(column.own.objectID) <> row.\(column.own.objectID))
                FROM \(column.own.table) AS row WHERE \(column.own.objectID) = ?
                """,
                bind: { try $0.bind(row.objectID, at: 1) },
                row: { statement in
                    isThere = true
                    // While another row has the same key, those that hold it still belong to something.
                    guard !statement.isNull(0), statement.integer(1) == 0 else { return }
                    keys.append(Key(value: statement.rawValue(0), child: column.child, holder: column.holder))
                })
            if !isThere { return nil }
        }
        return keys
    }

    /// Does what the relationship says to the rows that hold a key; gives those that are to be deleted.
    private func release(_ key: Key, _ writer: (Int) throws -> LayerWriter) throws -> [Row] {
        let holder = key.holder
        var rows: [Row] = []
        let isKept = key.child.map { $0.deletion != .cascade } ?? false
        try connection.run(
            """
            SELECT \(holder.objectID) FROM \(holder.table) WHERE \(holder.sql) = ?
            ORDER BY \(holder.objectID) DESC LIMIT \(isKept ? 1 : Limits.rowsPerDelete + 1)
            """,
            bind: { try $0.bind(key.value, at: 1) },
            row: { rows.append(Row(layerID: holder.layer.definition.id, objectID: $0.integer(0))) })
        guard let child = key.child, isKept, !rows.isEmpty else { return rows }
        let others = holder.layer.definition.name
        if child.deletion == .refuse {
            throw EditError(code: 1018, description: "The feature has related rows in \(others) (\(child.name)).")
        }
        guard child.canClearKey else {
            throw EditError(
                code: 1018,
                description: "The feature has related rows in \(others), whose field \(holder.name) must not be null.")
        }
        try writer(holder.layer.definition.id).clear(holder, holding: key.value)
        return []
    }
}
