import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Values of each type of field", .fewAtATime, .everyStore)
struct FieldTypeRulesTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private static let name = ServiceName(name: "Types")
    private static let table = LayerAddress(service: name, layerID: 0)

    private static let beyondDouble: Int64 = 9_007_199_254_740_993

    private static let fields = [
        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
        FieldDefinition(name: "small", type: .smallInteger), FieldDefinition(name: "whole", type: .integer),
        FieldDefinition(name: "big", type: .bigInteger), FieldDefinition(name: "single", type: .single),
        FieldDefinition(name: "real", type: .double), FieldDefinition(name: "text", type: .string, length: 4),
        FieldDefinition(name: "date", type: .date), FieldDefinition(name: "day", type: .dateOnly),
        FieldDefinition(name: "time", type: .timeOnly), FieldDefinition(name: "moment", type: .timestampOffset),
        FieldDefinition(name: "guid", type: .guid), FieldDefinition(name: "data", type: .blob),
        FieldDefinition(name: "needed", type: .integer, isNullable: false, defaultValue: .integer(7)),
        FieldDefinition(name: "fixed", type: .integer, isEditable: false, defaultValue: .integer(3)),
        FieldDefinition(
            name: "coded", type: .bigInteger,
            domain: DomainDefinition(
                name: "Big", kind: .codedValues([.init(code: .integer(beyondDouble), name: "Big one")]))),
        FieldDefinition(
            name: "limited", type: .bigInteger,
            domain: DomainDefinition(
                name: "To", kind: .range(minimum: .integer(0), maximum: .integer(beyondDouble)))),
        // As reals the limit and the number above it are the same.
        FieldDefinition(
            name: "capped", type: .bigInteger,
            domain: DomainDefinition(
                name: "Cap", kind: .range(minimum: .integer(0), maximum: .integer(beyondDouble - 1)))),
        FieldDefinition(
            name: "since", type: .dateOnly,
            domain: DomainDefinition(
                name: "Age", kind: .range(minimum: .text("2000-01-01"), maximum: .text("2030-12-31")))),
    ]

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
        try await store.createService(
            ServiceDefinition(name: Self.name, layers: [LayerDefinition(id: 0, name: "Types", fields: Self.fields)]))
    }

    private func add(_ field: String, _ value: AttributeValue) async throws -> EditResult {
        let edits = LayerEdits(layerID: 0, adds: [FeatureEdit(attributes: [(field, value)])])
        return try await store.apply(
            EditBatch(layers: [edits], moment: Samples.moment), to: Self.name
        ).layers[0].adds[0]
    }

    @Test(
        "What a field takes comes back in its one form",
        arguments: [
            ("small", .integer(-32_768), .integer(-32_768)), ("whole", .text(" 12 "), .integer(12)),
            ("whole", .real(5), .integer(5)), ("big", .integer(beyondDouble), .integer(beyondDouble)),
            ("big", .integer(.max), .integer(.max)), ("big", .text("\(Int64.min)"), .integer(.min)),
            ("single", .real(0.1), .real(0.1)), ("single", .real(0.123456789), .real(0.12345679)),
            ("single", .integer(16_777_217), .real(16_777_216)), ("real", .real(0.123456789), .real(0.123456789)),
            // Four characters, of which the first takes four bytes and two units of UTF-16.
            ("text", .text("🌳bäume".prefixText(4)), .text("🌳bäu")),
            // Letters with accents of their own: two of each.
            ("text", .text("e\u{301}e\u{301}"), .text("e\u{301}e\u{301}")),
            ("date", .integer(-1), .integer(-1)), ("date", .text("2026-01-02T03:04:05Z"), .integer(1_767_323_045_000)),
            ("day", .text("2024-02-29"), .text("2024-02-29")), ("time", .text("23:59:59"), .text("23:59:59")),
            ("moment", .text("2003-01-25T17:00:00-05:00"), .text("2003-01-25T17:00:00-05:00")),
            (
                "guid", .text("c0ffee00-1111-2222-3333-444455556666"),
                .text("{C0FFEE00-1111-2222-3333-444455556666}")
            ),
            ("coded", .integer(beyondDouble), .integer(beyondDouble)),
            ("limited", .integer(beyondDouble), .integer(beyondDouble)),
            ("capped", .integer(beyondDouble - 1), .integer(beyondDouble - 1)),
            ("since", .text("2030-12-31"), .text("2030-12-31")),
        ] as [(String, AttributeValue, AttributeValue)])
    func taken(_ field: String, _ value: AttributeValue, _ stored: AttributeValue) async throws {
        #expect(try await add(field, value).error == nil)
        #expect(try await store.records(FeatureQuery(), in: Self.table)[0].attributes[field] == stored)
    }

    @Test(
        "What a field does not take is refused with its name and the reason",
        arguments: [
            ("small", .integer(32_768), "takes a whole number from -32768 to 32767"),
            ("whole", .integer(2_147_483_648), "takes a whole number from -2147483648 to 2147483647"),
            ("whole", .real(1.5), "takes a whole number"), ("whole", .text("many"), "takes a whole number"),
            ("big", .real(1e19), "takes a whole number"), ("big", .text("9223372036854775808"), "takes a whole number"),
            ("single", .real(1e39), "takes a number of single precision"), ("real", .text("tall"), "takes a number"),
            ("text", .text("🌳bäum"), "holds at most 4 characters"), ("text", .integer(1), "takes text"),
            // What looks like three letters, and like one family, is five and seven characters.
            ("text", .text("e\u{301}e\u{301}e"), "holds at most 4 characters"),
            ("text", .text("👨\u{200D}👩\u{200D}👧\u{200D}👦"), "holds at most 4 characters"),
            ("text", .text("a\0"), "takes text without null characters"),
            ("date", .text("yesterday"), "takes a date as milliseconds since 1970"),
            ("date", .integer(.max), "takes a date of the years 0 to 9999"),
            ("day", .text("2023-02-29"), "takes a date as yyyy-mm-dd"),
            ("day", .integer(0), "takes a date as yyyy-mm-dd"),
            ("time", .text("24:00:00"), "takes a time as hh:mm:ss"),
            ("moment", .text("2003-01-25T17:00:00"), "takes a date and time with an offset"),
            ("guid", .text("{12}"), "takes a GUID"), ("data", .text("%"), "takes binary data as base64"),
            ("needed", .null, "must not be null"),
            ("coded", .integer(beyondDouble - 1), "takes only the values of the domain Big"),
            ("limited", .integer(beyondDouble + 1), "is above the range of the domain To"),
            ("limited", .integer(-1), "is below the range of the domain To"),
            ("capped", .integer(beyondDouble), "is above the range of the domain Cap"),
            ("since", .text("1999-12-31"), "is below the range of the domain Age"),
        ] as [(String, AttributeValue, String)])
    func refused(_ field: String, _ value: AttributeValue, _ why: String) async throws {
        #expect(try await add(field, value).error == EditError(code: 1000, description: "Field \(field) \(why)."))
        #expect(try await store.count(FeatureQuery(), in: Self.table) == 0)
    }

    @Test("A field that can't be edited keeps its value, whatever is sent; a default fills what is absent")
    func notEditable() async throws {
        #expect(try await add("fixed", .integer(99)).isSuccess)
        let record = try await store.records(FeatureQuery(), in: Self.table)[0]
        #expect(record.attributes["fixed"] == .integer(3))
        #expect(record.attributes["needed"] == .integer(7))
        let update = LayerEdits(layerID: 0, updates: [FeatureEdit(objectID: 1, attributes: [("fixed", .integer(5))])])
        let result = try await store.apply(EditBatch(layers: [update], moment: Samples.moment), to: Self.name)
        #expect(!result.hasErrors)
        #expect(try await store.records(FeatureQuery(), in: Self.table)[0].attributes["fixed"] == .integer(3))
    }

    @Test("A number of single precision is found by the decimal that was sent")
    func singleInConditions() async throws {
        #expect(try await add("single", .real(0.1)).isSuccess)
        let query = FeatureQuery(condition: .binary(.equal, .field("single"), .literal(.real(0.1))))
        #expect(try await store.count(query, in: Self.table) == 1)
    }
}

extension String {
    /// The first characters, counted as the store counts them.
    fileprivate func prefixText(_ count: Int) -> String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }
}
