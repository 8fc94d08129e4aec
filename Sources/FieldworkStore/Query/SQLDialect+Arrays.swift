import FieldworkGeometry
import FieldworkREST

/// Lists of values that are given to a statement as one JSON array.
extension SQLDialect {
    /// A query that gives the members of a JSON array, which is its argument, to be compared with a column.
    func array(of column: StoredColumn) -> String {
        if isSQLite { return textsOfArray }
        switch column.kind {
        case .objectID, .integer: return integersOfArray
        case .real: return "SELECT CAST(value AS \(realType)) FROM (\(textsOfArray)) AS texts"
        case .date: return "SELECT to_timestamp(value::bigint / 1000.0) FROM (\(textsOfArray)) AS texts"
        default: return textsOfArray
        }
    }

    /// Values as the members of such an array. What a column can't hold at all is left out where types are strict.
    func members(_ values: Set<AttributeValue>, of column: StoredColumn) -> [JSONValue] {
        if isSQLite { return values.map(\.json) }
        return values.compactMap { try? AttributeRules.coerced($0, column).json }
    }
}
