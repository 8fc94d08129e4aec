import FieldworkREST
import Foundation

/// Turns an expression tree into SQL of a dialect. Values become arguments; the only text that comes from outside are
/// names of the layer's own fields, quoted.
struct ExpressionCompiler {
    /// The column of a name; nil when there is none.
    private let columnNamed: (String) -> StoredColumn?
    let dialect: SQLDialect
    /// The alias of the layer's table in the statement.
    let alias: String
    /// What `CURRENT_TIMESTAMP` means: one moment for the whole statement, in milliseconds since 1970.
    let now: Int64
    let user: String?

    private(set) var arguments: [AttributeValue] = []
    /// How many of them are members of lists, which a database reads in time proportional to their number.
    private var listed = 0
    /// How much of the parser's stack the piece that is compiled now needs at its deepest place; see `Limits.expressionDepth`.
    var deepest = 0

    init(layer: StoredLayer, dialect: SQLDialect, alias: String, now: Int64, user: String? = nil) {
        self.init(dialect: dialect, alias: alias, now: now, user: user, columnNamed: layer.expressionColumn)
    }

    /// For what is no layer: any columns by their names.
    init(
        dialect: SQLDialect, alias: String, now: Int64, user: String? = nil,
        columnNamed: @escaping (String) -> StoredColumn?
    ) {
        self.columnNamed = columnNamed
        self.dialect = dialect
        self.alias = alias
        self.now = now
        self.user = user
    }

    /// What a compiled piece yields: dates are milliseconds inside an expression, whatever their column holds.
    enum Kind: Sendable, Hashable {
        case number, text, date, time, interval, boolean, guid, data, null
    }

    struct Compiled {
        var sql: String
        var kind: Kind
    }

    /// A condition for WHERE.
    mutating func condition(_ expression: SQLExpression) throws -> String {
        try counted { compiler throws in try compiler.truth(expression, depth: 0) }
    }

    /// A value for ORDER BY. A column stands for itself, so that an index on it serves.
    mutating func orderTerm(_ expression: SQLExpression) throws -> String {
        if case .field(let name) = expression { return try column(name).sql }
        return try value(expression)
    }

    /// A value as it is counted with: a date in milliseconds, whatever its column holds.
    mutating func value(_ expression: SQLExpression) throws -> String {
        try counted { compiler throws in try compiler.compile(expression, depth: 0).sql }
    }

    /// Compiles, and refuses what has more values than a database reads in good time.
    private mutating func counted(_ body: (inout ExpressionCompiler) throws -> String) throws -> String {
        let sql = try body(&self)
        guard arguments.count - listed <= Limits.expressionValues else {
            throw StoreError(
                .invalidQuery,
                "The expression has more than \(Limits.expressionValues) values outside of lists. Name them in a list: field IN (1, 2, 3)."
            )
        }
        guard listed <= Limits.expressionListedValues else {
            throw StoreError(
                .invalidQuery,
                "The lists of the expression have more than \(Limits.expressionListedValues) values. Ask in parts.")
        }
        return sql
    }

    private func column(_ name: String) throws -> (sql: String, column: StoredColumn) {
        guard let column = columnNamed(name), column.isStored else {
            throw StoreError(.invalidQuery, "Invalid field: \(name).")
        }
        return ("\(alias).\(quoted(column.name))", column)
    }

    private mutating func argument(_ value: AttributeValue) -> String {
        arguments.append(value)
        return dialect.argument(value)
    }

    mutating func truth(_ expression: SQLExpression, depth: Int) throws -> String {
        dialect.truth(try compile(expression, depth: depth))
    }

    /// An operand as one that is reckoned with.
    mutating func operand(_ expression: SQLExpression, depth: Int) throws -> Compiled {
        var compiled = try compile(expression, depth: depth)
        compiled.sql = dialect.number(compiled)
        return compiled
    }

