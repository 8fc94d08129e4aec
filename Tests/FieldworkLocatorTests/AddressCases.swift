import Foundation
import Testing

@testable import FieldworkLocator

/// Addresses in their parts, and as their countries write them, where the shared data lies beside the repository.
struct AddressCases {
    var members = AddressMembers()
    var country = ""
    var written: [String] = []

    static let file: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "../shared/data/addresses/address-formatting-cases.yaml.txt").standardized
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }()

    static func read() throws -> [AddressCases] {
        var (all, section): ([(parts: [(String, String)], written: [String])], Substring) = ([], "")
        for line in try String(contentsOf: #require(file), encoding: .utf8).split(separator: "\n") {
            if line == "---" { all.append(([], [])) }
            if line.first != " " {
                section = line.prefix { $0 != ":" }
            } else if section == "expected", !all.isEmpty {
                all[all.count - 1].written.append(clean(line))
            } else if section == "components", !all.isEmpty {
                let parts = line.split(separator: ":", maxSplits: 1).map {
                    clean($0).trimmingCharacters(in: CharacterSet(charactersIn: " \"'"))
                }
                if parts.count == 2, !parts[1].isEmpty { all[all.count - 1].parts.append((parts[0], parts[1])) }
            }
        }
        return all.filter { !$0.parts.isEmpty && !$0.written.isEmpty }.map { AddressCases($0.parts, $0.written) }
    }

    private static func clean(_ text: Substring) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private init(_ parts: [(name: String, value: String)], _ written: [String]) {
        self.written = written
        var ranks: [AddressPart: Int] = [:]
        var others: [String] = []
        for (name, text) in parts {
            let value = text.trimmingCharacters(in: CharacterSet(charactersIn: ", "))
            if name == "country_code" {
                country = value
            } else if let (part, rank) = Self.parts[name] {
                guard rank < ranks[part] ?? .max else { continue }
                (ranks[part], members[part]) = (rank, value)
            } else if name != "attention", !value.contains("://") {
                // A name of something else than a house: of a bank, a hotel.
                others.append(value)
            }
        }
        members[.attention] = parts.first { $0.name == "attention" }?.value ?? others.joined(separator: ", ")
    }

    /// The names that the data has for each part, the best first.
    private static let parts: [String: (AddressPart, Int)] = {
        let names: [AddressPart: String] = [
            .house: "house building public_building isolated_dwelling farmland", .quarter: "quarter", .block: "area",
            .number: "house_number housenumber street_number",
            .road: "road street_name street footway highway path pedestrian road_reference road_reference_intl square",
            .neighbourhood: "neighbourhood allotments city_block residential commercial industrial subdistrict ward",
            .suburb: "suburb", .district: "city_district borough district", .village: "village",
            .hamlet: "hamlet locality croft", .town: "town township", .city: "city", .postalCity: "postal_city",
            .municipality: "municipality local_administrative_area subcounty commune", .county: "county department",
            .countyCode: "county_code department_code", .stateDistrict: "state_district", .state: "state province",
            .stateCode: "state_code", .region: "region", .island: "island", .archipelago: "archipelago",
            .postcode: "postcode partial_postcode postal_code", .country: "country country_name",
            .continent: "continent",
        ]
        var result: [String: (AddressPart, Int)] = [:]
        for (part, text) in names {
            for (rank, name) in text.split(separator: " ").enumerated() { result[String(name)] = (part, rank) }
        }
        return result
    }()
}
