import FieldworkREST
package import FieldworkStore

/// A connection as the store uses it: its errors are the store's.
extension PostgresConnection: DatabaseSession {
    package func perform(_ sql: String) throws { try storing { () throws(PostgresError) in try execute(sql) } }

    package func rollBackTransaction() throws { try storing { () throws(PostgresError) in try rollBack() } }

    package func statement(_ sql: String) throws -> any DatabaseStatement {
        try storing { () throws(PostgresError) in try cached(sql) }
    }

    package func load(into table: String, columns: [String]) throws -> any DatabaseLoad {
        try storing { () throws(PostgresError) in
            try PostgresLoad(PostgresCopy(into: table, columns: columns, on: self))
        }
    }

    package func commitTransaction() throws { try storing { () throws(PostgresError) in try commit() } }
}

extension PostgresStatement: DatabaseStatement {
    package func advance() throws -> Bool { try storing { () throws(PostgresError) in try step() } }

    package func runSorted(by column: Int, most: Int) throws -> Bool {
        try storing { () throws(PostgresError) in try sort(by: column, most: most) }
    }

    package func advanceTellingConstraints() throws -> StoreStatement.Outcome {
        do {
            _ = try step()
            return .done
        } catch {
            switch error.kind {
            case .notUnique: return .notUnique(error.message)
            case .refused: return .refused(error.message)
            default: throw error.storeError
            }
        }
    }
}

/// A bulk load by `COPY`, whose errors are the store's.
private final class PostgresLoad: DatabaseLoad {
    private let copy: PostgresCopy

    init(_ copy: PostgresCopy) { self.copy = copy }

    func add(_ values: [AttributeValue]) throws { try storing { () throws(PostgresError) in try copy.add(values) } }

    func finish() throws -> Int { try storing { () throws(PostgresError) in try copy.finish() } }
}

/// Runs something and throws its error as the store's.
private func storing<Result>(_ body: () throws(PostgresError) -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        throw error.storeError
    }
}
