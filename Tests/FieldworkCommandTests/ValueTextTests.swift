import FieldworkGeometry
import FieldworkREST
import Testing

@testable import FieldworkCommand

@Suite("Values for a person")
struct ValueTextTests {
    @Test("Dates are dates, of any year; what only looks like one is the number that it is")
    func dates() {
        let text = ValueText(fields: [
            FieldDefinition(name: "Seen", type: .date), FieldDefinition(name: "count", type: .bigInteger),
        ])
        #expect(text.text("seen", JSONValue.integer(1_757_322_820_999)) == "2025-09-08T09:13:40Z")
        #expect(text.text("Seen", JSONValue.integer(-1)) == "1969-12-31T23:59:59Z")
        #expect(text.text("Seen", JSONValue.integer(-2_208_988_800_000)) == "1900-01-01T00:00:00Z")
        #expect(text.text("Seen", AttributeValue.null) == "null")
        #expect(text.text("count", JSONValue.integer(1_757_322_820_999)) == "1757322820999")
        #expect(text.text("name", JSONValue.string("say \"a\"")) == #""say \"a\"""#)
        #expect(MomentText.text(nil) == "never")
    }
}
