import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// The compiler and the evaluator are two readings of one grammar: they must agree on every row.
@Suite("Compiled conditions and evaluated ones", .fewAtATime, .everyStore)
struct QueryCompilerPropertyTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private let records: [FeatureRecord]

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
        var generator = SeededGenerator(seed: 11)
        let words = ["", "a", "A", "ab", "Ba", "é", "a%b", "_", "10", "x y "]
        let adds = (0..<60).map { _ -> FeatureEdit in
            var attributes: [(name: String, value: AttributeValue)] = []
            attributes.append(
                (
                    "species",
                    Bool.random(using: &generator) ? .text(words.randomElement(using: &generator) ?? "") : .null
                ))
            attributes.append(
                (
                    "note \"x\"; DROP",
                    Int.random(in: 0..<4, using: &generator) > 0
                        ? .text(words.randomElement(using: &generator) ?? "") : .null
                ))
            attributes.append(
                (
                    "height",
                    Int.random(in: 0..<3, using: &generator) > 0
                        ? .real(Double(Int.random(in: 0...48, using: &generator)) / 4) : .null
                ))
            attributes.append(("stems", .integer(Int64.random(in: -3...3, using: &generator))))
            attributes.append(
                (
                    "planted",
                    Bool.random(using: &generator)
                        ? .integer(Int64.random(in: -3...3, using: &generator) * 43_200_000) : .null
                ))
            return FeatureEdit(attributes: attributes)
        }
        _ = try await store.apply(Samples.batch(adds: adds), to: Samples.name)
        records = try await store.records(FeatureQuery(), in: Samples.trees)
    }

    @Test("Random conditions find the same features in the database and in Swift", arguments: 0..<20)
    func agree(seed: Int) async throws {
        var trees = RandomExpressions(seed: UInt64(seed))
        // A server plans each question anew.
        let rounds = StoreKind.current == .geoPackage ? 60 : 15
        for _ in 0..<rounds {
            let condition = trees.condition(depth: 4)
            let expected = records.filter { record in
                SQLEvaluator(
                    now: 0, kind: { SQLExpression.field($0).kind(in: Samples.treeLayer) },
                    value: { record.attributes[$0] ?? .null }
                ).holds(condition)
            }.map(\.objectID)
            let found = try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees)
            #expect(found == expected, "\(condition)")
        }
    }

    /// Were a function never drawn, the property above would say nothing about it.
    @Test("The random conditions call every function, and join and compare in every way")
    func coverage() {
        var texts = ""
        for seed in 0..<20 {
            var trees = RandomExpressions(seed: UInt64(seed))
            for _ in 0..<60 { texts += trees.condition(depth: 4).text + "\n" }
        }
        let trims: [SQLFunction: String] = [
            .trimBoth: "TRIM(", .trimLeading: "TRIM(LEADING", .trimTrailing: "TRIM(TRAILING",
        ]
        for function in SQLFunction.allCases {
            #expect(texts.contains(trims[function] ?? "\(function.rawValue)("), "\(function)")
        }
        for sign in SQLBinaryOperator.allCases { #expect(texts.contains(" \(sign.rawValue) "), "\(sign)") }
        for part in SQLDatePart.allCases { #expect(texts.contains("EXTRACT(\(part.rawValue) "), "\(part)") }
        for word in ["CASE", "CAST(", " LIKE ", " IN (", " BETWEEN ", " IS NULL", " IS NOT NULL", "NOT "] {
            #expect(texts.contains(word), "\(word)")
        }
    }
}

/// Well-typed random trees over the sample layer's fields.
struct RandomExpressions {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func oneOf<Element>(_ elements: [Element], or other: Element) -> Element {
        elements.randomElement(using: &generator) ?? other
    }

    mutating func condition(depth: Int) -> SQLExpression {
        let isNegated = pick(2) == 0
        if depth > 0 {
            switch pick(5) {
            case 0: return .binary(.and, condition(depth: depth - 1), condition(depth: depth - 1))
            case 1: return .binary(.or, condition(depth: depth - 1), condition(depth: depth - 1))
            case 2: return .not(condition(depth: depth - 1))
            default: break
            }
        }
        switch pick(7) {
        case 0: return .binary(comparison(), number(depth: 2), number(depth: 2))
        case 1: return .binary(comparison(), text(depth: 2), text(depth: 2))
        case 2: return .binary(comparison(), date(), date())
        case 3: return .isNull(pick(2) == 0 ? number(depth: 1) : text(depth: 1), negated: isNegated)
        case 4:
            let patterns = ["%", "a%", "%b", "_", "", "a!%b", "%!_%", "_%"]
            return .like(
                text(depth: 1), pattern: .literal(.string(oneOf(patterns, or: "%"))), escape: "!", negated: isNegated)
        case 5:
            let list = (0..<3).map { _ in pick(6) == 0 ? SQLExpression.literal(.null) : number(depth: 1) }
            return .inList(number(depth: 1), list, negated: isNegated)
        default:
            return .between(
                number(depth: 1), lower: number(depth: 1), upper: number(depth: 1), negated: isNegated)
        }
    }

    private mutating func comparison() -> SQLBinaryOperator {
        oneOf([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual], or: .equal)
    }

    private mutating func number(depth: Int) -> SQLExpression {
        switch pick(depth > 0 ? 14 : 4) {
        case 0: return .field("height")
        case 1: return .field("stems")
        case 2: return .literal(.integer(Int64(pick(9)) - 4))
        case 3: return .literal(.real(Double(pick(40)) / 4 - 5))
        case 4:
            let sign = oneOf([SQLBinaryOperator.add, .subtract, .multiply, .divide], or: .add)
            return .binary(sign, number(depth: depth - 1), number(depth: depth - 1))
        case 5: return .negate(number(depth: depth - 1))
        case 6:
            let function = oneOf([SQLFunction.abs, .floor, .ceiling, .sign, .round, .sqrt], or: .abs)
            return .function(function, [number(depth: depth - 1)])
        case 7: return .function(.charLength, [text(depth: depth - 1)])
        case 8: return .binary(.subtract, date(), date())
        case 9: return .extract(oneOf([.year, .month, .day, .hour, .minute, .second], or: .day), from: date())
        case 10:
            let functions: [SQLFunction] = [.exp, .log, .log10, .sin, .cos, .tan, .asin, .acos, .atan, .truncate]
            return .function(oneOf(functions, or: .sin), [number(depth: depth - 1)])
        case 11:
            let function = oneOf([SQLFunction.mod, .power, .nullIf, .coalesce, .round], or: .mod)
            return .function(function, [number(depth: depth - 1), number(depth: 0)])
        case 12: return .function(.position, [text(depth: 0), text(depth: depth - 1)])
        case 13:
            return .caseWhen(
                operand: number(depth: 0),
                branches: [SQLCaseBranch(condition: number(depth: 0), result: number(depth: depth - 1))],
                otherwise: number(depth: 0))
        default:
            return .caseWhen(
                operand: nil,
                branches: [SQLCaseBranch(condition: condition(depth: 0), result: number(depth: depth - 1))],
                otherwise: pick(2) == 0 ? nil : number(depth: 0))
        }
    }

    private mutating func text(depth: Int) -> SQLExpression {
        switch pick(depth > 0 ? 10 : 3) {
        case 0: return .field("species")
        case 1: return .field("note \"x\"; DROP")
        case 2: return .literal(.string(oneOf(["", "a", "AB", "é", "10", "a%b"], or: "")))
        case 3:
            return .function(oneOf([.upper, .lower, .trimBoth, .trimLeading], or: .upper), [text(depth: depth - 1)])
        case 4: return .binary(.concatenate, text(depth: depth - 1), text(depth: depth - 1))
        case 5:
            return .function(
                .substring,
                [text(depth: depth - 1), .literal(.integer(Int64(pick(4)))), .literal(.integer(Int64(pick(3))))])
        case 6:
            return .function(oneOf([.concat, .nullIf], or: .concat), [text(depth: depth - 1), text(depth: depth - 1)])
        case 7: return .function(.trimTrailing, [text(depth: depth - 1), .literal(.string("b "))])
        case 8: return .cast(.field("stems"), .text(length: pick(2) == 0 ? nil : 1))
        default: return .function(.coalesce, [text(depth: depth - 1), text(depth: depth - 1)])
        }
    }

    private mutating func date() -> SQLExpression {
        switch pick(6) {
        case 2: return .binary(.subtract, .field("planted"), .literal(.real(Double(pick(8)) / 4)))
        case 3: return .binary(.add, .field("stems"), .field("planted"))
        case 0: return .literal(.timestamp(Int64(pick(7) - 3) * 43_200_000))
        case 1: return .binary(.add, .field("planted"), .literal(.interval(43_200_000)))
        default: return .field("planted")
        }
    }
}
