import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Conditions as long and as deep as a request can bring them: each is answered by both stores, or refused with the limit's name.
@Suite("Long and deep conditions", .fewAtATime, .everyStore)
struct ExpressionCostTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
        let adds = (0..<20).map { number in
            Samples.tree(
                "Acer \(number)", x: 0, y: 0, [("stems", .integer(Int64(number))), ("height", .real(Double(number)))])
        }
        _ = try await store.apply(Samples.batch(adds: adds), to: Samples.name)
    }

    private func count(_ condition: SQLExpression) async throws -> Int {
        try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees).count
    }

    private func isRefused(_ condition: SQLExpression) async throws -> Bool {
        do {
            _ = try await count(condition)
            return false
        } catch let error as StoreError {
            #expect(error.code == .invalidQuery, "\(error)")
            return true
        }
    }

    /// What an expression is nested in: the text before it and the text behind it. All yield what they take.
    static let nests: [(before: String, behind: String)] = [
        ("UPPER(", ")"), ("COALESCE(species, ", ")"), ("COALESCE(", ", 'x')"), ("('a' || ", ")"), ("(", " || 'a')"),
        ("CASE WHEN 1 = 2 THEN 'a' ELSE ", " END"), ("CASE species WHEN 'x' THEN ", " ELSE 'b' END"),
        ("CASE WHEN 'a' = ", " THEN 'b' ELSE 'c' END"), ("CASE WHEN 'a' IN ('x', ", ") THEN 'b' ELSE 'c' END"),
        ("CASE WHEN 'a' NOT BETWEEN 'b' AND ", " THEN 'b' ELSE 'c' END"),
        ("CASE WHEN 'a' NOT LIKE ", " THEN 'b' ELSE 'c' END"), ("CASE WHEN NOT ", " IS NULL THEN 'b' ELSE 'c' END"),
        ("CAST(", " AS VARCHAR(20))"), ("SUBSTRING(species FROM CHAR_LENGTH(", "))"),
        ("CAST(EXTRACT(DAY FROM planted + CHAR_LENGTH(", ")) AS VARCHAR)"), ("TRIM(BOTH 'x' FROM ", ")"),
        ("CASE WHEN 'a' = 'b' OR (species > 'c' AND 'x' < ", ") THEN 'b' ELSE 'c' END"),
        ("CAST(CHAR_LENGTH(", ") * (1 + 2) AS VARCHAR)"), ("CAST(- CHAR_LENGTH(", ") AS VARCHAR)"),
    ]

    @Test("What is accepted at any depth compiles as a condition, an order and a statistic", arguments: 0..<nests.count)
    func depths(of number: Int) async throws {
        let nest = Self.nests[number]
        var accepted = 0
        for depth in 1...70 {
            let text =
                String(repeating: nest.before, count: depth) + "species" + String(repeating: nest.behind, count: depth)
            guard let parsed = try? SQLParser.parse(expression: text) else { break }
            let value = try parsed.bound(to: Samples.treeLayer)
            let condition = SQLExpression.binary(.notEqual, value, .literal(.string("no tree")))
            if try await isRefused(condition) { break }
            accepted = depth
            let order = FeatureQuery(condition: condition, order: [.init(expression: condition, isDescending: false)])
            #expect(await isAnswered { try await store.objectIDs(order, in: Samples.trees) }, "\(text)")
            let statistics = Self.statistics(condition, value)
            #expect(
                await isAnswered {
                    try await store.encodedStatistics(
                        statistics, in: Samples.trees,
                        encoder: JSONFeatureEncoder(statistics: statistics))
                }, "\(text)")
        }
        #expect(accepted >= 2, "\(nest)")
    }

    /// Answered, or refused as too deep; anything else is an error of the database.
    private func isAnswered(_ ask: () async throws -> Any) async -> Bool {
        do {
            let answer = try await ask()
            if let features = answer as? EncodedFeatures { for try await _ in features {} }
            return true
        } catch let error as StoreError {
            return error.code == .invalidQuery
        } catch {
            return false
        }
    }

    private static func statistics(_ condition: SQLExpression, _ value: SQLExpression) -> StatisticsQuery {
        let result = FieldDefinition(name: "result", type: .string)
        return StatisticsQuery(
            features: FeatureQuery(condition: condition),
            statistics: [
                .init(kind: .percentileDiscrete, value: value, fraction: 0.5, field: result),
                .init(
                    kind: .percentileContinuous, value: .function(.charLength, [value]), fraction: 0.5,
                    field: FieldDefinition(name: "middle", type: .double)),
            ],
            groups: [.init(value: value, field: FieldDefinition(name: "g", type: .string))])
    }

    @Test("Chains of 199 signs are answered: concatenations, sums, products and sums of dates")
    func chains() async throws {
        for (first, sign, next, last) in [
            ("species", "||", "'a'", " <> 'x'"), ("stems", "+", "stems", " >= 0"), ("height", "*", "1", " >= 0"),
            ("height", "/", "2", " >= 0"), ("CHAR_LENGTH(species)", "-", "stems", " > -100000"),
        ] {
            let text = first + String(repeating: " \(sign) \(next)", count: 199) + last
            let condition = try SQLParser.parse(where: text).bound(to: Samples.treeLayer)
            #expect(try await count(condition) == 20, "\(sign)")
        }
        let dates = "planted" + String(repeating: " - planted + planted", count: 99) + " IS NULL"
        _ = try await isRefused(try SQLParser.parse(where: dates).bound(to: Samples.treeLayer))
    }

    /// Half against half, as the parser makes it: a tree that leans to one side is as deep as it is long.
    private static func anyOf(_ terms: ArraySlice<SQLExpression>) -> SQLExpression {
        guard terms.count > 1 else { return terms.first ?? .literal(.null) }
        let middle = terms.startIndex + terms.count / 2
        return .binary(.or, anyOf(terms[..<middle]), anyOf(terms[middle...]))
    }

    @Test("An expression may have 5,000 values outside of lists and none more")
    func values() async throws {
        func condition(_ terms: Int) -> SQLExpression {
            let sums = (0..<terms).map { number in
                SQLExpression.binary(
                    .equal, .binary(.add, .field("stems"), .literal(.integer(Int64(number + 1)))), .field("stems"))
            }
            return Self.anyOf(sums[...])
        }
        #expect(try await count(condition(Limits.expressionValues)) == 0)
        #expect(try await isRefused(condition(Limits.expressionValues + 1)))
    }

    @Test("The lists of an expression may have 50,000 values and none more")
    func listedValues() async throws {
        func condition(_ count: Int) -> SQLExpression {
            let fields = ["stems", "height", "OBJECTID"]
            let share = count / fields.count
            let lists = fields.enumerated().map { index, field in
                let size = index == 0 ? count - share * (fields.count - 1) : share
                return SQLExpression.inList(
                    .field(field), (0..<size).map { .literal(.integer(Int64($0 - 1_000_000))) }, negated: false)
            }
            return Self.anyOf(lists[...])
        }
        #expect(try await count(condition(Limits.expressionListedValues)) == 0)
        #expect(try await isRefused(condition(Limits.expressionListedValues + 1)))
    }

    @Test("A hundred percentiles of two fields are what each is alone")
    func percentiles() async throws {
        let fields = ["height", "stems"]
        let all = (0..<100).map { (number: Int) -> StatisticsQuery.Statistic in
            let kind: StatisticsQuery.Kind = number % 3 == 0 ? .percentileContinuous : .percentileDiscrete
            return StatisticsQuery.Statistic(
                kind: kind, value: .field(fields[number % 2]), fraction: Double(number) / 99,
                isDescending: number % 5 == 0, field: FieldDefinition(name: "p\(number)", type: .double))
        }
        func answer(_ statistics: [StatisticsQuery.Statistic]) async throws -> JSONValue? {
            let query = StatisticsQuery(features: FeatureQuery(), statistics: statistics)
            var bytes: [UInt8] = []
            let encoder = JSONFeatureEncoder(statistics: query)
            for try await piece in try await store.encodedStatistics(query, in: Samples.trees, encoder: encoder) {
                bytes += piece
            }
            return try JSONParser.parse(bytes)["features"]?.arrayValue?.first?["attributes"]
        }
        let together = try await answer(all)
        for statistic in all {
            let name = statistic.field.name
            #expect(try await answer([statistic])?[name] == together?[name], "\(name)")
        }
        // The largest and the least of the numbers from 0 to 19.
        #expect(together?["p99"]?.doubleValue == 19 && together?["p1"]?.doubleValue == 0)
    }
}

