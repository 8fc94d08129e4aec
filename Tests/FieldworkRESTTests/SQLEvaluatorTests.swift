import FieldworkGeometry
import FieldworkREST
import Testing

@Suite struct SQLEvaluatorTests {
    private let row: [String: AttributeValue] = [
        "n": .null, "one": .integer(1), "half": .real(0.5), "oak": .text("Oak"), "eighty": .text("80%"),
        "day": .integer(1_583_000_000_123),
    ]

    private func value(_ text: String) throws -> AttributeValue {
        SQLEvaluator(now: 1_600_000_000_000, user: "ada") { row[$0] ?? .null }
            .evaluate(try SQLParser.parse(expression: text))
    }

    @Test(
        "Conditions are true, false or unknown",
        arguments: [
            ("1=1 AND 1=1", true), ("1=1 AND 1=0", false), ("1=1 AND n=1", nil), ("1=0 AND n=1", false),
            ("n=1 AND n=1", nil), ("1=1 OR n=1", true), ("1=0 OR n=1", nil), ("1=0 OR 1=0", false), ("NOT n=1", nil),
            ("NOT 1=0", true), ("n = n", nil), ("n <> 1", nil), ("n IS NULL", true), ("n IS NOT NULL", false),
            ("one IN (2, 1)", true), ("one IN (2, NULL)", nil), ("one NOT IN (2, NULL)", nil),
            ("one NOT IN (2, 3)", true),
            ("n IN (1)", nil), ("one BETWEEN 0 AND 1", true), ("one BETWEEN n AND 0", false),
            ("one BETWEEN 0 AND n", nil),
            ("one NOT BETWEEN 2 AND 3", true), ("n LIKE '%'", nil), ("oak LIKE 'O%'", true), ("oak LIKE 'o%'", false),
            ("oak LIKE '_a_'", true), ("oak LIKE '____'", false), ("eighty LIKE '%!%' ESCAPE '!'", true),
            ("oak NOT LIKE '%!%' ESCAPE '!'", true), ("oak = 'oak'", false), ("oak < 'oak'", true), ("one = 1.0", true),
            ("day > DATE '2020-02-29'", true), ("day < DATE '2020-02-29' + INTERVAL '1' DAY", true),
            ("CURRENT_USER = 'ada'", true), ("CURRENT_TIMESTAMP > TIMESTAMP '2020-09-13 12:26:39'", true),
        ] as [(String, Bool?)])
    func conditionsHaveThreeTruths(_ text: String, _ expected: Bool?) throws {
        #expect(try value(text) == expected.map { .integer($0 ? 1 : 0) } ?? .null)
        let holds = SQLEvaluator(now: 1_600_000_000_000, user: "ada") { row[$0] ?? .null }
            .holds(try SQLParser.parse(where: text))
        #expect(holds == (expected == true))
    }

    @Test(
        "Values are computed as the store computes them",
        arguments: [
            ("7 / 2", .integer(3)), ("-7 / 2", .integer(-3)), ("7 / 2.0", .real(3.5)), ("1 / 0", .null),
            ("1 + NULL", .null), ("oak || '!' ", .text("Oak!")), ("oak || n", .null), ("UPPER(oak)", .text("OAK")),
            ("CHAR_LENGTH(oak)", .integer(3)), ("SUBSTRING(oak, 2, 1)", .text("a")),
            ("SUBSTRING(oak FROM 2)", .text("ak")),
            ("POSITION('k' IN oak)", .integer(3)), ("TRIM(BOTH 'O' FROM oak)", .text("ak")), ("ABS(-3)", .integer(3)),
            ("ROUND(2.567, 2)", .real(2.57)), ("TRUNCATE(-2.567, 1)", .real(-2.5)), ("MOD(7, 3)", .integer(1)),
            ("COALESCE(n, 2)", .integer(2)), ("NULLIF(1, 1)", .null), ("EXTRACT(YEAR FROM day)", .integer(2020)),
            ("EXTRACT(MONTH FROM day)", .integer(2)), ("EXTRACT(DAY FROM day)", .integer(29)),
            ("CAST('12.9' AS INTEGER)", .integer(12)), ("CAST(half AS VARCHAR)", .text("0.5")),
            ("CASE one WHEN 1 THEN 'a' END", .text("a")), ("CASE WHEN n = 1 THEN 'a' ELSE 'b' END", .text("b")),
            ("SQRT(-1)", .null),
        ] as [(String, AttributeValue)])
    func valuesAreComputedAsTheStoreDoes(_ text: String, _ expected: AttributeValue) throws {
        #expect(try value(text) == expected)
    }

