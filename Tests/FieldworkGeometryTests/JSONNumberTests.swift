import FieldworkGeometry
import TestSupport
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

    @Test("What is written reads back as the same number, with no digit too many")
    func written() throws {
        func text(_ number: Double) -> String {
            var bytes: [UInt8] = []
            JSONBytes.append(number, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        let known: KeyValuePairs = [
            0.0: "0", -0.0: "0", 0.5: "0.5", -0.5: "-0.5", 12.34: "12.34", -12.3: "-12.3", 45.523_1: "45.5231",
            -122.676_483_9: "-122.6764839", 1e-9: "0.000000001", 0.000_000_102: "0.000000102", 99.99: "99.99",
            100_000_000: "100000000", 123_456_789.25: "123456789.25", 9_007_199_254_740_991: "9007199254740991",
            4_503_599_627_370_495.5: "4503599627370495.5",
        ]
        for (number, expected) in known { #expect(text(number) == expected) }
        for nothing in [Double.nan, .infinity, -.infinity] { #expect(text(nothing) == "null") }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<50_000 {
            let decimals = Int.random(in: 0...12, using: &generator)
            let scaled = Int64.random(in: .min...(.max), using: &generator) >> Int.random(in: 1...62, using: &generator)
            let number = Double(scaled) / (0..<decimals).reduce(1.0) { power, _ in power * 10 }
            let written = text(number)
            #expect(Double(written) == number, "\(number)")
            let digits = written.split(separator: "e")[0].count { $0.isNumber }
            let least = number.description.split(separator: "e")[0].count { $0.isNumber }
            // A fraction below one may have zeros before its digits that an exponent would stand for.
            #expect(digits <= least + (abs(number) < 1 ? 9 : 0), "\(number): \(written)")
        }
    }

    @Test("Whole numbers are written with all their digits")
    func writtenWhole() {
        var generator = SeededGenerator(seed: 11)
        var numbers: [Int64] = [0, .min, .max]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1, -power, 1 - power]
        }
        for _ in 0..<20_000 {
            let bits = Int64.random(in: 0..<63, using: &generator)
            numbers.append(Int64.random(in: .min...(.max), using: &generator) >> bits)
        }
        for number in numbers {
            var bytes: [UInt8] = []
            JSONBytes.append(number, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == String(number))
        }
    }

    @Test("Text reads back as it was, whatever is in it and wherever that stands")
    func writtenText() throws {
        let odd =
            (0..<0x30).map { String(UnicodeScalar(UInt8($0))) } + ["\\", "/", "\u{7F}", "é", "木", "🌳", "\u{2028}"]
        for one in odd {
            for before in 0..<18 {
                for after in [0, 1, 7, 8, 9] {
                    let text = String(repeating: "a", count: before) + one + String(repeating: "z", count: after)
                    var bytes: [UInt8] = []
                    JSONBytes.append(text, to: &bytes)
                    #expect(try JSONParser.parse(String(decoding: bytes, as: UTF8.self)).stringValue == text)
                    // JSON has no control characters within its texts.
                    #expect(bytes.allSatisfy { $0 >= 0x20 })
                }
            }
        }
        var bytes: [UInt8] = []
        JSONBytes.append("", to: &bytes)
        #expect(bytes == Array("\"\"".utf8))
    }

    @Test("Whole numbers beyond 64 bits are read as doubles, others stay exact")
    func whole() throws {
        #expect(try JSONParser.parse("9223372036854775807").integerValue == .max)
        #expect(try JSONParser.parse("-9223372036854775808").integerValue == .min)
        #expect(try JSONParser.parse("9223372036854775808").doubleValue == 9_223_372_036_854_775_808)
    }
}
