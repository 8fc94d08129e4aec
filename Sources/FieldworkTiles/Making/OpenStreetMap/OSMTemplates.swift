/// Which features of a basemap an object becomes.
enum OSMTemplates {
    /// Where the tags stand.
    enum Carrier {
        case node
        case line
        /// A closed way, or a multipolygon.
        case ring(isRelation: Bool)
    }

    static func of(_ tags: OSMObjectTags, on carrier: Carrier) -> [OSMTemplate] {
        var found: [OSMTemplate] = []
        switch carrier {
        case .node:
            if let place = OSMPlaceTemplates.place(tags) { found.append(place) }
        case .line:
            found += OSMLineTemplates.of(tags)
        case .ring(let isRelation):
            let isArea = isRelation || !isLine(tags)
            if isArea {
                found += OSMAreaTemplates.of(tags)
            } else {
                found += OSMLineTemplates.of(tags)
                return found
            }
        }
        if case .line = carrier { return found }
        if tags.has(.number) {
            let number = OSMObjectTags.text(tags[.number])
            found.append(
                OSMTemplate(
                    .housenumber, .point, class: "", level: 14, tags: [MapFeature.Tag("number", number)]))
        }
        if let point = OSMPlaceTemplates.pointOfInterest(tags) { found.append(point) }
        return found
    }

    /// Whether a closed way is a line all the same: a roundabout, a running track, a ring road.
    private static func isLine(_ tags: OSMObjectTags) -> Bool {
        if tags.has(.area) { return tags[.area] == "no" }
        if tags.has(.building) || tags.has(.landuse) || tags.has(.amenity) || tags.has(.leisure) { return false }
        return tags.has(.highway) || (tags.has(.railway) && tags[.railway] != "station")
            || (tags.has(.waterway) && !["riverbank", "dock", "boatyard"].contains(tags[.waterway]))
            || ["runway", "taxiway"].contains(tags[.aeroway]) || tags[.route] == "ferry"
    }
}
