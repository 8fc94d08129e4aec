import FieldworkREST

/// How a database spells what SQL-92 leaves open. The compiler asks it instead of knowing SQLite.
struct SQLDialect: Sendable {
    /// Milliseconds since 1970 of a stored date, date-only or timestamp-offset column.
    var dateColumn: @Sendable (_ column: String) -> String
    /// Milliseconds since midnight of a stored time-only column.
    var timeColumn: @Sendable (_ column: String) -> String
    /// A call of a function with compiled arguments.
    var function: @Sendable (_ function: SQLFunction, _ arguments: [String]) -> String
    /// A part of a date that is milliseconds since 1970.
    var extract: @Sendable (_ part: SQLDatePart, _ milliseconds: String) -> String
    var cast: @Sendable (_ value: String, _ type: SQLCastType, _ isDate: Bool) -> String
    var like: @Sendable (_ value: String, _ pattern: String, _ escape: String?) -> String
    /// The mark of an argument, which carries the value's type where a database wants to know it.
    var argument: @Sendable (_ value: AttributeValue) -> String = { _ in "?" }
    /// A condition, where a database tells truths from numbers.
    var truth: @Sendable (_ value: ExpressionCompiler.Compiled) -> String = { $0.sql }
    /// Two operands of an operator as values that can be compared, or reckoned with.
    var comparable:
        @Sendable (_ one: ExpressionCompiler.Compiled, _ other: ExpressionCompiler.Compiled) -> (String, String) = {
            ($0.sql, $1.sql)
        }
    var number: @Sendable (_ value: ExpressionCompiler.Compiled) -> String = { $0.sql }
    /// What a number is divided by, such that the quotient is NULL where it is 0.
    var divisor: @Sendable (_ value: String) -> String = { $0 }
    /// The type of a real number in a cast.
    var realType = "REAL"
    /// The type of a whole number of 64 bits in a cast.
    var integerType = "INTEGER"
    /// The larger of two numbers.
    var greatest = "max"
    /// A term of ORDER BY: nulls come before all values.
    var order: @Sendable (_ term: String, _ isDescending: Bool) -> String = { $1 ? "\($0) DESC" : $0 }
    /// A query that gives the members of a JSON array, which is its argument.
    var integersOfArray = "SELECT value FROM json_each(?)"
    var textsOfArray = "SELECT value FROM json_each(?)"
    /// A query that gives the ids of a list, and the argument that holds the list.
    var listedIDs = "SELECT id FROM fieldwork_ids(?)"
    var idList: @Sendable ([Int64]) -> QueryPlan.Argument = { .ids($0) }
    /// Whether the database sorts all rows by their groups to make statistics of each.
    var sortsGroups = true
    /// The function that tells where in a text another one begins, counted from 1; 0 for nowhere.
    var position = "instr"
    /// The bytes of a row of the table of media.
    var contentSize = "length(data)"
    /// Makes a content of a type, a hash and a size, to be written afterwards, and gives its id.
    var newContent =
        "INSERT INTO fieldwork_media (content_type, sha256, data) VALUES (?, ?, zeroblob(?)) RETURNING id"
    /// The tables of attachments and of their history, also those of layers that were removed.
    var attachmentTables = """
        SELECT name FROM sqlite_master WHERE type = 'table'
            AND (name GLOB 'fieldwork_attachments_[0-9]*' OR name GLOB 'fieldwork_attachment_history_[0-9]*')
        """
    /// The histories of layers, also of those that were removed.
    var historyTables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'fieldwork_history_[0-9]*'"
    /// The columns of a table with their types.
    var columnsOfTable = "SELECT name, type FROM pragma_table_info(?)"
    /// Makes a content under an id of its own, with its type, its hash and its size, to be written afterwards.
    var copiedContent = "INSERT INTO fieldwork_media (id, content_type, sha256, data) VALUES (?, ?, ?, zeroblob(?))"
    /// A LIMIT that limits nothing.
    var noLimit = AttributeValue.integer(-1)
    /// Opens a transaction that writes, and holds off every other.
    var begin = "BEGIN IMMEDIATE"
    /// What an INSERT ends with that is to tell the new row's id.
    var returning: @Sendable (_ key: String) -> String = { _ in "" }
    /// The value of a new row's key, of which NULL stands for the next one.
    var newKey: @Sendable (_ layer: StoredLayer) -> String = { _ in "?" }
    /// A table that lasts as long as its connection.
    var temporarySchema = "temp"
    /// Finds a table by its name.
    var tableNamed = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    /// Finds a trigger by its name, in a database that is loaded while its triggers are out of the way; see `TableLoad`.
    var triggerNamed: String? = "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?"
    /// A number that another one replaces when somebody else has changed the definition; in a file, anything.
    var dataVersion = "PRAGMA data_version"
    /// What the catalogue says of the service, as one text.
    var catalogueText = """
        SELECT definition || coalesce((
            SELECT group_concat(layer_id || table_name || definition, char(10)) FROM fieldwork_layers), '')
        FROM fieldwork_service WHERE id = 1
        """
    /// Opens a transaction that reads one state.
    var beginReading = "BEGIN"
    /// Of a column with a JSON object: the text of a member that needs no escapes.
    var memberText: @Sendable (_ column: String, _ member: String) -> String = { "json_extract(\($0), '$.\($1)')" }
    /// Begins a generation; the last step gives its number. In SQLite `RETURNING` would open a table of its own.
    var opening = [
        "UPDATE fieldwork_state SET generation = generation + 1, inside = 1, muted = 0 WHERE id = 1",
        "SELECT generation FROM fieldwork_state WHERE id = 1",
    ]
    /// Ends a generation; the last step before COMMIT.
    var closing = ["UPDATE fieldwork_state SET inside = 0, muted = 0 WHERE id = 1"]
    /// The place of a point of two coordinates in the shortest form in which the database gives one; nil where a geometry is that. Fails
    /// for what is no point.
    var plainPoint: (@Sendable (_ column: String) -> String)?
    /// The indexes of a table: name, whether it keeps values apart, columns, bytes.
    var indexesOfTable = """
        SELECT l.name, l."unique", (SELECT group_concat(name) FROM pragma_index_info(l.name)),
            (SELECT pgsize FROM dbstat WHERE aggregate = TRUE AND name = l.name)
        FROM pragma_index_list(?) AS l
        """
    /// How texts are found by a part of them.
    var textIndex: any TextIndexing = TrigramTable()
    /// Whether the database has SQLite's R-tree and the functions that Fieldwork gives SQLite.
    var isSQLite = true

