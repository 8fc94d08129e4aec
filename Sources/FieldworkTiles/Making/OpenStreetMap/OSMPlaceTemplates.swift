import Foundation

/// Names of settlements, and what people look for.
enum OSMPlaceTemplates {
    private static let places: [String: (level: Int, weight: Double)] = [
        "continent": (0, 1e10), "country": (2, 1e9), "state": (4, 1e8), "province": (4, 1e8), "region": (6, 1e6),
        "city": (4, 1e5), "town": (8, 1e4), "borough": (11, 5_000), "suburb": (11, 3_000), "village": (10, 1_000),
        "quarter": (12, 500), "island": (10, 400), "neighbourhood": (13, 300), "hamlet": (12, 200), "islet": (13, 100),
        "locality": (13, 50), "isolated_dwelling": (13, 20), "farm": (14, 10), "square": (14, 10),
    ]

    static func place(_ tags: OSMObjectTags) -> OSMTemplate? {
        guard tags.has(.place), tags.has(.name), let known = places[tags[.place]] else { return nil }
        let population = min(max(Double(tags[.population]) ?? 0, 0), 1e9)
        var written: [MapFeature.Tag] = []
        if tags.has(.capital), tags[.capital] != "no" {
            let isCountry = ["yes", "2"].contains(tags[.capital])
            written.append(MapFeature.Tag("capital", .integer(isCountry ? 2 : 4)))
        }
        // Suburbs come below towns, whatever their population.
        let weight = known.weight >= 1_000 && known.weight <= 1e5 ? max(known.weight, population) : known.weight
        let order = UInt32(max(0, (11 - log10(weight)) * 1_000))
        written.append(MapFeature.Tag("rank", .integer(Int64(order / 100))))
        var level = known.level
        if tags[.place] == "city", population > 0 { level = population > 500_000 ? 4 : population > 100_000 ? 6 : 7 }
        return OSMTemplate(
            .place, .point, class: tags[.place], level: level, order: order,
            tags: written + tags.names(from: 0))
    }

    private struct Interest {
        var kind: String
        var level = 14
        var largePixels: Double?
    }

    private static let interests: [String: Interest] = [
        "railway=station": Interest(kind: "station", level: 12), "railway=halt": Interest(kind: "station", level: 13),
        "railway=tram_stop": Interest(kind: "stop"), "railway=subway_entrance": Interest(kind: "entrance"),
        "amenity=ferry_terminal": Interest(kind: "station", level: 13),
        "amenity=bus_station": Interest(kind: "station", level: 13),
        "aeroway=aerodrome": Interest(kind: "airport", level: 9),
        "amenity=hospital": Interest(kind: "hospital", level: 13),
        "amenity=university": Interest(kind: "school", level: 13, largePixels: 4_000),
        "amenity=college": Interest(kind: "school", largePixels: 4_000),
        "amenity=school": Interest(kind: "school", largePixels: 4_000),
        "amenity=townhall": Interest(kind: "public", level: 13), "amenity=courthouse": Interest(kind: "public"),
        "amenity=library": Interest(kind: "public"), "amenity=police": Interest(kind: "police"),
        "amenity=fire_station": Interest(kind: "fire"), "amenity=post_office": Interest(kind: "post"),
        "amenity=pharmacy": Interest(kind: "health"), "amenity=clinic": Interest(kind: "health"),
        "amenity=doctors": Interest(kind: "health"), "amenity=restaurant": Interest(kind: "food"),
        "amenity=cafe": Interest(kind: "food"), "amenity=bar": Interest(kind: "food"),
        "amenity=pub": Interest(kind: "food"), "amenity=fast_food": Interest(kind: "food"),
        "amenity=bank": Interest(kind: "service"), "amenity=fuel": Interest(kind: "fuel"),
        "amenity=theatre": Interest(kind: "culture"), "amenity=cinema": Interest(kind: "culture"),
        "amenity=arts_centre": Interest(kind: "culture"), "amenity=place_of_worship": Interest(kind: "worship"),
        "amenity=marketplace": Interest(kind: "shop"), "tourism=museum": Interest(kind: "culture", level: 13),
        "tourism=attraction": Interest(kind: "culture"), "tourism=gallery": Interest(kind: "culture"),
        "tourism=hotel": Interest(kind: "lodging"), "tourism=hostel": Interest(kind: "lodging"),
        "tourism=viewpoint": Interest(kind: "view"), "tourism=camp_site": Interest(kind: "lodging", level: 13),
        "leisure=park": Interest(kind: "park", largePixels: 2_500),
        "leisure=nature_reserve": Interest(kind: "park", largePixels: 2_500),
        "leisure=garden": Interest(kind: "park", largePixels: 2_500),
        "leisure=playground": Interest(kind: "playground"),
        "leisure=stadium": Interest(kind: "sport", level: 13), "leisure=sports_centre": Interest(kind: "sport"),
        "leisure=golf_course": Interest(kind: "park", largePixels: 2_500),
        "leisure=marina": Interest(kind: "harbour", largePixels: 2_500),
        "landuse=cemetery": Interest(kind: "cemetery", largePixels: 2_500),
        "natural=water": Interest(kind: "water", largePixels: 2_500),
        "landuse=reservoir": Interest(kind: "water", largePixels: 2_500),
        "natural=bay": Interest(kind: "water", level: 11),
        "natural=peak": Interest(kind: "peak", level: 11), "natural=volcano": Interest(kind: "peak", level: 10),
        "natural=beach": Interest(kind: "beach"), "man_made=pier": Interest(kind: "pier"),
        "place=square": Interest(kind: "square"), "place=island": Interest(kind: "island", largePixels: 1_000),
        "historic=monument": Interest(kind: "culture"), "historic=memorial": Interest(kind: "culture"),
    ]

    private static let keys: [OSMObjectTags.Key] = [
        .railway, .aeroway, .amenity, .tourism, .leisure, .natural, .landuse, .historic, .manMade, .place,
    ]

    static func pointOfInterest(_ tags: OSMObjectTags) -> OSMTemplate? {
        guard tags.has(.name) else { return nil }
        for key in keys where tags.has(key) {
            guard let known = interests["\(key.rawValue)=\(tags[key])"] else { continue }
            return OSMTemplate(
                .poi, .point, class: known.kind, level: known.level, order: UInt32(known.level),
                largePixels: known.largePixels, tags: tags.names(from: 0))
        }
        if tags.has(.shop) {
            return OSMTemplate(.poi, .point, class: "shop", level: 14, order: 15, tags: tags.names(from: 0))
        }
        return nil
    }
}
