import FieldworkREST

/// The text index of a layer in PostgreSQL: an index of `pg_trgm` for each column, on the text with small letters of ASCII. A
/// condition on that text comes before the one that was asked for, and PostgreSQL decides whether the index serves.
struct PostgresTextIndex: TextIndexing {
    private static let `extension` = "pg_trgm"

    private func prefix(_ layer: StoredLayer) -> String { "fieldwork_text_\(layer.definition.id)_" }

    /// Built of PostgreSQL's own functions: an index must not change its meaning with a function that is made anew.
    private static func folded(_ column: String) -> String {
        var (from, to) = (String.UnicodeScalarView(), String.UnicodeScalarView())
        from.append(contentsOf: FoldedLetters.pairs.map(\.from))
        to.append(contentsOf: FoldedLetters.pairs.map(\.to))
        return "translate(lower(\(column) COLLATE \"C\"), '\(String(from))', '\(String(to))')"
    }

    // MARK: Making

    func write(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws {
        let wanted = columns.compactMap { column in layer.slot(of: column).map { (slot: $0, column: column) } }
        let present = try slots(of: layer, on: connection)
        for slot in present.subtracting(wanted.map(\.slot)) {
            try connection.execute("DROP INDEX \(quoted("\(prefix(layer))\(slot)"))")
        }
        let missing = wanted.filter { !present.contains($0.slot) }
        guard !missing.isEmpty else { return }
        let place = try schemaOfExtension(on: connection)
        for (slot, column) in missing {
            try connection.execute(
                """
                CREATE INDEX \(quoted("\(prefix(layer))\(slot)")) ON \(quoted(layer.tableName))
                USING gin (\(Self.folded(quoted(column.name))) \(quoted(place)).gin_trgm_ops)
                """)
        }
    }

    private func schemaOfExtension(on connection: StoreConnection) throws -> String {
        func schema() throws -> String? {
            try connection.text(
                """
                SELECT n.nspname::text FROM pg_catalog.pg_extension AS e
                JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = ?
                """
            ) { try $0.bind(Self.extension, at: 1) }
        }
        if let known = try schema() { return known }
        do {
            // Not in the service's own schema, with which it would go.
            try connection.execute("CREATE EXTENSION \(Self.extension) SCHEMA \(quoted(PostgresFunctions.schema))")
        } catch let error as StoreError where error.code == .failure {
            throw StoreError(
                .invalidDefinition,
                """
                A text index needs PostgreSQL's \(Self.extension), which can't be made here (\(error.message)). Let an administrator \
                run CREATE EXTENSION \(Self.extension) in the database.
                """)
        }
        return try schema() ?? PostgresFunctions.schema
    }

    /// PostgreSQL drops an index with its column.
    func removeIfNames(_ columns: [StoredColumn], of layer: StoredLayer, on connection: StoreConnection) throws {}

    func slots(of layer: StoredLayer, on connection: StoreConnection) throws -> Set<Int> {
        let prefix = prefix(layer)
        let names = try PostgresDefinitionChange.indexes(beginning: prefix, on: connection)
        return Set(names.compactMap { Int($0.dropFirst(prefix.count)) })
    }

    func bytes(of layer: StoredLayer, on connection: StoreConnection) throws -> Int64? {
        try connection.integer(
            """
            SELECT sum(pg_catalog.pg_relation_size(oid))::bigint FROM pg_catalog.pg_class
            WHERE relnamespace = current_schema()::regnamespace AND starts_with(relname::text, ?)
            """
        ) { try $0.bind(prefix(layer), at: 1) }
    }

    // MARK: Asking

    /// Asks the database nothing: what is declared is there, and a condition without its index would be true of the same features.
    func filter(_ need: TextNeed, _ layer: StoredLayer, on connection: StoreConnection) throws -> TextFilter? {
        Self.condition(need, layer, layer.textSlots.contains).map { .condition($0.sql, $0.arguments) }
    }

    private typealias Condition = (sql: String, arguments: [QueryPlan.Argument])

    private static func condition(
        _ need: TextNeed, _ layer: StoredLayer, _ isIndexed: (Int) -> Bool
    ) -> Condition? {
        func joined(_ parts: [Condition], _ sign: String) -> Condition {
            ("(" + parts.map(\.sql).joined(separator: sign) + ")", parts.flatMap(\.arguments))
        }
        return need.compactMap(
            like: { slot, pattern -> Condition? in
                guard isIndexed(slot), let column = layer.column(ofSlot: slot), let text = text(pattern) else {
                    return nil
                }
                let place = "\(QueryCompiler.alias).\(quoted(column.name))"
                return ("(\(folded(place)) LIKE ?::text)", [.value(.text(text))])
            }, all: { joined($0, " AND ") }, any: { joined($0, " OR ") })
    }

    /// The pattern for the folded text: a character that may stand for several becomes `_`. nil for one by which no index finds
    /// anything.
    private static func text(_ pattern: TextPattern) -> String? {
        func isDependable(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII || pattern.isPlain || !FoldedLetters.cased.contains(scalar)
        }
        // pg_trgm reads letters and numbers only.
        let runs = pattern.runs { isDependable($0) && ($0.properties.isAlphabetic || $0.properties.numericType != nil) }
        guard !runs.isEmpty else { return nil }
        var text = String.UnicodeScalarView()
        for part in pattern.parts {
            switch part {
            case .any: text.append("%")
            case .one: text.append("_")
            case .literal(let scalar):
                guard isDependable(scalar) else {
                    text.append("_")
                    continue
                }
                if ["%", "_", "\\"].contains(scalar) { text.append("\\") }
                text.append(FoldedLetters.fold(scalar))
            }
        }
        return String(text)
    }
}