    mutating func reach(_ depth: Int) throws {
        guard depth <= Limits.expressionDepth else {
            throw StoreError(
                .invalidQuery,
                "The expression is nested too deeply (expressionDepth: \(Limits.expressionDepth)). Put fewer functions and parentheses within each other."
            )
        }
        deepest = max(deepest, depth)
    }

    mutating func compile(_ expression: SQLExpression, depth: Int) throws -> Compiled {
        let next = depth + expression.parserEntries
        try reach(next)
        switch expression {
        case .literal(let literal): return compile(literal)
        case .field(let name): return try field(name)
        case .not(let operand): return Compiled(sql: "(NOT \(try truth(operand, depth: next)))", kind: .boolean)
        case .negate(let operand):
            let operand = try self.operand(operand, depth: next)
            return Compiled(sql: "(- \(operand.sql))", kind: operand.kind)
        case .binary(let op, _, _) where op == .and || op == .or: return try chain(op, expression, depth: next)
        case .binary(let op, _, _) where op.chained != nil: return try reckoned(expression, depth: next)
        case .binary(let op, let left, let right): return try compare(op, left, right, depth: next)
        case .isNull(let operand, let negated):
            let sql = try compile(operand, depth: next).sql
            return Compiled(sql: "(\(sql) IS \(negated ? "NOT " : "")NULL)", kind: .boolean)
        case .like(let value, let pattern, let escape, let negated):
            return try like(value, pattern, escape, negated, depth: next)
        case .inList(let value, let list, let negated): return try inList(value, list, negated, depth: next)
        case .between(let value, let lower, let upper, let negated):
            let kind = try commonKind([value, lower, upper], depth: next)
            let parts = try [value, lower, upper].map { try compiled($0, as: kind, depth: next) }
            let (least, low) = dialect.comparable(parts[0], parts[1])
            let (_, high) = dialect.comparable(parts[0], parts[2])
            // In PostgreSQL the lower bound may not end in COLLATE.
            let bound = dialect.isSQLite ? low : "(\(low))"
            let sql = "(\(least) \(negated ? "NOT " : "")BETWEEN \(bound) AND \(high))"
            return Compiled(sql: sql, kind: .boolean)
        case .caseWhen(let operand, let branches, let otherwise):
            return try caseWhen(operand, branches, otherwise, depth: next)
        case .function(let function, let operands): return try call(function, operands, depth: next)
        case .extract(let part, let operand):
            return Compiled(sql: dialect.extract(part, try compile(operand, as: .date, depth: next)), kind: .number)
        case .cast(let operand, let type): return try cast(operand, type, depth: next)
        case .current(let value): return current(value)
        }
    }

    // MARK: Leaves

    private mutating func compile(_ literal: SQLLiteral) -> Compiled {
        switch literal {
        case .null: Compiled(sql: "NULL", kind: .null)
        case .integer(let value): Compiled(sql: argument(.integer(value)), kind: .number)
        case .real(let value): Compiled(sql: argument(.real(value)), kind: .number)
        case .string(let value): Compiled(sql: argument(.text(value)), kind: .text)
        case .date(let value), .timestamp(let value): Compiled(sql: argument(.integer(value)), kind: .date)
        case .time(let value): Compiled(sql: argument(.integer(value)), kind: .time)
        case .interval(let value): Compiled(sql: argument(.integer(value)), kind: .interval)
        }
    }

    private func field(_ name: String) throws -> Compiled {
        let (sql, column) = try column(name)
        return switch column.kind {
        case .objectID, .integer, .real: Compiled(sql: sql, kind: .number)
        case .text: Compiled(sql: sql, kind: .text)
        case .guid, .globalID: Compiled(sql: sql, kind: .guid)
        case .date, .dateOnly, .timestampOffset: Compiled(sql: dialect.dateColumn(sql), kind: .date)
        case .timeOnly: Compiled(sql: dialect.timeColumn(sql), kind: .time)
        case .data, .geometry: Compiled(sql: sql, kind: .data)
        }
    }

