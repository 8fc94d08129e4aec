import FieldworkGeometry
import FieldworkREST

/// The definition of a file's service and where its layers lie. A snapshot: a change makes a new one.
package struct ServiceCatalogue: Sendable {
    var definition: ServiceDefinition
    var layers: [Int: StoredLayer]
    /// The layers by their ids. What is written layer by layer is written in this order, so that the same file comes out each time.
    var orderedLayers: [StoredLayer] { layers.sorted { $0.key < $1.key }.map(\.value) }
    /// The text from which this was read, to see whether another program has changed it; empty for a new one.
    var source = ""
    /// The generation before which no delta can begin, whatever the log has: a view showed something else then.
    var floor: Int64 = 0

    func layer(_ id: Int) throws -> StoredLayer {
        guard let layer = layers[id] else {
            throw StoreError(.layerNotFound, "\(definition.name.path) has no layer or table \(id).")
        }
        return layer
    }

    // MARK: Reading

    static func exists(on connection: StoreConnection) throws -> Bool {
        try connection.hasTable("fieldwork_service")
    }

    static func read(from connection: StoreConnection) throws -> ServiceCatalogue {
        var found: (definition: String, version: Int64, name: ServiceName)?
        try connection.run(
            "SELECT definition, format_version, folder, name FROM fieldwork_service WHERE id = 1",
            row: {
                found = ($0.text(0), $0.integer(1), ServiceName(folder: $0.optionalText(2), name: $0.text(3)))
            })
        guard let found else { throw StoreError(.notAGeoPackage, "The file holds no service.") }
        guard found.version <= GeoPackageSchema.formatVersion else {
            throw StoreError(
                .unsupportedVersion,
                "The file was written by a newer Fieldwork (format \(found.version)); this one reads \(GeoPackageSchema.formatVersion)."
            )
        }
        var definition = try ServiceDefinition(storageJSON: json(found.definition))
        definition.name = found.name
        definition.layers = []
        var layers: [Int: StoredLayer] = [:]
        let slots = try FieldSlots.read(from: connection)
        let placed = try PlacedLayer.layerIDs(on: connection)
        try connection.run(
            "SELECT definition, table_name, geometry_column, srs_id FROM fieldwork_layers ORDER BY position, layer_id",
            row: { row in
                let layerDefinition = try LayerDefinition(storageJSON: json(row.text(0)))
                var layer = try StoredLayer(
                    definition: layerDefinition, tableName: row.text(1),
                    geometryColumn: row.optionalText(2), srsID: Int32(clamping: row.integer(3)),
                    slots: slots.slots(of: layerDefinition))
                layer.isPlaced = placed.contains(layer.definition.id)
                layers[layer.definition.id] = layer
                definition.layers.append(layer.definition)
            })
        return ServiceCatalogue(definition: definition, layers: layers, source: try source(on: connection))
    }

    /// What the file says of the service, unread.
    static func source(on connection: StoreConnection) throws -> String {
        try connection.text(connection.dialect.catalogueText) ?? ""
    }

    private static func json(_ text: String) throws -> JSONValue {
        do {
            return try JSONParser.parse(text)
        } catch {
            throw StoreError(.corrupt, "A definition in the file can't be read: \(error).")
        }
    }

    // MARK: Writing

    /// Writes the service and its layers' definitions, aliases and domains; tables are not touched.
    func write(on connection: StoreConnection) throws {
        try writeDefinitions(on: connection)
        guard connection.dialect.isSQLite else {
            try RelationshipViews(catalogue: self).writeIndexes(on: connection)
            return try AttachmentTables.create(for: self, on: connection)
        }
        for layerDefinition in definition.layers {
            try DataColumns(layer: layer(layerDefinition.id)).write(on: connection)
        }
        try RelationshipViews(catalogue: self).write(on: connection)
        try AttachmentTables.create(for: self, on: connection)
    }

    func writeDefinitions(on connection: StoreConnection) throws {
        var service = definition
        service.layers = []
        try connection.run(
            """
            INSERT INTO fieldwork_service (id, format_version, folder, name, definition) VALUES (1, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET format_version = excluded.format_version, folder = excluded.folder,
                name = excluded.name, definition = excluded.definition
            """
        ) {
            try $0.bind(GeoPackageSchema.formatVersion, at: 1)
            try $0.bind(definition.name.folder, at: 2)
            try $0.bind(definition.name.name, at: 3)
            try $0.bind(service.storageJSON.text, at: 4)
        }
        for (position, layerDefinition) in definition.layers.enumerated() {
            let layer = try layer(layerDefinition.id)
            try connection.run(
                """
                INSERT INTO fieldwork_layers
                    (layer_id, position, table_name, geometry_column, srs_id, definition)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (layer_id) DO UPDATE SET position = excluded.position, table_name = excluded.table_name,
                    geometry_column = excluded.geometry_column, srs_id = excluded.srs_id,
                    definition = excluded.definition
                """
            ) {
                try $0.bind(Int64(layerDefinition.id), at: 1)
                try $0.bind(Int64(position), at: 2)
                try $0.bind(layer.tableName, at: 3)
                try $0.bind(layer.geometryColumn, at: 4)
                try $0.bind(Int64(layer.srsID), at: 5)
                try $0.bind(layerDefinition.storageJSON.text, at: 6)
            }
        }
    }

    /// Makes the tables of a definition in a new file.
    static func create(_ definition: ServiceDefinition, on connection: StoreConnection) throws -> ServiceCatalogue {
        try DefinitionRules.check(definition)
        var names = TableNames()
        var layers: [Int: StoredLayer] = [:]
        for layerDefinition in definition.layers {
            let layer = try StoredLayer(adding: layerDefinition, names: &names, on: connection)
            layers[layerDefinition.id] = layer
            try FeatureTable(layer: layer).create(on: connection)
        }
        let catalogue = ServiceCatalogue(definition: definition, layers: layers)
        try catalogue.write(on: connection)
        return catalogue
    }
}

