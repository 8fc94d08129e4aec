import FieldworkREST

/// A service's relationships as other programs read them: for each a view of the pairs of object ids, entered as a mapping
/// of GeoPackage's related tables, and an index on each column that holds another row's key.
struct RelationshipViews {
    let catalogue: ServiceCatalogue

    private static let prefix = "fieldwork_relationship_"
    private static let indexPrefix = "fieldwork_key_"

    private var paths: [RelationshipPath] {
        catalogue.definition.layers.flatMap { layer in
            layer.relationships.filter { $0.role == .origin }.compactMap {
                RelationshipPath($0, of: layer, in: catalogue.definition)
            }
        }
    }

    /// Makes the views of this definition in place of those of an earlier one, and the indexes that are not there yet.
    func write(on connection: StoreConnection) throws {
        let keys = try paths.flatMap(keys)
        try Self.remove(on: connection, keeping: Set(keys.map(\.index)))
        for key in keys { try key.createIndex(on: connection) }
        for path in paths { try write(path, on: connection) }
    }

    /// Takes the views and indexes away. A column that one of them names can't be dropped: whoever changes tables does this
    /// first and `write` afterwards.
    static func remove(on connection: StoreConnection, keeping indexes: Set<String> = []) throws {
        guard connection.dialect.isSQLite else {
            for name in try PostgresDefinitionChange.indexes(beginning: indexPrefix, on: connection) {
                try connection.execute("DROP INDEX \(quoted(name))")
            }
            return
        }
        var found: [(name: String, isView: Bool)] = []
        try connection.run(
            """
            SELECT name, type = 'view' FROM sqlite_master
            WHERE (type = 'view' AND substr(name, 1, length(?1)) = ?1)
                OR (type = 'index' AND substr(name, 1, length(?2)) = ?2)
            """,
            bind: {
                try $0.bind(prefix, at: 1)
                try $0.bind(indexPrefix, at: 2)
            }, row: { found.append(($0.text(0), $0.integer(1) == 1)) })
        for (name, isView) in found where !indexes.contains(name) {
            try connection.execute(isView ? "DROP VIEW \(quoted(name))" : "DROP INDEX \(quoted(name))")
            if isView { try RelatedTables.unregister(mappingTable: name, on: connection) }
        }
    }

    private func write(_ path: RelationshipPath, on connection: StoreConnection) throws {
        let origin = try catalogue.layer(path.sourceLayerID)
        let destination = try catalogue.layer(path.relatedLayerID)
        let view = "\(Self.prefix)\(path.relationshipID)"
        let originKey = "o.\(quoted(path.sourceKey))"
        let destinationKey = "d.\(quoted(path.relatedKey))"
        var tables = "\(quoted(origin.tableName)) AS o"
        if let through = path.through {
            let table = try catalogue.layer(through.layerID)
            tables += " JOIN \(quoted(table.tableName)) AS r ON r.\(quoted(through.sourceKey)) = \(originKey)"
            tables +=
                " JOIN \(quoted(destination.tableName)) AS d ON \(destinationKey) = r.\(quoted(through.relatedKey))"
        } else {
            tables += " JOIN \(quoted(destination.tableName)) AS d ON \(destinationKey) = \(originKey)"
        }
        try connection.execute(
            """
            CREATE VIEW \(quoted(view)) AS SELECT o.\(quoted(origin.objectIDColumn)) AS base_id,
                d.\(quoted(destination.objectIDColumn)) AS related_id FROM \(tables)
            """)
        try RelatedTables.register(
            RelatedTables.Relation(
                baseTable: origin.tableName, baseColumn: origin.objectIDColumn, relatedTable: destination.tableName,
                relatedColumn: destination.objectIDColumn,
                name: destination.geometryColumn == nil ? "attributes" : "features", mappingTable: view),
            on: connection)
    }

    /// The indexes alone.
    func writeIndexes(on connection: StoreConnection) throws {
        for key in try paths.flatMap(keys) { try key.createIndex(on: connection) }
    }

    private struct Key {
        var index: String
        var table: String
        var column: String

        func createIndex(on connection: StoreConnection) throws {
            try connection.execute(
                "CREATE INDEX IF NOT EXISTS \(quoted(index)) ON \(quoted(table)) (\(quoted(column)))")
        }
    }

    /// The columns over which a way leads. Object ids and global ids have their index already.
    private func keys(on path: RelationshipPath) throws -> [Key] {
        var columns = [(path.sourceLayerID, path.sourceKey), (path.relatedLayerID, path.relatedKey)]
        if let through = path.through {
            columns += [(through.layerID, through.sourceKey), (through.layerID, through.relatedKey)]
        }
        return try columns.compactMap { layerID, column in
            let layer = try catalogue.layer(layerID)
            guard !layer.isPlaced, let index = layer.index(of: column), index != layer.objectIDIndex,
                index != layer.globalIDIndex
            else {
                return nil
            }
            return Key(index: "\(Self.indexPrefix)\(layerID)_\(column)", table: layer.tableName, column: column)
        }
    }
}
