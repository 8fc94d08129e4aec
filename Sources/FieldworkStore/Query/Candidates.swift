import FieldworkREST

/// The ids of features whose boxes meet a box, from a layer's R-tree.
struct Candidates {
    let sql: String
    let arguments: [QueryPlan.Argument]
    /// What is bound where a table is joined to them.
    let list: QueryPlan.Argument

    init(index: SpatialIndex, box: GeometryBlob.Box) {
        sql = "SELECT id FROM \(quoted(index.name)) WHERE minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?"
        arguments = [box.xMax, box.xMin, box.yMax, box.yMin].map { .value(.real($0)) }
        list = .candidates(index, box)
    }

    /// A table joined to the ids, row by row in their order; see `CandidateList`.
    ///
    /// SQLite walks through the tables of a CROSS JOIN as they stand (<https://sqlite.org/optoverview.html#crossjoin>).
    func joined(to table: String, by key: String) -> String {
        "fieldwork_ids(?) AS candidate CROSS JOIN \(table) ON \(key) = candidate.id"
    }
}
