import FieldworkREST

/// Looks whether a file is what it must be: SQLite's own structures, R-trees, counts, change log, relationships.
struct IntegrityCheck {
    let connection: StoreConnection
    let layers: [StoredLayer]
    let relationships: RelationshipRules
    /// Whether the change log tells of all features: not where state is taken over from a service.
    var tellsAll = false
    /// Findings of one kind that are told at most.
    private static let findingsPerCheck = 20

    func run() throws -> [String] {
        var findings: [String] = []
        try connection.run(
            "PRAGMA integrity_check(20)",
            row: { row in
                let text = row.text(0)
                if text != "ok" { findings.append("SQLite: \(text)") }
            })
        for layer in layers {
            findings += try spatialIndex(of: layer)
            findings += try TextIndexCheck(connection: connection, layer: layer).run()
            findings += try counts(of: layer)
            findings += try TrackingCheck(connection: connection, layer: layer).run(withLog: tellsAll)
            findings += try history(of: layer)
            findings += try globalIDs(of: layer)
            findings += try keys(of: layer)
            findings += try AttachmentCheck(connection: connection).run(layer)
        }
        findings += try AttachmentCheck(connection: connection).contents()
        let inside = try connection.integer("SELECT inside + muted FROM fieldwork_state WHERE id = 1")
        if inside != 0 { findings.append("The state of generations is that of an unfinished transaction.") }
        return findings
    }

    /// Every geometry has its box in the R-tree, and no box is without its geometry.
    private func spatialIndex(of layer: StoredLayer) throws -> [String] {
        guard let index = SpatialIndex(layer: layer) else { return [] }
        let name = layer.definition.name
        guard try index.exists(on: connection) else { return ["\(name): the R-tree is missing."] }
        var findings: [String] = []
        try connection.run(
            "SELECT rtreecheck('main', ?)", bind: { try $0.bind(index.name, at: 1) },
            row: { row in if row.text(0) != "ok" { findings.append("\(name): \(row.text(0))") } })
        let geometry = "t.\(quoted(index.column))"
        // The R-tree rounds outwards: its box holds the exact one.
        try connection.run(
            """
            SELECT t.\(quoted(index.key)) FROM \(quoted(index.table)) AS t
            LEFT JOIN \(quoted(index.name)) AS r ON r.id = t.\(quoted(index.key))
            WHERE CASE WHEN \(geometry) IS NULL OR ST_IsEmpty(\(geometry)) IS NOT 0 THEN r.id IS NOT NULL
                ELSE r.id IS NULL OR r.minx > ST_MinX(\(geometry)) OR r.maxx < ST_MaxX(\(geometry))
                    OR r.miny > ST_MinY(\(geometry)) OR r.maxy < ST_MaxY(\(geometry)) END
            LIMIT \(Self.findingsPerCheck)
            """,
            row: { findings.append("\(name): the R-tree is wrong about feature \($0.integer(0)).") })
        try connection.run(
            """
            SELECT id FROM \(quoted(index.name))
            WHERE id NOT IN (SELECT \(quoted(index.key)) FROM \(quoted(index.table))) LIMIT \(Self.findingsPerCheck)
            """,
            row: { findings.append("\(name): the R-tree has a feature \($0.integer(0)) that is not there.") })
        return findings
    }

    private func counts(of layer: StoredLayer) throws -> [String] {
        let actual = try connection.integer("SELECT count(*) FROM \(quoted(layer.tableName))") ?? 0
        let kept = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = ?") {
            try $0.bind(Int64(layer.definition.id), at: 1)
        }
        guard actual != kept else { return [] }
        return ["\(layer.definition.name): \(actual) features, but a count of \(kept.map(String.init) ?? "none")."]
    }

    /// Every update and delete in the log has its superseded version in the history, and the other way round; nothing is
    /// newer than the current generation.
    private func history(of layer: StoredLayer) throws -> [String] {
        var findings: [String] = []
        let name = layer.definition.name
        let history = quoted(layer.historyTable)
        let id = layer.definition.id
        try connection.run(
            """
            SELECT object_id, generation FROM fieldwork_changes AS c WHERE layer_id = \(id) AND operation > 0
                AND NOT EXISTS (SELECT 1 FROM \(history) AS h WHERE h.fieldwork_object_id = c.object_id
                    AND h.fieldwork_generation = c.generation AND h.fieldwork_operation = c.operation)
            LIMIT \(Self.findingsPerCheck)
            """,
            row: {
                findings.append("\(name): no version of feature \($0.integer(0)) for generation \($0.integer(1)).")
            })
        // Of versions before it the log says nothing any more.
        let hasFloors = try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'fieldwork_log_floors'") != nil
        let floor = hasFloors ? try LogCompaction.floor(of: id, on: connection) : 0
        try connection.run(
            """
            SELECT fieldwork_object_id, fieldwork_generation FROM \(history) AS h
            WHERE fieldwork_generation > \(floor) AND NOT EXISTS (SELECT 1 FROM fieldwork_changes AS c WHERE c.layer_id = \(id)
                AND c.object_id = h.fieldwork_object_id AND c.generation = h.fieldwork_generation
                AND c.operation = h.fieldwork_operation)
            LIMIT \(Self.findingsPerCheck)
            """,
            row: { findings.append("\(name): no change of feature \($0.integer(0)) in generation \($0.integer(1)).") })
        let newest =
            try connection.integer(
                "SELECT max(generation) FROM fieldwork_changes WHERE layer_id = \(id)") ?? 0
        let current = try ChangeLog.generation(on: connection)
        if newest > current {
            findings.append("\(name): changes of generation \(newest), but the file is at \(current).")
        }
        return findings
    }

    private func globalIDs(of layer: StoredLayer) throws -> [String] {
        guard let column = layer.globalIDColumn.map(quoted) else { return [] }
        let missing =
            try connection.integer(
                "SELECT count(*) FROM \(quoted(layer.tableName)) WHERE \(column) IS NULL") ?? 0
        return missing == 0 ? [] : ["\(layer.definition.name): \(missing) features have no global id."]
    }

    /// Parts name a whole that is there, and one to one is no more than that: edits see to it, other programs and bulk
    /// loads need not.
    private func keys(of layer: StoredLayer) throws -> [String] {
        var findings: [String] = []
        let name = layer.definition.name
        for parent in relationships.layer(layer.definition.id)?.parents ?? [] {
            let (key, origin) = (parent.destination, parent.origin)
            if parent.isComposite {
                try connection.run(
                    """
                    SELECT \(key.objectID) FROM \(key.table) AS part WHERE NOT EXISTS (SELECT 1 FROM \(origin.table) AS whole
                        WHERE whole.\(origin.sql) = part.\(key.sql)) LIMIT \(Self.findingsPerCheck)
                    """,
                    row: {
                        findings.append(
                            "\(name): feature \($0.integer(0)) is part of no feature of \(origin.layer.definition.name)."
                        )
                    })
            }
            if parent.isOneToOne {
                try connection.run(
                    """
                    SELECT min(\(key.objectID)), count(*) FROM \(key.table) WHERE \(key.sql) IS NOT NULL
                    GROUP BY \(key.sql) HAVING count(*) > 1 LIMIT \(Self.findingsPerCheck)
                    """,
                    row: {
                        findings.append(
                            "\(name): feature \($0.integer(0)) and \($0.integer(1) - 1) more are related to one feature, where one may be."
                        )
                    })
            }
        }
        return findings
    }
}
