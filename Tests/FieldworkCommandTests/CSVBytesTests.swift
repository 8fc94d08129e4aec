import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkPublishing

/// Values of tables are read from their bytes; what they are is what their texts would say.
@Suite("Values of tables from their bytes", .fewAtATime)
struct CSVBytesTests {
    private static let texts = [
        "", " ", "0", "-0", "7", "007", "-01", "00", "1.5", "-1.50", "0.5", "00.5", ".5", "-.5", "5.", "-", ".", "-.",
        "1.2.3",
        "1,5", "1,234", "1.234", "12.345", "123.456", "1234.567", "0.125", "-0.125", "1.234,5", "1,234.5", "01.234",
        "1e5", "1E-7", "1e5e", "12a", "1f5", "6356 NE Ainsworth St", "5 E",
        "+5", "nan", "inf", "-inf", "0x1F", "1_000", " 5", "5 ", "\t5", "é", "5é", "\u{A0}5", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "999999999999999999", "1000000000000000000", "9007199254740993",
        "123456789012345.6", "12345678901234.5", "0.1", "0.30000000000000004", "2147483648", "-2147483649",
        "2024-02-29", "31.01.2024", "1/31/2024", "2024/01/31", "1929", "12:30",
        "{0B5A3C9E-8F5B-4B0E-9E0C-0C1D2E3F4A5B}", "0b5a3c9e-8f5b-4b0e-9e0c-0c1d2e3f4a5b", "Norway maple",
    ]

    private static func withBytes<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        Array(text.utf8).withUnsafeBufferPointer(body)
    }

    @Test("A column is of the same type, length and range")
    func columns() {
        var generator = SeededGenerator(seed: 11)
        for round in 0..<20_000 {
            let values = (0...round % 3).map { _ in Self.texts.randomElement(using: &generator) ?? "" }
            let marks: [DecimalMark?] = [nil, .point, .comma]
            let settings = TableSettings(decimal: marks[round % 7 % 3])
            let takesQuoted = round % 5 == 0
            var ofTexts = FieldInference(name: "a", takesQuotedAsText: takesQuoted, settings)
            var ofBytes = ofTexts
            for (index, value) in values.enumerated() {
                let isQuoted = (round + index) % 4 == 0
                ofTexts.see(.text(value), isQuoted: isQuoted)
                Self.withBytes(value) { ofBytes.see($0, isQuoted: isQuoted) }
            }
            let (expected, found) = (ofTexts.conclusion(), ofBytes.conclusion())
            #expect(found.field.type == expected.field.type, "\(values)")
            #expect(found.field.length == expected.field.length, "\(values)")
            #expect(found.reading.number == expected.reading.number, "\(values)")
            #expect(found.reading.date == expected.reading.date, "\(values)")
            #expect(found.doubt == expected.doubt, "\(values)")
            #expect(ofBytes.range == ofTexts.range && ofBytes.numbers == ofTexts.numbers, "\(values)")
            #expect(ofBytes.seen == ofTexts.seen, "\(values)")
        }
    }

    @Test("A number has every bit that its text has")
    func numbers() {
        var generator = SeededGenerator(seed: 12)
        let random = (0..<50_000).map { _ in
            let digits = (0...Int.random(in: 0...18, using: &generator)).map { _ in
                String(Int.random(in: 0...9, using: &generator))
            }
            let point = Int.random(in: 0...digits.count, using: &generator)
            let mark = Bool.random(using: &generator) ? "." : ""
            return (Bool.random(using: &generator) ? "-" : "") + digits[..<point].joined() + mark
                + digits[point...].joined()
        }
        var read = 0
        for text in random + Self.texts {
            guard let number = Self.withBytes(text, { PlainNumber($0) }) else { continue }
            read += 1
            #expect(number.value.bitPattern == Double(text)?.bitPattern, "\(text)")
            #expect(number.integer == Int64(text), "\(text)")
        }
        #expect(read > 20_000)
    }

    @Test("A feature has the values and the place that its row's texts say")
    func features() throws {
        for title in ["number", "word", "both"] {
            let values = title == "number" ? ["1", "2.5", "-0", ""] : title == "word" ? Self.texts : ["1", "x", "2.5"]
            let rows = values.map { "1.5,\" 2\",\"\($0)\",3\n4,5.25,\($0 == "1,5" ? "" : "\"\($0)\""),3.000\n" }
            let file = try TextFile("lon,lat,\(title),more\n" + rows.joined(), name: "table.csv")
            let source = try CSVSource(url: file.url)
            let schema = try source.schema { _ in }
            var reader = try CSVReader(file.url)
            defer { reader.close() }
            _ = try reader.next()
            try source.forEach(schema) { row, _ in
                let texts = try #require(try reader.next())
                let feature = try row.get()
                for (index, field) in schema.fields.enumerated() {
                    let reading = schema.readings[index]
                    let expected = FieldInference.value(texts[reading.index], for: field, reading)
                    #expect(feature.attributes[index].value == expected && feature.attributes[index].name == field.name)
                }
                guard case .geometry(let place) = feature.geometry else {
                    Issue.record("no place")
                    return
                }
                #expect(place.extent.xMin == Double(texts[0]))
                #expect(place.extent.yMax == Double(texts[1].trimmingCharacters(in: .whitespaces)))
            }
        }
    }

    @Test("Values that lie across the pieces of a file are whole", arguments: ["\n", "\r\n", "\r"])
    func pieces(_ end: String) throws {
        var generator = SeededGenerator(seed: 13)
        let parts = ["a", "é", "\"", ",", "\n", "\r", "\r\n", " ", "😀", "long enough to be copied at once"]
        var rows: [[String]] = []
        var text = "\u{FEFF}"
        for _ in 0..<30_000 {
            let row = (0..<3).map { _ in
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    parts.randomElement(using: &generator) ?? ""
                }.joined()
            }
            rows.append(row)
            text += row.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",") + end
        }
        let file = try TextFile(text, name: "table.csv")
        var reader = try CSVReader(file.url)
        defer { reader.close() }
        var found: [[String]] = []
        while let row = try reader.next() { found.append(row) }
        #expect(found == rows)
    }
}
