import Foundation
import Testing

@testable import FieldworkLocator

/// Where `make test` installs places and addresses that others collected.
private let places = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: ".fieldwork/places")

private func installed(_ name: String) -> URL? {
    let file = places.appending(path: name)
    return FileManager.default.fileExists(atPath: file.path) ? file : nil
}

/// Locators of real addresses lead each label to its place.
@Suite("Real addresses", .enabled(if: installed("installed") != nil, "make test installs them"))
struct RealAddressTests {
    /// The most that an address or a place of Helsinki takes in the file. It only falls.
    private static let bytesPerAddressOrPlace = 120

    /// FIELDWORK_LOCATOR_LABELS=all looks for all of them; a test round has time for a sample.
    private static let share = ProcessInfo.processInfo.environment["FIELDWORK_LOCATOR_LABELS"] == "all" ? 1 : 8

    /// The share of labels whose first answer is at their place, and examples of the others.
    private func found(_ locator: Locator, within metres: Double) async throws -> (share: Double, misses: [String]) {
        var (asked, right, misses) = (0, 0, [String]())
        var last: Int64 = -1
        while true {
            let page = try await locator.addresses(after: last, limit: 1_000)
            guard let end = page.last else { break }
            last = end.id
            for address in page {
                asked += 1
                guard asked % Self.share == 0 || Self.share == 1 else { continue }
                let label = address.result.label
                let first = try await locator.candidates(for: label).first
                let distance = first.map {
                    PlaneMetres.far($0.x, $0.y, address.result.x, address.result.y)
                }
                if first?.label == label || distance ?? .infinity <= metres {
                    right += 1
                } else {
                    misses.append("\(label) → \(first?.label ?? "nothing")")
                }
            }
        }
        return (Double(right) / Double(max(1, asked / Self.share)), misses)
    }

    @Test("Helsinki's addresses lead to themselves, in both languages of its streets")
    func helsinki() async throws {
        let file = try #require(installed("helsinki.osm.pbf"))
        let city = try await TemporaryLocator.make { try OSMImport.read(file, into: $0) }
        #expect(city.locator.information.addressCount > 500, "\(city.locator.information.addressCount)")
        let (share, misses) = try await found(city.locator, within: 1)
        #expect(share > 0.99, "\(share): \(misses.prefix(10))")
        // The extract has three shops and the like for each address: their names are most of the file.
        let information = city.locator.information
        let bytes = try FileManager.default.attributesOfItem(atPath: city.url.path)[.size] as? Int ?? .max
        let named = information.addressCount + city.placeCount
        #expect(bytes <= Self.bytesPerAddressOrPlace * named, "\(bytes) bytes of \(named) addresses and places")
        let swedish = try await city.locator.candidates(for: "Mannerheimvägen 10, Helsinki").first
        #expect(swedish?.street == "Mannerheimintie" && swedish?.number == "10", "\(swedish?.label ?? "nothing")")
    }

    private struct American: Decodable {
        struct Place: Decodable {
            var lat: Double
            var lng: Double
        }
        var address1: String
        var city: String
        var state: String
        var postal_code: String
        var coordinates: Place
    }

    @Test("Addresses of the whole United States lead to themselves")
    func unitedStates() async throws {
        let file = try #require(installed("addresses-us.jsonl"))
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let states = try await TemporaryLocator.make { builder in
            let map = try FieldMap(columns: ["address", "city", "state", "zip", "country", "x", "y"])
            for line in lines {
                let one = try JSONDecoder().decode(American.self, from: Data(line.utf8))
                let values = [
                    "address": one.address1, "city": one.city, "state": one.state, "zip": one.postal_code,
                    "country": "US", "x": "\(one.coordinates.lng)", "y": "\(one.coordinates.lat)",
                ]
                try map.add(nil, to: builder) { values[$0] }
            }
        }
        #expect(states.locator.information.addressCount > 3_000, "\(states.locator.information.addressCount)")
        let (share, misses) = try await found(states.locator, within: 1)
        #expect(share > 0.99, "\(share): \(misses.prefix(10))")
    }
}
