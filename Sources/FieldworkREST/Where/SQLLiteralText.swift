/// Names and literals as the protocol's SQL writes them.
enum SQLLiteralText {
    static func text(of literal: SQLLiteral) -> String {
        switch literal {
        case .null: "NULL"
        // Its digits alone are no 64-bit integer.
        case .integer(.min): "(-9223372036854775807 - 1)"
        case .integer(let value): String(value)
        case .real(let value): value.isFinite ? value.description : "NULL"
        case .string(let value): quoted(value)
        case .date(let value): "DATE '\(date(value))'"
        case .timestamp(let value): "TIMESTAMP '\(date(value)) \(clock(SQLDateText.split(value).time))'"
        case .time(let value): "TIME '\(clock(value))'"
        case .interval(let value): interval(value)
        }
    }

    /// A text in single quotes; a quote within it is doubled.
    static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// A field's name, in double quotes unless it is a plain word that means nothing else.
    static func fieldName(_ name: String) -> String {
        let isPlain =
            name.utf8.first.map { !(0x30...0x39).contains($0) } == true
            && name.utf8.allSatisfy { byte in
                byte == 0x5F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte)
            }
        if isPlain, !keywords.contains(name.uppercased()) { return name }
        return "\"\(name.replacing("\"", with: "\"\""))\""
    }

    static func name(of type: SQLCastType) -> String {
        switch type {
        case .integer: "INTEGER"
        case .real: "FLOAT"
        case .text(let length): length.map { "VARCHAR(\($0))" } ?? "VARCHAR"
        case .timestamp: "TIMESTAMP"
        }
    }

    private static let keywords: Set<String> = [
        "ALL", "ALTER", "AND", "AS", "ASC", "ATTACH", "BETWEEN", "BOTH", "CASE", "CAST", "CREATE", "CURRENT_DATE",
        "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "DATE", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE",
        "END", "ESCAPE", "EXISTS", "EXTRACT", "FROM", "GROUP", "HAVING", "IN", "INSERT", "INTERVAL", "IS", "LEADING",
        "LIKE", "NOT", "NULL", "ON", "OR", "ORDER", "PRAGMA", "SELECT", "TABLE", "THEN", "TIME", "TIMESTAMP",
        "TRAILING", "UNION", "UPDATE", "WHEN", "WHERE",
    ]

    // MARK: Dates and times

    private static func date(_ milliseconds: Int64) -> String {
        let civil = SQLDateText.civil(days: SQLDateText.split(milliseconds).days)
        return "\(padded(civil.year, 4))-\(padded(civil.month, 2))-\(padded(civil.day, 2))"
    }

    /// `HH:MM:SS`, with milliseconds when there are any.
    private static func clock(_ milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1_000)
        let text = "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        let fraction = Int(milliseconds % 1_000)
        return fraction == 0 ? text : "\(text).\(padded(fraction, 3))"
    }

    private static func interval(_ milliseconds: Int64) -> String {
        let sign = milliseconds < 0 ? "-" : ""
        let magnitude = Int64(clamping: milliseconds.magnitude)
        let days = magnitude / SQLDateText.millisecondsPerDay
        return "INTERVAL '\(sign)\(days) \(clock(magnitude % SQLDateText.millisecondsPerDay))' DAY TO SECOND"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
