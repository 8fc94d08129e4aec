import FieldworkREST

/// A query as a statement of SQLite: its text, what is bound to it, what its columns are. A value; it becomes a running
/// statement on the reader that takes it.
struct QueryPlan: Sendable {
    enum Argument: Sendable {
        case value(AttributeValue)
        /// An exact test by `SpatialMatcher`.
        case filter(SpatialFilter)
        /// A list that `CandidateList` makes.
        case candidates(SpatialIndex, GeometryBlob.Box)
        /// A list of ids, which SQLite reads as a table; see `SQLDialect.idList`.
        case ids([Int64])
    }

    var sql: String
    var arguments: [Argument]
    /// Columns of the answer, in order, before the geometry.
    var columns: [StoredColumn]
    /// Whether the column after the attributes is the geometry.
    var hasGeometry: Bool
    /// Rows beyond this only tell that there are more.
    var limit: Int?
    /// nil where the database sorts.
    var unsorted: Unsorted?
    /// How many columns after the attributes are geometries of groups.
    var aggregates = 0

    /// The same without an order. A page that has all rows is put in order faster here: a database that sorts rows copies each of them.
    /// Its points may come in a form of their own (`SQLDialect.plainPoint`).
    struct Unsorted {
        var sql: String
        var arguments: [Argument]
        /// The column of object ids, which is to give the order.
        var key: Int
    }

    /// The statement, bound and ready to step. Whoever takes it finishes it.
    func statement(on connection: StoreConnection) throws -> StoreStatement {
        try statement(sql, arguments, on: connection)
    }

    /// The same for one page, which comes whole.
    func statementOfPage(on connection: StoreConnection) throws -> StoreStatement {
        if let unsorted, let limit {
            let statement = try statement(unsorted.sql, unsorted.arguments, on: connection)
            statement.page()
            do {
                if try statement.session?.runSorted(by: unsorted.key, most: limit) == true { return statement }
            } catch {
                statement.finish()
                throw error
            }
            // Which rows are the first is for the database to say.
            statement.finish()
        }
        let page = try statement(on: connection)
        page.page()
        return page
    }

    private func statement(
        _ sql: String, _ arguments: [Argument], on connection: StoreConnection
    ) throws -> StoreStatement {
        let statement = try connection.cached(sql)
        do {
            for (index, argument) in arguments.enumerated() {
                switch argument {
                case .value(let value): try statement.bind(value, at: index + 1)
                case .filter(let filter):
                    let matcher = try SpatialMatcher(filter, watch: connection.watch)
                    try statement.bind(object: matcher, type: SpatialMatcher.pointerType, at: index + 1)
                case .candidates(let tree, let box):
                    let list = CandidateList(tree, box, on: connection)
                    try statement.bind(object: list, type: IDList.pointerType, at: index + 1)
                case .ids(let ids):
                    try statement.bind(object: IDList(ids), type: IDList.pointerType, at: index + 1)
                }
            }
            return statement
        } catch {
            statement.finish()
            throw error
        }
    }
}
