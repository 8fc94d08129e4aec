import FieldworkGeometry
import FieldworkREST

extension SQLDialect {
    /// PostgreSQL's way. The `fieldwork_…` functions are those of `PostgresFunctions`, which mean what the functions of the
    /// same names mean in SQLite.
    static let postgres = SQLDialect(
        dateColumn: { "fieldwork_ms(\($0))" },
        timeColumn: { "fieldwork_time(\($0))" },
        function: postgresFunction,
        extract: { part, milliseconds in "fieldwork_\(part.rawValue.lowercased())(\(milliseconds))" },
        cast: { value, type, isDate in
            let text = isDate ? "fieldwork_date_text(\(value))" : "fieldwork_text(\(value))"
            return switch type {
            case .integer: "fieldwork_cast_integer(\(value))"
            case .real: "CAST(fieldwork_number(\(value)) AS double precision)"
            case .text(nil): text
            case .text(let length?): "substr(\(text), 1, \(Swift.max(0, length)))"
            case .timestamp: isDate ? value : "fieldwork_ms(\(value))"
            }
        },
        like: { value, pattern, escape in
            // Without a word about it, a backslash would escape.
            "(fieldwork_text(\(value)) LIKE fieldwork_text(\(pattern)) ESCAPE \(escape ?? "''"))"
        },
        argument: { value in
            switch value {
            case .integer: "?::bigint"
            case .real: "?::double precision"
            case .text, .null: "?::text COLLATE \"C\""
            case .data: "?::bytea"
            }
        },
        truth: { $0.kind == .boolean || $0.kind == .null ? $0.sql : "(fieldwork_number(\($0.sql)) <> 0)" },
        comparable: postgresComparable,
        number: {
            $0.kind == .text || $0.kind == .boolean || $0.kind == .guid ? "fieldwork_number(\($0.sql))" : $0.sql
        },
        divisor: { "nullif(\($0), 0)" },
        realType: "double precision",
        integerType: "bigint",
        greatest: "greatest",
        order: { $1 ? "\($0) DESC NULLS LAST" : "\($0) NULLS FIRST" },
        integersOfArray: "SELECT CAST(value AS bigint) FROM jsonb_array_elements_text(?::jsonb) AS members (value)",
        textsOfArray: """
            SELECT value COLLATE "C" FROM jsonb_array_elements_text(?::jsonb) AS members (value)
            """,
        listedIDs: "SELECT CAST(value AS bigint) FROM jsonb_array_elements_text(?::jsonb) AS members (value)",
        idList: { .value(.text(JSONValue.array($0.map(JSONValue.integer)).text)) },
        sortsGroups: false,
        position: "strpos",
        contentSize: "size",
        newContent: """
            INSERT INTO fieldwork_media (content_type, sha256, size, content)
            VALUES (?, ?, ?, lo_from_bytea(0, ''::bytea)) RETURNING id
            """,
        attachmentTables: """
            SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema()
                AND tablename ~ '^fieldwork_attachment(s|_history)_[0-9]+$'
            """,
        historyTables: """
            SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema()
                AND tablename ~ '^fieldwork_history_[0-9]+$'
            """,
        columnsOfTable: """
            SELECT column_name::text, CASE udt_name WHEN 'geometry' THEN 'geometry' ELSE data_type::text END
            FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?
            """,
        copiedContent: """
            INSERT INTO fieldwork_media (id, content_type, sha256, size, content)
            VALUES (?, ?, ?, ?, lo_from_bytea(0, ''::bytea))
            """,
        noLimit: .null,
        // The row of the service's state is locked to the end: who comes second waits here and reads what the first has
        // committed. What our triggers log is logged at once, not at COMMIT as for other programs.
        begin: """
            BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT generation FROM fieldwork_state WHERE id = 1 FOR UPDATE
            """,
        returning: { " RETURNING \($0)" },
        // Known before a trigger could fill it in: by the key PostgreSQL chooses among partitions. A view's writer fills it.
        newKey: { $0.isPlaced ? "?" : "coalesce(?::bigint, nextval('fieldwork_ids_\($0.definition.id)'))" },
        temporarySchema: "pg_temp",
        tableNamed: """
            SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = ?
            """,
        triggerNamed: nil,
        // A definition is written with the row of its service.
        dataVersion: "SELECT xmin::text::bigint FROM fieldwork_service WHERE id = 1",
        catalogueText: """
            SELECT definition || coalesce((
                SELECT string_agg(layer_id::text || table_name || definition, chr(10) ORDER BY layer_id)
                FROM fieldwork_layers), '')
            FROM fieldwork_service WHERE id = 1
            """,
        // The lock comes before the state that is read: a table that is made anew (`PostgresPartitioning`) waits for its end, or is
        // there whole.
        beginReading: """
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE \(PostgresTables.longReads) IN ACCESS SHARE MODE
            """,
        // `->>` would stumble over an escape of U+0000 in any other member.
        memberText: { "btrim((\($0)::json -> '\($1)')::text, '\"')" },
        opening: [
            """
            UPDATE fieldwork_state SET generation = generation + 1, inside = 1, muted = 0 WHERE id = 1
            RETURNING generation
            """
        ],
        // Counts are kept once a transaction, from its change log: a row that is updated a thousand times in one transaction
        // has a thousand versions to step over.
        closing: [
            """
            UPDATE fieldwork_counts AS c SET row_count = c.row_count + d.step FROM (
                SELECT n.layer_id, sum(CASE l.operation WHEN 0 THEN 1 ELSE -1 END) AS step FROM fieldwork_counts AS n
                JOIN fieldwork_changes AS l ON l.layer_id = n.layer_id AND l.operation IN (0, 2)
                    AND l.generation > (SELECT counted FROM fieldwork_state WHERE id = 1)
                GROUP BY n.layer_id) AS d
            WHERE d.layer_id = c.layer_id AND d.step <> 0
            """,
            "UPDATE fieldwork_state SET inside = 0, muted = 0, counted = generation WHERE id = 1",
        ],
        // 16 bytes without a header. A geometry that is no point has none.
        plainPoint: { "\($0)::point" },
        indexesOfTable: """
            SELECT c.relname::text, CASE WHEN i.indisunique THEN 1 ELSE 0 END::bigint,
                (SELECT string_agg(a.attname::text, ',' ORDER BY k.place)
                    FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number),
                pg_catalog.pg_relation_size(c.oid)
            FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            JOIN pg_catalog.pg_class AS t ON t.oid = i.indrelid
            WHERE t.relnamespace = current_schema()::regnamespace AND t.relname = ?
            """,
        textIndex: PostgresTextIndex(),
        isSQLite: false)

