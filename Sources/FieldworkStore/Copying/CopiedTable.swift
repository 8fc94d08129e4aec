import FieldworkGeometry
import FieldworkREST
import Foundation

/// A table of a service as the copier reads and writes it on one store.
struct CopiedTable {
    /// The same on every store: tables of one label hold the same.
    var label: String
    var name: String
    var columns: [StoredColumn]
    /// How many of the first columns are the key: rows are read in its order.
    var keyCount = 1
    /// Whether the first column is numbered by the database.
    var isNumbered = false
    /// Of the geometries, where there is a column of them.
    var reference: SpatialReference?
    var srsID = SpatialReferenceTable.undefinedCartesian

    var geometryIndex: Int? { columns.firstIndex { $0.kind == .geometry } }

    /// Reads each row in the order of the key, in the values that a store would give.
    /// - Parameter srsID: the number of the geometries' reference in the file or schema that they are meant for.
    func forEachRow(
        on connection: StoreConnection, srsID: Int32, _ body: ([AttributeValue]) throws -> Void
    ) throws {
        let names = columns.map { quoted($0.name) }
        let statement = try connection.cached(
            """
            SELECT \(names.joined(separator: ", ")) FROM \(quoted(name))
            ORDER BY \(names.prefix(keyCount).joined(separator: ", "))
            """)
        defer { statement.finish() }
        statement.stream()
        let geometryIndex = geometryIndex
        var row = [AttributeValue](repeating: .null, count: columns.count)
        var count = 0
        while try statement.step() {
            if count % Limits.rowsOfPage == 0 { try Task.checkCancellation() }
            count += 1
            for (index, column) in columns.enumerated() {
                row[index] =
                    index == geometryIndex
                    ? try geometry(statement, index, srsID: srsID)
                    : Self.plain(AttributeRules.storedAsIs(column.value(statement, index), in: column))
            }
            try body(row)
        }
    }

    /// What every store can hold: SQLite knows neither NaN nor a negative zero.
    private static func plain(_ value: AttributeValue) -> AttributeValue {
        guard case .real(let number) = value else { return value }
        return number.isNaN ? .null : number == 0 ? .real(0) : value
    }

    private func geometry(_ row: StoreStatement, _ index: Int, srsID: Int32) throws -> AttributeValue {
        guard !row.isNull(index) else { return .null }
        do {
            guard let geometry = try GeoPackageBinary.geometry(from: row.blob(index), spatialReference: reference)
            else {
                return .null
            }
            return .data(Data(GeoPackageBinary.blob(for: geometry, srsID: srsID, isMulti: true)))
        } catch {
            throw StoreError(.corrupt, "A geometry in \(name) can't be read: row \(row.text(0)).")
        }
    }
}

extension StoredColumn {
    static func integer(_ name: String) -> StoredColumn {
        StoredColumn(FieldDefinition(name: name, type: .bigInteger))
    }

    static func text(_ name: String) -> StoredColumn { StoredColumn(FieldDefinition(name: name, type: .string)) }

    static func geometry(_ name: String) -> StoredColumn { StoredColumn(FieldDefinition(name: name, type: .geometry)) }
}
