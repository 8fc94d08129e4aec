import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

@Suite struct SQLParserTests {
    @Test(
        "The parser reads what the protocol allows",
        arguments: [
            ("a=1", "a = 1"), ("A <> 'it''s'", "A <> 'it''s'"), ("a != 2", "a <> 2"),
            ("a = 1 AND b = 2 OR c = 3", "a = 1 AND b = 2 OR c = 3"),
            ("a = 1 AND (b = 2 OR c = 3)", "a = 1 AND (b = 2 OR c = 3)"), ("not not a = 1", "a = 1"),
            ("NOT (a = 1 AND b = 2)", "NOT (a = 1 AND b = 2)"), ("a + b * c - d", "a + b * c - d"),
            ("(a + b) * (c - d)", "(a + b) * (c - d)"), ("a - (b - c)", "a - (b - c)"), ("a - -5", "a - -5"),
            ("a like 'x!%%' escape '!'", "a LIKE 'x!%%' ESCAPE '!'"),
            ("a NOT IN (1, 2.5, 'c')", "a NOT IN (1, 2.5, 'c')"),
            ("a between 1 and 2 and b is not null", "a BETWEEN 1 AND 2 AND b IS NOT NULL"),
            ("\"odd \"\" name\" = 1", "\"odd \"\" name\" = 1"), ("\"plain\" = 1", "plain = 1"),
            ("case when a > 1 then 'x' else 'y' end = 'x'", "CASE WHEN a > 1 THEN 'x' ELSE 'y' END = 'x'"),
            ("case a when 1 then 2 end = 2", "CASE a WHEN 1 THEN 2 END = 2"),
            ("upper(a) = 'X' and char_length(b) > 3", "UPPER(a) = 'X' AND CHAR_LENGTH(b) > 3"),
            ("extract(year from d) = 2020", "EXTRACT(YEAR FROM d) = 2020"),
            ("cast(a as varchar(10)) = '1'", "CAST(a AS VARCHAR(10)) = '1'"),
            ("trim(leading 'x' from a) = ''", "TRIM(LEADING 'x' FROM a) = ''"), ("trim(a) = ''", "TRIM(a) = ''"),
            ("position('x' in a) = 1", "POSITION('x', a) = 1"),
            ("substring(a from 2 for 3) = 'b'", "SUBSTRING(a, 2, 3) = 'b'"),
            ("d = date '2020-02-29'", "d = DATE '2020-02-29'"),
            ("d >= timestamp '2020-02-29 13:14:15'", "d >= TIMESTAMP '2020-02-29 13:14:15'"),
            ("d > current_timestamp - interval '3' day", "d > CURRENT_TIMESTAMP - INTERVAL '3 00:00:00' DAY TO SECOND"),
            ("1=1", "1 = 1"), ("a = 1e3", "a = 1000.0"), ("a || b = 'ab'", "a || b = 'ab'"),
        ])
    func readsWhatTheProtocolAllows(_ text: String, _ expected: String) throws {
        #expect(try SQLParser.parse(where: text).text == expected)
    }

    @Test(
        "The parser refuses anything else, and says where",
        arguments: [
            ("a = ", 5), ("a == 1", 4), ("a = 1; DROP TABLE trees", 6), ("a = 1 -- comment", 7), ("a = /* x */ 1", 5),
            ("a = 'open", 5), ("a IN ()", 7), ("a NOT 1", 7), ("(a = 1", 7), ("a = 1)", 6), ("a = 1 b", 7),
            ("a IN (SELECT b FROM c)", 7), ("EXISTS (SELECT 1)", 1), ("load_extension('x') = 1", 1), ("a = 0x1F", 6),
            ("a LIKE 'x' ESCAPE 'ab'", 19), ("d = DATE '2021-02-29'", 10), ("a BETWEEN 1 OR 2", 13), ("", 1),
            ("a = ?", 5),
        ])
    func refusesTheRestAtItsPlace(_ text: String, _ position: Int) throws {
        let error = #expect(throws: SQLParseError.self) { try SQLParser.parse(where: text) }
        #expect(error?.position == position)
        #expect(error?.message.isEmpty == false)
    }

