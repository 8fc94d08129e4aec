import FieldworkGeometry
import FieldworkREST
import Foundation

/// A GeoPackage that another program made, to be published in place. Its tables keep their names, columns and ids; what
/// they lack for a service (global ids, R-tree, change log, counts) is added in one transaction.
struct ForeignFile {
    let url: URL

    /// - Parameter layerName: the name of the layer, where the file has one; its table's by default.
    func prepare(as name: ServiceName, layerName: String? = nil) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw StoreError(.notAGeoPackage, "There is no file \(url.lastPathComponent).")
        }
        _ = try FileArrival.prepare(url, after: nil)
        let connection = try StoreConnection(path: url.path, mode: .readWrite)
        guard try !ServiceCatalogue.exists(on: connection) else { return }
        guard try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'gpkg_contents'") != nil else {
            throw StoreError(.notAGeoPackage, "\(url.lastPathComponent) is no GeoPackage.")
        }
        try connection.transaction {
            try GeoPackageSchema.createBookkeeping(on: connection)
            var definition = ServiceDefinition(name: name, layers: [])
            var layers: [Int: StoredLayer] = [:]
            let contents = try Self.contents(on: connection)
            guard layerName == nil || contents.count == 1 else {
                let names = contents.map(\.table).joined(separator: ", ")
                throw StoreError(
                    .invalidDefinition, "--layer names the layer of a file that has one; this one has: \(names).")
            }
            for content in contents {
                let table = ForeignTable(content: content, id: definition.layers.count, connection: connection)
                guard var layer = try table.prepare(fileName: url.lastPathComponent) else { continue }
                if let layerName, contents.count == 1 { layer.definition.name = layerName }
                layers[layer.definition.id] = layer
                definition.layers.append(layer.definition)
            }
            guard !layers.isEmpty else {
                throw StoreError(.invalidDefinition, "\(url.lastPathComponent) has no table that could be a layer.")
            }
            definition.spatialReference = definition.layers.compactMap(\.spatialReference).first
            let catalogue = ServiceCatalogue(definition: definition, layers: layers)
            try catalogue.writeDefinitions(on: connection)
            try GeoPackageSchema.listOneTable(on: connection)
            for layer in catalogue.orderedLayers { try FeatureTable(layer: layer).writeExtent(on: connection) }
        }
        connection.forgetStatements()
    }

    /// What a service could be made of.
    static func contents(on connection: StoreConnection) throws -> [ForeignTable.Content] {
        var contents: [ForeignTable.Content] = []
        try connection.run(
            """
            SELECT c.table_name, coalesce(c.description, ''), g.column_name, g.geometry_type_name, g.srs_id, g.z, g.m,
                c.min_x, c.min_y, c.max_x, c.max_y
            FROM gpkg_contents AS c LEFT JOIN gpkg_geometry_columns AS g ON g.table_name = c.table_name
            WHERE c.data_type IN ('features', 'attributes', 'aspatial') ORDER BY c.data_type = 'features' DESC, c.rowid
            """,
            row: { row in
                let bounds = (7..<11).compactMap { row.isNull($0) ? nil : row.double($0) }
                contents.append(
                    ForeignTable.Content(
                        table: row.text(0), description: row.text(1), geometryColumn: row.optionalText(2),
                        geometryType: row.optionalText(3)?.uppercased(), srsID: Int32(clamping: row.integer(4)),
                        hasZ: row.integer(5) > 0, hasM: row.integer(6) > 0, bounds: bounds.count == 4 ? bounds : nil))
            })
        return contents
    }
}

/// One table of such a file.
struct ForeignTable {
    struct Content {
        var table: String
        var description: String
        var geometryColumn: String?
        var geometryType: String?
        var srsID: Int32
        var hasZ: Bool
        var hasM: Bool
        var bounds: [Double]?
    }

    let content: Content
    let id: Int
    let connection: StoreConnection

    private var table: String { quoted(content.table) }

    /// The column of the object ids; nil when there is no integer key.
    func key() throws -> String? { try columns().first(where: \.isIntegerKey)?.name }

