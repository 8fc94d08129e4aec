import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkCommand
@testable import FieldworkPublishing

@Suite("Field inference", .fewAtATime)
struct FieldInferenceTests {
    private static func field(_ texts: [String]) -> FieldDefinition {
        var inference = FieldInference(name: "column")
        for text in texts { inference.see(.text(text)) }
        return inference.field
    }

    @Test(
        "The narrowest type that holds every value is chosen",
        arguments: [
            (["1", "-20", ""], FieldType.integer), (["1", "4000000000"], .bigInteger), (["1", "2.5"], .double),
            (["-0.5", "1e-7"], .double), (["2024-02-29", "2024-03-01T12:00:00Z"], .date),
            (["{0B5A3C9E-8F5B-4B0E-9E0C-0C1D2E3F4A5B}"], .guid), (["1", "one"], .string), ([], .string),
            ([""], .string),
            (["2023-02-29"], .string), (["nan", "inf"], .string), (["1,5", "-2"], .double), (["1,234"], .string),
            (["1.5", "1,5"], .string), ([" 5", "1"], .integer),
            (["31.01.2024"], .date), (["1/31/2024"], .date), (["01/02/2024"], .string), (["1.2.3"], .string),
        ])
    func types(_ texts: [String], _ type: FieldType) {
        #expect(Self.field(texts).type == type, "\(texts)")
    }

    @Test(
        "What would lose something as a number stays text",
        arguments: ["007", "+15035550123", "00", "-01", "12345678901234567890123", "0x1F", "1_000"])
    func codes(_ text: String) {
        let field = Self.field(["1", text])
        #expect(field.type == .string)
        #expect(FieldInference.value(text, for: field) == .text(text))
    }

    @Test("A text field has room for its longest value, counted in characters")
    func lengths() {
        #expect(Self.field([String(repeating: "é", count: 200)]).length >= 200)
        #expect(Self.field([String(repeating: "x", count: 9_000)]).length >= 9_000)
        #expect(Self.field(["short"]).length == 50)
    }

    @Test("Numbers among words become words, and keep their digits")
    func mixedJSON() {
        var inference = FieldInference(name: "column", readsNumbersInText: false)
        for value in [AttributeValue.integer(97_201), .text("PO box"), .real(2.5)] { inference.see(value) }
        let (field, column, _) = inference.conclusion()
        #expect(field.type == .string)
        #expect(FieldInference.value(AttributeValue.integer(97_201), for: field, column) == .text("97201"))
        #expect(FieldInference.value(AttributeValue.real(2.5), for: field, column) == .text("2.5"))
    }

    @Test("Where numbers have a form of their own, digits in quotes are text")
    func quotedDigits() {
        var inference = FieldInference(name: "zip", readsNumbersInText: false)
        inference.see(.text("97201"))
        #expect(inference.field.type == .string)
    }

    @Test("Every column gets a name of its own that a field may have")
    func names() {
        let names = FieldNames.unique(["Name", "name", "", "2nd", "a b;c", "OBJECTID", "shape", "Größe"])
        #expect(Set(names.map { $0.lowercased() }).count == names.count)
        #expect(names[0] == "Name")
        #expect(names[3] == "_2nd")
        #expect(names[4] == "a_b_c")
        #expect(!names.map { $0.lowercased() }.contains("objectid"))
        #expect(names[7] == "Größe")
    }
}
