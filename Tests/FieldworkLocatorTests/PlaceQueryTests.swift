import Foundation
import Testing

@testable import FieldworkLocator

/// Queries that people collected, over the places of GeoNames: the towns of the United States, Germany and Poland, and the larger ones of
/// the rest of the world beside them, so that a name has its rivals. FIELDWORK_LOCATOR_LABELS=all takes every place of the world.
@Suite(
    "Queries for places", .serialized,
    .enabled(if: PlaceQueries.folder != nil, "there is no ../shared/data/addresses"),
    .enabled(if: PlaceQueries.places != nil, "make test installs GeoNames' places"))
struct PlaceQueryTests {
    /// The least share of the queries that the data can answer and that are answered within their tolerance. It only rises.
    private static let leastShare = 0.96

    private struct World {
        var locator: TemporaryLocator
        var known: KnownPlaces
        var places: [PlaceQueries.Place]
    }

    private static let world = Task { try await makeWorld() }

    private static func makeWorld() async throws -> World {
        let file = try #require(PlaceQueries.places)
        let isAll = ProcessInfo.processInfo.environment["FIELDWORK_LOCATOR_LABELS"] == "all"
        let places = try JSONDecoder().decode([String: PlaceQueries.Place].self, from: Data(contentsOf: file)).values
            .filter {
                isAll || ["US", "DE", "PL"].contains($0.countrycode) || $0.population > 15_000
            }
        let locator = try await TemporaryLocator.make { builder in
            // The columns that GeoNames' files have.
            let map = try FieldMap(columns: [
                "name", "alternatenames", "countrycode", "admin1code", "population", "longitude", "latitude",
            ])
            for place in places {
                let values = [
                    "name": place.name, "alternatenames": place.alternatenames.joined(separator: "|"),
                    "countrycode": place.countrycode, "admin1code": place.admin1code,
                    "population": "\(place.population)", "longitude": "\(place.longitude)",
                    "latitude": "\(place.latitude)",
                ]
                try map.add(nil, to: builder) { values[$0] }
            }
        }
        return World(locator: locator, known: KnownPlaces(Array(places)), places: Array(places))
    }

    /// Places of one name in one country, or one state, have one label: the answer is one of them, and all are among the answers. Of a
    /// hundred labels two or three lead to a much larger place that has the name as another of its names.
    @Test("A place is found by its name and its country, and its label leads to a place of that label")
    func labels() async throws {
        let world = try await Self.world.value
        let isAll = ProcessInfo.processInfo.environment["FIELDWORK_LOCATOR_LABELS"] == "all"
        let places = world.places.sorted { ($0.name, $0.longitude) < ($1.name, $1.longitude) }
        var options = LocatorOptions()
        options.maximumCount = Limits.candidates
        var (asked, right, among, misses) = (0, 0, 0, [String]())
        for (index, place) in places.enumerated() where isAll || index % 200 == 0 {
            let zone = AddressZone(
                region: RegionNames.ofGeoNames(place.admin1code, country: place.countrycode),
                country: place.countrycode)
            let text = AddressLabel.whole(place.name, in: zone, withCountry: true)
            asked += 1
            let found = try await world.locator.locator.candidates(for: text, options).first {
                PlaneMetres.far($0.x, $0.y, place.longitude, place.latitude) < 10
            }
            guard let found else {
                misses.append(text)
                continue
            }
            among += 1
            let first = try await world.locator.locator.candidates(for: found.label).first
            if first?.label == found.label {
                right += 1
            } else {
                misses.append("\(found.label) → \(first?.label ?? "nothing")")
            }
        }
        try #require(asked > 300)
        #expect(Double(among) >= 0.99 * Double(asked), "\(among) of \(asked): \(misses.prefix(30))")
        #expect(Double(right) >= 0.97 * Double(among), "\(right) of \(among): \(misses.prefix(30))")
    }

