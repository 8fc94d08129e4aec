import FieldworkREST
import Foundation
import GRDBSQLite

/// The protocol's scalar functions, casts and date parts as SQL functions `fieldwork_…`. They call the evaluator of
/// expressions, so that a condition means the same in the database and outside it.
enum ScalarFunctions {
    static func register(on connection: StoreConnection) throws {
        try LetterCaseFunctions.register(on: connection)
        for (index, function) in SQLFunction.allCases.enumerated() where function != .upper && function != .lower {
            let name = "fieldwork_\(function.rawValue.lowercased())"
            try connection.addFunction(name, tag: index) { context, count, values in
                let function = SQLFunction.allCases[StoreConnection.tag(context)]
                let arguments = ScalarFunctions.arguments(count, values)
                guard arguments.count >= ScalarFunctions.arity(function) else { return sqlite3_result_null(context) }
                ScalarFunctions.give(.function(function, arguments), to: context)
            }
        }
        for (index, conversion) in Conversion.allCases.enumerated() {
            try connection.addFunction(conversion.rawValue, tag: index) { context, count, values in
                let conversion = Conversion.allCases[StoreConnection.tag(context)]
                guard let first = ScalarFunctions.arguments(count, values).first else {
                    return sqlite3_result_null(context)
                }
                ScalarFunctions.give(conversion.expression(first), to: context)
            }
        }
        try connection.addFunction("fieldwork_date_text") { context, _, values in
            guard let value = values?[0], sqlite3_value_type(value) == SQLITE_INTEGER else {
                return sqlite3_result_null(context)
            }
            ScalarFunctions.give(
                .literal(.string(DateText.text(milliseconds: sqlite3_value_int64(value)))), to: context)
        }
    }

    /// What the compiler calls by these names.
    enum Conversion: String, CaseIterable {
        case toInteger = "fieldwork_cast_integer"
        case toReal = "fieldwork_cast_real"
        case toText = "fieldwork_cast_text"
        case toTimestamp = "fieldwork_cast_timestamp"
        case year = "fieldwork_year"
        case month = "fieldwork_month"
        case day = "fieldwork_day"
        case hour = "fieldwork_hour"
        case minute = "fieldwork_minute"
        case second = "fieldwork_second"

        func expression(_ value: SQLExpression) -> SQLExpression {
            switch self {
            case .toInteger: .cast(value, .integer)
            case .toReal: .cast(value, .real)
            case .toText: .cast(value, .text(length: nil))
            case .toTimestamp: .cast(value, .timestamp)
            case .year: .extract(.year, from: value)
            case .month: .extract(.month, from: value)
            case .day: .extract(.day, from: value)
            case .hour: .extract(.hour, from: value)
            case .minute: .extract(.minute, from: value)
            case .second: .extract(.second, from: value)
            }
        }
    }

    /// The fewest arguments that a function can do with; SQLite itself would let any number pass.
    private static func arity(_ function: SQLFunction) -> Int {
        switch function {
        case .substring, .position, .nullIf, .mod, .power: 2
        default: 1
        }
    }

    static func arguments(
        _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> [SQLExpression] {
        (0..<Int(count)).map { index in
            guard let value = values?[index] else { return .literal(.null) }
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: return .literal(.integer(sqlite3_value_int64(value)))
            case SQLITE_FLOAT: return .literal(.real(sqlite3_value_double(value)))
            case SQLITE_TEXT:
                let text = QueryFunctions.text(values, index).map { String(decoding: $0, as: UTF8.self) }
                return .literal(text.map(SQLLiteral.string) ?? .null)
            default: return .literal(.null)
            }
        }
    }

    static func give(_ expression: SQLExpression, to context: OpaquePointer?) {
        let evaluator = SQLEvaluator(now: 0, value: { _ in .null })
        switch evaluator.evaluate(expression) {
        case .null, .data: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    let start = $0.baseAddress ?? StoreStatement.emptyText
                    sqlite3_result_text(context, start, Int32($0.count), StoreStatement.transient)
                }
            }
        }
    }
}

extension StoreConnection {
    /// Adds a function of any number of arguments that is told apart from its neighbours by a number.
    func addFunction(_ name: String, tag: Int, _ function: Function) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let data = UnsafeMutableRawPointer(bitPattern: tag + 1)
        let code = sqlite3_create_function_v2(pointer, name, -1, flags, data, function, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    static func tag(_ context: OpaquePointer?) -> Int { Int(bitPattern: sqlite3_user_data(context)) - 1 }
}
