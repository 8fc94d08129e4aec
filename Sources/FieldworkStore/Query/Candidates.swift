import FieldworkREST

/// The ids of features that an index names: those whose boxes meet a box, or those whose texts have some pieces.
struct Candidates {
    let sql: String
    let arguments: [QueryPlan.Argument]
    /// A table of the ids in their order, what is bound to it, and the name of its column.
    private let table: String
    let list: QueryPlan.Argument
    private let id: String
    /// What a statement ends with that walks through the table; empty where the table has but one order.
    let order: String

    /// The ids of features whose boxes meet a box, from a layer's R-tree.
    init(index: SpatialIndex, box: GeometryBlob.Box) {
        sql = "SELECT id FROM \(quoted(index.name)) WHERE minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?"
        arguments = [box.xMax, box.xMin, box.yMax, box.yMin].map { .value(.real($0)) }
        (table, list, id, order) = ("fieldwork_ids(?)", .candidates(index, box), "id", "")
    }

    /// The ids of features that a table of FTS5 finds, which gives them in their order.
    init(textsOf index: String, match: String) {
        sql = "SELECT rowid FROM \(index)(?)"
        list = .value(.text(match))
        arguments = [list]
        (table, id, order) = ("\(index)(?)", "rowid", " ORDER BY candidate.rowid")
    }

    /// A table joined to the ids, row by row in their order; see `CandidateList`.
    ///
    /// SQLite walks through the tables of a CROSS JOIN as they stand (<https://sqlite.org/optoverview.html#crossjoin>).
    func joined(to other: String, by key: String) -> String {
        "\(table) AS candidate CROSS JOIN \(other) ON \(key) = candidate.\(id)"
    }
}
