import FieldworkGeometry

extension SQLExpression {
    /// The expression in the protocol's SQL, for a request to a service. `SQLParser` reads it back to an expression of
    /// the same meaning; parentheses stand only where precedence needs them, so that it is never nested deeper than the
    /// text that it came from.
    package var text: String {
        var writer = SQLTextWriter()
        writer.write(self, atLeast: .disjunction)
        return writer.text
    }
}

extension FeatureQuery.OrderTerm {
    /// The term as `orderByFields` names it.
    package var text: String { isDescending ? "\(expression.text) DESC" : "\(expression.text) ASC" }
}

/// How tightly a piece of the grammar binds; looser ones need parentheses within tighter ones.
private enum Precedence: Int, Comparable {
    case disjunction, conjunction, negation, predicate, sum, product, factor, primary

    static func < (one: Precedence, other: Precedence) -> Bool { one.rawValue < other.rawValue }
}

private struct SQLTextWriter {
    var text = ""

    mutating func write(_ expression: SQLExpression, atLeast wanted: Precedence) {
        let needsParentheses = Self.precedence(of: expression) < wanted
        if needsParentheses { text += "(" }
        writeBare(expression)
        if needsParentheses { text += ")" }
    }

    private static func precedence(of expression: SQLExpression) -> Precedence {
        switch expression {
        case .binary(.or, _, _): .disjunction
        case .binary(.and, _, _): .conjunction
        case .not: .negation
        case .binary(.equal, _, _), .binary(.notEqual, _, _), .binary(.less, _, _), .binary(.lessOrEqual, _, _),
            .binary(.greater, _, _), .binary(.greaterOrEqual, _, _), .isNull, .like, .inList, .between:
            .predicate
        case .binary(.add, _, _), .binary(.subtract, _, _), .binary(.concatenate, _, _): .sum
        case .binary(.multiply, _, _), .binary(.divide, _, _): .product
        case .negate: .factor
        case .literal(.integer(let value)): value < 0 ? .factor : .primary
        case .literal(.real(let value)): value.sign == .minus ? .factor : .primary
        case .literal, .field, .caseWhen, .function, .extract, .cast, .current: .primary
        }
    }

    private mutating func writeBare(_ expression: SQLExpression) {
        switch expression {
        case .literal(let literal): text += SQLLiteralText.text(of: literal)
        case .field(let name): text += SQLLiteralText.fieldName(name)
        case .not(let value):
            text += "NOT "
            write(value, atLeast: .predicate)
        case .negate(let value):
            // Two signs in a row would begin a comment.
            text += "-"
            write(value, atLeast: .primary)
        case .binary(let sign, let left, let right): writeBinary(sign, left, right)
        case .isNull(let value, let isNegated):
            write(value, atLeast: .sum)
            text += isNegated ? " IS NOT NULL" : " IS NULL"
        case .like(let value, let pattern, let escape, let isNegated):
            write(value, atLeast: .sum)
            text += isNegated ? " NOT LIKE " : " LIKE "
            write(pattern, atLeast: .sum)
            if let escape { text += " ESCAPE " + SQLLiteralText.quoted(String(escape)) }
        case .inList(let value, let list, let isNegated):
            write(value, atLeast: .sum)
            text += isNegated ? " NOT IN (" : " IN ("
            writeList(list)
            text += ")"
        case .between(let value, let lower, let upper, let isNegated):
            write(value, atLeast: .sum)
            text += isNegated ? " NOT BETWEEN " : " BETWEEN "
            write(lower, atLeast: .sum)
            text += " AND "
            write(upper, atLeast: .sum)
        case .caseWhen(let operand, let branches, let otherwise): writeCase(operand, branches, otherwise)
        case .function(let function, let arguments): writeCall(function, arguments)
        case .extract(let part, let value):
            text += "EXTRACT(\(part.rawValue) FROM "
            write(value, atLeast: .disjunction)
            text += ")"
        case .cast(let value, let type):
            text += "CAST("
            write(value, atLeast: .disjunction)
            text += " AS \(SQLLiteralText.name(of: type)))"
        case .current(let value): text += value.rawValue
        }
    }

    private mutating func writeBinary(_ sign: SQLBinaryOperator, _ left: SQLExpression, _ right: SQLExpression) {
        let (leftLevel, rightLevel): (Precedence, Precedence) =
            switch sign {
            case .or: (.disjunction, .disjunction)
            case .and: (.conjunction, .conjunction)
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: (.sum, .sum)
            case .add, .subtract, .concatenate: (.sum, .product)
            case .multiply, .divide: (.product, .factor)
            }
        write(left, atLeast: leftLevel)
        text += " \(sign.rawValue) "
        write(right, atLeast: rightLevel)
    }

    private mutating func writeList(_ list: [SQLExpression]) {
        for (index, value) in list.enumerated() {
            if index > 0 { text += ", " }
            write(value, atLeast: .disjunction)
        }
    }

    private mutating func writeCase(
        _ operand: SQLExpression?, _ branches: [SQLCaseBranch], _ otherwise: SQLExpression?
    ) {
        text += "CASE"
        if let operand {
            text += " "
            write(operand, atLeast: .disjunction)
        }
        for branch in branches {
            text += " WHEN "
            write(branch.condition, atLeast: .disjunction)
            text += " THEN "
            write(branch.result, atLeast: .disjunction)
        }
        if let otherwise {
            text += " ELSE "
            write(otherwise, atLeast: .disjunction)
        }
        text += " END"
    }

    private mutating func writeCall(_ function: SQLFunction, _ arguments: [SQLExpression]) {
        switch function {
        case .trimBoth where arguments.count == 2: writeTrim("BOTH", arguments)
        case .trimLeading: writeTrim("LEADING", arguments)
        case .trimTrailing: writeTrim("TRAILING", arguments)
        case .position where arguments.count == 2:
            // The part ends at IN or a comma, so that it can't hold a comparison without parentheses.
            text += "POSITION("
            write(arguments[0], atLeast: .sum)
            text += ", "
            write(arguments[1], atLeast: .disjunction)
            text += ")"
        default:
            text += function.rawValue + "("
            writeList(arguments)
            text += ")"
        }
    }

    /// The standard's own form; services do not agree on others.
    private mutating func writeTrim(_ side: String, _ arguments: [SQLExpression]) {
        text += "TRIM(\(side) "
        if arguments.count > 1 {
            write(arguments[1], atLeast: .disjunction)
            text += " "
        }
        text += "FROM "
        if let value = arguments.first { write(value, atLeast: .disjunction) }
        text += ")"
    }
}