    /// The table as a layer; nil when it can't be one (no integer key, an unknown kind of geometry). Throws
    /// `StoreError.invalidDefinition` for what would be answered wrong.
    func prepare(fileName: String) throws -> StoredLayer? {
        let columns = try columns()
        guard let key = columns.first(where: \.isIntegerKey)?.name else { return nil }
        var geometryType: LayerGeometryType?
        if let column = content.geometryColumn {
            let survey = try ForeignSurvey(table: content.table, geometry: column, key: key, on: connection)
            try requireOneKind(survey, fileName)
            geometryType = survey.kinds.keys.first ?? Self.declaredKind(content.geometryType)
            if geometryType == nil { return nil }
        }
        let definition =
            try notedDefinition(columns, geometryType) ?? foreignDefinition(columns, key, geometryType)
        let layer = try StoredLayer(
            definition: definition, tableName: content.table,
            geometryColumn: geometryType == nil ? nil : content.geometryColumn, srsID: content.srsID)
        if let index = SpatialIndex(layer: layer), try !index.exists(on: connection) {
            try index.create(on: connection)
        }
        try FeatureTable(layer: layer).prepareTracking(on: connection)
        return layer
    }

    private func foreignDefinition(
        _ columns: [Column], _ key: String, _ geometryType: LayerGeometryType?
    ) throws -> LayerDefinition {
        var fields = try columns.filter { $0.name != content.geometryColumn }.map { try field($0, key: key) }
        let globalID = try globalIDField(among: &fields)
        return LayerDefinition(
            id: id, name: content.table, description: content.description, geometryType: geometryType,
            hasZ: content.hasZ, hasM: content.hasM, spatialReference: try reference(geometryType), fields: fields,
            objectIDField: key, globalIDField: globalID)
    }

    private func reference(_ geometryType: LayerGeometryType?) throws -> SpatialReference? {
        guard geometryType != nil else { return nil }
        return try SpatialReferenceTable.reference(id: content.srsID, on: connection) ?? .wgs84
    }

    /// The layer that `fieldwork export` wrote, if the table is still what it was then.
    private func notedDefinition(
        _ columns: [Column], _ geometryType: LayerGeometryType?
    ) throws -> LayerDefinition? {
        guard var definition = try LayerNote.read(table: content.table, on: connection),
            definition.geometryType == geometryType, definition.hasZ == content.hasZ,
            definition.hasM == content.hasM, let globalID = definition.globalIDField,
            definition.field(named: globalID)?.type == .globalID, try holdsGlobalIDs(globalID)
        else { return nil }
        definition.id = id
        definition.spatialReference = try reference(geometryType)
        let layer = try StoredLayer(
            definition: definition, tableName: content.table, geometryColumn: content.geometryColumn,
            srsID: content.srsID)
        let noted = layer.columns.filter(\.isStored).map { "\($0.name) \($0.sqlType)" }
        let found = columns.filter { $0.name != content.geometryColumn }.map { "\($0.name) \($0.type)" }
        let keys = columns.filter(\.isIntegerKey).map(\.name)
        return Set(noted) == Set(found) && keys == [layer.objectIDColumn] ? definition : nil
    }

    private struct Column {
        var name: String
        var type: String
        var isRequired: Bool
        var isIntegerKey: Bool
    }

    private func columns() throws -> [Column] {
        var columns: [Column] = []
        try connection.run(
            "SELECT name, upper(type), \"notnull\", pk FROM pragma_table_info(?)",
            bind: { try $0.bind(content.table, at: 1) },
            row: { row in
                columns.append(
                    Column(
                        name: row.text(0), type: row.text(1), isRequired: row.integer(2) != 0,
                        isIntegerKey: row.integer(3) == 1 && row.text(1) == "INTEGER"))
            })
        // A key of several columns is no object id.
        if columns.filter(\.isIntegerKey).count != 1 {
            for index in columns.indices { columns[index].isIntegerKey = false }
        }
        return columns
    }

    private func field(_ column: Column, key: String) throws -> FieldDefinition {
        if column.name == key {
            return FieldDefinition(name: key, type: .oid, isNullable: false, isEditable: false)
        }
        let (type, length) = try type(of: column)
        var field = FieldDefinition(name: column.name, type: type, length: length, isNullable: !column.isRequired)
        if let description = try ForeignDomain.read(table: content.table, column: column.name, on: connection) {
            field.alias = description.alias ?? column.name
            field.domain = description.domain(for: type)
        }
        return field
    }

