import FieldworkGeometry
import FieldworkREST

/// A layer or table as it lies in the file: its definition and where its columns are. A value: readers and the writer
/// have the same one.
package struct StoredLayer: Sendable {
    var definition: LayerDefinition
    var tableName: String
    /// nil for a table.
    var geometryColumn: String?
    var srsID: Int32
    /// The table lies elsewhere in a database, and the one of this name is a view of it.
    var isPlaced = false
    /// Columns that are not given to whoever asks; see `shown(as:)`.
    var hiddenColumns: [StoredColumn] = []
    /// The columns of attributes, in the order of the definition's fields.
    let columns: [StoredColumn]
    /// The bit of each column in the masks of the change log: its position, until fields come and go.
    let slots: [Int]
    let objectIDIndex: Int
    let globalIDIndex: Int?
    private let indexByName: [String: Int]
    private let indexByLowercasedName: [String: Int]

    init(definition: LayerDefinition, tableName: String, geometryColumn: String?, srsID: Int32, slots: [Int]? = nil)
        throws
    {
        self.definition = definition
        self.tableName = tableName
        self.geometryColumn = geometryColumn
        self.srsID = srsID
        columns = definition.fields.map(StoredColumn.init)
        self.slots = slots ?? Array(columns.indices)
        indexByName = Dictionary(zip(columns.map(\.name), columns.indices), uniquingKeysWith: { first, _ in first })
        indexByLowercasedName = Dictionary(
            zip(columns.map { $0.name.lowercased() }, columns.indices), uniquingKeysWith: { first, _ in first })
        guard let objectIDIndex = indexByLowercasedName[definition.objectIDField.lowercased()],
            columns[objectIDIndex].kind == .objectID
        else {
            throw StoreError(
                .invalidDefinition, "Layer \(definition.id) has no object id field \(definition.objectIDField).")
        }
        self.objectIDIndex = objectIDIndex
        globalIDIndex = definition.globalIDField.flatMap { [indexByLowercasedName] in
            indexByLowercasedName[$0.lowercased()]
        }
    }

    /// Its geometries are points of two coordinates, unless another program has written something else.
    var holdsPlainPoints: Bool { definition.geometryType == .point && !definition.hasZ && !definition.hasM }

    /// The position of a column, without regard to case.
    func index(of name: String) -> Int? { indexByName[name] ?? indexByLowercasedName[name.lowercased()] }

    var objectIDColumn: String { columns[objectIDIndex].name }
    var globalIDColumn: String? { globalIDIndex.map { columns[$0].name } }
    var historyTable: String { "fieldwork_history_\(definition.id)" }
    /// The R-tree, named as the GeoPackage standard wants it.
    var spatialIndex: String? { geometryColumn.map { "rtree_\(tableName)_\($0)" } }
}

/// A field's column.
struct StoredColumn: Sendable {
    /// How values are kept.
    enum Kind: Sendable, Hashable {
        case objectID, integer, real, text, guid, globalID, date, dateOnly, timeOnly, timestampOffset, data
        /// The protocol lists the geometry among the fields of some layers; it is no attribute.
        case geometry
    }

    let field: FieldDefinition
    let kind: Kind

    var name: String { field.name }
    /// Whether a column of the table holds the field.
    var isStored: Bool { kind != .geometry }

    init(_ field: FieldDefinition) {
        self.field = field
        kind =
            switch field.type {
            case .oid: .objectID
            case .smallInteger, .integer, .bigInteger: .integer
            case .single, .double: .real
            case .string, .xml: .text
            case .guid: .guid
            case .globalID: .globalID
            case .date: .date
            case .dateOnly: .dateOnly
            case .timeOnly: .timeOnly
            case .timestampOffset: .timestampOffset
            case .blob, .raster: .data
            case .geometry: .geometry
            }
    }

    /// The column's type in GeoPackage's words.
    var sqlType: String {
        switch field.type {
        case .oid: "INTEGER"
        case .smallInteger: "SMALLINT"
        case .integer: "MEDIUMINT"
        case .bigInteger: "INTEGER"
        case .single: "FLOAT"
        case .double: "DOUBLE"
        case .string, .xml: field.length > 0 ? "TEXT(\(field.length))" : "TEXT"
        case .guid, .globalID: "TEXT(38)"
        case .date: "DATETIME"
        case .dateOnly: "DATE"
        case .timeOnly, .timestampOffset: "TEXT"
        case .blob, .raster: "BLOB"
        case .geometry: "GEOMETRY"
        }
    }
}
