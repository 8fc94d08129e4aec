import FieldworkREST

/// Looks whether the edits of a layer are recorded, and were.
struct TrackingCheck {
    let connection: StoreConnection
    let layer: StoredLayer
    private static let findings = 20

    private var name: String { layer.definition.name }

    /// - Parameter withLog: whether the change log tells of all features.
    func run(withLog: Bool) throws -> [String] { try triggers() + (withLog ? changes() : []) }

    /// Without them an edit changes the table and nothing else: it is in no log, and is not synchronised.
    private func triggers() throws -> [String] {
        var wanted = ChangeTriggers.triggerNames(layerID: layer.definition.id)
        if layer.globalIDColumn == nil { wanted.removeAll { $0.hasSuffix("_global_id") } }
        // Other programs make those of the R-tree under other names, but for these two.
        if let index = SpatialIndex(layer: layer) { wanted += ["\(index.name)_insert", "\(index.name)_delete"] }
        return try wanted.compactMap { trigger -> String? in
            let found = try connection.text(
                "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(name) = lower(?)"
            ) { try $0.bind(trigger, at: 1) }
            guard let found else {
                return
                    "\(name): the trigger \(trigger) is missing: edits made since then are not in the change log or the index."
            }
            // A trigger of the right name may do something else, or nothing.
            guard let statement = ChangeTriggers(layer: layer).statement(of: trigger) else { return nil }
            return Self.plain(found) == Self.plain(statement)
                ? nil
                : "\(name): the trigger \(trigger) is not the one that records edits: those made since then may not be in the change log."
        }
    }

    /// SQL without what means nothing: other programs write it anew with other spaces and quotes.
    private static func plain(_ sql: String) -> String {
        String(sql.lowercased().filter { !$0.isWhitespace && $0 != "\"" && $0 != ";" })
    }

    /// A feature is there when the log does not say that it was deleted, and is gone when it does.
    private func changes() throws -> [String] {
        var findings: [String] = []
        let id = layer.definition.id
        let entry =
            "FROM fieldwork_changes AS c WHERE c.layer_id = \(id) AND c.object_id = l.object_id AND c.generation = l.newest"
        try connection.run(
            """
            SELECT l.object_id, l.isThere FROM (
                SELECT n.object_id, n.newest, EXISTS (SELECT 1 FROM \(quoted(layer.tableName)) AS t
                    WHERE t.\(quoted(layer.objectIDColumn)) = n.object_id) AS isThere
                FROM (SELECT object_id, max(generation) AS newest FROM fieldwork_changes WHERE layer_id = \(id) GROUP BY object_id)
                    AS n) AS l
            WHERE CASE WHEN l.isThere THEN NOT EXISTS (SELECT 1 \(entry) AND c.operation < 2)
                ELSE NOT EXISTS (SELECT 1 \(entry) AND c.operation = 2) END
            LIMIT \(Self.findings)
            """,
            row: { row in
                let what = row.integer(1) == 0 ? "is gone" : "is there again"
                findings.append("\(name): feature \(row.integer(0)) \(what), and the change log does not say so.")
            })
        return findings
    }
}
