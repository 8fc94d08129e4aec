import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Texts and formats of pop-ups", .fewAtATime)
struct PopupFormatTests {
    private static func number(_ value: any Sendable, _ format: JSONValue? = nil, _ new: JSONValue? = nil) -> String {
        ValueFormatter(layer: nil, timeZone: .gmt).text(value, format: .init(format: format, fieldFormat: new))
    }

    @Test(
        "Numbers are shown with the decimals and separators that are asked for",
        arguments: [
            (1_234_567.891, ["places": 2, "digitSeparator": true], "1,234,567.89"),
            (3.0, ["places": 2], "3.00"), (3.0, nil, "3"), (0.1, nil, "0.1"), (-0.001, ["places": 1], "0.0"),
            (-999.0, ["digitSeparator": true], "-999"), (-1_000.0, ["digitSeparator": true], "-1,000"),
        ] as [(Double, JSONValue?, String)])
    func numbers(value: Double, format: JSONValue?, text: String) {
        #expect(Self.number(value, format) == text)
    }

    @Test("A type shows the names of its own domain, of its field's where it inherits it or has none")
    func domainsOfTypes() {
        func domain(_ text: String) -> DomainDefinition {
            DomainDefinition(name: text, kind: .codedValues([.init(code: .integer(1), name: text)]))
        }
        func type(_ id: Int64, _ domains: [String: DomainDefinition]) -> FeatureTypeDefinition {
            FeatureTypeDefinition(id: .integer(id), name: "Type \(id)", domains: domains)
        }
        let layer = LayerDefinition(
            id: 0, name: "Poles",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "kind", type: .integer),
                FieldDefinition(name: "state", type: .integer, domain: domain("of the field")),
            ],
            typeIDField: "kind",
            types: [
                type(1, ["state": domain("of the type")]),
                type(2, ["state": DomainDefinition(name: "", kind: .inherited)]), type(3, [:]),
            ])
        let formatter = ValueFormatter(layer: layer, timeZone: .gmt)
        let cases: [(kind: Int32, text: String)] = [
            (1, "of the type"), (2, "of the field"), (3, "of the field"), (4, "of the field"),
        ]
        for (kind, text) in cases {
            let attributes: [String: any Sendable] = ["kind": kind, "state": Int32(1)]
            let shown = formatter.text(Int32(1), field: "state", format: .init(), attributes: attributes)
            #expect(shown == text, "kind \(kind)")
        }
    }

    @Test("Numbers below zero are grouped and rounded as those above it")
    func belowZero() {
        for value in [0.04, 0.5, 12, 123.4, 999.96, 1_000, 12_345.678, 123_456.7, 1_234_567.891] {
            let format: JSONValue = ["places": 1, "digitSeparator": true]
            let (above, below) = (Self.number(value, format), Self.number(-value, format))
            #expect(below == (above == "0.0" ? "0.0" : "-" + above))
        }
        #expect(Self.number(Int64.min, ["digitSeparator": true]) == "-9,223,372,036,854,775,808")
        #expect(Self.number(-0.4, ["places": 0]) == "0")
    }

    @Test("A subtype that inherits a domain shows the names of its field's")
    func inheritedBySubtypes() {
        let layer = LayerDefinition(
            id: 0, name: "Poles",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "kind", type: .string, length: 10),
                FieldDefinition(
                    name: "state", type: .string, length: 10,
                    domain: DomainDefinition(
                        name: "State", kind: .codedValues([.init(code: .text("a"), name: "Of the field")]))),
            ],
            typeIDField: "kind",
            types: [
                FeatureTypeDefinition(
                    id: .text("wood"), name: "Wood", domains: ["state": DomainDefinition(name: "", kind: .inherited)])
            ])
        let formatter = ValueFormatter(layer: layer, timeZone: .gmt)
        let attributes: [String: any Sendable] = ["kind": "wood", "state": "a"]
        #expect(formatter.text("a", field: "state", format: .init(), attributes: attributes) == "Of the field")
    }

    @Test("Whole numbers keep all digits; the newer format has decimals from and to")
    func wholeNumbers() {
        #expect(Self.number(Int64.max, ["digitSeparator": true]) == "9,223,372,036,854,775,807")
        #expect(Self.number(Int16(7), ["places": 1]) == "7.0")
        #expect(Self.number(Float(0.1)) == "0.1")
        let new: JSONValue = [
            "type": "number", "minimumFractionDigits": 1, "maximumFractionDigits": 3, "useGrouping": "always",
        ]
        #expect(Self.number(1234.5, ["places": 0], new) == "1,234.5")
        #expect(Self.number(2.0, nil, new) == "2.0")
        #expect(Self.number(2.12345, nil, new) == "2.123")
    }

    @Test(
        "Moments are shown in every form, in the zone that is asked for",
        arguments: [
            ("shortDate", "12/21/1997"), ("shortDateLE", "21/12/1997"), ("longMonthDayYear", "December 21, 1997"),
            ("dayShortMonthYear", "21 Dec 1997"), ("longDate", "Sunday, December 21, 1997"),
            ("longMonthYear", "December 1997"), ("shortMonthYear", "Dec 1997"), ("year", "1997"),
            ("shortDateShortTime", "12/21/1997, 6:00 PM"),
            ("longDateLongTime24", "Sunday, December 21, 1997, 18:00:05"),
            ("dayShortMonthYearLongTime", "21 Dec 1997, 6:00:05 PM"), ("shortDateLEShortTime24", "21/12/1997, 18:00"),
        ])
    func dates(name: String, text: String) throws {
        let date = Date(timeIntervalSince1970: Double(TreeService.planted) / 1_000)
        let format = try #require(PopupDateFormat(name: name))
        #expect(format.text(date, in: .gmt) == text)
        #expect(format.name == name)
        #expect(PopupFieldFormat.DateFormat(rawValue: name) != nil)
        let newZealand = try #require(TimeZone(secondsFromGMT: 13 * 3_600))
        #expect(PopupDateFormat(name: "shortDateShortTime")?.text(date, in: newZealand) == "12/22/1997, 7:00 AM")
        #expect(PopupDateFormat(name: "yearLongTime") == nil)
    }

    @Test("Names in braces are replaced; other braces stay")
    func templates() {
        let template = TextTemplate("{ A } {expression/E1} {relationships/2/B} <style>p{color:red}</style> {} {x y} {")
        #expect(template.names == [.field("A"), .expression("E1"), .related(relationshipID: 2, field: "B")])
        let filled = template.filled { _ in "{A}" }
        #expect(filled == "{A} {A} {A} <style>p{color:red}</style> {} {x y} {")
    }

    @Test("Values are escaped in HTML and addresses; an address alone in its element becomes a link")
    func escaping() {
        let html = TextTemplate("<p>{A}</p><a href=\"{A}\">x</a> {B}")
        let address = "https://example.org/?a=1&b=2"
        let text = html.filledHTML { $0 == .field("A") ? address : "<script>'\"" }
        let escaped = "https://example.org/?a=1&amp;b=2"
        #expect(
            text == "<p><a href=\"\(escaped)\">\(escaped)</a></p><a href=\"\(escaped)\">x</a> &lt;script&gt;&#39;&quot;"
        )
        #expect(
            TextTemplate("https://example.org/{A}.jpg").filledURL { _ in "../x y&z" }?.absoluteString
                == "https://example.org/..%2Fx%20y%26z.jpg")
        #expect(TextTemplate("{A}").filledURL { _ in address }?.absoluteString == address)
    }

    @Test("Statistics leave out nulls; there are none of no numbers")
    func statistics() {
        let values: [(any Sendable)?] = [1.0, nil, Int16(3), 3.0]
        func value(_ statistic: ValueStatistic) -> Double? { RendererFields.number(statistic.value(of: values)) }
        #expect(value(.count) == 3)
        #expect(value(.sum) == 7)
        #expect(value(.max) == 3)
        #expect(value(.min) == 1)
        #expect(value(.avg).map { abs($0 - 7.0 / 3) < 1e-12 } == true)
        #expect(value(.var).map { abs($0 - 4.0 / 3) < 1e-12 } == true)
        #expect(ValueStatistic.mode.value(of: ["b", "a", "a"]) as? String == "a")
        #expect(ValueStatistic.sum.value(of: [nil]) == nil)
    }
}