    private mutating func current(_ value: SQLCurrentValue) -> Compiled {
        let day = DateText.floorDivide(now, 86_400_000)
        return switch value {
        case .timestamp: Compiled(sql: argument(.integer(now)), kind: .date)
        case .date: Compiled(sql: argument(.integer(now - day.remainder)), kind: .date)
        case .time: Compiled(sql: argument(.integer(day.remainder)), kind: .time)
        case .user: Compiled(sql: argument(user.map(AttributeValue.text) ?? .null), kind: .text)
        }
    }

    // MARK: Operators

    private mutating func like(
        _ value: SQLExpression, _ pattern: SQLExpression, _ escape: Character?, _ negated: Bool, depth: Int
    ) throws -> Compiled {
        let value = try compile(value, as: .text, depth: depth)
        let pattern = try compile(pattern, as: .text, depth: depth)
        let sql = dialect.like(value, pattern, escape.map { argument(.text(String($0))) })
        return Compiled(sql: negated ? "(NOT \(sql))" : sql, kind: .boolean)
    }

    private mutating func inList(
        _ value: SQLExpression, _ list: [SQLExpression], _ negated: Bool, depth: Int
    ) throws -> Compiled {
        let kind = try commonKind([value] + list, depth: depth)
        let value = try compiled(value, as: kind, depth: depth)
        var sql = value.sql
        let before = arguments.count
        defer { if list.allSatisfy(\.isLiteral) { listed += arguments.count - before } }
        let members = try list.map { member in
            let pair = dialect.comparable(value, try compiled(member, as: kind, depth: depth))
            sql = pair.0
            return pair.1
        }
        return Compiled(
            sql: "(\(sql) \(negated ? "NOT " : "")IN (\(members.joined(separator: ", "))))", kind: .boolean)
    }

    private mutating func caseWhen(
        _ operand: SQLExpression?, _ branches: [SQLCaseBranch], _ otherwise: SQLExpression?, depth: Int
    ) throws -> Compiled {
        let resultKind = try commonKind(branches.map(\.result) + (otherwise.map { [$0] } ?? []), depth: depth)
        var sql = "(CASE"
        var operandKind: Kind = .boolean
        if let operand {
            operandKind = try commonKind([operand] + branches.map(\.condition), depth: depth)
            sql += " \(try compile(operand, as: operandKind, depth: depth))"
        }
        for branch in branches {
            let condition =
                operand == nil
                ? try truth(branch.condition, depth: depth)
                : try compile(branch.condition, as: operandKind, depth: depth)
            sql += " WHEN \(condition) THEN \(try compile(branch.result, as: resultKind, depth: depth))"
        }
        if let otherwise { sql += " ELSE \(try compile(otherwise, as: resultKind, depth: depth))" }
        return Compiled(sql: sql + " END)", kind: resultKind)
    }

    private mutating func call(_ function: SQLFunction, _ operands: [SQLExpression], depth: Int) throws -> Compiled {
        switch function {
        case .coalesce, .nullIf:
            let kind = try commonKind(operands, depth: depth)
            let compiled = try operands.map { try compile($0, as: kind, depth: depth) }
            return Compiled(sql: dialect.function(function, compiled), kind: kind)
        case .concat, .lower, .upper, .substring, .trimBoth, .trimLeading, .trimTrailing:
            let compiled = try operands.map { try compile($0, depth: depth).sql }
            return Compiled(sql: dialect.function(function, compiled), kind: .text)
        default:
            let compiled = try operands.map { try compile($0, depth: depth).sql }
            return Compiled(sql: dialect.function(function, compiled), kind: .number)
        }
    }

    private mutating func cast(_ operand: SQLExpression, _ type: SQLCastType, depth: Int) throws -> Compiled {
        let compiled = try compile(operand, depth: depth)
        let sql = dialect.cast(compiled.sql, type, compiled.kind == .date)
        return switch type {
        case .integer, .real: Compiled(sql: sql, kind: .number)
        case .text: Compiled(sql: sql, kind: .text)
        case .timestamp: Compiled(sql: sql, kind: .date)
        }
    }

