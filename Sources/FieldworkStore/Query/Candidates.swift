import FieldworkREST

/// The ids of features whose boxes meet a box, from a layer's R-tree.
struct Candidates {
    let sql: String
    let arguments: [QueryPlan.Argument]

    init(index: SpatialIndex, box: GeometryBlob.Box) {
        sql = "SELECT id FROM \(quoted(index.name)) WHERE minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?"
        arguments = [box.xMax, box.xMin, box.yMax, box.yMin].map { .value(.real($0)) }
    }

    /// A table joined to the ids, row by row in their order.
    ///
    /// SQLite walks through the tables of a CROSS JOIN as they stand (<https://sqlite.org/optoverview.html#crossjoin>). The limit keeps
    /// it from joining first and sorting whole rows afterwards (<https://sqlite.org/optoverview.html#flattening>).
    func joined(to table: String, by key: String) -> String {
        "(\(sql) ORDER BY id LIMIT -1) AS candidate CROSS JOIN \(table) ON \(key) = candidate.id"
    }
}