@Suite("The work that a condition makes")
struct ExpressionWorkTests {
    private func compile(_ text: String) throws -> (bytes: Int, arguments: Int) {
        let types: [String: FieldType] = ["a": .string, "b": .integer, "d": .date]
        let columns = types.map { StoredColumn(FieldDefinition(name: $0.key, type: $0.value)) }
        var compiler = ExpressionCompiler(dialect: .sqlite, alias: "t", now: 0) { name in
            columns.first { $0.name == name }
        }
        let sql = try compiler.condition(try SQLParser.parse(where: text))
        return (sql.utf8.count, compiler.arguments.count)
    }

    @Test("Constants and repeated terms of a chain leave nothing behind")
    func folded() throws {
        let many = String(repeating: "1=1 AND ", count: 6_000)
        #expect(try compile(many + "b > 2").arguments == 1)
        #expect(try compile(many + "1=1").arguments == 2)
        #expect(try compile(String(repeating: "1=0 OR ", count: 6_000) + "b > 2").arguments == 1)
        #expect(try compile(many + "1=0 AND b > 2").bytes == compile("1=0").bytes)
        #expect(try compile(String(repeating: "UPPER(a)='i' OR ", count: 1_000) + "UPPER(a)='i'").arguments == 1)
        #expect(try compile(String(repeating: "UPPER(a) LIKE 'i' OR ", count: 1_000) + "b = 1").arguments == 2)
    }

    @Test("An expression that is compared a thousand times is computed once")
    func lists() throws {
        let ors = (0..<1_000).map { "UPPER(a) = 'w\($0)'" }.joined(separator: " OR ")
        let ands = (0..<1_000).map { "UPPER(a) <> 'w\($0)'" }.joined(separator: " AND ")
        for text in [ors, ands] {
            let compiled = try compile(text)
            #expect(compiled.arguments == 1_000)
            // One call and a thousand marks.
            #expect(compiled.bytes < 4_000)
        }
    }

    @Test(
        "The statement grows with the condition",
        arguments: ["CHAR_LENGTH(a) > # OR ", "a LIKE '#' AND ", "COALESCE(b, #) = 1 OR ", "(b > # AND a = '#') OR "])
    func proportional(_ pattern: String) throws {
        func bytes(_ count: Int) throws -> Int {
            let text = (0..<count).map { pattern.replacing("#", with: "\($0 + 1_000)") }.joined()
            return try compile(text + "b = 1").bytes
        }
        let (few, many) = (try bytes(150), try bytes(1_500))
        #expect(many < few * 11)
    }
}
