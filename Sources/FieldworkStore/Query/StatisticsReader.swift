import FieldworkREST
import Foundation
import GRDBSQLite

/// Reads the rows of a query for statistics.
struct StatisticsReader {
    let layer: StoredLayer
    let connection: SQLiteConnection

    func result(_ query: StatisticsQuery) throws -> StatisticsResult {
        let compiled = try StatisticsCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .plan(query)
        let statement = try compiled.plan.statement(on: connection)
        defer { statement.finish() }
        let types = query.fields.map(\.type)
        var result = StatisticsResult(rows: [], exceededTransferLimit: false)
        while try statement.step() {
            guard result.rows.count < query.limit else {
                result.exceededTransferLimit = true
                break
            }
            result.rows.append((0..<compiled.columns).map { value(statement, $0, types[$0]) })
        }
        return result
    }

    private func value(_ row: SQLiteStatement, _ index: Int, _ type: FieldType) -> AttributeValue {
        switch row.type(index) {
        case SQLITE_INTEGER:
            let number = row.integer(index)
            // Days and times are counted inside an expression and written as texts.
            switch type {
            case .dateOnly: return .text(String(DateText.text(milliseconds: number).prefix(10)))
            case .double, .single: return .real(Double(number))
            default: return .integer(number)
            }
        case SQLITE_FLOAT:
            if type == .date { return .integer(Int64(row.double(index))) }
            return .real(row.double(index))
        case SQLITE_TEXT: return .text(row.text(index))
        default: return .null
        }
    }
}
