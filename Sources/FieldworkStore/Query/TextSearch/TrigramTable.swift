import FieldworkREST

/// The text index of a layer in a file: a table of FTS5 with the tokenizer `trigram` (<https://sqlite.org/fts5.html#the_trigram_tokenizer>).
/// It keeps no texts of its own, only which rows have which three characters. Triggers of the file keep it true, whatever program
/// edits the layer; they call nothing but SQLite's own functions.
///
/// An entry too much, as `INSERT OR REPLACE` leaves of the row that it replaces without a trigger, is harmless: each row that is found
/// is looked at.
struct TrigramTable: TextIndexing {
    static func name(_ layerID: Int) -> String { "fieldwork_text_\(layerID)" }

    private func table(_ layer: StoredLayer) -> String { Self.name(layer.definition.id) }
    private func triggers(_ layer: StoredLayer) -> [String] {
        ["insert", "update", "delete"].map { "\(table(layer))_\($0)" }
    }

    // MARK: Making

    func write(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws {
        let wanted = columns.compactMap { column in layer.slot(of: column).map { (slot: $0, column: column) } }
            .sorted { $0.slot < $1.slot }
        let isAsWanted = try slots(of: layer, on: connection) == Set(wanted.map(\.slot))
        if isAsWanted, !wanted.isEmpty { return }
        try drop(layer, on: connection)
        guard !wanted.isEmpty else { return }
        let table = quoted(table(layer))
        let names = wanted.map { "f\($0.slot)" }.joined(separator: ", ")
        try connection.execute(
            """
            CREATE VIRTUAL TABLE \(table)
            USING fts5(\(names), tokenize = 'trigram', content = '', detail = 'column')
            """)
        let stored = wanted.map { quoted($0.column.name) }
        let key = quoted(layer.objectIDColumn)
        try connection.execute(
            """
            INSERT INTO \(table) (rowid, \(names))
            SELECT \(key), \(Self.folded(stored, of: "")) FROM \(quoted(layer.tableName)) ORDER BY \(key)
            """)
        // One tree of pieces is read faster than several. Edits add small ones, which FTS5 merges as they come.
        try connection.execute("INSERT INTO \(table) (\(table)) VALUES ('optimize')")
        for trigger in makeTriggers(layer, names, stored, key) { try connection.execute(trigger) }
        try GeoPackageSchema.registerOwn(self.table(layer), on: connection)
    }

    private func makeTriggers(_ layer: StoredLayer, _ names: String, _ stored: [String], _ key: String) -> [String] {
        let (table, source) = (quoted(table(layer)), quoted(layer.tableName))
        let enter = "INSERT INTO \(table) (rowid, \(names)) VALUES (NEW.\(key), \(Self.folded(stored, of: "NEW.")))"
        let strike = """
            INSERT INTO \(table) (\(table), rowid, \(names)) VALUES ('delete', OLD.\(key), \(Self.folded(stored, of: "OLD.")))
            """
        let isOther = ([key] + stored).map { "OLD.\($0) COLLATE BINARY IS NOT NEW.\($0)" }.joined(separator: " OR ")
        let bodies = [
            ("INSERT ON \(source)", [enter]),
            ("UPDATE OF \(([key] + stored).joined(separator: ", ")) ON \(source) WHEN \(isOther)", [strike, enter]),
            ("DELETE ON \(source)", [strike]),
        ]
        return zip(triggers(layer), bodies).map { name, body in
            "CREATE TRIGGER \(quoted(name)) AFTER \(body.0) BEGIN \(body.1.joined(separator: "; ")); END"
        }
    }

    /// Texts with an i where a letter beyond ASCII becomes one by UPPER or LOWER; FTS5 folds the others that become ASCII.
    private static func folded(_ columns: [String], of row: String) -> String {
        columns.map { "replace(replace(\(row)\($0), '\u{131}', 'i'), '\u{130}', 'i')" }.joined(separator: ", ")
    }

    private func drop(_ layer: StoredLayer, on connection: StoreConnection) throws {
        for trigger in triggers(layer) { try connection.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))") }
        try connection.execute("DROP TABLE IF EXISTS \(quoted(table(layer)))")
        try connection.run("DELETE FROM gpkg_extensions WHERE lower(table_name) = lower(?)") {
            try $0.bind(table(layer), at: 1)
        }
    }

