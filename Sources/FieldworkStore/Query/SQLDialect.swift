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
