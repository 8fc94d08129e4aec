import FieldworkREST

/// A query as a statement of SQLite: its text, what is bound to it, what its columns are. A value; it becomes a running
/// statement on the reader that takes it.
struct QueryPlan: Sendable {
    enum Argument: Sendable {
        case value(AttributeValue)
        /// An exact test by `SpatialMatcher`.
        case filter(SpatialFilter)
    }

    var sql: String
    var arguments: [Argument]
    /// Columns of the answer, in order, before the geometry.
    var columns: [StoredColumn]
    /// Whether the column after the attributes is the geometry.
    var hasGeometry: Bool
    /// Rows beyond this only tell that there are more.
    var limit: Int?
    /// How many columns after the attributes are geometries of groups.
    var aggregates = 0

    /// The statement, bound and ready to step. Whoever takes it finishes it.
    func statement(on connection: StoreConnection) throws -> StoreStatement {
        let statement = try connection.cached(sql)
        do {
            for (index, argument) in arguments.enumerated() {
                switch argument {
                case .value(let value): try statement.bind(value, at: index + 1)
                case .filter(let filter):
                    let matcher = try SpatialMatcher(filter)
                    try statement.bind(object: matcher, type: SpatialMatcher.pointerType, at: index + 1)
                }
            }
            return statement
        } catch {
            statement.finish()
            throw error
        }
    }
}
