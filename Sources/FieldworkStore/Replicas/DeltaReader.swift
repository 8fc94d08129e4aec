import FieldworkGeometry
import FieldworkREST
import Foundation

/// Finds what changed in the rows that a client keeps. The cost is that of the changes, not of the layer.
struct DeltaReader {
    let layer: StoredLayer
    let connection: StoreConnection
    /// The replica whose client asks.
    var replicaID: UUID?

    /// A feature that changed, with what happened to it first and last.
    struct Entry {
        var objectID: Int64
        var first: FeatureChange.Operation
        var last: FeatureChange.Operation
        var changesGeometry: Bool
        /// Whether the client itself handed in a part of it: it has the feature, whether it belongs to its rows or not.
        var isOwn: Bool
    }

    /// - Parameters:
    ///   - generation: the state that the client has.
    ///   - rows: the rows that it keeps.
    func delta(after generation: Int64, rows: FeatureQuery) throws -> LayerDelta {
        let entries = try entries(after: generation)
        guard !entries.isEmpty else { return LayerDelta() }
        let present = try present(entries, rows)
        let past = try past(entries, rows, present, generation)
        var delta = LayerDelta()
        for entry in entries {
            let id = entry.objectID
            switch (past.contains(id), present.contains(id)) {
            case (false, true): delta.adds.append(id)
            case (true, true):
                delta.updates.append(id)
                if entry.changesGeometry { delta.hasGeometryUpdates = true }
            case (true, false): delta.deletes.append(DeletedFeature(objectID: id, globalID: past.globalIDs[id]))
            case (false, false): if entry.isOwn { delta.deletes.append(try stray(id, after: generation)) }
            }
        }
        try joinMoved(&delta)
        return delta
    }

    /// A feature that is there again under another object id was changed: its global id says that it is the same. A client
    /// that was told of a delete and of an add would end without it.
    private func joinMoved(_ delta: inout LayerDelta) throws {
        guard !delta.adds.isEmpty, !delta.deletes.isEmpty, let column = layer.globalIDColumn.map(quoted) else { return }
        let added = Set(delta.adds)
        var moved: [UUID: Int64] = [:]
        let gone = delta.deletes.compactMap(\.globalID).map { JSONValue.string(GUID.normalForm($0)) }
        try connection.run(
            """
            SELECT \(quoted(layer.objectIDColumn)), \(column) FROM \(quoted(layer.tableName))
            WHERE \(column) IN (\(connection.dialect.textsOfArray))
            """,
            bind: { try $0.bind(JSONValue.array(gone).text, at: 1) },
            row: { row in
                guard let id = row.optionalText(1).flatMap(GUID.parse), added.contains(row.integer(0)) else { return }
                moved[id] = row.integer(0)
            })
        if moved.isEmpty { return }
        let kept = Set(moved.values)
        delta.deletes.removeAll { $0.globalID.map { moved[$0] != nil } ?? false }
        delta.adds.removeAll(where: kept.contains)
        delta.updates += kept.sorted()
        delta.hasGeometryUpdates = delta.hasGeometryUpdates || layer.geometryColumn != nil
    }

    /// The `+` keeps SQLite from walking the whole log in the order that is wanted: it is to sort a few. All columns are in the
    /// index: the rows themselves lie by feature, each in a page of its own.
    static let entriesSQL = """
        SELECT c.object_id, c.operation, c.changed_1, o.replica_id IS NOT NULL
        FROM fieldwork_changes AS c
        LEFT JOIN fieldwork_generation_origins AS o ON o.generation = c.generation AND o.replica_id = ?3
        WHERE c.layer_id = ?1 AND c.generation > ?2 ORDER BY +c.object_id, c.generation, c.operation
        """

    /// A feature that the client handed in and is not to keep.
    func stray(_ id: Int64, after generation: Int64) throws -> DeletedFeature {
        let version = try VersionReader(layer: layer, connection: connection).version(of: id, at: generation)
        return DeletedFeature(objectID: id, globalID: version?.globalID(in: layer))
    }