    private func type(of column: Column) throws -> (FieldType, length: Int) {
        let name = column.type.prefix { $0 != "(" }.trimmingCharacters(in: .whitespaces)
        let length = column.type.drop { $0 != "(" }.dropFirst().prefix { $0.isNumber }
        switch name {
        case "BOOLEAN", "TINYINT", "SMALLINT": return (.smallInteger, 0)
        case "MEDIUMINT": return (.integer, 0)
        case "INT", "INTEGER":
            // Many clients don't know 64-bit fields: one is declared only where a value needs it.
            let needs = try connection.integer(
                """
                SELECT 1 FROM \(table) WHERE \(quoted(column.name)) NOT BETWEEN -2147483648 AND 2147483647 LIMIT 1
                """)
            return (needs == nil ? .integer : .bigInteger, 0)
        case "FLOAT": return (.single, 0)
        case "DOUBLE", "REAL": return (.double, 0)
        case "DATE": return (.dateOnly, 0)
        case "DATETIME": return (.date, 0)
        case "BLOB": return (.blob, 0)
        default: return (.string, Int(length) ?? 0)
        }
    }

    /// The kind of layer that a declared type says; nil for types that allow several.
    static func declaredKind(_ type: String?) -> LayerGeometryType? {
        switch type {
        case "POINT": .point
        case "MULTIPOINT": .multipoint
        case "LINESTRING", "MULTILINESTRING", "CURVE", "MULTICURVE", "COMPOUNDCURVE", "CIRCULARSTRING": .polyline
        case "POLYGON", "MULTIPOLYGON", "SURFACE", "MULTISURFACE", "CURVEPOLYGON": .polygon
        default: nil
        }
    }

    /// A layer has one kind of geometry, without curves: what is of another kind would be answered in a wrong place, or not.
    private func requireOneKind(_ survey: ForeignSurvey, _ fileName: String) throws {
        if survey.kinds.count > 1 {
            let kinds = survey.kinds.keys.map(\.layerSuffix).sorted().joined(separator: ", ")
            throw StoreError(
                .invalidDefinition,
                """
                \(content.table) mixes kinds of geometry (\(kinds)); a layer has one. `fieldwork publish` without --in-place \
                makes a copy with a layer of each. To split the file itself: ogr2ogr -where \
                "OGR_GEOMETRY='POINT'" -nln \(content.table)_points OUT.gpkg \(fileName) \(content.table), and so on.
                """)
        }
        if let first = survey.curves.first {
            throw StoreError(
                .invalidDefinition,
                """
                \(content.table) has curves (row \(first)), which can't be served. `fieldwork publish` without --in-place \
                makes a copy with straight pieces in their place; so does \
                ogr2ogr -nlt CONVERT_TO_LINEAR OUT.gpkg \(fileName)
                """)
        }
    }

    /// The table's own column of global ids, or a new one that is filled.
    private func globalIDField(among fields: inout [FieldDefinition]) throws -> String {
        let own = fields.firstIndex { field in
            field.type == .string && ["globalid", "global_id"].contains(field.name.lowercased())
        }
        if let own, try holdsGlobalIDs(fields[own].name) {
            fields[own].type = .globalID
            fields[own].length = 38
            fields[own].isEditable = false
            return fields[own].name
        }
        var name = "GlobalID"
        while fields.contains(where: { $0.name.lowercased() == name.lowercased() }) { name += "_" }
        try connection.execute("ALTER TABLE \(table) ADD COLUMN \(quoted(name)) TEXT(38)")
        try connection.execute("UPDATE \(table) SET \(quoted(name)) = \(ChangeTriggers.newGlobalID)")
        fields.append(FieldDefinition(name: name, type: .globalID, length: 38, isEditable: false))
        return name
    }

    /// Whether every row has an id of its own in the form that is looked for.
    private func holdsGlobalIDs(_ name: String) throws -> Bool {
        let column = quoted(name)
        return try connection.integer(
            """
            SELECT count(*) = count(DISTINCT \(column)) AND coalesce(min(\(column) GLOB '{*-*-*-*-*}'
                AND length(\(column)) = 38 AND upper(\(column)) = \(column)), 1) FROM \(table)
            """) == 1
    }
}
