import Foundation
import Testing

@testable import FieldworkLocator

/// The middle of San Francisco, where the shared data lies beside the repository.
private let extract: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let file = root.appending(path: "../shared/data/osm/sf-downtown.osm.pbf").standardized
    return FileManager.default.fileExists(atPath: file.path) ? file : nil
}()

/// A real extract: the middle of San Francisco.
@Suite("OpenStreetMap extracts", .enabled(if: extract != nil, "there is no ../shared/data/osm"))
struct OpenStreetMapTests {
    /// The most that an address of the extract takes in the file, with all that belongs to it. It only falls.
    private static let bytesPerAddress = 80

    @Test("Labels lead to themselves, streets and places are found, unknown numbers get a place between houses")
    func sanFrancisco() async throws {
        let file = try #require(extract)
        let city = try await TemporaryLocator.make { try OSMImport.read(file, into: $0) }
        let count = city.locator.information.addressCount
        #expect(count > 6_000, "\(count)")
        let bytes = try FileManager.default.attributesOfItem(atPath: city.url.path)[.size] as? Int ?? .max
        // With streets, crossings and places of interest.
        #expect(bytes <= Self.bytesPerAddress * count, "\(bytes / count) bytes an address")
        let isAll = ProcessInfo.processInfo.environment["FIELDWORK_LOCATOR_LABELS"] == "all"
        var (asked, found, misses) = (0, 0, [String]())
        var last: Int64 = -1
        while true {
            let page = try await city.locator.addresses(after: last, limit: 1_000)
            guard let end = page.last else { break }
            last = end.id
            // One in eight: a test round has little time. FIELDWORK_LOCATOR_LABELS=all looks for all.
            for address in page where isAll || address.id % 8 == 0 {
                asked += 1
                let first = try await city.locator.candidates(for: address.result.label).first
                if first?.label == address.result.label {
                    found += 1
                } else {
                    misses.append("\(address.result.label) → \(first?.label ?? "nothing")")
                }
            }
        }
        try #require(asked > 500)
        #expect(Double(found) > 0.99 * Double(asked), "\(found) of \(asked): \(misses.prefix(20))")

        let cross = try #require(try await city.locator.candidates(for: "Market St & 4th St, San Francisco").first)
        #expect(
            cross.kind == .intersection && abs(cross.x + 122.4060) < 0.002 && abs(cross.y - 37.7856) < 0.002, "\(cross)"
        )
        let between = try #require(try await city.locator.candidates(for: "901 Market Stret, San Francisco").first)
        #expect(between.street == "Market Street", "\(between)")
        let hill = try #require(try await city.locator.candidates(for: "Nob Hill").first)
        #expect(hill.kind == .locality && hill.zone.city == "San Francisco", "\(hill)")
        let suggestions = try await city.locator.suggestions(for: "mark")
        #expect(suggestions.contains { $0.text.hasPrefix("Market Street") }, "\(suggestions.map(\.text))")
    }
}