    func entries(after generation: Int64) throws -> [Entry] {
        var entries: [Entry] = []
        let geometryBit: Int64 = 1 << Int64(ChangeTriggers.geometryBit)
        try connection.run(
            Self.entriesSQL,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(generation, at: 2)
                try $0.bind(replicaID?.uuidString ?? "", at: 3)
            },
            row: { row in
                let id = row.integer(0)
                let operation = FeatureChange.Operation(number: row.integer(1)) ?? .update
                let changesGeometry = row.integer(2) & geometryBit != 0
                let isOwn = row.integer(3) != 0
                if entries.last?.objectID == id {
                    entries[entries.count - 1].last = operation
                    if changesGeometry { entries[entries.count - 1].changesGeometry = true }
                    if isOwn { entries[entries.count - 1].isOwn = true }
                } else {
                    entries.append(
                        Entry(
                            objectID: id, first: operation, last: operation, changesGeometry: changesGeometry,
                            isOwn: isOwn))
                }
            })
        return entries
    }

    /// The changed features that are there now and belong to the client's rows.
    private func present(_ entries: [Entry], _ rows: FeatureQuery) throws -> Set<Int64> {
        let alive = entries.filter { $0.last != .delete }.map(\.objectID)
        guard !rows.asksForAll else { return Set(alive) }
        var present: Set<Int64> = []
        for chunk in alive.chunks(of: Limits.idsPerStatement) {
            for found in try identifiers(rows.restricted(to: chunk), of: layer) { present.insert(found.objectID) }
        }
        return present
    }

    private struct Past {
        var ids: Set<Int64> = []
        /// Of those that are no longer there.
        var globalIDs: [Int64: UUID] = [:]

        func contains(_ id: Int64) -> Bool { ids.contains(id) }
    }

    /// The changed features that were there at the generation and belonged to the client's rows.
    private func past(
        _ entries: [Entry], _ rows: FeatureQuery, _ present: Set<Int64>, _ generation: Int64
    ) throws -> Past {
        let known = entries.filter { $0.first != .add }.map(\.objectID)
        var past = Past()
        // Without a filter a feature that was there belonged; only the ids of those that are gone are still wanted.
        let wanted = rows.asksForAll ? known.filter { !present.contains($0) } : known
        if rows.asksForAll { past.ids = Set(known) }
        for chunk in wanted.chunks(of: Limits.idsPerStatement) {
            for found in try versions(rows.restricted(to: chunk), after: generation, ids: chunk) {
                past.ids.insert(found.objectID)
                past.globalIDs[found.objectID] = found.globalID
            }
        }
        return past
    }

    /// The features whose version at a generation meets a query: the query runs over the history as if it were the layer.
    private func versions(
        _ query: FeatureQuery, after generation: Int64, ids: [Int64]
    ) throws -> [DeletedFeature] {
        var pastLayer = layer
        pastLayer.tableName = "fieldwork_past"
        let names =
            layer.columnsBesideKey.map(\.name)
            + (layer.geometryColumn.map { [$0] } ?? [])
        let list = names.map { ", h.\(quoted($0))" }.joined()
        let history = quoted(layer.historyTable)
        let prefix = """
            WITH fieldwork_past AS (
                SELECT h.fieldwork_object_id AS \(quoted(layer.objectIDColumn))\(list) FROM \(history) AS h
                WHERE h.fieldwork_version IN (
                    SELECT min(fieldwork_version) FROM \(history)
                    WHERE fieldwork_object_id IN (\(connection.dialect.integersOfArray)) AND fieldwork_generation > ?
                    GROUP BY fieldwork_object_id))
            """
        let idList = JSONValue.array(ids.map { .integer($0) }).text
        return try identifiers(
            query, of: pastLayer, prefix: prefix, arguments: [.value(.text(idList)), .value(.integer(generation))])
    }

    private func identifiers(
        _ query: FeatureQuery, of layer: StoredLayer, prefix: String = "", arguments: [QueryPlan.Argument] = []
    ) throws -> [DeletedFeature] {
        var plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .identifiers(query)
        plan.sql = prefix + plan.sql
        plan.arguments = arguments + plan.arguments
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var found: [DeletedFeature] = []
        while try statement.step() {
            found.append(
                DeletedFeature(
                    objectID: statement.integer(0), globalID: statement.optionalText(1).flatMap(GUID.parse)))
        }
        return found
    }
}

extension FeatureQuery {
    /// The same conditions, on some features only.
    func restricted(to ids: [Int64]) -> FeatureQuery {
        var query = self
        query.objectIDs = ids
        return query
    }
}

extension Array {
    /// Slices of at most `size` elements, in order.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
