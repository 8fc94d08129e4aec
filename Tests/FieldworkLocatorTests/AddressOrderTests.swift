import Foundation
import Testing

@testable import FieldworkLocator

/// Addresses of all countries as these write them, where the shared data lies beside the repository.
private let cases: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let file = root.appending(path: "../shared/data/addresses/address-formatting-cases.yaml.txt").standardized
    return FileManager.default.fileExists(atPath: file.path) ? file : nil
}()

/// Labels have the members of a locator alone; the cases have many more. What is compared is the order of the members of both.
@Suite("The order of addresses", .enabled(if: cases != nil, "there is no ../shared/data/addresses"))
struct AddressOrderTests {
    private struct Case {
        var members: [String: String] = [:]
        var written: [String] = []
    }

    private func read() throws -> [Case] {
        var (all, section): ([Case], Substring) = ([], "")
        let file = try #require(cases)
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line == "---" { all.append(Case()) }
            if line.first != " " {
                section = line.prefix { $0 != ":" }
            } else if section == "expected", !all.isEmpty {
                all[all.count - 1].written.append(line.trimmingCharacters(in: .whitespaces))
            } else if section == "components", !all.isEmpty {
                let parts = line.split(separator: ":", maxSplits: 1).map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " \"'"))
                }
                if parts.count == 2 { all[all.count - 1].members[parts[0]] = parts[1] }
            }
        }
        return all.filter { $0.members["country_code"] != nil && !$0.written.isEmpty }
    }

    @Test(
        "House number and street, and postal code and town, stand in the order of the country in at least 95 of 100 addresses"
    )
    func order() throws {
        var (asked, right, misses) = (0, 0, [String]())
        for one in try read() {
            let written = one.written.joined(separator: "\n")
            func member(_ names: [String]) -> String {
                names.lazy.compactMap { one.members[$0] }.first { !$0.isEmpty && written.contains($0) } ?? ""
            }
            let zone = AddressZone(
                city: member(["city", "town", "village", "municipality", "hamlet", "locality"]),
                postal: member(["postcode"]), country: one.members["country_code"]?.uppercased() ?? "")
            let (number, street) = (
                member(["house_number"]), member(["road", "street", "pedestrian", "footway", "path"])
            )
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
}
