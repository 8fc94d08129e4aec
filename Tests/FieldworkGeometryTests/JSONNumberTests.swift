import FieldworkGeometry
import Testing

@Suite("Numbers in JSON")
struct JSONNumberTests {
    @Test(
        "A number is read as the nearest Double",
        arguments: [
            "0.0", "-0.0", "0.1", "-0.1", "123.456", "9007199254740993.0", "9007199254740992.5", "0.3",
            "562949953421311.9", "562949953421312.1", "5629499534213119.5", "1.0000000000000002",
            "179769313486231570000.5", "2.2250738585072011e-308", "4.9e-324", "0.00000000000000000000001",
            "0.0000000000000000000001", "1e22", "1.5e300", "0.1000000000000000055511151231257827021181583404541015625",
        ])
    func nearest(_ text: String) throws {
        let value = try #require(try JSONParser.parse(text).doubleValue)
        let expected = try #require(Double(text))
        #expect(value.bitPattern == expected.bitPattern)
    }

    @Test("Decimals of any length and place of the point are read as the nearest Double")
    func random() throws {
        var generator = SeededGenerator(seed: 2_026)
        for _ in 0..<20_000 {
            let bits = UInt64.random(in: 0..<64, using: &generator)
            let whole = UInt64.random(in: 0...(.max), using: &generator) >> bits
            let fraction = (0..<Int.random(in: 1...24, using: &generator)).map { _ in
                String(Int.random(in: 0...9, using: &generator))
            }.joined()
            let text = (Bool.random(using: &generator) ? "-" : "") + "\(whole).\(fraction)"
            let value = try #require(try JSONParser.parse(text).doubleValue, "\(text)")
            let expected = try #require(Double(text))
            #expect(value.bitPattern == expected.bitPattern, "\(text)")
        }
    }

    @Test("Whole numbers beyond 64 bits are read as doubles, others stay exact")
    func whole() throws {
        #expect(try JSONParser.parse("9223372036854775807").integerValue == .max)
        #expect(try JSONParser.parse("-9223372036854775808").integerValue == .min)
        #expect(try JSONParser.parse("9223372036854775808").doubleValue == 9_223_372_036_854_775_808)
    }
}
