import Foundation
import Testing

@testable import FieldworkLocator

/// Addresses of all countries as these write them.
@Suite("How countries write addresses")
struct AddressFormatTests {
    /// The least share of the cases that are written letter by letter as expected. It only rises.
    private static let leastShare = 0.97

    @Test(
        "At least 97 of 100 addresses of all countries are written as expected",
        .enabled(if: AddressCases.file != nil, "there is no ../shared/data/addresses"))
    func cases() throws {
        let cases = try AddressCases.read()
        try #require(cases.count > 450)
        var (right, misses) = (0, [String]())
        for one in cases {
            let lines = AddressFormat.lines(of: one.members, country: one.country)
            if lines == one.written {
                right += 1
            } else {
                misses.append("\(one.written), not \(lines)")
            }
        }
        #expect(
            Double(right) >= Self.leastShare * Double(cases.count),
            "\(right) of \(cases.count):\n\(misses.joined(separator: "\n"))")
    }

    /// Labels have the members of a locator alone; the cases have many more. What is compared is the order of the members of both.
    @Test(
        "In labels, number and street, and postal code and town, stand in the country's order in at least 95 of 100 addresses",
        .enabled(if: AddressCases.file != nil, "there is no ../shared/data/addresses"))
    func order() throws {
        var (asked, right, misses) = (0, 0, [String]())
        for one in try AddressCases.read() where !one.country.isEmpty {
            let written = one.written.joined(separator: "\n")
            func member(_ parts: [AddressPart]) -> String {
                parts.lazy.map { one.members[$0] }.first { !$0.isEmpty && written.contains($0) } ?? ""
            }
            let zone = AddressZone(
                city: member([.city, .town, .village, .municipality, .hamlet]), postal: member([.postcode]),
                country: one.country.uppercased())
            let (number, street) = (member([.number]), member([.road]))
            let line = AddressLabel.street(number: number, street: street, unit: "", country: zone.country)
            let label = AddressLabel.whole(line, in: zone)
            for (first, second) in [(number, street), (zone.postal, zone.city)]
            where !first.isEmpty && !second.isEmpty && !second.contains(first) && !first.contains(second) {
                guard let wanted = isBefore(first, second, in: written) else { continue }
                asked += 1
                if isBefore(first, second, in: label) == wanted {
                    right += 1
                } else {
                    misses.append("\(label), not \(one.written)")
                }
            }
        }
        try #require(asked > 250)
        #expect(Double(right) >= 0.95 * Double(asked), "\(right) of \(asked): \(misses)")
    }

    private func isBefore(_ first: String, _ second: String, in text: String) -> Bool? {
        guard let one = text.range(of: first), let other = text.range(of: second) else { return nil }
        return one.lowerBound < other.lowerBound
    }

    @Test(
        "A label has the number and the postal code where its country has them",
        arguments: [
            ("US", "12 Elm Rd, Town, Region, 12345"), ("DE", "Elm Rd 12, 12345 Town"), ("FR", "12 Elm Rd, 12345 Town"),
            ("ES", "Elm Rd, 12, 12345 Town"), ("GB", "12 Elm Rd, Town, Region, 12345"),
            ("HU", "Elm Rd 12., 12345 Town"), ("BR", "Elm Rd, 12, Town, Region, 12345"),
            ("GT", "Elm Rd 12, 12345 Town"), ("BY", "Elm Rd, 12, 12345 Town, Region"),
            ("AU", "12 Elm Rd, Town, Region, 12345"), ("MX", "Elm Rd 12, 12345 Town, Region"),
            ("", "12 Elm Rd, Town, Region, 12345"), ("Deutschland", "Elm Rd 12, 12345 Town"),
            ("PR", "12 Elm Rd, Town, Region, 12345"),
        ])
    func labels(_ country: String, _ label: String) {
        let zone = AddressZone(city: "Town", region: "Region", postal: "12345", country: country)
        let line = AddressLabel.street(number: "12", street: "Elm Rd", unit: "", country: country)
        #expect(AddressLabel.whole(line, in: zone) == label)
        #expect(country.isEmpty || AddressLabel.whole(line, in: zone, withCountry: true).contains(country))
    }

    @Test("Every pattern says something of an address, and its number and street once")
    func patterns() {
        var members = AddressMembers()
        for part in AddressPart.allCases { members[part] = "<\(part.rawValue)>" }
        for code in CountryNames.allCodes {
            let lines = AddressFormat.lines(of: members, country: code)
            let text = lines.joined(separator: "\n")
            #expect(lines.count >= 3, "\(code): \(text)")
            #expect(text.components(separatedBy: "<road>").count == (code == "AQ" || code == "PN" ? 1 : 2), "\(code)")
            #expect(!text.contains("  ") && !text.contains(" ,"), "\(code): \(text)")
        }
        #expect(AddressFormat.lines(of: AddressMembers(), country: "DE").isEmpty)
    }

    @Test("Signs between parts that are not known go with them")
    func signs() {
        let pattern = AddressPattern("road, number / postcode- city, state / suburb || county!", lists: [:])
        func lines(_ values: [AddressPart: String]) -> [String] {
            var members = AddressMembers()
            for (part, value) in values { members[part] = value }
            return pattern.lines(of: members)
        }
        #expect(lines([.road: "A", .number: "1"]) == ["A, 1"])
        #expect(lines([.number: "1", .postcode: "2", .city: "B"]) == ["1", "2-B"])
        #expect(lines([.postcode: "2", .state: "C"]) == ["2-C"])
        #expect(lines([.city: "B", .state: "B", .county: "D"]) == ["B", "D"])
        #expect(lines([.city: "B", .suburb: "B", .county: "D"]) == ["B"])
        #expect(lines([:]).isEmpty)
    }
}