    @Test("At least 96 of 100 queries that the data can answer are answered within their tolerance")
    func queries() async throws {
        let world = try await Self.world.value
        let files = [
            "germany-test_cities.csv", "germany-test_towns.csv", "germany-test_villages.csv", "poland-test_cities.csv",
            "poland-de-test_cities.csv", "usa-test_cities.csv",
        ]
        var (answerable, right, elsewhere, same, misses) = (0, 0, 0, 0, [String]())
        for query in try files.flatMap(PlaceQueries.queries) {
            var options = LocatorOptions()
            options.country = query.country
            options.maximumCount = query.limit
            let found = try await world.locator.locator.candidates(for: query.text, options)
            let distance = found.map { PlaneMetres.far($0.x, $0.y, query.x, query.y) }.min() ?? .infinity
            let known = world.known.distance(query.text, query.x, query.y)
            if known <= query.tolerance {
                answerable += 1
                if distance <= query.tolerance {
                    right += 1
                } else {
                    misses.append("\(query.text) → \(found.first?.label ?? "nothing")")
                }
            } else if known < 10_000 {
                // The data has the place, but another point of it than the query wants.
                elsewhere += 1
                if distance < 10_000 { same += 1 }
            }
        }
        try #require(answerable > 200)
        #expect(
            Double(right) >= Self.leastShare * Double(answerable), "\(right) of \(answerable): \(misses)")
        #expect(same >= elsewhere - 2, "\(same) of \(elsewhere)")
    }

    @Test(
        "A town is told from others of its name by its state or its country, in the languages that people write them in",
        arguments: [
            ("Springfield, IL", -89.64, 39.80), ("Springfield Massachusetts USA", -72.59, 42.10),
            ("Portland, Maine", -70.26, 43.66), ("Vancouver, British Columbia", -123.12, 49.25),
            ("Vancouver WA", -122.66, 45.64), ("London, ON", -81.23, 42.98),
            ("Perth, Western Australia", 115.86, -31.95),
            ("Newcastle, NSW", 151.78, -32.93), ("Freiburg, Baden-Württemberg", 7.85, 48.00),
            ("München, Bayern", 11.58, 48.14), ("Munich, Bavaria, Germany", 11.58, 48.14),
            ("Halle, Sachsen-Anhalt", 11.97, 51.48), ("Muenchen", 11.58, 48.14), ("NUERNBERG", 11.08, 49.45),
            ("Cologne, Allemagne", 6.95, 50.93), ("Varsovie", 21.01, 52.23), ("Warschau, Polen", 21.01, 52.23),
            ("Turku, Suomi", 22.27, 60.45), ("Åbo Finland", 22.27, 60.45), ("Helsingfors", 24.94, 60.17),
            ("Genève, Suisse", 6.15, 46.20), ("Lyon, Frankreich", 4.85, 45.75), ("Москва, Россия", 37.62, 55.75),
            ("St. Gallen", 9.37, 47.42), ("Saint Petersburg FL", -82.64, 27.77),
            ("Warszawa, Mazowieckie", 21.01, 52.23),
        ])
    func context(_ text: String, _ x: Double, _ y: Double) async throws {
        let world = try await Self.world.value
        let first = try await world.locator.locator.candidates(for: text).first
        let found = try #require(first, "nothing for \(text)")
        #expect(PlaneMetres.far(found.x, found.y, x, y) < 10_000, "\(text) → \(found.longLabel)")
    }

    @Test(
        "A country may be asked for by its code or its name, in several languages; another country's town is no answer")
    func countries() async throws {
        let world = try await Self.world.value
        var options = LocatorOptions()
        for country in [
            "US", "USA", "United States of America", "united states", "Vereinigte Staaten", "DE, États-Unis",
        ] {
            options.country = country
            let found = try await world.locator.locator.candidates(for: "St. Petersburg", options).first
            #expect(found?.zone.country == "US", "\(country): \(found?.longLabel ?? "nothing")")
        }
        options.country = "Russland"
        let found = try await world.locator.locator.candidates(for: "St. Petersburg", options).first
        #expect(found?.zone.country == "RU", "\(found?.longLabel ?? "nothing")")
    }

    @Test(
        "Of places that share a name, one that has it as its first goes before one that has it as another, if it is not much smaller"
    )
    func otherNames() async throws {
        let world = try await Self.world.value
        var options = LocatorOptions()
        options.country = "US"
        // A part of Richmond in Virginia was called so once.
        let manchester = try await world.locator.locator.candidates(for: "Manchester", options).first
        #expect(manchester?.label == "Manchester, NH", "\(manchester?.label ?? "nothing")")
        for (text, name) in ["Wien": "Vienna", "Posen": "Poznań", "Breslau": "Wrocław"] {
            let found = try await world.locator.locator.candidates(for: text).first
            #expect(found?.placeName == name, "\(text) → \(found?.label ?? "nothing")")
        }
    }

    @Test("The beginning of a name in the user's language suggests the town")
    func beginnings() async throws {
        let world = try await Self.world.value
        let berlin = LocatorOptions.Location(x: 13.43, y: 52.48)
        for (text, location, x, y) in [
            ("münche", nil, 11.58, 48.14), ("Erlange", berlin, 11.00, 49.60), ("Bautz", berlin, 14.42, 51.18),
            ("Dresden", LocatorOptions.Location(x: 7.84, y: 47.98), 13.74, 51.05),
        ] {
            var options = LocatorOptions()
            options.location = location
            let first = try await world.locator.locator.suggestions(for: text, options).first
            let suggestion = try #require(first, "nothing for \(text)")
            options.magicKey = suggestion.magicKey
            let found = try await world.locator.locator.candidates(for: suggestion.text, options).first
            let distance = found.map { PlaneMetres.far($0.x, $0.y, x, y) } ?? .infinity
            #expect(distance < 10_000, "\(text) → \(suggestion.text)")
        }
    }

    @Test("The middle of a city lies in that city, or in a part of it that the data has as a place of its own")
    func reverse() async throws {
        let world = try await Self.world.value
        var options = ReverseOptions()
        options.kinds = [.locality]
        var (asked, right, misses) = (0, 0, [String]())
        for row in try PlaceQueries.rows("test_reverse_curated_cities.csv") {
            guard let x = row["lon"].flatMap({ Double($0) }), let y = row["lat"].flatMap({ Double($0) }),
                let city = row["expected_city"]
            else { continue }
            asked += 1
            let found = try await world.locator.locator.addresses(atX: x, y: y, options).first
            if let found, world.known.distance(city, found.x, found.y) < 10 {
                right += 1
            } else {
                misses.append("\(city) → \(found?.label ?? "nothing")")
            }
        }
        try #require(asked > 50)
        #expect(right >= 44, "\(right) of \(asked): \(misses)")
    }
}
