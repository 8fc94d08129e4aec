/// What the database says of a table.
struct TableFacts {
    /// The types of the columns, in SQL.
    var types: [String: String] = [:]
    /// Columns whose values one row may keep from another.
    var guarded: Set<String> = []
    /// Whether rows of the table may keep each other.
    var refersToItself = false

    init(_ rules: RowRules, on connection: StoreConnection) throws {
        try connection.run(
            """
            SELECT a.attname::text, format_type(a.atttypid, -1), EXISTS (
                SELECT 1 FROM pg_catalog.pg_index AS i WHERE i.indrelid = a.attrelid AND (i.indisunique OR i.indisexclusion)
                    AND (a.attnum = ANY (i.indkey::int2[]) OR 0 = ANY (i.indkey::int2[])))::int, EXISTS (
                SELECT 1 FROM pg_catalog.pg_constraint AS c
                WHERE c.contype = 'f' AND c.conrelid = a.attrelid AND c.confrelid = a.attrelid)::int
            FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped
            """, bind: { try $0.bind(rules.table, at: 1) },
            row: { row in
                types[row.text(0)] = row.text(1)
                if row.integer(2) == 1 { guarded.insert(row.text(0)) }
                if row.integer(3) == 1 { refersToItself = true }
            })
    }
}
