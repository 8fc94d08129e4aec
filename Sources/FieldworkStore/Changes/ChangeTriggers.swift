import FieldworkREST

/// The triggers that keep a layer's count, change log and history, in plain SQL, so that an edit by another program in
/// the same file is recorded like one of ours.
struct ChangeTriggers {
    let layer: StoredLayer

    static let maskCount = 4
    static let bitsPerMask = 60
    /// The bit of the geometry, in the first mask.
    static let geometryBit = 60

    private var id: Int { layer.definition.id }
    private var table: String { quoted(layer.tableName) }
    private var key: String { quoted(layer.objectIDColumn) }
    private var stored: [(index: Int, column: StoredColumn)] {
        layer.columns.enumerated().filter { $0.element.isStored && $0.offset != layer.objectIDIndex }
            .map { (index: layer.slots[$0.offset], column: $0.element) }
    }

    /// The columns whose superseded values the history keeps.
    var historyColumns: [String] {
        stored.map(\.column.name) + (layer.geometryColumn.map { [$0] } ?? [])
    }

    func create(on connection: StoreConnection) throws {
        // Other programs warn of each column without a type.
        let columns =
            (stored.map { "\(quoted($0.column.name)) \($0.column.sqlType)" }
            + (layer.geometryColumn.map { ["\(quoted($0)) BLOB"] } ?? [])).joined(separator: ", ")
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(quoted(layer.historyTable)) (
                fieldwork_version INTEGER PRIMARY KEY AUTOINCREMENT, fieldwork_object_id INTEGER NOT NULL,
                fieldwork_generation INTEGER NOT NULL, fieldwork_operation INTEGER NOT NULL
                \(columns.isEmpty ? "" : ", " + columns))
            """)
        try connection.execute(
            """
            CREATE INDEX IF NOT EXISTS \(quoted(layer.historyTable + "_by_object"))
            ON \(quoted(layer.historyTable)) (fieldwork_object_id)
            """)
        try createDeletedIndex(on: connection)
        try GeoPackageSchema.registerOwn(layer.historyTable, on: connection)
        for trigger in triggers { try connection.execute(trigger) }
    }

    /// Finds what became of a feature that an offline client still names. Only deletes are in it.
    func createDeletedIndex(on connection: StoreConnection) throws {
        guard let globalID = layer.globalIDColumn else { return }
        try connection.execute(
            """
            CREATE INDEX IF NOT EXISTS \(quoted(layer.historyTable + "_deleted"))
            ON \(quoted(layer.historyTable)) (\(quoted(globalID))) WHERE fieldwork_operation = 2
            """)
    }

    static func triggerNames(layerID: Int) -> [String] {
        ["insert", "update", "rekey", "delete", "global_id"].map { "fieldwork_\(layerID)_\($0)" }
    }

    /// Of those, the ones that look at each new row.
    static func namesAfterInsert(_ layerID: Int) -> (counting: String, all: [String]) {
        let counting = "fieldwork_\(layerID)_insert"
        return (counting, [counting, "fieldwork_\(layerID)_global_id"])
    }

    func drop(on connection: StoreConnection) throws {
        for name in Self.triggerNames(layerID: id) { try connection.execute("DROP TRIGGER IF EXISTS \(quoted(name))") }
    }

    /// The statement that makes a trigger; nil for one that the layer has not got.
    func statement(of name: String) -> String? {
        triggers.first { $0.hasPrefix("CREATE TRIGGER \(quoted(name)) ") }
    }

    private var triggers: [String] {
        var triggers = [
            trigger("insert", "INSERT", when: nil, [count(+1), change(.add, "NEW")]),
            trigger("update", "UPDATE", when: differs, [change(.update, "NEW"), history(.update)]),
            trigger(
                "rekey", "UPDATE", when: "OLD.\(key) IS NOT NEW.\(key)",
                [change(.delete, "OLD"), history(.delete), change(.add, "NEW")]),
            trigger("delete", "DELETE", when: nil, [count(-1), change(.delete, "OLD"), history(.delete)]),
        ]
        if let globalID = layer.globalIDColumn {
            triggers.append(
                """
                CREATE TRIGGER \(quoted("fieldwork_\(id)_global_id")) AFTER INSERT ON \(table)
                WHEN NEW.\(quoted(globalID)) IS NULL
                BEGIN UPDATE \(table) SET \(quoted(globalID)) = \(Self.newGlobalID) WHERE \(key) = NEW.\(key); END
                """)
        }
        return triggers
    }

    /// A random UUID (version 4) in the form of `GUID.normalForm`, by SQLite's own functions.
    static let newGlobalID = """
        '{' || hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' \
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)) || '}'
        """

    private func trigger(_ suffix: String, _ event: String, when condition: String?, _ statements: [String]) -> String {
        """
        CREATE TRIGGER \(quoted("fieldwork_\(id)_\(suffix)")) AFTER \(event) ON \(table)
        \(condition.map { "WHEN \($0)" } ?? "")
        BEGIN \((Self.openGeneration + statements).joined(separator: "; ")); END
        """
    }

    /// Another program doesn't announce its transaction: each row that it changes is a generation of its own.
    static let openGeneration = [
        "UPDATE fieldwork_state SET generation = generation + 1 WHERE id = 1 AND inside = 0",
        """
        INSERT INTO fieldwork_generations (generation, moment)
        SELECT generation, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM fieldwork_state WHERE id = 1 AND inside = 0
        """,
    ]

    private func count(_ step: Int) -> String {
        "UPDATE fieldwork_counts SET row_count = row_count + (\(step)) WHERE layer_id = \(id)"
    }

    private func change(_ operation: FeatureChange.Operation, _ row: String) -> String {
        let masks =
            operation == .update ? (0..<Self.maskCount).map(mask) : Array(repeating: "NULL", count: Self.maskCount)
        let merged = (1...Self.maskCount).map { "changed_\($0) = changed_\($0) | excluded.changed_\($0)" }
        return """
            INSERT INTO fieldwork_changes
            SELECT \(id), \(row).\(key), generation, \(operation.number), \(masks.joined(separator: ", "))
            FROM fieldwork_state WHERE id = 1 AND muted = 0
            ON CONFLICT DO UPDATE SET \(merged.joined(separator: ", "))
            """
    }

    private func mask(_ number: Int) -> String {
        var bits = stored.filter { $0.index / Self.bitsPerMask == number }.map {
            "((OLD.\(quoted($0.column.name)) IS NOT NEW.\(quoted($0.column.name))) << \($0.index % Self.bitsPerMask))"
        }
        if number == 0, let geometry = layer.geometryColumn {
            bits.append("((OLD.\(quoted(geometry)) IS NOT NEW.\(quoted(geometry))) << \(Self.geometryBit))")
        }
        return bits.isEmpty ? "0" : "(" + bits.joined(separator: " | ") + ")"
    }

    /// Something changed, and not only that a new row was given its global id by the trigger for that.
    private var differs: String {
        let differences = historyColumns.map { "OLD.\(quoted($0)) IS NOT NEW.\(quoted($0))" }.joined(separator: " OR ")
        let sameKey = "OLD.\(key) IS NEW.\(key) AND (\(differences.isEmpty ? "0" : differences))"
        guard let globalID = layer.globalIDColumn.map(quoted) else { return sameKey }
        return "(OLD.\(globalID) IS NOT NULL OR NEW.\(globalID) IS NULL) AND \(sameKey)"
    }

    private func history(_ operation: FeatureChange.Operation) -> String {
        let names = historyColumns.map { ", \(quoted($0))" }.joined()
        let values = historyColumns.map { ", OLD.\(quoted($0))" }.joined()
        return """
            INSERT INTO \(quoted(layer.historyTable))
                (fieldwork_object_id, fieldwork_generation, fieldwork_operation\(names))
            SELECT OLD.\(key), generation, \(operation.number)\(values)
            FROM fieldwork_state WHERE id = 1 AND muted = 0
            """
    }
}

extension FeatureChange.Operation {
    /// How the log stores it; within one generation operations on a feature come in this order.
    var number: Int64 {
        switch self {
        case .add: 0
        case .update: 1
        case .delete: 2
        }
    }

    init?(number: Int64) {
        switch number {
        case 0: self = .add
        case 1: self = .update
        case 2: self = .delete
        default: return nil
        }
    }
}
