/// Roads, railways, waterways and ferries.
enum OSMLineTemplates {
    private struct Road {
        var kind: String
        var level: Int
        /// The level from which on it has its name.
        var names: Int
        var order: UInt32
        var isRamp = false
    }

    private static let roads: [String: Road] = [
        "motorway": Road(kind: "motorway", level: 4, names: 10, order: 0),
        "trunk": Road(kind: "trunk", level: 5, names: 10, order: 1),
        "primary": Road(kind: "primary", level: 7, names: 11, order: 2),
        "secondary": Road(kind: "secondary", level: 9, names: 12, order: 3),
        "tertiary": Road(kind: "tertiary", level: 11, names: 13, order: 4),
        "motorway_link": Road(kind: "motorway", level: 10, names: 14, order: 5, isRamp: true),
        "trunk_link": Road(kind: "trunk", level: 11, names: 14, order: 5, isRamp: true),
        "primary_link": Road(kind: "primary", level: 12, names: 14, order: 5, isRamp: true),
        "secondary_link": Road(kind: "secondary", level: 12, names: 14, order: 5, isRamp: true),
        "tertiary_link": Road(kind: "tertiary", level: 13, names: 14, order: 5, isRamp: true),
        "unclassified": Road(kind: "minor", level: 12, names: 13, order: 6),
        "residential": Road(kind: "minor", level: 12, names: 13, order: 6),
        "living_street": Road(kind: "minor", level: 12, names: 13, order: 6),
        "road": Road(kind: "minor", level: 12, names: 14, order: 6),
        "busway": Road(kind: "service", level: 13, names: 14, order: 7),
        "pedestrian": Road(kind: "pedestrian", level: 13, names: 14, order: 7),
        "raceway": Road(kind: "service", level: 13, names: 14, order: 7),
        "track": Road(kind: "track", level: 13, names: 14, order: 8),
        "service": Road(kind: "service", level: 13, names: 14, order: 9),
        "cycleway": Road(kind: "cycleway", level: 13, names: 14, order: 10),
        "path": Road(kind: "path", level: 13, names: 14, order: 11),
        "footway": Road(kind: "path", level: 14, names: 14, order: 11),
        "bridleway": Road(kind: "path", level: 13, names: 14, order: 11),
        "steps": Road(kind: "steps", level: 14, names: 14, order: 11),
    ]

    static func of(_ tags: OSMObjectTags) -> [OSMTemplate] {
        if tags.has(.highway), let road = roads[tags[.highway]] { return [template(road, tags)] }
        if tags.has(.railway), let railway = railway(tags) { return [railway] }
        if tags.has(.waterway), let waterway = waterway(tags) { return [waterway] }
        switch (tags[.aeroway], tags[.route]) {
        case ("runway", _): return [OSMTemplate(.road, .line, class: "runway", level: 10, order: 3)]
        case ("taxiway", _): return [OSMTemplate(.road, .line, class: "taxiway", level: 12, order: 7)]
        case (_, "ferry"):
            return [OSMTemplate(.road, .line, class: "ferry", level: 9, order: 12, tags: tags.names(from: 12))]
        default: return []
        }
    }

    private static func template(_ road: Road, _ tags: OSMObjectTags) -> OSMTemplate {
        var written: [MapFeature.Tag] = []
        if road.isRamp { written.append(MapFeature.Tag("ramp", .integer(1))) }
        // Yards, drive-ways and aisles of car parks are thin lines.
        if road.kind == "service", ["driveway", "parking_aisle"].contains(tags[.service]) {
            written.append(MapFeature.Tag("minor", .integer(1)))
        }
        written += structure(tags, from: 12)
        if road.order < 4, tags.has(.ref) {
            written.append(MapFeature.Tag("ref", OSMObjectTags.text(tags[.ref]), from: max(8, road.level)))
        }
        let isSmall = road.kind == "service" && tags.has(.service)
        return OSMTemplate(
            .road, .line, class: road.kind, level: isSmall ? 14 : road.level, order: road.order,
            tags: written + tags.names(from: road.names))
    }

    private static func structure(_ tags: OSMObjectTags, from level: Int) -> [MapFeature.Tag] {
        if tags.isYes(.bridge) { return [MapFeature.Tag("bridge", .integer(1), from: level)] }
        if tags.isYes(.tunnel) || tags.isYes(.covered) { return [MapFeature.Tag("tunnel", .integer(1), from: level)] }
        return []
    }

    private static func railway(_ tags: OSMObjectTags) -> OSMTemplate? {
        let (kind, level): (String, Int)
        switch tags[.railway] {
        case "rail": (kind, level) = ("rail", tags.has(.service) ? 13 : 9)
        case "light_rail", "narrow_gauge", "funicular", "monorail": (kind, level) = ("light", 12)
        case "subway": (kind, level) = ("subway", 13)
        case "tram": (kind, level) = ("tram", 13)
        default: return nil
        }
        return OSMTemplate(
            .railway, .line, class: kind, level: level, order: UInt32(level), tags: structure(tags, from: 12))
    }

    private static func waterway(_ tags: OSMObjectTags) -> OSMTemplate? {
        let level: Int
        switch tags[.waterway] {
        case "river": level = 8
        case "canal": level = 10
        case "stream", "tidal_channel": level = 13
        case "ditch", "drain": level = 14
        default: return nil
        }
        var written = structure(tags, from: 12)
        if tags.isYes(.intermittent) { written.append(MapFeature.Tag("intermittent", .integer(1), from: 12)) }
        return OSMTemplate(
            .waterway, .line, class: tags[.waterway] == "tidal_channel" ? "stream" : tags[.waterway], level: level,
            order: UInt32(level), tags: written + tags.names(from: max(11, level)))
    }
}
