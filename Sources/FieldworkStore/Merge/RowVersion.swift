import FieldworkREST
import Foundation
import GRDBSQLite

/// The values of a feature at some time, in a form in which equal means equal: one value a column, the geometry as the
/// bytes that are stored.
struct RowVersion: Sendable {
    var values: [AttributeValue]
    var geometry: [UInt8]?

    func globalID(in layer: StoredLayer) -> UUID? {
        layer.globalIDIndex.flatMap { values[$0].textValue }.flatMap(GUID.parse)
    }

    /// Whether two geometries are the same, whatever else their bytes say of them: stores differ in whether a geometry carries
    /// its envelope and under which number its reference goes.
    static func isSameGeometry(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
        if one == other { return true }
        guard let one, let other else { return false }
        return coordinates(of: one).elementsEqual(coordinates(of: other))
    }

    /// What follows the header of a GeoPackage's geometry (OGC 12-128r18 §2.1.3).
    private static func coordinates(of blob: [UInt8]) -> ArraySlice<UInt8> {
        guard blob.count >= 8 else { return blob[...] }
        let envelopes = [0, 32, 48, 48, 64]
        let kind = Int(blob[3] >> 1 & 0x07)
        return blob.dropFirst(8 + (kind < envelopes.count ? envelopes[kind] : 0))
    }

    /// A client's value as the column would give it back; what doesn't fit the column stays as it is.
    static func comparable(_ value: AttributeValue, _ column: StoredColumn) -> AttributeValue {
        guard !value.isNull, let coerced = try? AttributeRules.coerced(value, column) else { return value }
        return coerced
    }
}

/// Reads versions of features: the present one, and those that the history keeps.
struct VersionReader {
    let layer: StoredLayer
    let connection: StoreConnection

    /// The columns of a version behind the key, from the layer's table or its history.
    private var columns: String {
        var list = layer.columns.enumerated().map { index, column in
            index == layer.objectIDIndex || !column.isStored ? "NULL" : quoted(column.name)
        }
        if let geometryColumn = layer.geometryColumn { list.append(quoted(geometryColumn)) }
        return list.joined(separator: ", ")
    }

    private func version(_ row: StoreStatement) -> RowVersion {
        let values = layer.columns.enumerated().map { index, column in column.value(row, index) }
        let index = layer.columns.count
        guard layer.geometryColumn != nil, row.type(index) == SQLITE_BLOB else {
            return RowVersion(values: values, geometry: nil)
        }
        return RowVersion(values: values, geometry: Array(row.blob(index)))
    }

    /// The feature as it is; nil when there is none.
    func current(_ objectID: Int64) throws -> RowVersion? {
        var found: RowVersion?
        try connection.run(
            "SELECT \(columns) FROM \(quoted(layer.tableName)) WHERE \(quoted(layer.objectIDColumn)) = ?",
            bind: { try $0.bind(objectID, at: 1) }, row: { found = version($0) })
        return found
    }

    /// The feature as it was when a generation was the newest. Whether it was there at all the change log says.
    func version(of objectID: Int64, at generation: Int64) throws -> RowVersion? {
        var found: RowVersion?
        try connection.run(
            """
            SELECT \(columns) FROM \(quoted(layer.historyTable))
            WHERE fieldwork_object_id = ? AND fieldwork_generation > ? ORDER BY fieldwork_version LIMIT 1
            """,
            bind: {
                try $0.bind(objectID, at: 1)
                try $0.bind(generation, at: 2)
            }, row: { found = version($0) })
        return try found ?? current(objectID)
    }

    struct Deleted {
        var objectID: Int64
        var generation: Int64
        var version: RowVersion
    }

    /// What was last deleted under a global id.
    func deleted(_ globalID: UUID) throws -> Deleted? {
        guard let column = layer.globalIDColumn.map(quoted) else { return nil }
        var found: Deleted?
        try connection.run(
            """
            SELECT \(columns)\(layer.geometryColumn == nil ? ", NULL" : ""), fieldwork_object_id, fieldwork_generation
            FROM \(quoted(layer.historyTable)) WHERE \(column) = ? AND fieldwork_operation = 2
            ORDER BY fieldwork_version DESC LIMIT 1
            """,
            bind: { try $0.bind(GUID.normalForm(globalID), at: 1) },
            row: { row in
                let index = layer.columns.count + 1
                found = Deleted(
                    objectID: row.integer(index), generation: row.integer(index + 1), version: version(row))
            })
        return found
    }
}
