import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkLocator

/// Rows that hold several houses, pieces of streets or places.
@Suite("Rows of several houses, pieces of streets and places")
struct BlockTests {
    private func houses(_ generator: inout SeededGenerator) -> [KnownHouse] {
        let suffixes = ["", "", "", "", "A", "1/2", "–14", "½ß"]
        let units = ["", "", "", "", "", "Apt 1", "Wohnung Ü", String(repeating: "x", count: 300)]
        return (0..<(1 + generator.next(below: HouseBlock.most))).map { _ in
            KnownHouse(
                number: Int64(
                    [generator.next(below: 400), generator.next(below: 1_000_000_000)][generator.next(below: 8) / 7]),
                suffix: suffixes[generator.next(below: suffixes.count)],
                unit: units[generator.next(below: units.count)],
                zoneID: Int64(generator.next(below: 3)), x: Double(generator.next(below: 360_000_000)) / 1e6 - 180,
                y: Double(generator.next(below: 180_000_000)) / 1e6 - 90)
        }.sorted { $0.number < $1.number }
    }

    @Test("Houses come out as they went in, to a centimetre")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 5)
        for road in [Int64(1), 4_000_000] {
            for _ in 0..<200 {
                let written = houses(&generator)
                let row = try #require(HouseBlock.row(of: road, first: written[0].number, after: nil))
                let read = HouseBlock.bytes(of: written).withUnsafeBytes { HouseBlock.houses($0, row: row) }
                try #require(read.count == written.count)
                for (one, other) in zip(read, written) {
                    #expect(one.number == other.number && one.suffix == other.suffix && one.unit == other.unit)
                    #expect(one.zoneID == other.zoneID && one.road == road && HouseBlock.road(ofHouse: one.id) == road)
                    #expect(abs(one.x - other.x) <= 6e-8 && abs(one.y - other.y) <= 6e-8)
                }
                #expect(Set(read.map(\.id)).count == read.count)
            }
        }
    }

    @Test("Pieces of streets come out as they went in, with falling ranges and sides without numbers")
    func streets() throws {
        let pieces = [
            StreetPiece(
                road: 7, left: NumberRange(from: 199, to: 101), right: nil, line: [-122, 45, -122.001, 45.002]),
            StreetPiece(
                road: 7, left: nil, right: NumberRange(from: 2, to: 2, parity: .both),
                line: [179.9999999, -89.5, 180, -89.6, -180, 0]),
            StreetPiece(
                road: 7, left: NumberRange(from: 0, to: 98), right: NumberRange(from: 1, to: 1_000_000_000),
                line: [0, 0, 1e-7, 0]),
        ]
        let row = try #require(StreetBlock.row(of: 7, block: 3))
        let read = StreetBlock.bytes(of: pieces).withUnsafeBytes { StreetBlock.pieces($0, row: row) }
        #expect(read.map(\.left) == pieces.map(\.left) && read.map(\.right) == pieces.map(\.right))
        #expect(read.map(\.road) == [7, 7, 7] && read.map(\.line) == pieces.map(\.line), "\(read)")
    }

    @Test("Bytes that another program wrote or cut off are read to where they make sense")
    func malformed() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<3_000 {
            let bytes = (0..<generator.next(below: 60)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            bytes.withUnsafeBytes { raw in
                #expect(HouseBlock.houses(raw, row: .max).count <= 64)
                for piece in StreetBlock.pieces(raw, row: 1) {
                    for range in [piece.left, piece.right] {
                        guard let range else { continue }
                        _ = piece.place(of: 5, range, isLeft: true)
                        #expect((0...1_000_000_000).contains(range.from) && (0...1_000_000_000).contains(range.to))
                    }
                }
                #expect(PlaceBlock.entries(raw).entries.count <= raw.count)
                #expect(PackedPath.rings(raw).count <= raw.count)
            }
        }
    }

    @Test(
        "A tower of ten thousand flats and numbers of nine digits are found by their place and, as far as there is room, by number"
    )
    func towers() async throws {
        let zone = AddressZone(city: "Elmford", region: "OR", country: "US")
        let one = try await TemporaryLocator.make { builder in
            for flat in 1...10_000 {
                try builder.add(
                    AddressRecord(number: "12", street: "Elm St", unit: "Apt \(flat)", zone: zone, x: -122, y: 45))
            }
            for number in ["13", "999999999", "16777215", "16777216"] {
                try builder.add(AddressRecord(number: number, street: "Elm St", zone: zone, x: -122, y: 45.0005))
            }
        }
        #expect(one.locator.information.addressCount == 10_004)
        for number in ["13", "999999999", "16777215", "16777216"] {
            let first = try await one.locator.candidates(for: "\(number) Elm St").first
            #expect(first?.number == number && first?.kind == .pointAddress, "\(number): \(first?.label ?? "nothing")")
        }
        #expect(try await one.locator.candidates(for: "12 Elm St Apt 17").first?.unit == "Apt 17")
        #expect(try await one.locator.addresses(atX: -122, y: 45).first?.number == "12")
        let between = try #require(try await one.locator.candidates(for: "15 Elm St").first)
        #expect(between.kind == .streetAddress && between.range == NumberRange(from: 13, to: 16_777_215), "\(between)")
    }

    @Test("A file of an older version is not opened, says how to make it again, and still tells what it was made of")
    func olderVersion() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Old.locator", directoryHint: .notDirectory)
        let builder = try LocatorBuilder(name: "Old", at: file)
        builder.origin = "{\"layer\":\"Houses/0\"}"
        try builder.add(AddressRecord(number: "1", street: "Elm St", zone: AddressZone(), x: 1, y: 2))
        try builder.finish()
        #expect(try Locator.origin(of: file).isCurrent)
        let connection = try StoreConnection(path: file.path, mode: .readWrite)
        try connection.execute("UPDATE gc_meta SET value = '1' WHERE key = 'version'")
        let error = await #expect(throws: LocatorError.self) { _ = try await Locator.open(file) }
        #expect(
            error?.code == .notALocator && error?.message.contains("Make it again") == true,
            "\(String(describing: error))")
        let known = try Locator.origin(of: file)
        #expect(!known.isCurrent && known.origin.contains("Houses/0"))
    }

    @Test("Words of the town that all streets have are found in the names of some, alone and together")
    func commonWords() async throws {
        let zone = AddressZone(city: "San Francisco", region: "CA", country: "US")
        let one = try await TemporaryLocator.make { builder in
            for index in 0..<300 {
                try builder.add(
                    StreetRecord(
                        name: index == 250 ? "California St" : "Number\(index) St", zone: zone,
                        line: [-122, 37 + Double(index) / 1_000, -122.001, 37 + Double(index) / 1_000]))
            }
            try builder.add(
                PlaceRecord(
                    kind: .locality, type: "city", name: "San Francisco",
                    zone: AddressZone(region: "CA", country: "US"),
                    weight: 800_000, x: -122, y: 37, reach: 9_000))
            try builder.add(
                PlaceRecord(kind: .pointOfInterest, name: "San Francisco Mint", zone: zone, x: -122.0005, y: 37.1))
        }
        let wanted = [
            "California Street, San Francisco": "California St",
            "california st san francisco california usa": "California St",
            "San Francisco Mint": "San Francisco Mint", "San Fransisco": "San Francisco",
            "San Francisco, CA": "San Francisco",
            "Number17 Street San Francisco": "Number17 St",
        ]
        for (text, name) in wanted {
            let first = try await one.locator.candidates(for: text).first
            #expect(first?.shortLabel == name, "\(text): \(first?.label ?? "nothing")")
        }
        for (text, name) in ["san f": "San Francisco", "cali": "California St", "number29": "Number29 St"] {
            let first = try await one.locator.suggestions(for: text).first
            #expect(first?.text.hasPrefix(name) == true, "\(text): \(first?.text ?? "nothing")")
        }
    }
}
