import FieldworkArcade
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
    /// What the layer's rules ask for besides.
    var ruleEdits: [RuleEdit] = []
}

extension LayerWriter {
    /// Updates a feature for a rule, unless it has all of these values already: an edit that changes nothing runs no rules, so that
    /// rules which agree with each other come to an end.
    func updateWhatDiffers(_ edit: FeatureEdit) throws -> EditResult {
        guard ruled?.concerns(.update) == true, edit.geometry.isUnchanged,
            let id = edit.globalID.map(FeatureIdentifier.globalID) ?? edit.objectID.map(FeatureIdentifier.objectID),
            let current = try find(id)
        else { return try update(edit) }
        let isSame = edit.attributes.allSatisfy { attribute in
            guard let index = layer.index(of: attribute.name), let value = current.values[index] else { return false }
            let column = layer.columns[index]
            return ArcadeValue(value, of: column) == ArcadeValue(attribute.value, of: column)
        }
        return isSame ? EditResult(objectID: current.objectID, globalID: current.globalID) : try update(edit)
    }

    /// Adds features in their order. Many at a time go into a database by a bulk load, and into its log by one statement: row by row
    /// each would cost a way to the server and back, and its triggers.
    func addAll(_ edits: [FeatureEdit]) throws -> [EditResult] {
        if try isBeingLoaded { return try loadAll(edits) }
        guard edits.count >= Limits.bulkAdds, isBulkPossible, try !changesNewRows else { return try edits.map(add) }
        // One that comes a second time, or back: that is for each to see by itself.
        guard try areNew(edits.compactMap(givenGlobalID)) else { return try edits.map(add) }
        let bulk = try BulkAdds(
            layer: layer, connection: connection,
            most: edits.count { $0.rejection == nil && (!takesObjectIDs || givenObjectID($0) == nil) })
        let results = try edits.map { edit in
            do {
                if let rejection = edit.rejection { throw rejection }
                let row = try newRow(edit)
                // Nothing else can be written while the load goes on.
                guard row.ruleEdits.isEmpty else { throw SavepointsNeeded() }
                return EditResult(objectID: try bulk.add(row), globalID: row.globalID)
            } catch let error as EditError {
                return EditResult(objectID: edit.objectID, globalID: edit.globalID, error: error)
            }
        }
        try bulk.finish()
        if let reach { for result in results where result.isSuccess { result.objectID.map(reach.include) } }
        return results
    }

    /// Not in a file, where nothing is gained; and not once an edit has broken a constraint, since only one that is written by itself
    /// can be told so.
    var takesManyAtOnce: Bool { !connection.dialect.isSQLite && !connection.usesSavepoints && !layer.isPlaced }

    /// Not where a row must see those before it.
    private var isBulkPossible: Bool {
        takesManyAtOnce && batch.origin != .cache && ruled?.readsData != true
            && keeper.map { $0.relationships.parents.allSatisfy { !$0.isComposite && !$0.isOneToOne } } ?? true
    }

    /// Whether somebody else has a trigger that comes before new rows: it may make other ones of them.
    private var changesNewRows: Bool {
        get throws {
            // Of rows (1), before (2), INSERT (4).
            try connection.integer(
                """
                SELECT 1 FROM pg_catalog.pg_trigger WHERE tgrelid = to_regclass(?) AND tgtype & 7 = 7 AND tgname <> ? LIMIT 1
                """
            ) {
                try $0.bind(table, at: 1)
                try $0.bind("fieldwork_\(layer.definition.id)_fill", at: 2)
            } != nil
        }
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

/// Writes new rows of a layer by a bulk load: what its triggers do for each row is done here for all of them. The database takes the
/// first rows in while the next ones are made.
private final class BulkAdds {
    private let layer: StoredLayer
    private let connection: StoreConnection
    private let stored: [Int]
    private let load: any DatabaseLoad
    /// Ids of the layer's sequence that no row has yet, the next one last.
    private var freeIDs: [Int64]
    private var ids: [Int64] = []
    /// The highest of the ids that were brought along: they did not come from the sequence.
    private var highestGiven: Int64?
    private var values: [AttributeValue] = []

    private var sequence: String { "fieldwork_ids_\(layer.definition.id)" }

    /// From here on until `finish`, nothing else runs on the connection.
    /// - Parameter most: how many rows come at most without an object id.
    init(layer: StoredLayer, connection: StoreConnection, most: Int) throws {
        self.layer = layer
        self.connection = connection
        stored = layer.columns.indices.filter { layer.columns[$0].isStored }
        var free: [Int64] = []
        try connection.run(
            "SELECT nextval('fieldwork_ids_\(layer.definition.id)') FROM generate_series(1, ?::bigint)",
            bind: { try $0.bind(Int64(most), at: 1) }, row: { free.append($0.integer(0)) })
        freeIDs = free.reversed()
        try connection.execute("SELECT set_config('\(PostgresTriggers.load)', 'on', true)")
        let names = stored.map { layer.columns[$0].name } + (layer.geometryColumn.map { [$0] } ?? [])
        load = try Self.telling { try connection.load(into: layer.tableName, columns: names) }
    }

    /// What is refused in a load says nothing of which row it was.
    private static func telling<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError where error.code == .failure || error.code == .invalidQuery {
            throw SavepointsNeeded()
        }
    }

    /// Adds a row. Throws `SavepointsNeeded` when the database refuses one of those so far.
    /// - Returns: its object id.
    func add(_ row: NewRow) throws -> Int64 {
        if let given = row.objectID { highestGiven = max(given, highestGiven ?? given) }
        guard let id = row.objectID ?? freeIDs.popLast() else {
            throw StoreError(.failure, "More rows came than were announced.")
        }
        values.removeAll(keepingCapacity: true)
        for index in stored { values.append(index == layer.objectIDIndex ? .integer(id) : row.values[index]) }
        if layer.geometryColumn != nil { values.append(row.geometry.map { .data(Data($0)) } ?? .null) }
        try Self.telling { try load.add(values) }
        ids.append(id)
        return id
    }

    /// Writes down what was added. Throws `SavepointsNeeded` when the database refuses one of the rows.
    func finish() throws {
        _ = try Self.telling { try load.finish() }
        try connection.execute("SELECT set_config('\(PostgresTriggers.load)', '', true)")
        if let highestGiven { try keepSequence(aheadOf: highestGiven) }
        try log()
    }

    private func keepSequence(aheadOf id: Int64) throws {
        try connection.run(
            """
            SELECT setval('\(sequence)', ?1::bigint) FROM \(sequence)
            WHERE last_value < ?1::bigint OR last_value = ?1::bigint AND NOT is_called
            """
        ) { try $0.bind(id, at: 1) }
    }

    private func log() throws {
        try connection.run(
            """
            INSERT INTO fieldwork_changes (layer_id, object_id, generation, operation)
            SELECT ?::bigint, added.value, s.generation, 0
            FROM (\(connection.dialect.integersOfArray)) AS added (value), fieldwork_state AS s
            WHERE s.id = 1 AND s.muted = 0
            """
        ) {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(JSONValue.array(ids.map { .integer($0) }).text, at: 2)
        }
    }
}
