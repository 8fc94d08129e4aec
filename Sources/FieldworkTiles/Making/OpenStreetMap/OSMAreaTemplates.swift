/// Water, what grows on the land, how it is used, buildings.
enum OSMAreaTemplates {
    private typealias Key = OSMObjectTags.Key

    private static let water: [String: String] = [
        "natural=water": "lake", "landuse=reservoir": "lake", "landuse=basin": "basin", "waterway=riverbank": "river",
        "waterway=dock": "dock", "leisure=swimming_pool": "pool", "amenity=fountain": "pool", "natural=bay": "",
    ]

    private static let land: [String: String] = [
        "natural=wood": "wood", "landuse=forest": "wood", "natural=scrub": "scrub", "natural=heath": "scrub",
        "natural=grassland": "grass", "natural=fell": "grass", "landuse=grass": "grass", "landuse=meadow": "grass",
        "landuse=village_green": "grass", "landuse=farmland": "farmland", "landuse=orchard": "orchard",
        "landuse=vineyard": "orchard", "natural=wetland": "wetland", "natural=sand": "sand", "natural=beach": "sand",
        "natural=bare_rock": "rock", "natural=scree": "rock", "natural=shingle": "rock", "natural=glacier": "ice",
        "landuse=salt_pond": "wetland",
    ]

    private static let use: [String: String] = [
        "leisure=park": "park", "leisure=garden": "park", "leisure=nature_reserve": "park",
        "leisure=recreation_ground": "park", "landuse=recreation_ground": "park", "leisure=golf_course": "golf",
        "leisure=playground": "playground", "leisure=pitch": "pitch", "leisure=track": "pitch",
        "leisure=sports_centre": "pitch", "leisure=stadium": "pitch", "leisure=marina": "harbour",
        "leisure=dog_park": "park", "landuse=residential": "residential", "landuse=commercial": "commercial",
        "landuse=retail": "commercial", "landuse=industrial": "industrial", "landuse=railway": "railway",
        "landuse=port": "industrial", "landuse=cemetery": "cemetery", "amenity=grave_yard": "cemetery",
        "landuse=military": "military", "landuse=quarry": "quarry", "landuse=landfill": "quarry",
        "landuse=construction": "construction", "landuse=allotments": "allotments", "amenity=school": "school",
        "amenity=kindergarten": "school", "amenity=university": "school", "amenity=college": "school",
        "amenity=hospital": "hospital", "amenity=parking": "parking", "aeroway=aerodrome": "airport",
        "aeroway=apron": "apron", "man_made=pier": "pier", "man_made=bridge": "bridge",
        "highway=pedestrian": "pedestrian", "highway=footway": "pedestrian", "highway=service": "pedestrian",
        "railway=platform": "platform", "public_transport=platform": "platform",
    ]

    private static let keys: [Key] = [
        .natural, .landuse, .leisure, .waterway, .amenity, .aeroway, .manMade, .highway, .railway, .publicTransport,
    ]

    static func of(_ tags: OSMObjectTags) -> [OSMTemplate] {
        if tags.isYes(.building) { return [OSMTemplate(.building, .area, class: "", level: 13, leastPixels: 4)] }
        for key in keys where tags.has(key) {
            let tag = "\(key.rawValue)=\(tags[key])"
            if let kind = water[tag] { return kind.isEmpty ? [] : [waterArea(kind, tags)] }
            if let kind = land[tag] { return [OSMTemplate(.land, .area, class: kind, level: 7, leastPixels: 12)] }
            if let kind = use[tag] { return [useArea(kind)] }
        }
        return []
    }

    private static func waterArea(_ kind: String, _ tags: OSMObjectTags) -> OSMTemplate {
        let isSmall = kind == "pool" || kind == "basin"
        let kind = tags[.water] == "river" || tags[.water] == "canal" ? "river" : kind
        return OSMTemplate(.water, .area, class: kind, level: isSmall ? 13 : 3, leastPixels: 6)
    }

    private static func useArea(_ kind: String) -> OSMTemplate {
        let level =
            switch kind {
            case "residential", "commercial", "industrial", "park", "military", "airport": 8
            case "parking", "pitch", "playground", "pedestrian", "platform", "allotments", "construction": 13
            default: 11
            }
        return OSMTemplate(.landuse, .area, class: kind, level: level, leastPixels: 16)
    }
}