    @Test("Ten thousand parentheses are refused, and nothing crashes")
    func tenThousandParenthesesAreARefusalAndNoCrash() {
        let text = String(repeating: "(", count: 10_000) + "1=1" + String(repeating: ")", count: 10_000)
        #expect(throws: SQLParseError.self) { try SQLParser.parse(where: text) }
        #expect(throws: SQLParseError.self) {
            try SQLParser.parse(where: String(repeating: "UPPER(", count: 10_000) + "a")
        }
        #expect(throws: SQLParseError.self) {
            try SQLParser.parse(where: String(repeating: "CASE WHEN ", count: 10_000) + "a")
        }
    }

    @Test("Long chains of AND and OR do not count as depth")
    func longChainsAreNoDepth() throws {
        let long = (0..<5_000).map { "a = \($0)" }.joined(separator: " OR ")
        let expression = try SQLParser.parse(where: long)
        let row = SQLEvaluator(now: 0) { _ in .integer(4_999) }
        #expect(row.holds(expression))
        #expect(try SQLParser.parse(where: expression.text) == expression)
        #expect(throws: SQLParseError.self) {
            try SQLParser.parse(where: String(repeating: "1+", count: 10_000) + "1 = 1")
        }
        #expect(try SQLParser.parse(where: String(repeating: "-", count: 0) + "NOT NOT NOT a = 1").text == "NOT a = 1")
    }

    @Test(
        "A long text is not looked for in another long text: no database can be stopped within it",
        arguments: [
            ("LIKE", "Notes LIKE '%", "%'"), ("POSITION", "POSITION('", "' IN Notes) > 0"),
            ("TRIM", "TRIM('", "' FROM Notes) = 'a'"), ("LIKE", "NOT (1 = 2 OR '", "' || Notes NOT LIKE 'a%')"),
        ])
    func longSearches(_ name: String, _ start: String, _ end: String) throws {
        func condition(_ count: Int) -> String { start + String(repeating: "x", count: count) + end }
        #expect(try SQLParser.parse(where: condition(Limits.whereSearchCharacters - 40)).text.isEmpty == false)
        let error = #expect(throws: SQLParseError.self) {
            try SQLParser.parse(where: condition(Limits.whereSearchCharacters + 1))
        }
        #expect(error?.message.contains("\(name) takes at most 2000 characters") == true)
        // Texts that are compared once may be longer.
        let long = String(repeating: "x", count: 10_000)
        #expect(try SQLParser.parse(where: "Notes = '\(long)' OR Notes LIKE 'a%'").text.isEmpty == false)
    }

    @Test("orderByFields is read term by term")
    func anOrderIsReadTermByTerm() throws {
        let terms = try SQLParser.parse(orderBy: "Species DESC, Height asc, Stems")
        #expect(terms.map(\.text) == ["Species DESC", "Height ASC", "Stems ASC"])
        #expect(throws: SQLParseError.self) { try SQLParser.parse(orderBy: "Species; DROP TABLE x") }
        #expect(throws: SQLParseError.self) { try SQLParser.parse(orderBy: "Species,") }
    }

    @Test("A mutated condition is read or refused")
    func mutatedTextIsReadOrRefused() throws {
        var generator = SeededGenerator(seed: 7)
        let seeds = [
            "a = 1 AND (b LIKE 'x%' ESCAPE '!' OR c IN (1,2,3)) AND d > TIMESTAMP '2020-01-01 00:00:00'",
            "CASE WHEN a > 1 THEN CAST(b AS INTEGER) ELSE TRIM(BOTH ' ' FROM c) END BETWEEN 1 AND 2",
            "INTERVAL '3 05:32:28' DAY TO SECOND + CURRENT_TIMESTAMP < d",
        ]
        for _ in 0..<4_000 {
            let seed = seeds.randomElement(using: &generator) ?? ""
            let text = String(decoding: generator.mutated(Array(seed.utf8)), as: UTF8.self)
            guard let expression = try? SQLParser.parse(where: text) else { continue }
            // Whatever is read can be written, and means the same.
            #expect(try SQLParser.parse(where: expression.text).text == expression.text)
        }
    }
}
