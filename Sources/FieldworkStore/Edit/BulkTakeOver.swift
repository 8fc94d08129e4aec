import FieldworkREST

/// What triggers do for each new row, done once for many that are taken over from a service: the triggers are out of the way while
/// the rows go in, entries of the R-tree are made here, and the rows are counted at the end. There is nothing to log of what comes
/// from the service. All of it is within the writer's transaction: no other program sees the table without its triggers, and when
/// the transaction is taken back they are there as before. Triggers of others stay where they are.
final class BulkTakeOver {
    private let layerID: Int
    private let connection: StoreConnection
    private let triggers: [(name: String, sql: String)]
    /// Makes an entry of the R-tree; nil where there is none to keep.
    private let entry: StoreStatement?
    private let countsRows: Bool
    private var count: Int64 = 0

    init(_ layer: StoredLayer, on connection: StoreConnection) throws {
        self.connection = connection
        layerID = layer.definition.id
        let index = SpatialIndex(layer: layer)
        let indexing = index.map { "\($0.name)_insert" }
        var triggers: [(name: String, sql: String)] = []
        let own = ChangeTriggers.namesAfterInsert(layerID)
        for name in own.all + [indexing].compactMap(\.self) {
            try connection.run(
                "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?", bind: { try $0.bind(name, at: 1) },
                row: { triggers.append((name, $0.text(0))) })
        }
        self.triggers = triggers
        countsRows = triggers.contains { $0.name == own.counting }
        if let index, triggers.contains(where: { $0.name == indexing }) {
            entry = try connection.cached(
                "INSERT OR REPLACE INTO \(quoted(index.name)) (id, minx, maxx, miny, maxy) VALUES (?, ?, ?, ?, ?)")
        } else {
            entry = nil
        }
        for trigger in triggers { try connection.execute("DROP TRIGGER \(quoted(trigger.name))") }
    }

    deinit { entry?.finish() }

    /// A row was inserted.
    func note(_ objectID: Int64, _ geometry: [UInt8]?) throws {
        count += 1
        guard let entry, let geometry, let box = geometry.withUnsafeBytes({ GeometryBlob($0)?.box }) else { return }
        defer { entry.reset() }
        try entry.bind(objectID, at: 1)
        for (place, side) in [box.xMin, box.xMax, box.yMin, box.yMax].enumerated() {
            try entry.bind(side, at: place + 2)
        }
        _ = try entry.step()
    }

    /// Counts the rows and puts the triggers back as they were.
    func end() throws {
        entry?.reset()
        if countsRows {
            try connection.run("UPDATE fieldwork_counts SET row_count = row_count + ? WHERE layer_id = ?") {
                try $0.bind(count, at: 1)
                try $0.bind(Int64(layerID), at: 2)
            }
        }
        for trigger in triggers { try connection.execute(trigger.sql) }
    }
}
