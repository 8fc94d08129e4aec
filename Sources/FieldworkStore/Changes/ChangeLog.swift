import FieldworkREST
import Foundation

/// Reads what the triggers of `ChangeTriggers` wrote.
struct ChangeLog {
    let layer: StoredLayer
    let connection: StoreConnection

    static func generation(on connection: StoreConnection) throws -> Int64 {
        try connection.integer("SELECT generation FROM fieldwork_state WHERE id = 1") ?? 0
    }

    // MARK: Changes

    /// One entry a feature and generation, oldest first. A feature that was added and changed in one generation was
    /// added; one that was added and deleted in it was never there.
    func changes(after generation: Int64, limit: Int) throws -> [FeatureChange] {
        var entries: [FeatureChange] = []
        var pending: Pending?
        func flush() throws {
            if let entry = try pending.flatMap(change) { entries.append(entry) }
            pending = nil
        }
        let statement = try connection.cached(
            """
            SELECT generation, object_id, operation, changed_1, changed_2, changed_3, changed_4
            FROM fieldwork_changes WHERE layer_id = ? AND generation > ?
            ORDER BY generation, object_id, operation
            """)
        defer { statement.finish() }
        try statement.bind(Int64(layer.definition.id), at: 1)
        try statement.bind(generation, at: 2)
        while try statement.step() {
            let row = Pending(statement)
            if pending?.isSameEntry(as: row) == true {
                pending?.merge(row)
            } else {
                try flush()
                if entries.count >= limit { return entries }
                pending = row
            }
        }
        if entries.count < limit { try flush() }
        return entries
    }

    private struct Pending {
        var generation: Int64
        var objectID: Int64
        var operations: Set<Int64>
        var masks: [Int64]

        init(_ row: StoreStatement) {
            generation = row.integer(0)
            objectID = row.integer(1)
            operations = [row.integer(2)]
            masks = (3..<3 + ChangeTriggers.maskCount).map { row.isNull($0) ? 0 : row.integer($0) }
        }

        func isSameEntry(as other: Pending) -> Bool { generation == other.generation && objectID == other.objectID }

        mutating func merge(_ other: Pending) {
            operations.formUnion(other.operations)
            for index in masks.indices { masks[index] |= other.masks[index] }
        }

        var operation: FeatureChange.Operation? {
            let added = operations.contains(FeatureChange.Operation.add.number)
            if operations.contains(FeatureChange.Operation.delete.number) { return added ? nil : .delete }
            return added ? .add : .update
        }
    }

    private func change(_ entry: Pending) throws -> FeatureChange? {
        guard let operation = entry.operation else { return nil }
        return FeatureChange(
            generation: entry.generation, operation: operation, objectID: entry.objectID,
            globalID: try globalID(of: entry.objectID), changedFields: operation == .update ? fields(entry.masks) : [])
    }

    private func fields(_ masks: [Int64]) -> [String] {
        var names = layer.columns.indices.filter { index in
            let slot = layer.slots[index]
            return masks[slot / ChangeTriggers.bitsPerMask] & (1 << Int64(slot % ChangeTriggers.bitsPerMask)) != 0
        }.map { layer.columns[$0].name }
        if masks[0] & (1 << Int64(ChangeTriggers.geometryBit)) != 0 { names.append(FeatureChange.geometryName) }
        return names
    }

