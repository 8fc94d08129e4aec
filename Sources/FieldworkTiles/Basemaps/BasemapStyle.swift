package import FieldworkGeometry

/// The style of the basemaps that Fieldwork makes: see `BasemapSchema` for their layers.
package struct BasemapStyle: Sendable {
    let look: BasemapLook
    /// The language of the reader, such as `de`; names without it stand as people there write them.
    let language: String?

    /// - Parameter language: a language tag such as `de` or `de-AT`; what is none is left aside.
    package init(look: BasemapLook, language: String? = nil) {
        self.look = look
        let primary = language?.lowercased().split(separator: "-").first.map(String.init)
        self.language = primary.flatMap { BasemapSchema.languages.contains($0) ? $0 : nil }
    }

    package func json(_ description: TileSetDescription, name: String, addresses: StyleDocument.Addresses) -> JSONValue
    {
        let hasEarth = description.vectorLayers.contains { $0["id"]?.stringValue == BasemapSchema.Layer.earth.rawValue }
        let layers = ground(hasEarth: hasEarth) + areas + lines + BasemapLabels(look.colors, language: language).layers
        return StyleDocument.wrapped(
            name: name, layers: layers, addresses: addresses, levels: description.levels,
            attribution: description.attribution, hasSprites: false)
    }

    private var colors: BasemapLook.Colors { look.colors }

    /// Where the land is drawn, all else is the sea; elsewhere all is land, and the sea is drawn.
    private func ground(hasEarth: Bool) -> [JSONValue] {
        func background(_ color: String) -> JSONValue {
            ["id": "background", "type": "background", "paint": ["background-color": .string(color)]]
        }
        guard hasEarth else { return [background(colors.land)] }
        return [
            background(colors.water),
            StyleLayer.fill("earth", BasemapSchema.Layer.earth.rawValue, color: .string(colors.land)),
        ]
    }

    // MARK: Areas

    private var areas: [JSONValue] {
        let landColors = [
            "wood": colors.wood, "grass": colors.grass, "scrub": colors.scrub, "farmland": colors.farmland,
            "orchard": colors.scrub, "wetland": colors.wetland, "sand": colors.sand, "rock": colors.rock,
            "ice": colors.ice,
        ]
        let zones = [
            "residential": colors.residential, "commercial": colors.commercial, "industrial": colors.industrial,
            "railway": colors.industrial, "military": colors.military, "airport": colors.airport,
            "construction": colors.paved, "quarry": colors.rock,
        ]
        let places = [
            "park": colors.park, "golf": colors.park, "allotments": colors.scrub, "playground": colors.pitch,
            "school": colors.school, "hospital": colors.hospital, "cemetery": colors.cemetery,
        ]
        let grounds = [
            "pitch": colors.pitch, "parking": colors.paved, "pedestrian": colors.paved, "apron": colors.paved,
        ]
        let built = ["pier": colors.land, "bridge": colors.paved, "platform": colors.paved, "harbour": colors.land]
        return [
            fill("landuse/zones", "landuse", zones), fill("land", "land", landColors),
            fill("landuse/places", "landuse", places), fill("landuse/grounds", "landuse", grounds),
            StyleLayer.fill("water", "water", color: .string(colors.water)),
            StyleLayer.line(
                "waterway", "waterway", color: .string(colors.water),
                width: Self.widths([(8, 0.6), (12, 1.4), (16, 5), (20, 20)])),
            fill("landuse/built", "landuse", built),
            StyleLayer.fill(
                "building", "building", color: .string(colors.building), outline: .string(colors.buildingEdge)),
        ]
    }

    private func fill(_ id: String, _ layer: String, _ classes: [String: String]) -> JSONValue {
        let kinds = classes.keys.sorted()
        var color: [JSONValue] = ["match", ["get", "class"]]
        for kind in kinds { color += [.string(kind), .string(classes[kind] ?? colors.land)] }
        color.append(.string(colors.land))
        return StyleLayer.fill(id, layer, color: .array(color), filter: StyleLayer.isClass(kinds))
    }

    // MARK: Lines

    /// What widens from level to level: by the square of what is seen.
    static func widths(_ stops: [(Double, Double)]) -> JSONValue {
        .array(
            ["interpolate", ["exponential", 1.5], ["zoom"]] + stops.flatMap { [JSONValue.number($0.0), .number($0.1)] })
    }

    private struct Road {
        var kinds: [String]
        var color: String
        /// At the levels 5, 10, 13, 16 and 20.
        var widths: [Double]
        var level: Double
    }

    /// Small roads first: large ones cross over them.
    private var roads: [Road] {
        [
            Road(kinds: ["service", "busway"], color: colors.service, widths: [0, 0, 0.8, 4, 30], level: 13),
            Road(kinds: ["track"], color: colors.path, widths: [0, 0, 0.7, 2.5, 14], level: 13),
            Road(kinds: ["pedestrian"], color: colors.paved, widths: [0, 0, 1, 6, 40], level: 13),
            Road(kinds: ["minor"], color: colors.minor, widths: [0, 0, 1.8, 9, 70], level: 12),
            Road(kinds: ["tertiary"], color: colors.minor, widths: [0, 0.7, 2.6, 11, 80], level: 10),
            Road(kinds: ["secondary"], color: colors.secondary, widths: [0, 1, 3.2, 13, 90], level: 9),
            Road(kinds: ["primary"], color: colors.primary, widths: [0.4, 1.4, 4, 15, 100], level: 7),
            Road(kinds: ["trunk"], color: colors.trunk, widths: [0.6, 2, 4.6, 16, 104], level: 5),
            Road(kinds: ["motorway"], color: colors.motorway, widths: [0.8, 2.4, 5, 17, 108], level: 4),
        ]
    }

    private var lines: [JSONValue] {
        var layers: [JSONValue] = [
            StyleLayer.line(
                "road/runway", "road", color: .string(colors.airport),
                width: Self.widths([(10, 1), (14, 12), (18, 90)]),
                filter: StyleLayer.isClass(["runway", "taxiway"])),
            StyleLayer.line(
                "road/ferry", "road", color: .string(colors.waterText), width: 1, filter: StyleLayer.isClass(["ferry"]),
                dashes: [3, 3]),
        ]
        for (place, condition) in [
            ("tunnel", ["has", "tunnel"]), ("road", ["all", ["!", ["has", "tunnel"]], ["!", ["has", "bridge"]]]),
            ("bridge", ["has", "bridge"]),
        ] as [(String, JSONValue)] {
            layers.append(paths(place, condition))
            for road in roads where road.kinds != ["track"] {
                layers.append(self.road(road, place, condition, isEdge: true))
            }
            for road in roads { layers.append(self.road(road, place, condition, isEdge: false)) }
            layers += railways(place, condition)
        }
        layers.append(
            StyleLayer.line(
                "boundary", "boundary", color: .string(colors.boundary),
                width: [
                    "interpolate", ["linear"], ["zoom"], 3, ["match", ["get", "level"], 2, 1, 0.5], 12,
                    ["match", ["get", "level"], 2, 3, 4, 2, 1],
                ], filter: ["!", ["has", "maritime"]], dashes: [4, 2, 1, 2]))
        return layers
    }

    private func paths(_ place: String, _ condition: JSONValue) -> JSONValue {
        StyleLayer.line(
            "\(place)/path", "road", color: .string(colors.path), width: Self.widths([(13, 0.6), (16, 1.6), (20, 6)]),
            level: 13, filter: ["all", StyleLayer.isClass(["path", "cycleway", "steps"]), condition], dashes: [2, 1.5])
    }

    private func road(_ road: Road, _ place: String, _ condition: JSONValue, isEdge: Bool) -> JSONValue {
        let stops = zip([5.0, 10, 13, 16, 20], road.widths).map { level, width -> JSONValue in
            let width = width > 0 && isEdge ? width + (level > 13 ? 2 : 1.2) : width
            // Ramps are narrower than what they lead to.
            return .array([.number(level), ["case", ["has", "ramp"], .number(width * 0.6), .number(width)]])
        }
        let width: [JSONValue] =
            ["interpolate", ["exponential", 1.5], ["zoom"]] + stops.flatMap { $0.arrayValue ?? [] }
        return StyleLayer.line(
            "\(place)/\(road.kinds[0])\(isEdge ? "/edge" : "")", "road",
            color: .string(isEdge ? colors.roadEdge : road.color), width: .array(width),
            level: isEdge ? max(road.level, 8) : road.level,
            filter: ["all", StyleLayer.isClass(road.kinds), condition],
            dashes: isEdge && place == "tunnel" ? [2, 2] : nil, opacity: !isEdge && place == "tunnel" ? 0.5 : nil,
            isRound: place == "road")
    }

    private func railways(_ place: String, _ condition: JSONValue) -> [JSONValue] {
        let width = Self.widths([(9, 0.5), (14, 1.2), (18, 3)])
        let opacity: JSONValue? = place == "tunnel" ? 0.4 : nil
        let isRail = StyleLayer.isClass(["rail", "light", "subway", "tram"])
        return [
            StyleLayer.line(
                "\(place)/railway", "railway", color: .string(colors.rail), width: width, level: 9,
                filter: ["all", isRail, condition], opacity: opacity),
            StyleLayer.line(
                "\(place)/railway/ties", "railway", color: .string(colors.rail),
                width: Self.widths([(14, 3), (18, 9)]), level: 14,
                filter: ["all", StyleLayer.isClass(["rail"]), condition], dashes: [0.2, 4], opacity: opacity),
        ]
    }
}