    func removeIfNames(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws {
        let indexed = try slots(of: layer, on: connection)
        if columns.contains(where: { layer.slot(of: $0).map(indexed.contains) ?? false }) {
            try drop(layer, on: connection)
        }
    }

    /// An index without its triggers may lack rows: it counts as none.
    func slots(of layer: StoredLayer, on connection: StoreConnection) throws -> Set<Int> {
        var slots: Set<Int> = []
        try connection.run(
            """
            SELECT name FROM pragma_table_info(?1) WHERE \(triggers(layer).count) = (
                SELECT count(*) FROM sqlite_master
                WHERE type = 'trigger' AND lower(tbl_name) = lower(?2) AND name IN (?3, ?4, ?5))
            """,
            bind: { statement in
                try statement.bind(table(layer), at: 1)
                try statement.bind(layer.tableName, at: 2)
                for (index, name) in triggers(layer).enumerated() { try statement.bind(name, at: index + 3) }
            }, row: { row in if let slot = Int(row.text(0).dropFirst()) { slots.insert(slot) } })
        return slots
    }

    func bytes(of layer: StoredLayer, on connection: StoreConnection) throws -> Int64? {
        let parts = ["data", "idx", "docsize", "config"].map { "\(table(layer))_\($0)" }
        return try connection.integer(
            "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN (?, ?, ?, ?)"
        ) { for (index, part) in parts.enumerated() { try $0.bind(part, at: index + 1) } }
    }

    // MARK: Asking

    func filter(_ need: TextNeed, _ layer: StoredLayer, on connection: StoreConnection) throws -> TextFilter? {
        guard Self.match(need, { _ in true }) != nil else { return nil }
        let slots = try slots(of: layer, on: connection)
        guard let match = Self.match(need, slots.contains) else { return nil }
        return .candidates(Candidates(textsOf: quoted(table(layer)), match: match))
    }

    /// A need as an expression of FTS5.
    static func match(_ need: TextNeed, _ isIndexed: (Int) -> Bool) -> String? {
        func joined(_ parts: [String], _ sign: String) -> String {
            parts.count == 1 ? parts[0] : "(" + parts.joined(separator: sign) + ")"
        }
        return need.compactMap(
            like: { slot, pattern in
                let grams = grams(of: pattern)
                guard isIndexed(slot), !grams.isEmpty else { return nil }
                return "f\(slot) : (" + grams.map(quoted).joined(separator: " AND ") + ")"
            }, all: { joined($0, " AND ") }, any: { joined($0, " OR ") })
    }

    /// More pieces of a pattern leave hardly fewer rows, and each has a list of rows to be read.
    private static let mostGrams = 8

    private static func grams(of pattern: TextPattern) -> [String] {
        var grams: [String] = []
        for run in pattern.runs(dependable: { isDependable($0, isPlain: pattern.isPlain) }) {
            for start in 0...(run.count - TextPattern.gram) {
                var gram = String.UnicodeScalarView()
                gram.append(contentsOf: run[start..<start + TextPattern.gram].map(FoldedLetters.fold))
                if !grams.contains(String(gram)) { grams.append(String(gram)) }
            }
        }
        // Those that overlap least come first.
        let spread = grams.indices.sorted { ($0 % TextPattern.gram, $0) < ($1 % TextPattern.gram, $1) }
        return spread.prefix(mostGrams).map { grams[$0] }
    }

    /// Whether FTS5 folds a character and all that a condition takes for it to the same. It follows Unicode 6.1, `UPPER` and `LOWER`
    /// Unicode 14, so that letters that got their capital later are left out, and whole alphabets with them.
    static func isDependable(_ scalar: Unicode.Scalar, isPlain: Bool) -> Bool {
        switch scalar.value {
        case ..<0x250, 0x386...0x3CE: true
        case 0x410...0x44F: isPlain
        default: !FoldedLetters.cased.contains(scalar)
        }
    }
}
