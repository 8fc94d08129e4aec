import FieldworkGeometry
import FieldworkREST
import Foundation

/// A new feature as its row is to be.
struct NewRow {
    /// Of all columns, in their order; object id and geometry stand beside them.
    var values: [AttributeValue]
    var geometry: [UInt8]?
    /// nil for one that the store chooses.
    var objectID: Int64?
    /// nil in a layer without.
    var globalID: UUID?
}

extension LayerWriter {
    /// Adds features in their order. Many at a time go into a database by a bulk load, and into its log by one statement: row by row
    /// each would cost a way to the server and back, and its triggers.
    func addAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        guard edits.count >= Limits.bulkAdds, isBulkPossible else { return try edits.map(add) }
        var results: [EditResult] = []
        results.reserveCapacity(edits.count)
        var rows: [(place: Int, row: NewRow)] = []
        rows.reserveCapacity(edits.count)
        for edit in edits {
            do {
                if let rejection = edit.rejection { throw rejection }
                let row = try newRow(edit)
                results.append(EditResult(objectID: row.objectID, globalID: row.globalID))
                rows.append((results.count - 1, row))
            } catch let error as EditError {
                results.append(EditResult(objectID: edit.objectID, globalID: edit.globalID, error: error))
            }
        }
        // One that comes a second time, or back: that is for each to see by itself.
        guard try areNew(edits.compactMap(givenGlobalID)) else { return try edits.map(add) }
        try BulkAdds(layer: layer, connection: connection).add(&rows)
        for (place, row) in rows { results[place].objectID = row.objectID }
        return results
    }

    /// Not in a file, where nothing is gained; not once an edit has broken a constraint, since only one that is written by itself
    /// can be told so; and not where a row must see those before it.
    private var isBulkPossible: Bool {
        !connection.dialect.isSQLite && !connection.usesSavepoints && !layer.isPlaced && batch.origin != .cache
            && keeper.map { $0.relationships.parents.allSatisfy { !$0.isComposite && !$0.isOneToOne } } ?? true
    }

    /// Whether no feature has or had any of these global ids, and none of them comes twice.
    private func areNew(_ globalIDs: [UUID]) throws -> Bool {
        guard !globalIDs.isEmpty, let column = layer.globalIDColumn.map(quoted) else { return true }
        guard Set(globalIDs).count == globalIDs.count else { return false }
        let list = JSONValue.array(globalIDs.map { .string(GUID.normalForm($0)) }).text
        let known = try connection.integer(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM \(table) WHERE \(column) IN (\(connection.dialect.textsOfArray)))
                OR EXISTS (SELECT 1 FROM \(quoted(layer.historyTable)) WHERE fieldwork_operation = 2
                    AND \(column) IN (\(connection.dialect.textsOfArray)))
            """
        ) {
            try $0.bind(list, at: 1)
            try $0.bind(list, at: 2)
        }
        return known == nil
    }
}

/// Writes new rows of a layer by a bulk load: what its triggers do for each row is done here for all of them.
private struct BulkAdds {
    let layer: StoredLayer
    let connection: StoreConnection

    private var sequence: String { "fieldwork_ids_\(layer.definition.id)" }

    /// Adds the rows, and gives each its object id. Throws `SavepointsNeeded` when the database refuses one of them.
    func add(_ rows: inout [(place: Int, row: NewRow)]) throws {
        guard !rows.isEmpty else { return }
        let given = rows.compactMap(\.row.objectID).max()
        try giveIDs(&rows)
        try connection.execute("SELECT set_config('\(PostgresTriggers.load)', 'on', true)")
        do {
            try load(rows.map(\.row))
        } catch let error as StoreError where error.code == .failure || error.code == .invalidQuery {
            throw SavepointsNeeded()
        }
        try connection.execute("SELECT set_config('\(PostgresTriggers.load)', '', true)")
        if let given { try keepSequence(aheadOf: given) }
        try log(rows.compactMap(\.row.objectID))
    }

    private func giveIDs(_ rows: inout [(place: Int, row: NewRow)]) throws {
        let places = rows.indices.filter { rows[$0].row.objectID == nil }
        guard !places.isEmpty else { return }
        var next = places.startIndex
        try connection.run(
            "SELECT nextval('\(sequence)') FROM generate_series(1, ?::bigint)",
            bind: { try $0.bind(Int64(places.count), at: 1) },
            row: { id in
                rows[places[next]].row.objectID = id.integer(0)
                next += 1
            })
    }

    private func load(_ rows: [NewRow]) throws {
        let stored = layer.columns.indices.filter { layer.columns[$0].isStored }
        let names = stored.map { layer.columns[$0].name } + (layer.geometryColumn.map { [$0] } ?? [])
        let load = try connection.load(into: layer.tableName, columns: names)
        var values: [AttributeValue] = []
        for row in rows {
            values.removeAll(keepingCapacity: true)
            for index in stored {
                values.append(
                    index == layer.objectIDIndex ? row.objectID.map(AttributeValue.integer) ?? .null : row.values[index]
                )
            }
            if layer.geometryColumn != nil { values.append(row.geometry.map { .data(Data($0)) } ?? .null) }
            try load.add(values)
        }
        _ = try load.finish()
    }

    /// Ids that were brought along did not come from it.
    private func keepSequence(aheadOf id: Int64) throws {
        try connection.run(
            """
            SELECT setval('\(sequence)', ?1::bigint) FROM \(sequence)
            WHERE last_value < ?1::bigint OR last_value = ?1::bigint AND NOT is_called
            """
        ) { try $0.bind(id, at: 1) }
    }

    private func log(_ ids: [Int64]) throws {
        try connection.run(
            """
            INSERT INTO fieldwork_changes (layer_id, object_id, generation, operation)
            SELECT ?::bigint, added.value, s.generation, 0
            FROM (\(connection.dialect.integersOfArray)) AS added (value), fieldwork_state AS s
            WHERE s.id = 1 AND s.muted = 0 ON CONFLICT DO NOTHING
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(JSONValue.array(ids.map { .integer($0) }).text, at: 2)
        }
    }
}
