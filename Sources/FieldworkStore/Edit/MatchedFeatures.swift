import FieldworkREST
import Foundation

/// The features that a condition chose, all found before the first is deleted: a statement must not walk what it changes.
/// Their ids lie in a temporary table, of which SQLite holds a few pages in memory, however many they are.
struct MatchedFeatures {
    private var table: String { "\(connection.dialect.temporarySchema).fieldwork_matched" }
    private let connection: StoreConnection

    /// Finds them. All that the condition chooses are meant: a limit or an order of the query says nothing here.
    init(_ query: FeatureQuery, in layer: StoredLayer, on connection: StoreConnection) throws {
        self.connection = connection
        var query = query
        (query.limit, query.offset, query.order) = (nil, 0, [])
        let type = connection.dialect.integerType
        try connection.run("CREATE TEMP TABLE IF NOT EXISTS fieldwork_matched (id \(type) PRIMARY KEY)")
        try forget()
        var plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .identifiers(query)
        plan.sql = """
            WITH chosen (id, global_id) AS (\(plan.sql)) INSERT INTO \(table) SELECT id FROM chosen
            """
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        while try statement.step() {}
    }

    func count() throws -> Int { Int(try connection.integer("SELECT count(*) FROM \(table)") ?? 0) }

    /// Calls the body with each object id, in ascending order, until it says false.
    func forEach(_ body: (Int64) throws -> Bool) throws {
        let statement = try connection.cached("SELECT id FROM \(table) ORDER BY id")
        defer { statement.finish() }
        while try statement.step() {
            guard try body(statement.integer(0)) else { return }
        }
    }

    /// Gives the room back.
    func forget() throws { try connection.run("DELETE FROM \(table)") }
}
