import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkStore

/// Upper and lower case beyond ASCII: the stores and the evaluator agree on every letter.
@Suite("Letter case", .fewAtATime, .everyStore)
struct LetterCaseTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    private static let words = [
        "Äpfel", "äPFEL", "straße", "STRASSE", "Öl", "ÜBER", "über", "Şişli", "İzmir", "ısı", "ΣΊΣΥΦΟΣ", "σίσυφος", "É",
        "é",
        "Чехов", "чЕХОВ", "🌳 Baum", "ᾳ", "ﬁn", "ǆ", "ẞ", "ab", "",
    ]

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.anyStore(in: folder)
        let adds = Self.words.map { Samples.tree($0, x: 0, y: 0) }
        _ = try await store.apply(Samples.batch(adds: adds), to: Samples.name)
    }

    @Test("The features that a comparison without case finds are those that the evaluator finds")
    func sameAnswers() async throws {
        let records = try await store.records(FeatureQuery(), in: Samples.trees)
        #expect(records.count == Self.words.count)
        for word in Self.words {
            for function in [SQLFunction.upper, .lower] {
                let (field, text) = (SQLExpression.field("species"), SQLExpression.literal(.string(word)))
                let conditions: [SQLExpression] = [
                    .binary(.equal, .function(function, [field]), .function(function, [text])),
                    .like(
                        .function(function, [field]), pattern: .function(function, [text]), escape: nil, negated: false),
                    .binary(.less, .function(function, [field]), .function(function, [text])),
                ]
                for condition in conditions {
                    let expected = records.filter { record in
                        SQLEvaluator(now: 0, value: { record.attributes[$0] ?? .null }).holds(condition)
                    }.map(\.objectID)
                    let found = try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees)
                    #expect(found == expected, "\(condition.text)")
                }
            }
        }
    }

    @Test("Every letter that has another case has it in the database too")
    func everyLetter() async throws {
        for (letterCase, function) in [(LetterCase.lower, SQLFunction.lower), (.upper, .upper)] {
            let mapped: [Unicode.Scalar] = letterCase.mapping.keys.sorted { $0.value < $1.value }
            let letters = mapped + LetterCase.withoutOneCapital
            for start in stride(from: 0, to: letters.count, by: 100) {
                var text = "aZ".unicodeScalars
                text.append(contentsOf: letters[start..<min(start + 100, letters.count)])
                let condition = SQLExpression.binary(
                    .equal, .function(function, [.literal(.string(String(text)))]),
                    .literal(.string(letterCase.of(String(text)))))
                let found = try await store.objectIDs(FeatureQuery(condition: condition), in: Samples.trees)
                #expect(
                    found.count == Self.words.count,
                    "\(function) of \(letters[start..<min(start + 100, letters.count)].map(\.properties.name))")
            }
        }
    }

    @Test("One letter becomes one letter, in words and alone")
    func mappings() {
        for (text, upper, lower) in [
            ("ß", "ß", "ß"), ("İ", "İ", "i"), ("ı", "I", "ı"), ("ΟΔΟΣ", "ΟΔΟΣ", "οδοσ"), ("ς", "Σ", "ς"),
            ("ş", "Ş", "ş"),
            ("ᾳ", "ᾼ", "ᾳ"), ("ﬁ", "ﬁ", "ﬁ"), ("🌳ä", "🌳Ä", "🌳ä"), ("Жук", "ЖУК", "жук"), ("", "", ""),
        ] {
            #expect(LetterCase.upper.of(text) == upper && LetterCase.lower.of(text) == lower, "\(text)")
        }
    }
}
