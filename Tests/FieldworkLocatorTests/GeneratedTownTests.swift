import Foundation
import TestSupport
import Testing

@testable import FieldworkLocator

/// What must hold for every address of towns whose truth is known.
@Suite("Addresses of generated towns", .serialized)
struct GeneratedTownTests {
    private func all(of locator: Locator) async throws -> [StoredAddress] {
        var all: [StoredAddress] = []
        while true {
            let page = try await locator.addresses(after: all.last?.id ?? -1, limit: 500)
            if page.isEmpty { return all }
            all += page
        }
    }

    private func isSame(_ result: LocatorResult?, _ address: LocatorResult) -> Bool {
        guard let result else { return false }
        return result.label == address.label && abs(result.x - address.x) < 1e-9 && abs(result.y - address.y) < 1e-9
    }

    @Test("Every address is kept, and its label leads back to it with the full score")
    func labels() async throws {
        let towns = try await TemporaryLocator.towns()
        let addresses = try await all(of: towns.locator)
        #expect(addresses.count == GeneratedTown.all().addresses.count)
        for address in addresses {
            let found = try await towns.locator.candidates(for: address.result.label)
            #expect(isSame(found.first, address.result), "\(address.result.label): \(found.first?.label ?? "nothing")")
            #expect(found.first?.score == 100, "\(address.result.label)")
        }
    }

    @Test("The order of the words, their case and their accents don't matter")
    func spellings() async throws {
        let towns = try await TemporaryLocator.towns()
        let houses = try await all(of: towns.locator).filter { $0.result.unit.isEmpty }
        try #require(houses.count > 100)
        for address in houses {
            let (result, zone) = (address.result, address.result.zone)
            let plain = result.label.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
                $0.value < 0x300 || $0.value > 0x36F
            }
            let texts = [
                result.label.uppercased(), String(String.UnicodeScalarView(plain)).lowercased(),
                "\(zone.city), \(result.street) \(result.number)", "\(result.number), \(result.street), \(zone.postal)",
            ]
            for text in texts {
                let found = try await towns.locator.candidates(for: text)
                let first = found.first
                // Without its town a street of the name may be the other town's.
                #expect(
                    first?.street == result.street && first?.number == result.number,
                    "\(text): \(first?.label ?? "nothing")")
            }
        }
    }

    @Test("The place of an address leads back to it")
    func places() async throws {
        let towns = try await TemporaryLocator.towns()
        var options = ReverseOptions()
        options.kinds = [.pointAddress, .subaddress]
        let addresses = try await all(of: towns.locator)
        try #require(addresses.count > 100)
        for address in addresses {
            let found = try await towns.locator.addresses(atX: address.result.x, y: address.result.y, options)
            #expect(
                found.first?.number == address.result.number,
                "\(address.result.label): \(found.first?.label ?? "nothing")")
            #expect(found.first?.street == address.result.street, "\(address.result.label)")
        }
    }

    @Test("With one error of typing the right address is first in at least 95 of 100 searches")
    func typingErrors() async throws {
        let towns = try await TemporaryLocator.towns()
        var generator = SeededGenerator(seed: 99)
        var (right, asked, misses) = (0, 0, [String]())
        for address in try await all(of: towns.locator) where generator.next(below: 4) == 0 {
            let text = Self.misspelt(address.result.label, &generator)
            let found = try await towns.locator.candidates(for: text)
            asked += 1
            if isSame(found.first, address.result) {
                right += 1
            } else {
                misses.append("\(text) → \(found.first?.label ?? "nothing")")
            }
        }
        try #require(asked > 100)
        #expect(Double(right) >= 0.95 * Double(asked), "\(right) of \(asked): \(misses.prefix(20))")
    }

    /// One letter of a word changed, left out, put in, or swapped with the next.
    private static func misspelt(_ label: String, _ generator: inout SeededGenerator) -> String {
        var letters = Array(label)
        let places = letters.indices.dropLast().filter { letters[$0].isLetter && letters[$0 + 1].isLetter }
        guard !places.isEmpty else { return label }
        let place = places[generator.next(below: places.count)]
        let letter = Character(Unicode.Scalar(UInt8(97 + generator.next(below: 26))))
        switch generator.next(below: 4) {
        case 0: letters[place] = letter
        case 1: letters.remove(at: place)
        case 2: letters.insert(letter, at: place)
        default: letters.swapAt(place, place + 1)
        }
        return String(letters)
    }

    @Test("A number that no house has gives the place between its neighbours, on its side, and says so")
    func betweenHouses() async throws {
        let towns = try await TemporaryLocator.towns()
        let missing = try await towns.locator.candidates(for: "147 Bravo Ave, Alderton, OR")
        let found = try #require(missing.first)
        #expect(found.kind == .streetAddress && found.side == "L" && found.number == "147", "\(found)")
        #expect(found.range == NumberRange(from: 101, to: 199))
        // The street goes north: its left side lies to the west.
        #expect(found.x < -122.499 && abs(found.x + 122.499) < 0.0002)
        let even = try #require(try await towns.locator.candidates(for: "146 Bravo Ave, Alderton, OR").first)
        #expect(even.side == "R" && even.x > -122.499)
        let far = try #require(try await towns.locator.candidates(for: "9999 Bravo Ave, Alderton, OR").first)
        #expect(far.kind == .streetAddressExtended && far.score == 90, "\(far)")
        var options = LocatorOptions()
        options.matchesOutOfRange = false
        let street = try #require(
            try await towns.locator.candidates(for: "9999 Bravo Ave, Alderton, OR", options).first)
        #expect(street.kind == .streetName, "\(street)")
    }

    @Test("The crossing of two streets lies on both")
    func crossings() async throws {
        let towns = try await TemporaryLocator.towns()
        for text in [
            "Bravo Ave & 2nd St, Alderton", "2nd street and bravo avenue alderton", "bravo @ 2nd, Alderton OR",
        ] {
            let found = try #require(try await towns.locator.candidates(for: text).first, "\(text)")
            #expect(found.kind == .intersection, "\(text): \(found)")
            #expect(abs(found.x + 122.499) < 1e-6 && abs(found.y - 45.501) < 1e-6, "\(text): \(found.x) \(found.y)")
        }
        var options = ReverseOptions()
        options.kinds = [.intersection]
        let back = try await towns.locator.addresses(atX: -122.49901, y: 45.50101, options)
        #expect(Set((back.first?.street ?? "").components(separatedBy: " & ")) == ["Bravo Ave", "2nd St"], "\(back)")
    }

    @Test("A house across its street is not the address of a place; the number on this side is")
    func sides() async throws {
        let one = try await TemporaryLocator.make { builder in
            let zone = AddressZone(city: "Elmford", region: "OR", country: "US")
            try builder.add(
                StreetRecord(
                    name: "Elm St", zone: zone, left: NumberRange(from: 101, to: 199),
                    right: NumberRange(from: 100, to: 198),
                    line: [-122, 45, -122, 45.001]))
            try builder.add(AddressRecord(number: "151", street: "Elm St", zone: zone, x: -122.0001, y: 45.0005))
        }
        let east = try #require(try await one.locator.addresses(atX: -121.9999, y: 45.0005).first)
        #expect(east.kind == .streetAddress && east.side == "R" && ["148", "150"].contains(east.number), "\(east)")
        let west = try #require(try await one.locator.addresses(atX: -122.00012, y: 45.0005).first)
        #expect(west.kind == .pointAddress && west.number == "151", "\(west)")
        let nothing = try await one.locator.addresses(atX: -121.9, y: 45.0005)
        #expect(nothing.isEmpty)
    }
}
