import Testing

@testable import FieldworkCollect

@Suite struct FormValuesTests {
    @Test func readsNamesAndValuesInTheirOrder() throws {
        let form = try FormValues(bytes: Array("a=1&b=x+y%2Bz&a=2&c&d=%C3%A4".utf8))
        #expect(form.pairs.map(\.name) == ["a", "b", "a", "c", "d"])
        #expect(form["b"] == "x y+z")
        #expect(form.all("a") == ["1", "2"])
        #expect(form["c"] == "")
        #expect(form["d"] == "ä")
        #expect(form["missing"] == nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "%E4=1"])
    func refusesWhatIsNoForm(text: String) {
        #expect(throws: CollectError.self) { try FormValues(bytes: Array(text.utf8)) }
    }

    @Test func takesAsManyFieldsAsTheLimitSays() throws {
        func form(_ count: Int) -> [UInt8] { Array((0..<count).map { "f\($0)=1" }.joined(separator: "&").utf8) }
        #expect(try FormValues(bytes: form(Limits.formFields)).pairs.count == Limits.formFields)
        #expect(throws: CollectError.self) { try FormValues(bytes: form(Limits.formFields + 1)) }
    }

    @Test(
        arguments: [
            ("38.9", 38.9), ("\u{2212}98,5", -98.5), (" 7 ", 7), ("nan", nil), ("inf", nil), ("1e400", nil),
            ("abc", nil), ("", nil),
        ] as [(String, Double?)])
    func readsNumbersAsPeopleWriteThem(text: String, number: Double?) {
        #expect(FormValues.number(text) == number)
    }
}