    // MARK: Kinds

    /// What operands are compared as: text literals follow the kind of what they are compared with.
    func commonKind(_ expressions: [SQLExpression], depth: Int) throws -> Kind {
        var result: Kind = .null
        for expression in expressions {
            let kind = try kind(of: expression, depth: depth)
            switch (result, kind) {
            case (.null, _): result = kind
            case (.text, .date), (.text, .time), (.text, .guid), (.number, .date): result = kind
            default: break
            }
        }
        return result
    }

    /// The kind of an expression without compiling it.
    private func kind(of expression: SQLExpression, depth: Int) throws -> Kind {
        let next = depth + 1
        switch expression {
        case .literal(let literal): return Self.kind(of: literal)
        case .field(let name): return try field(name).kind
        case .not, .isNull, .like, .inList, .between: return .boolean
        case .negate(let operand): return try kind(of: operand, depth: next)
        case .binary(let op, let left, let right):
            switch op {
            case .concatenate: return .text
            case .add, .subtract, .multiply, .divide:
                return Self.kind(of: op, try kind(of: left, depth: next), try kind(of: right, depth: next))
            default: return .boolean
            }
        case .caseWhen(_, let branches, let otherwise):
            return try commonKind(branches.map(\.result) + (otherwise.map { [$0] } ?? []), depth: next)
        case .function(let function, let operands):
            switch function {
            case .coalesce, .nullIf: return try commonKind(operands, depth: next)
            case .concat, .lower, .upper, .substring, .trimBoth, .trimLeading, .trimTrailing: return .text
            default: return .number
            }
        case .extract: return .number
        case .cast(_, .integer), .cast(_, .real): return .number
        case .cast(_, .text): return .text
        case .cast(_, .timestamp): return .date
        case .current(let value):
            switch value {
            case .date, .timestamp: return .date
            case .time: return .time
            case .user: return .text
            }
        }
    }

    private static func kind(of literal: SQLLiteral) -> Kind {
        switch literal {
        case .null: .null
        case .integer, .real: .number
        case .string: .text
        case .date, .timestamp: .date
        case .time: .time
        case .interval: .interval
        }
    }

    /// The kind of an arithmetic result.
    static func kind(of op: SQLBinaryOperator, _ a: Kind, _ b: Kind) -> Kind {
        if op == .subtract, a == .date, b == .date { return .number }
        if op == .divide, a == .interval, b == .interval { return .number }
        for kind in [Kind.date, .time, .interval] where a == kind || b == kind { return kind }
        return .number
    }

    /// An operand in the form of a kind: a literal `'2026-01-01'` next to a date becomes its milliseconds.
    mutating func compile(_ expression: SQLExpression, as kind: Kind, depth: Int) throws -> String {
        try compiled(expression, as: kind, depth: depth).sql
    }

    mutating func compiled(_ expression: SQLExpression, as kind: Kind, depth: Int) throws -> Compiled {
        if case .literal(.string(let text)) = expression {
            switch kind {
            case .date:
                guard let milliseconds = DateText.milliseconds(text) else {
                    throw StoreError(.invalidQuery, "'\(text)' is no date.")
                }
                return Compiled(sql: argument(.integer(milliseconds)), kind: kind)
            case .time:
                guard let milliseconds = DateText.timeMilliseconds(text) else {
                    throw StoreError(.invalidQuery, "'\(text)' is no time of day.")
                }
                return Compiled(sql: argument(.integer(milliseconds)), kind: kind)
            case .guid:
                return Compiled(sql: argument(.text(GUID.parse(text).map(GUID.normalForm) ?? text)), kind: kind)
            default: break
            }
        }
        return try compile(expression, depth: depth)
    }
}