    @Test("A pattern of many stars is matched in linear time")
    func aPatternOfManyStarsIsMatchedInLinearTime() throws {
        let text = String(repeating: "a", count: 5_000)
        let pattern = String(repeating: "%a", count: 200) + "b"
        let evaluator = SQLEvaluator(now: 0) { _ in .text(text) }
        let condition = SQLExpression.like(
            .field("x"), pattern: .literal(.string(pattern)), escape: nil, negated: false)
        #expect(!evaluator.holds(condition))
    }
}

@Suite struct SQLBindingTests {
    private func bound(_ text: String) throws -> String {
        try SQLParser.parse(where: text).bound(to: Samples.trees).text
    }

    @Test("Fields get the layer's spelling")
    func fieldsGetTheLayersSpelling() throws {
        #expect(try bound("species = 'Oak' AND TREES.HEIGHT > 3") == "Species = 'Oak' AND Height > 3")
    }

    @Test("A text that is compared with a date is read as a date")
    func textsBesideDatesBecomeMoments() throws {
        #expect(try bound("planted > '2020-01-02'") == "Planted > TIMESTAMP '2020-01-02 00:00:00'")
        #expect(try bound("'2020-01-02 03:04' < planted") == "TIMESTAMP '2020-01-02 03:04:00' < Planted")
        #expect(
            try bound("planted BETWEEN '2020-01-01' AND '2020-01-02'")
                == "Planted BETWEEN TIMESTAMP '2020-01-01 00:00:00' AND TIMESTAMP '2020-01-02 00:00:00'")
        #expect(try bound("species = '2020-01-02'") == "Species = '2020-01-02'")
    }

    @Test(
        "A literal is read as the kind that it is compared with",
        arguments: [
            ("height = '10.5'", "Height = 10.5"), ("height > '10'", "Height > 10"), ("species = 7", "Species = '7'"),
            ("species IN (7, 'a')", "Species IN ('7', 'a')"), ("'3' <= height", "3 <= Height"),
            ("height BETWEEN '1' AND 2", "Height BETWEEN 1 AND 2"),
        ])
    func literalsAreReadAsWhatTheyAreComparedWith(_ text: String, _ expected: String) throws {
        #expect(try bound(text) == expected)
    }

    @Test(
        "A comparison of a number with a text is refused",
        arguments: [
            "height = 'tall'", "species > 7", "species = height", "height IN (1, 'a')", "UPPER(species) < height",
            "height BETWEEN 'a' AND 'b'",
        ])
    func numbersAndTextsThatCantBeComparedAreRefused(_ text: String) {
        #expect(throws: ServiceError.self) { try bound(text) }
    }

    @Test(
        "The difference of two dates is a number of days",
        arguments: [
            ("planted - DATE '2020-01-01'", AttributeValue.real(1.5)),
            ("planted + 1", AttributeValue.integer(1_578_052_800_000)),
            ("0.5 + planted", AttributeValue.integer(1_578_009_600_000)),
            ("planted - INTERVAL '12' HOUR", AttributeValue.integer(1_577_923_200_000)),
        ])
    func differencesOfDatesAreDays(_ text: String, _ expected: AttributeValue) throws {
        let expression = try SQLParser.parse(expression: text).bound(to: Samples.trees)
        let evaluator = SQLEvaluator(
            now: 0, kind: { SQLExpression.field($0).kind(in: Samples.trees) },
            value: { _ in .integer(1_577_966_400_000) })
        #expect(evaluator.evaluate(expression) == expected)
    }

    @Test("A field that the layer lacks is an error of the request")
    func aFieldThatTheLayerLacksIsAnErrorOfTheRequest() {
        let error = #expect(throws: ServiceError.self) { try bound("Colour = 'red'") }
        #expect(error?.code == 400)
        #expect(error?.details.joined().contains("Colour") == true)
    }
}
