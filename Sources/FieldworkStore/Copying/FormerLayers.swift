import FieldworkGeometry
import FieldworkREST

/// What the history keeps of fields and layers that are gone: no definition of today tells of their columns, those of then do.
struct FormerLayers {
    /// A layer that was removed.
    struct History {
        var definition: LayerDefinition
        var table: CopiedTable
    }

    /// Columns of removed fields, by layer, in the order of their names.
    private(set) var removedColumns: [Int: [StoredColumn]] = [:]
    private(set) var histories: [History] = []

    static let versionColumns = [
        "fieldwork_version", "fieldwork_object_id", "fieldwork_generation", "fieldwork_operation",
    ].map { StoredColumn.integer($0) }
    private static let historyPrefix = "fieldwork_history_"
    private static let removedPrefix = "fieldwork_removed_"

    static func read(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws -> FormerLayers {
        var result = FormerLayers()
        let definitions = try replacedDefinitions(on: connection)
        let tables = try connection.texts(connection.dialect.historyTables)
        for id in tables.compactMap({ Int($0.dropFirst(historyPrefix.count)) }).sorted() {
            let table = historyPrefix + "\(id)"
            if let layer = catalogue.layers[id] {
                var known = Set(layer.columns.map { $0.name })
                if let geometry = layer.geometryColumn { known.insert(geometry) }
                result.removedColumns[id] = try values(of: table, id, definitions, on: connection)
                    .filter { !known.contains($0.name) }
            } else if let last = definitions.last(where: { $0.layers[id] != nil })?.layers[id] {
                let values = try values(of: table, id, definitions, on: connection)
                var history = CopiedTable(label: table, name: table, columns: versionColumns + values)
                history.isNumbered = true
                history.reference = last.spatialReference
                result.histories.append(History(definition: last, table: history))
            } else {
                throw StoreError(.corrupt, "Nothing tells of the layer whose history \(table) is.")
            }
        }
        return result
    }

    /// The same in a copy, where references may have other numbers.
    func adapted(to copy: StoreConnection) throws -> FormerLayers {
        var result = self
        for (index, history) in histories.enumerated() {
            result.histories[index].table.srsID = try SpatialReferenceTable.id(of: history.table.reference, on: copy)
        }
        return result
    }

    private struct Replaced {
        /// That ended it.
        var generation: Int64
        var layers: [Int: LayerDefinition]
    }

    private static func replacedDefinitions(on connection: StoreConnection) throws -> [Replaced] {
        guard try connection.hasTable("fieldwork_definitions") else { return [] }
        var result: [Replaced] = []
        try connection.run(
            "SELECT generation, definition FROM fieldwork_definitions ORDER BY generation",
            row: { row in
                do {
                    let service = try ServiceDefinition(storageJSON: JSONParser.parse(row.text(1)))
                    result.append(
                        Replaced(
                            generation: row.integer(0),
                            layers: Dictionary(service.layers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })))
                } catch {
                    throw StoreError(.corrupt, "An earlier definition can't be read: \(error).")
                }
            })
        return result
    }

    /// The columns with what was superseded, in the order of their names; the geometry, if there is one, last.
    private static func values(
        of table: String, _ layerID: Int, _ definitions: [Replaced], on connection: StoreConnection
    ) throws -> [StoredColumn] {
        var columns: [StoredColumn] = []
        try connection.run(
            connection.dialect.columnsOfTable, bind: { try $0.bind(table, at: 1) },
            row: { row in
                let (name, type) = (row.text(0), row.text(1))
                let field =
                    connection.dialect.isSQLite
                    ? field(name, layerID, definitions)
                    : FieldDefinition(name: name, type: Self.types[type] ?? .string)
                columns.append(StoredColumn(field))
            })
        let values = columns.filter { column in !versionColumns.contains { $0.name == column.name } }
            .sorted { $0.name < $1.name }
        return values.filter { $0.kind != .geometry } + values.filter { $0.kind == .geometry }
    }

    /// What the types of PostgreSQL hold.
    private static let types: [String: FieldType] = [
        "bigint": .bigInteger, "double precision": .double, "timestamp with time zone": .date, "bytea": .blob,
        "geometry": .geometry,
    ]

    /// The columns of a history in SQLite have no type.
    private static func field(_ name: String, _ layerID: Int, _ definitions: [Replaced]) -> FieldDefinition {
        var (plain, generation) = (name, Int64.max)
        if name.hasPrefix(removedPrefix) {
            let rest = name.dropFirst(removedPrefix.count)
            generation = rest.prefix { $0 != "_" }.isEmpty ? .max : Int64(rest.prefix { $0 != "_" }) ?? .max
            plain = String(rest.drop { $0 != "_" }.dropFirst())
        }
        let layer = definitions.last { $0.generation <= generation && $0.layers[layerID] != nil }?.layers[layerID]
        guard var field = layer?.field(named: plain) else {
            // The geometry is no field.
            let isGeometry = plain == name && layer?.isTable == false
            return FieldDefinition(name: name, type: isGeometry ? .geometry : .string)
        }
        field.name = name
        return field
    }
}
