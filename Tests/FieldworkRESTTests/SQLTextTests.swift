import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

@Suite struct SQLTextTests {
    @Test("A random expression is the same after it was written and read")
    func randomExpressionsComeBackAsTheyWere() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<3_000 {
            let expression = RandomSQL.condition(depth: 4, &generator)
            let text = expression.text
            let read = try SQLParser.parse(where: text)
            // AND and OR may lean the other way; the text tells the meaning.
            #expect(read.text == text)
            let row = SQLEvaluator(now: 86_400_000) { RandomSQL.row[$0] ?? .null }
            #expect(row.evaluate(read) == row.evaluate(expression), "\(text)")
        }
    }

    /// Found by mutation: the tree leans to the right, its text does not say so, and nothing depends on it.
    @Test("A group to the right of its own operator needs no parentheses")
    func aGroupOnTheRightOfItsOwnKindNeedsNoParentheses() throws {
        for text in ["1 OR (a IN (1, 2, 3) OR b IS NOT NULL)", "a > 1 AND (b < 0 AND (c = 'x' AND d IS NULL))"] {
            let expression = try SQLParser.parse(where: text)
            let again = try SQLParser.parse(where: expression.text)
            #expect(again.text == expression.text)
            let row = SQLEvaluator(now: 0) { RandomSQL.row[$0] ?? .null }
            #expect(row.evaluate(again) == row.evaluate(expression))
        }
    }

    @Test("Field names that are words of SQL are quoted")
    func namesThatMeanSomethingAreQuoted() {
        #expect(SQLExpression.field("order").text == "\"order\"")
        #expect(SQLExpression.field("Straße").text == "\"Straße\"")
        #expect(SQLExpression.field("2nd").text == "\"2nd\"")
        #expect(SQLExpression.field("a\" OR 1=1 --").text == "\"a\"\" OR 1=1 --\"")
    }

    @Test("Values are the same after they were written and read")
    func valuesAreWrittenSoThatTheyComeBack() throws {
        let literals: [SQLLiteral] = [
            .integer(.max), .integer(-7), .real(0.1), .real(-1e300), .real(.leastNonzeroMagnitude),
            .string("O'Brien; --"),
            .string("\u{1F333}\n"), .date(-86_400_000), .timestamp(1_583_000_000_123), .timestamp(-1),
            .time(86_399_999), .interval(-1_234_567_890), .interval(1), .null,
        ]
        for literal in literals {
            #expect(try SQLParser.parse(expression: SQLExpression.literal(literal).text) == .literal(literal))
        }
        let least = try SQLParser.parse(expression: SQLExpression.literal(.integer(.min)).text)
        #expect(SQLEvaluator(now: 0) { _ in .null }.evaluate(least) == .integer(.min))
    }
}

/// Random expressions over a small row.
enum RandomSQL {
    static let row: [String: AttributeValue] = [
        "a": .integer(3), "b": .real(-1.5), "c": .text("Ab%"), "d": .integer(1_583_000_000_000), "select": .null,
    ]

    static func condition(depth: Int, _ generator: inout SeededGenerator) -> SQLExpression {
        func condition() -> SQLExpression { self.condition(depth: depth - 1, &generator) }
        func value() -> SQLExpression { self.value(depth: depth - 1, &generator) }
        let isNegated = Bool.random(using: &generator)
        switch Int.random(in: depth > 0 ? 0...9 : 4...6, using: &generator) {
        case 0: return .binary(.and, condition(), condition())
        case 1: return .binary(.or, condition(), condition())
        case 2: return .not(condition())
        case 3: return .inList(value(), [value(), value(), .literal(.null)], negated: isNegated)
        case 4: return .binary(.lessOrEqual, value(), value())
        case 5: return .binary(.notEqual, value(), value())
        case 6: return .isNull(value(), negated: isNegated)
        case 7: return .between(value(), lower: value(), upper: value(), negated: isNegated)
        case 8: return .like(value(), pattern: .literal(.string("_b!%%")), escape: "!", negated: isNegated)
        default:
            return .caseWhen(
                operand: nil, branches: [SQLCaseBranch(condition: condition(), result: value())], otherwise: value())
        }
    }

    static func value(depth: Int, _ generator: inout SeededGenerator) -> SQLExpression {
        func value() -> SQLExpression { self.value(depth: depth - 1, &generator) }
        switch Int.random(in: depth > 0 ? 0...12 : 0...3, using: &generator) {
        case 0: return .field(row.keys.sorted().randomElement(using: &generator) ?? "a")
        case 1: return .literal(.integer(Int64.random(in: -9...9, using: &generator)))
        case 2: return .literal(.real(Double.random(in: -2...2, using: &generator)))
        case 3: return .literal(.string("it's"))
        case 4: return .binary(.add, value(), value())
        case 5: return .binary(.subtract, value(), value())
        case 6: return .binary(.multiply, value(), value())
        case 7: return .binary(.concatenate, value(), value())
        case 8: return .negate(.field("a"))
        case 9: return .function(.coalesce, [value(), value()])
        case 10: return .cast(value(), .text(length: 2))
        case 11: return .extract(.year, from: .field("d"))
        default: return .function(.trimLeading, [value(), .literal(.string("A"))])
        }
    }
}
