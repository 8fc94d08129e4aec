import FieldworkREST
import Foundation
import GRDBSQLite

/// Turns a calculation into updates, by reading what its expressions give for each feature. All are read before the first
/// is written: the statement must not walk what it changes.
struct CalculationReader {
    let layer: StoredLayer
    let connection: StoreConnection
    let user: String?

    /// Throws `StoreError.invalidQuery` when there are more features than one transaction should change.
    func updates(_ calculation: FieldCalculation) throws -> [FeatureEdit] {
        let compiled = QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
        var expressions = ExpressionCompiler(
            layer: layer, dialect: connection.dialect, alias: QueryCompiler.alias, now: compiled.now, user: user)
        var selected = ["\(QueryCompiler.alias).\(quoted(layer.objectIDColumn))"]
        for assignment in calculation.assignments {
            guard case .expression(let expression) = assignment.value else { continue }
            // A field alone is taken as it is stored; what is counted with is a number, dates too.
            selected.append(try expressions.orderTerm(expression))
        }
        let parts = try compiled.conditions(of: calculation.features)
        let limit = FieldworkREST.Limits.calculatedFeatures
        let plan = QueryPlan(
            sql: """
                SELECT \(selected.joined(separator: ", ")) FROM \(quoted(layer.tableName)) AS \(QueryCompiler.alias)\
                \(parts.whereClause) ORDER BY \(selected[0]) LIMIT \(limit + 1)
                """,
            arguments: expressions.arguments.map(QueryPlan.Argument.value) + parts.arguments, columns: [],
            hasGeometry: false)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var updates: [FeatureEdit] = []
        while try statement.step() {
            guard updates.count < limit else {
                throw StoreError(
                    .invalidQuery, "'where' chooses more than \(limit) features: calculate them in several steps.")
            }
            updates.append(update(calculation, statement))
        }
        return updates
    }

    private func update(_ calculation: FieldCalculation, _ row: StoreStatement) -> FeatureEdit {
        var column = 0
        let attributes = calculation.assignments.map { assignment -> (name: String, value: AttributeValue) in
            switch assignment.value {
            case .constant(let value): return (assignment.field, value)
            case .expression:
                column += 1
                return (assignment.field, Self.value(row, column))
            }
        }
        return FeatureEdit(objectID: row.integer(0), attributes: attributes)
    }

    private static func value(_ row: StoreStatement, _ index: Int) -> AttributeValue {
        switch row.type(index) {
        case SQLITE_INTEGER: .integer(row.integer(index))
        case SQLITE_FLOAT: .real(row.double(index))
        case SQLITE_TEXT: .text(row.text(index))
        case SQLITE_BLOB: .data(Data(row.blob(index)))
        default: .null
        }
    }
}
