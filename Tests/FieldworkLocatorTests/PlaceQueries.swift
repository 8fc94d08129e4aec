import Foundation

@testable import FieldworkLocator

/// Queries for places that geocoder-tester collected, where the shared data lies beside the repository.
enum PlaceQueries {
    static let folder: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "../shared/data/addresses/geocoder-tester").standardized
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// GeoNames' places, which `make test` installs.
    static let places: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: ".fieldwork/places/cities500.json")
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }()

    struct Place: Decodable {
        var name: String
        var alternatenames: [String]
        var latitude: Double
        var longitude: Double
        var countrycode: String
        var admin1code: String
        var population: Int
    }

    struct Query {
        var text: String
        var country: String
        var x: Double
        var y: Double
        /// Metres.
        var tolerance: Double
        /// How many answers may be looked at.
        var limit: Int
    }

    /// The rows of a file by the names of its columns.
    static func rows(_ name: String) throws -> [[String: String]] {
        guard let folder else { return [] }
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        }
        guard let columns = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(zip(columns, $0), uniquingKeysWith: { first, _ in first }) }
    }

    static func queries(_ name: String) throws -> [Query] {
        try rows(name).compactMap { row in
            let parts = (row["expected_coordinate"] ?? "").split(separator: ",").compactMap { Double($0) }
            guard let text = row["query"], parts.count == 3 else { return nil }
            return Query(
                text: text, country: row["country"] ?? "", x: parts[1], y: parts[0], tolerance: parts[2],
                limit: row["limit"].flatMap { Int($0) } ?? 1)
        }
    }
}

/// The places with the names that lead to them.
struct KnownPlaces: Sendable {
    private(set) var byName: [String: [(x: Double, y: Double)]] = [:]

    init(_ places: [PlaceQueries.Place]) {
        for place in places {
            for name in Set(([place.name] + place.alternatenames).map(TokenizedText.key)) {
                byName[name, default: []].append((place.longitude, place.latitude))
            }
        }
    }

    /// Metres from a point to the nearest place of a name.
    func distance(_ name: String, _ x: Double, _ y: Double) -> Double {
        (byName[TokenizedText.key(name)] ?? []).map { PlaneMetres.far($0.x, $0.y, x, y) }.min() ?? .infinity
    }
}
