import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand
@testable import FieldworkPublishing

/// Tables as spreadsheets of several countries and other programs write them.
@Suite("Forms of tables", .fewAtATime)
struct TableFormatTests {
    private struct Read {
        var schema: SourceSchema
        var features: [FeatureEdit]

        func values(_ name: String) -> [AttributeValue] {
            features.map { feature in feature.attributes.first { $0.name == name }?.value ?? .null }
        }
    }

    private static func read(
        _ bytes: Data, name: String = "table.csv", _ options: SourceOptions = SourceOptions()
    ) throws -> Read {
        let file = try TextFile("", name: name)
        try bytes.write(to: file.url)
        let source = try CSVSource(url: file.url, options)
        let schema = try source.schema { _ in }
        var features: [FeatureEdit] = []
        try source.forEach(schema) { row, _ in features.append(try row.get()) }
        return Read(schema: schema, features: features)
    }

    private static func read(_ text: String, _ options: SourceOptions = SourceOptions()) throws -> Read {
        try read(Data(text.utf8), options)
    }

    private static func encoded(_ text: String, _ encoding: TextEncoding) -> Data {
        switch encoding {
        case .utf8: Data([0xEF, 0xBB, 0xBF] + text.utf8)
        case .utf16LittleEndian: Data([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        case .utf16BigEndian: Data([0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        case .windows1252, .latin1:
            Data(text.unicodeScalars.map { $0 == "€" ? 0x80 : UInt8(truncatingIfNeeded: $0.value) })
        }
    }

    @Test(
        "Each delimiter, line end and encoding gives the same rows",
        arguments: [",", ";", "\t", "|"], ["\n", "\r\n", "\r"])
    func forms(_ delimiter: String, _ end: String) throws {
        let rows = [["name", "cost"], ["Straße", "5"], ["\"a\(delimiter)b\"", "6"]]
        let text = rows.map { $0.joined(separator: delimiter) }.joined(separator: end) + end
        for encoding in [TextEncoding.utf8, .windows1252, .utf16LittleEndian, .utf16BigEndian] {
            let read = try Self.read(Self.encoded(text, encoding))
            #expect(read.values("name") == [.text("Straße"), .text("a\(delimiter)b")], "\(encoding)")
            #expect(read.values("cost") == [.integer(5), .integer(6)], "\(encoding)")
        }
    }

    @Test("Characters that windows-1252 has beyond Latin-1 are read, and a pair of UTF-16 units is one character")
    func characters() throws {
        #expect(try Self.read(Self.encoded("a\n5 €\n", .windows1252)).values("a") == [.text("5 €")])
        #expect(try Self.read(Self.encoded("a\n🌳\n", .utf16LittleEndian)).values("a") == [.text("🌳")])
    }

    @Test("What somebody says of a table holds, whatever it looks like")
    func settings() throws {
        let options = SourceOptions(settings: TableSettings(delimiter: 0x7C, decimal: .comma, dates: .monthFirst))
        let read = try Self.read("n;m|d\n1,234|1/2/2024\n", options)
        #expect(read.values("n_m") == [.real(1.234)])
        #expect(read.values("d") == [.integer(1_704_153_600_000)])
        let point = try Self.read("n,m\n\"1,234\",5\n", SourceOptions(settings: TableSettings(decimal: .point)))
        #expect(point.values("n") == [.real(1_234)])
    }

    @Test(
        "Decimal commas and groups of thousands are told from each other where they can be; else the text stays, and is named"
    )
    func decimals() throws {
        #expect(try Self.read("a;b\n1.234,5;2\n7;3\n").values("a") == [.real(1_234.5), .real(7)])
        #expect(try Self.read("a\tb\n1,234.5\t2\n").values("a") == [.real(1_234.5)])
        // In a table with semicolons a comma is a decimal one.
        #expect(try Self.read("a;b\n1,234;2\n").values("a") == [.real(1.234)])
        let doubtful = try Self.read("a\tb\n1,234\t2\n")
        #expect(doubtful.values("a") == [.text("1,234")])
        #expect(doubtful.schema.notes.contains { $0.hasPrefix("a stays text") && $0.contains("--decimal") })
    }

    @Test(
        "Dates are read in the forms that leave no doubt",
        arguments: [
            ("2024-01-31", "2024-01-31T00:00:00Z"), ("2024/01/31 14:05", "2024-01-31T14:05:00Z"),
            ("31.01.2024 14:05:06", "2024-01-31T14:05:06Z"), ("31/1/2024", "2024-01-31T00:00:00Z"),
            ("1/31/2024 2:05 PM", "2024-01-31T14:05:00Z"), ("1/31/2024 12:05 AM", "2024-01-31T00:05:00Z"),
            ("31 Jan 2024", "2024-01-31T00:00:00Z"), ("January 31, 2024", "2024-01-31T00:00:00Z"),
            ("31-JAN-2024", "2024-01-31T00:00:00Z"), ("2024/01/31 03:04:05+02", "2024-01-31T01:04:05Z"),
            ("01.02.2024", "2024-02-01T00:00:00Z"), ("2024-01-31T14:05:06.250Z", "2024-01-31T14:05:06.250Z"),
        ])
    func dates(_ text: String, _ moment: String) throws {
        let value = try #require(
            try Self.read("d|n\n\(text)|1\n").values("d").first?.integerValue, "\(text) is no date")
        #expect(MomentText.text(milliseconds: value, isExact: true) == moment)
    }

    @Test("A column whose dates leave no doubt decides for the others; without one they stay text, and are named")
    func doubtfulDates() throws {
        let helped = try Self.read("a,b\n01/02/2024,31/12/2024\n")
        #expect(helped.values("a") == [.integer(1_706_745_600_000)])
        let doubtful = try Self.read("a,b\n01/02/2024,1\n")
        #expect(doubtful.values("a") == [.text("01/02/2024")])
        #expect(doubtful.schema.notes.contains { $0.hasPrefix("a stays text") && $0.contains("--dates") })
    }

    @Test(
        "Columns of coordinates are known by their names",
        arguments: [
            ("lon,lat\n-122.5,45.5\n", 4_326, -122.5), ("Latitude,Longitude\n45.5,-122.5\n", 4_326, -122.5),
            ("x,y\n-122.5,45.5\n", 4_326, -122.5), ("X_3857,Y_3857\n-13651062,5711318\n", 3_857, -13_651_062),
            ("lon;lat\n-122,5;45,5\n", 4_326, -122.5),
        ])
    func coordinates(_ text: String, _ wkid: Int, _ x: Double) throws {
        let read = try Self.read(text)
        #expect(read.schema.kinds == [.point] && read.schema.spatialReference?.latestWKID == wkid)
        guard case .geometry(let geometry)? = read.features.first?.geometry else {
            Issue.record("no geometry")
            return
        }
        #expect(geometry.extent.xMin == x)
    }

    @Test(
        "Coordinates of a reference that the file does not name make a table, with what to say; --as-table makes one of any"
    )
    func noCoordinates() throws {
        let read = try Self.read("x,y\n7596102,684210\n")
        #expect(read.schema.kinds.isEmpty)
        #expect(read.schema.notes.contains { $0.contains("--x x --y y --wkid") })
        #expect(try Self.read("lon,lat\n1,2\n", SourceOptions(isTable: true)).schema.kinds.isEmpty)
        #expect(try Self.read("lon,lat\nnear,far\n").schema.kinds.isEmpty)
        #expect(throws: PublishingError.self) { try Self.read("a,b\n1,2\n", SourceOptions(reference: .webMercator)) }
    }

    @Test("Well-Known Text becomes geometries, also with the reference before it; what is none is a bad row")
    func text() throws {
        let read = try Self.read(
            "id,wkt\n1,\"POLYGON ((0 0,1 0,1 1,0 0))\"\n2,\n3,\"SRID=4326;POLYGON((5 5,6 5,6 6,5 5))\"\n")
        #expect(read.schema.kinds == [.polygon] && read.schema.fields.map(\.name) == ["id"])
        #expect(read.features.count == 3)
        guard case .null? = read.features[safe: 1]?.geometry else {
            Issue.record("an empty text has a geometry")
            return
        }
        let error = #expect(throws: BadRow.self) { try Self.read("wkt,n\n\"POINT (1 2)\",1\n\"POINT (1\",2\n") }
        #expect(error?.reason.isEmpty == false)
    }

    @Test("Ids of a file are the features' ids; a column that names one twice is a column like others")
    func ids() throws {
        let id = "{0B5A3C9E-8F5B-4B0E-9E0C-0C1D2E3F4A5B}"
        let read = try Self.read("OBJECTID,GlobalID,name\n17,\(id),a\n")
        #expect(read.schema.fields.map(\.name) == ["name"])
        #expect(read.features.first?.objectID == 17 && read.features.first?.globalID == GUID.parse(id))
        let twice = try Self.read("GlobalID,name\n\(id),a\n\(id),b\n")
        #expect(twice.schema.fields.count == 2 && twice.features.first?.globalID == nil)
        #expect(twice.schema.notes.contains { $0.contains("line 3") })
        #expect(throws: PublishingError.self) {
            try Self.read("key,name\n\(id),a\n\(id),b\n", SourceOptions(globalID: "key"))
        }
        #expect(throws: PublishingError.self) { try Self.read("key,name\n\(id),a\n", SourceOptions(globalID: "no")) }
    }

    @Test("Digits that an export has put in quotes are text")
    func quotedDigits() throws {
        let read = try Self.read("OBJECTID,GlobalID,zip,n\n1,,\"97201\",5\n")
        #expect(read.values("zip") == [.text("97201")] && read.values("n") == [.integer(5)])
    }

    @Test("A delimiter at the end of a line is no value too many")
    func trailing() throws {
        #expect(try Self.read("a,b\n1,2,\n").features.count == 1)
        #expect(throws: BadRow.self) { try Self.read("a,b\n1,2,3\n") }
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
