import FieldworkREST
import Foundation

/// Reads rows of statistics as values.
struct StatisticsReader {
    let layer: StoredLayer
    let connection: StoreConnection

    /// The rows, each in the order of the query's fields. Throws `StoreError.overLimit` when there are more than `most`.
    func rows(_ query: StatisticsQuery, most: Int) throws -> [[AttributeValue]] {
        let compiler = QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
        let plan = try StatisticsCompiler(features: compiler, query: query).plan()
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var rows: [[AttributeValue]] = []
        while try statement.step() {
            guard rows.count < most else {
                throw StoreError(.overLimit, "There are more than \(most) groups.")
            }
            rows.append(plan.columns.enumerated().map { index, column in column.value(statement, index) })
            if rows.count % Limits.rowsBetweenChecks == 0 { try connection.watch.check() }
        }
        return rows
    }
}