    /// The id of a feature that is there, or was last.
    private func globalID(of objectID: Int64) throws -> UUID? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        let current = try connection.text(
            "SELECT \(column) FROM \(quoted(layer.tableName)) WHERE \(quoted(layer.objectIDColumn)) = ?"
        ) { try $0.bind(objectID, at: 1) }
        if let current { return GUID.parse(current) }
        return try connection.text(
            """
            SELECT \(column) FROM \(quoted(layer.historyTable)) WHERE fieldwork_object_id = ?
            ORDER BY fieldwork_version DESC LIMIT 1
            """
        ) { try $0.bind(objectID, at: 1) }.flatMap(GUID.parse)
    }

    // MARK: History

    /// Milliseconds since 1970 of the first moment whose state the log can tell; -1 before the first edit.
    func start() throws -> Int64 {
        let floor = try LogCompaction.floor(of: layer.definition.id, on: connection)
        let moment = try connection.text(
            "SELECT moment FROM fieldwork_generations WHERE generation >= ? ORDER BY generation LIMIT 1"
        ) { try $0.bind(floor, at: 1) }
        return moment.flatMap(DateText.milliseconds) ?? -1
    }

    /// The superseded versions of a feature, newest first.
    func history(of feature: FeatureIdentifier) throws -> [FeatureVersion] {
        guard let objectID = try objectID(of: feature) else { return [] }
        let stored = layer.columns.filter { $0.isStored && $0.kind != .objectID }
        let names =
            stored.map { ", h.\(quoted($0.name))" }.joined() + (layer.geometryColumn.map { ", h.\(quoted($0))" } ?? "")
        let fields = AttributeValues.Names([layer.objectIDColumn] + stored.map(\.name))
        var versions: [FeatureVersion] = []
        let added = try connection.integer(
            """
            SELECT min(generation) FROM fieldwork_changes WHERE layer_id = ? AND object_id = ? AND operation = 0
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(objectID, at: 2)
        }
        var from = added ?? 0
        try connection.run(
            """
            SELECT h.fieldwork_generation, h.fieldwork_operation, g.moment, g.editor, o.replica_id\(names)
            FROM \(quoted(layer.historyTable)) AS h
            LEFT JOIN fieldwork_generations AS g ON g.generation = h.fieldwork_generation
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = h.fieldwork_generation
            WHERE h.fieldwork_object_id = ? ORDER BY h.fieldwork_version
            """,
            bind: { try $0.bind(objectID, at: 1) },
            row: { row in
                let to = row.integer(0)
                versions.append(
                    FeatureVersion(
                        record: try record(row, objectID, stored, fields), fromGeneration: from, toGeneration: to,
                        endedBy: FeatureChange.Operation(number: row.integer(1)) ?? .update,
                        endedAt: Self.date(row.optionalText(2)), editor: row.optionalText(3),
                        replicaID: row.optionalText(4).flatMap(UUID.init(uuidString:))))
                from = to
            })
        return versions.reversed()
    }

    private static func date(_ text: String?) -> Date {
        Date(timeIntervalSince1970: Double(text.flatMap(DateText.milliseconds) ?? 0) / 1_000)
    }

    private func record(
        _ row: StoreStatement, _ objectID: Int64, _ stored: [StoredColumn], _ fields: AttributeValues.Names
    ) throws -> FeatureRecord {
        let values = stored.enumerated().map { offset, column in column.value(row, 5 + offset) }
        var record = FeatureRecord(
            objectID: objectID, globalID: nil,
            attributes: AttributeValues(names: fields, values: [.integer(objectID)] + values), geometry: nil)
        record.globalID = layer.globalIDColumn.flatMap { record.attributes[$0]?.textValue }.flatMap(GUID.parse)
        if layer.geometryColumn != nil { record.geometry = try RecordReader.geometry(row, 5 + stored.count, layer) }
        return record
    }

    private func objectID(of feature: FeatureIdentifier) throws -> Int64? {
        switch feature {
        case .objectID(let id): return id
        case .globalID(let id):
            guard let column = layer.globalIDColumn.map(quoted) else { return nil }
            let text = GUID.normalForm(id)
            let current = try connection.integer(
                "SELECT \(quoted(layer.objectIDColumn)) FROM \(quoted(layer.tableName)) WHERE \(column) = ?"
            ) { try $0.bind(text, at: 1) }
            if let current { return current }
            return try connection.integer(
                """
                SELECT fieldwork_object_id FROM \(quoted(layer.historyTable)) WHERE \(column) = ?
                ORDER BY fieldwork_version DESC LIMIT 1
                """
            ) { try $0.bind(text, at: 1) }
        }
    }
}