    static let sqlite = SQLDialect(
        dateColumn: { "fieldwork_ms(\($0))" },
        timeColumn: { "fieldwork_time(\($0))" },
        function: { function, arguments in
            let list = arguments.joined(separator: ", ")
            return switch function {
            case .coalesce: arguments.count == 1 ? "(\(list))" : "coalesce(\(list))"
            case .nullIf: "nullif(\(list))"
            case .concat: "(" + arguments.joined(separator: " || ") + ")"
            default: "fieldwork_\(function.rawValue.lowercased())(\(list))"
            }
        },
        extract: { part, milliseconds in "fieldwork_\(part.rawValue.lowercased())(\(milliseconds))" },
        cast: { value, type, isDate in
            switch type {
            case .integer: "fieldwork_cast_integer(\(value))"
            case .real: "fieldwork_cast_real(\(value))"
            case .text(nil): isDate ? "fieldwork_date_text(\(value))" : "fieldwork_cast_text(\(value))"
            case .text(let length?):
                "substr(\(isDate ? "fieldwork_date_text(\(value))" : "fieldwork_cast_text(\(value))"), 1, \(max(0, length)))"
            case .timestamp: isDate ? value : "fieldwork_cast_timestamp(\(value))"
            }
        },
        like: { value, pattern, escape in
            "(\(value) LIKE \(pattern)\(escape.map { " ESCAPE \($0)" } ?? ""))"
        })
}