    /// Opens a transaction that has nothing to do with a service, or makes one.
    static let beginPlainly = "BEGIN"

    /// The same for one that is long on purpose.
    static let beginWithoutTimeLimits = "BEGIN; \(withoutTimeLimits)"

    /// For a transaction that is long on purpose.
    static let withoutTimeLimits = """
        SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0
        """

    private static let postgresFunction: @Sendable (SQLFunction, [String]) -> String = { function, arguments in
        let list = arguments.joined(separator: ", ")
        func texts() -> String { arguments.map { "fieldwork_text(\($0))" }.joined(separator: ", ") }
        func numbers() -> String { arguments.map { "fieldwork_number(\($0))" }.joined(separator: ", ") }
        let name = "fieldwork_\(function.rawValue.lowercased())"
        switch function {
        case .coalesce: return arguments.count == 1 ? "(\(list))" : "coalesce(\(list))"
        case .nullIf: return "nullif(\(list))"
        case .concat: return "(" + arguments.map { "fieldwork_text(\($0))" }.joined(separator: " || ") + ")"
        case .lower, .upper, .charLength, .trimBoth, .trimLeading, .trimTrailing, .position:
            return "\(name)(\(texts()))"
        case .substring:
            let rest = arguments.dropFirst().map { ", CAST(fieldwork_number(\($0)) AS double precision)" }.joined()
            return "\(name)(fieldwork_text(\(arguments[0]))\(rest))"
        case .abs, .ceiling, .floor, .sign: return "\(name)(\(numbers()))"
        case .mod: return "\(name)(\(numbers()))"
        default:
            let reals = arguments.map { "CAST(fieldwork_number(\($0)) AS double precision)" }.joined(separator: ", ")
            return "\(name)(\(reals))"
        }
    }

    /// A text beside a number is compared as SQLite compares a column with a value: as a number where it is one in full.
    private static let postgresComparable:
        @Sendable (ExpressionCompiler.Compiled, ExpressionCompiler.Compiled) -> (String, String) = { one, other in
            func isText(_ value: ExpressionCompiler.Compiled) -> Bool { value.kind == .text || value.kind == .guid }
            func isNumber(_ value: ExpressionCompiler.Compiled) -> Bool {
                [.number, .date, .time, .interval].contains(value.kind)
            }
            if isNumber(one), isText(other) {
                return ("CAST(\(one.sql) AS double precision)", "fieldwork_whole_number(\(other.sql))")
            }
            if isText(one), isNumber(other) { return (one.sql, "fieldwork_text(\(other.sql))") }
            if one.kind == .boolean, isNumber(other) { return ("fieldwork_number(\(one.sql))", other.sql) }
            if isNumber(one), other.kind == .boolean { return (one.sql, "fieldwork_number(\(other.sql))") }
            return (one.sql, other.sql)
        }
}