extension StoredLayer {
    /// A new layer, with a table of its own.
    init(adding definition: LayerDefinition, names: inout TableNames, on connection: StoreConnection) throws {
        try self.init(
            definition: definition, tableName: names.next(for: definition),
            geometryColumn: definition.isTable ? nil : TableNames.geometryColumn(for: definition),
            srsID: SpatialReferenceTable.id(
                of: definition.isTable ? nil : definition.spatialReference, on: connection))
    }
}

/// The names of tables: the layers' own where SQLite allows it, so that the file reads well in QGIS.
struct TableNames {
    /// In lower case.
    var used: Set<String> = []
    /// Bytes that a name may have.
    var longest = Int.max
    private static let reservedPrefixes = ["gpkg_", "rtree_", "sqlite_", "fieldwork_", "ogr_"]

    mutating func next(for layer: LayerDefinition) -> String { next(for: layer.name, otherwise: "layer_") }

    /// - Parameter prefix: what stands before a name that is taken by others.
    mutating func next(for name: String, otherwise prefix: String) -> String {
        var base = String(name.unicodeScalars.filter { $0.value >= 0x20 }.prefix(100))
        let lowercased = base.lowercased()
        if base.isEmpty || Self.reservedPrefixes.contains(where: lowercased.hasPrefix) { base = prefix + base }
        var name = base
        var number = 1
        if name.utf8.count > longest { name = shortened(base, "") }
        while !used.insert(name.lowercased()).inserted {
            number += 1
            name = shortened(base, "_\(number)")
        }
        return name
    }

    /// As many whole characters as there is room for, and an ending.
    private func shortened(_ base: String, _ ending: String) -> String {
        var scalars = base.unicodeScalars
        while scalars.count > 0, String(scalars).utf8.count > longest - ending.utf8.count { scalars.removeLast() }
        return String(scalars) + ending
    }

    static func geometryColumn(for layer: LayerDefinition) -> String {
        var name = "geom"
        while layer.field(named: name) != nil { name += "_" }
        return name
    }
}
