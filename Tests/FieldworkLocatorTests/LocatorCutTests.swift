import Foundation
import TestSupport
import Testing

@testable import FieldworkLocator

/// Parts of locators for the work offline.
@Suite("Parts of locators", .fewAtATime)
struct LocatorCutTests {
    /// A street of 40 houses from west to east, one each 0.002 degrees, and a town around it.
    private func make(at url: URL) throws {
        let builder = try LocatorBuilder(name: "Town", at: url)
        let zone = AddressZone(city: "Alderton", region: "OR", postal: "97001", country: "US")
        for index in 0..<40 {
            let x = -122.6 + 0.002 * Double(index)
            try builder.add(
                AddressRecord(
                    number: index == 3 ? "107 1/2" : "\(101 + 2 * index)", street: "Main St",
                    unit: index == 4 ? "Apt 2" : "", zone: zone, x: x, y: 45.5001))
            try builder.add(
                StreetRecord(
                    name: "Main St", otherNames: ["Highway 7"], zone: zone, line: [x - 0.001, 45.5, x + 0.001, 45.5]))
        }
        try builder.add(StreetRecord(name: "Oak Ave", zone: zone, line: [-122.599, 45.5, -122.599, 45.51]))
        try builder.add(
            PlaceRecord(
                kind: .locality, type: "town", name: "Alderton", otherNames: ["Old Town"],
                zone: AddressZone(region: "OR", country: "US"), weight: 5_000, x: -122.56, y: 45.5,
                rings: [[-122.7, 45.4, -122.7, 45.6, -122.5, 45.6, -122.5, 45.4, -122.7, 45.4]]))
        try builder.add(PlaceRecord(kind: .pointOfInterest, name: "Far Museum", zone: zone, x: -122.523, y: 45.5))
        try builder.finish()
    }

    private func withTown(_ test: (URL, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = LocatorFile.url(name: "Town", in: folder)
        try make(at: whole)
        try await test(whole, LocatorFile.url(name: "Part", in: folder))
    }

    /// Around the first ten houses.
    private let area = LocatorOptions.Extent(xMin: -122.601, yMin: 45.499, xMax: -122.582, yMax: 45.501)

    @Test("A part finds what lies in its area and a kilometre around it, as the whole does, and nothing farther away")
    func part() async throws {
        try await withTown { whole, part in
            try LocatorCut.make(of: whole, area: area, at: part)
            let (all, some) = (try await Locator.open(whole, readers: 1), try await Locator.open(part, readers: 1))
            #expect(some.name == "Town")
            var found = 0
            for address in try await all.addresses(after: -1, limit: 100) {
                let label = address.result.label
                let isInside = address.result.x < area.xMax + 0.0128
                let first = try await some.candidates(for: label).first
                #expect((first?.label == label && first?.score == 100) == isInside, "\(label)")
                if isInside { found += 1 }
                let reverse = try await some.addresses(atX: address.result.x, y: address.result.y).first
                #expect((reverse?.label == label) == isInside, "\(label) by its place")
            }
            #expect(found == some.information.addressCount && found > 10 && found < 40)
            #expect(try await some.candidates(for: "109 Highway 7 Apt 2").first?.label.hasPrefix("109 Main St") == true)
            #expect(try await some.candidates(for: "Main St & Oak Ave").first?.kind == .intersection)
            #expect(try await some.candidates(for: "Old Town").first?.kind == .locality)
            #expect(try await some.candidates(for: "Far Museum").first?.placeName != "Far Museum")
            let town = try await some.addresses(atX: -122.55, y: 45.45).first
            #expect(town?.placeName == "Alderton", "a place that reaches into the area is whole")
            await all.close()
            await some.close()
        }
    }

    @Test("A part with more addresses than allowed, of nothing, or of no area is refused, and leaves no file")
    func refused() async throws {
        try await withTown { whole, part in
            #expect(throws: LocatorError.self) { try LocatorCut.make(of: whole, area: area, at: part, most: 5) }
            #expect(try LocatorCut.make(of: whole, area: area, at: part, most: 40) > 10)
            try FileManager.default.removeItem(at: part)
            let nowhere = LocatorOptions.Extent(xMin: 10, yMin: 10, xMax: 11, yMax: 11)
            #expect(throws: LocatorError.self) { try LocatorCut.make(of: whole, area: nowhere, at: part) }
            let nothing = LocatorOptions.Extent(xMin: 1, yMin: 1, xMax: 1, yMax: 2)
            #expect(throws: LocatorError.self) { try LocatorCut.make(of: whole, area: nothing, at: part) }
            let left = try FileManager.default.contentsOfDirectory(atPath: whole.deletingLastPathComponent().path)
            #expect(left == ["Town.locator"], "\(left)")
        }
    }

    @Test("Files that a killed process left behind go when its locator is made again; those of others stay")
    func abandoned() async throws {
        try await withTown { whole, _ in
            let folder = whole.deletingLastPathComponent()
            // No process has a number that large.
            let dead = folder.appending(path: ".Town.locator-999999999-\(UUID().uuidString)-work")
            let other = folder.appending(path: ".Village.locator-999999999-\(UUID().uuidString)-work")
            let alive = folder.appending(path: ".Town.locator-1-\(UUID().uuidString)-work")
            for file in [dead, other, alive] { try Data([1]).write(to: file) }
            try make(at: whole)
            #expect(!FileManager.default.fileExists(atPath: dead.path))
            #expect(FileManager.default.fileExists(atPath: other.path))
            #expect(FileManager.default.fileExists(atPath: alive.path))
        }
    }
}
