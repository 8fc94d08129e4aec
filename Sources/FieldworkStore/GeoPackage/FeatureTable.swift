import FieldworkGeometry
import FieldworkREST

/// Makes the table of a layer: columns, entries in GeoPackage's catalogue, R-tree, change log.
struct FeatureTable {
    let layer: StoredLayer

    func create(on connection: StoreConnection) throws {
        try connection.execute(createStatement)
        try addContents(to: connection)
        if let geometryColumn = layer.geometryColumn {
            try addGeometryColumn(geometryColumn, to: connection)
            try SpatialIndex(layer: layer)?.create(on: connection)
        }
        try prepareTracking(on: connection)
    }

    /// What a table needs to be tracked, whoever made it.
    func prepareTracking(on connection: StoreConnection) throws {
        try indexGlobalIDs(on: connection)
        try connection.run("INSERT OR REPLACE INTO fieldwork_counts (layer_id, row_count) VALUES (?1, ?2)") {
            try $0.bind(Int64(layer.definition.id), at: 1)
            try $0.bind(connection.integer("SELECT count(*) FROM \(quoted(layer.tableName))") ?? 0, at: 2)
        }
        try ChangeTriggers(layer: layer).create(on: connection)
    }

    /// Keeps a global id from coming twice.
    func indexGlobalIDs(on connection: StoreConnection) throws {
        guard let globalID = layer.globalIDColumn else { return }
        try connection.execute(
            """
            CREATE UNIQUE INDEX IF NOT EXISTS \(quoted(globalIDIndex))
            ON \(quoted(layer.tableName)) (\(quoted(globalID)))
            """)
    }

    /// Takes away what each row would cost when many come at once; `SpatialIndex.create` and `prepareTracking` bring it
    /// back.
    func dropTracking(on connection: StoreConnection) throws {
        try ChangeTriggers(layer: layer).drop(on: connection)
        try SpatialIndex(layer: layer)?.drop(on: connection)
        try connection.execute("DROP INDEX IF EXISTS \(quoted(globalIDIndex))")
    }

    private var globalIDIndex: String { "fieldwork_global_id_\(layer.definition.id)" }

    /// Tells other tools where the features lie. The extent may be wider than the features, never narrower: what is in it stays
    /// in it.
    func writeExtent(on connection: StoreConnection) throws {
        try setExtent(on: connection, writes: { old, new in !old.isNothing || !new.isNothing })
    }

    /// The same after an edit, which seldom leaves the extent: then nothing is written.
    func widenExtent(on connection: StoreConnection) throws {
        try setExtent(on: connection, writes: { old, new in !old.contains(new) })
    }

    private func setExtent(
        on connection: StoreConnection, writes: (GeometryBlob.Box, GeometryBlob.Box) -> Bool
    ) throws {
        guard let boxes = try SpatialIndex(layer: layer)?.rootBoxes(on: connection) else { return }
        var box = GeometryBlob.Box.nothing
        for other in boxes { box.include(other) }
        guard !box.isNothing else { return }
        var old = GeometryBlob.Box.nothing
        try connection.run(
            "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = ? AND min_x IS NOT NULL",
            bind: { try $0.bind(layer.tableName, at: 1) },
            row: {
                old = GeometryBlob.Box(xMin: $0.double(0), yMin: $0.double(1), xMax: $0.double(2), yMax: $0.double(3))
            })
        guard writes(old, box) else { return }
        if !old.isNothing { box.include(old) }
        // A file without an extent is shown by its index.
        guard [box.xMin, box.yMin, box.xMax, box.yMax].allSatisfy(\.isFinite) else { return }
        try connection.run(
            "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? WHERE table_name = ?"
        ) {
            for (index, value) in [box.xMin, box.yMin, box.xMax, box.yMax].enumerated() {
                try $0.bind(value, at: index + 1)
            }
            try $0.bind(layer.tableName, at: 5)
        }
    }

    private var createStatement: String {
        var columns = layer.columns.filter(\.isStored).map { column in
            if column.kind == .objectID, column.name == layer.objectIDColumn {
                // AUTOINCREMENT: an id is never used twice, even after the newest feature was deleted.
                return "\(quoted(column.name)) INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
            }
            let defaultValue = AttributeRules.storedAsIs(column.field.defaultValue, in: column)
            return "\(quoted(column.name)) \(column.sqlType)\(Self.defaultClause(defaultValue))"
        }
        if let geometryColumn = layer.geometryColumn {
            columns.insert("\(quoted(geometryColumn)) \(Self.geometryTypeName(layer.definition))", at: 1)
        }
        return "CREATE TABLE \(quoted(layer.tableName)) (\(columns.joined(separator: ", ")))"
    }

    static func defaultClause(_ value: AttributeValue) -> String {
        switch value {
        case .null, .data: ""
        case .integer(let value): " DEFAULT \(value)"
        case .real(let value): value.isFinite ? " DEFAULT \(value)" : ""
        case .text(let value): " DEFAULT \(literal(value))"
        }
    }

    /// The GeoPackage geometry type that holds everything the layer may hold.
    private static func geometryTypeName(_ layer: LayerDefinition) -> String {
        switch layer.geometryType {
        case .point: "POINT"
        case .multipoint: "MULTIPOINT"
        case .polyline: "MULTILINESTRING"
        case .polygon, .envelope: "MULTIPOLYGON"
        case nil: "GEOMETRY"
        }
    }

    private func addContents(to connection: StoreConnection) throws {
        let extent = layer.definition.extent
        try connection.run(
            """
            INSERT INTO gpkg_contents
                (table_name, data_type, identifier, description, min_x, min_y, max_x, max_y, srs_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) {
            try $0.bind(layer.tableName, at: 1)
            try $0.bind(layer.geometryColumn == nil ? "attributes" : "features", at: 2)
            try $0.bind(layer.tableName, at: 3)
            try $0.bind(layer.definition.description, at: 4)
            if layer.geometryColumn != nil, let extent, !extent.isEmpty {
                for (index, value) in [extent.xMin, extent.yMin, extent.xMax, extent.yMax].enumerated() {
                    try $0.bind(value, at: 5 + index)
                }
            }
            if layer.geometryColumn != nil { try $0.bind(Int64(layer.srsID), at: 9) }
        }
    }

    private func addGeometryColumn(_ column: String, to connection: StoreConnection) throws {
        try connection.run(
            """
            INSERT INTO gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id, z, m)
            VALUES (?, ?, ?, ?, ?, ?)
            """
        ) {
            try $0.bind(layer.tableName, at: 1)
            try $0.bind(column, at: 2)
            try $0.bind(Self.geometryTypeName(layer.definition), at: 3)
            try $0.bind(Int64(layer.srsID), at: 4)
            // 2: z may be there or not, since a client may leave it out.
            try $0.bind(Int64(layer.definition.hasZ ? 2 : 0), at: 5)
            try $0.bind(Int64(layer.definition.hasM ? 2 : 0), at: 6)
        }
    }
}
