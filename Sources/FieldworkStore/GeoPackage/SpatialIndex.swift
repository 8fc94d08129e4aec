/// The R-tree of a layer, made as GeoPackage's extension "RTree Spatial Indexes" wants it, so that every tool that edits
/// the file keeps it up to date.
struct SpatialIndex: Sendable {
    let table: String
    let column: String
    let key: String
    var name: String { "rtree_\(table)_\(column)" }

    init?(layer: StoredLayer) {
        guard let column = layer.geometryColumn else { return nil }
        table = layer.tableName
        self.column = column
        key = layer.objectIDColumn
    }

    func exists(on connection: StoreConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)") {
            try $0.bind(name, at: 1)
        } != nil
    }

    func create(on connection: StoreConnection) throws {
        try connection.execute("CREATE VIRTUAL TABLE \(quoted(name)) USING rtree(id, minx, maxx, miny, maxy)")
        var packing = try SpatialIndexPacking(self, on: connection)
        try packing.run()
        for trigger in triggers { try connection.execute(trigger) }
        try GeoPackageSchema.register(
            "gpkg_rtree_index", definition: "http://www.geopackage.org/spec120/#extension_rtree", table: table,
            column: column, scope: "write-only", on: connection)
    }

    func drop(on connection: StoreConnection) throws {
        for suffix in Self.triggerSuffixes {
            try connection.execute("DROP TRIGGER IF EXISTS \(quoted("\(name)_\(suffix)"))")
        }
        try connection.execute("DROP TABLE IF EXISTS \(quoted(name))")
    }

    private static let triggerSuffixes = ["insert", "update6", "update7", "update2", "update5", "update4", "delete"]

    private func box(_ prefix: String) -> String {
        ["ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"].map { "\($0)(\(prefix)\(quoted(column)))" }.joined(separator: ", ")
    }

    private var triggers: [String] {
        let insert = "INSERT OR REPLACE INTO \(quoted(name)) VALUES (NEW.\(quoted(key)), \(box("NEW.")))"
        let isThere = "(NEW.\(quoted(column)) NOTNULL AND NOT ST_IsEmpty(NEW.\(quoted(column))))"
        let wasThere = "(OLD.\(quoted(column)) NOTNULL AND NOT ST_IsEmpty(OLD.\(quoted(column))))"
        let move = """
            UPDATE \(quoted(name)) SET minx = ST_MinX(NEW.\(quoted(column))), maxx = ST_MaxX(NEW.\(quoted(column))), \
            miny = ST_MinY(NEW.\(quoted(column))), maxy = ST_MaxY(NEW.\(quoted(column))) WHERE id = NEW.\(quoted(key))
            """
        let isMissing = "(NEW.\(quoted(column)) ISNULL OR ST_IsEmpty(NEW.\(quoted(column))))"
        let removeOld = "DELETE FROM \(quoted(name)) WHERE id = OLD.\(quoted(key))"
        let removeBoth = "DELETE FROM \(quoted(name)) WHERE id IN (OLD.\(quoted(key)), NEW.\(quoted(key)))"
        let ofColumn = "UPDATE OF \(quoted(column))"
        let sameKey = "OLD.\(quoted(key)) = NEW.\(quoted(key))"
        let otherKey = "OLD.\(quoted(key)) != NEW.\(quoted(key))"
        return [
            trigger("insert", "INSERT", isThere, [insert]),
            // Two triggers for one case, as GeoPackage 1.4 has them: within an upsert SQLite lets the upsert's conflict rule
            // take the place of the trigger's OR REPLACE.
            trigger("update6", ofColumn, "\(sameKey) AND \(isThere) AND \(wasThere)", [move]),
            trigger("update7", ofColumn, "\(sameKey) AND \(isThere) AND NOT \(wasThere)", [insert]),
            trigger("update2", ofColumn, "\(sameKey) AND \(isMissing)", [removeOld]),
            trigger("update5", "UPDATE", "\(otherKey) AND \(isThere)", [removeOld, insert]),
            trigger("update4", "UPDATE", "\(otherKey) AND \(isMissing)", [removeBoth]),
            trigger("delete", "DELETE", "OLD.\(quoted(column)) NOT NULL", [removeOld]),
        ]
    }

    private func trigger(_ suffix: String, _ event: String, _ condition: String, _ statements: [String]) -> String {
        """
        CREATE TRIGGER \(quoted("\(name)_\(suffix)")) AFTER \(event) ON \(quoted(table)) WHEN \(condition)
        BEGIN \(statements.joined(separator: "; ")); END
        """
    }

    /// The boxes of the R-tree's root, which together hold everything in it. One page is read, however large the layer is.
    func rootBoxes(on connection: StoreConnection) throws -> [GeometryBlob.Box] {
        var boxes: [GeometryBlob.Box] = []
        try connection.run(
            "SELECT data FROM \(quoted(name + "_node")) WHERE nodeno = 1",
            row: { statement in
                boxes = Node(statement.blob(0)).map { node in (0..<node.count).map(node.box) } ?? []
            })
        return boxes
    }
}
