import FieldworkGeometry

/// The lettering of a basemap, in the language of its reader. What comes later is placed first and wins.
struct BasemapLabels {
    private let colors: BasemapLook.Colors
    private let text: JSONValue

    init(_ colors: BasemapLook.Colors, language: String?) {
        self.colors = colors
        text = language.map { ["coalesce", ["get", .string("name:\($0)")], ["get", "name"]] } ?? ["get", "name"]
    }

    private static let regular = "Noto Sans Regular"
    private static let bold = "Noto Sans Bold"
    private static let italic = "Noto Sans Italic"

    var layers: [JSONValue] {
        [
            label(
                "housenumber", "housenumber", text: ["get", "number"], size: [(17, 10), (20, 13)],
                color: colors.faintText,
                level: 17),
            label(
                "poi", "poi", size: [(14, 10), (18, 13)], color: colors.interest, level: 15,
                filter: ["!", StyleLayer.isClass(["water", "park", "station", "airport", "hospital", "peak"])], width: 7
            ),
            label(
                "poi/green", "poi", font: Self.italic, size: [(12, 10), (18, 14)], color: colors.greenText,
                filter: StyleLayer.isClass(["park"]), width: 7),
            label(
                "poi/station", "poi", font: Self.bold, size: [(12, 10), (18, 14)], color: colors.text,
                filter: StyleLayer.isClass(["station", "airport", "hospital", "peak"]), width: 8),
            label(
                "waterway", "waterway", font: Self.italic, size: [(12, 10), (18, 14)], color: colors.waterText,
                level: 12, isAlong: true),
            label(
                "poi/water", "poi", font: Self.italic, size: [(10, 10), (16, 15)], color: colors.waterText,
                filter: StyleLayer.isClass(["water"]), width: 7),
            label(
                "road/path", "road", size: [(15, 9), (18, 12)], color: colors.faintText, level: 16,
                filter: StyleLayer.isClass(["path", "cycleway", "steps", "service", "track"]), isAlong: true),
            label(
                "road/minor", "road", size: [(13, 9), (18, 14)], color: colors.text, level: 14,
                filter: StyleLayer.isClass(["minor", "tertiary", "pedestrian"]), isAlong: true),
            label(
                "road/major", "road", size: [(11, 10), (18, 15)], color: colors.text, level: 11,
                filter: StyleLayer.isClass(["motorway", "trunk", "primary", "secondary"]), isAlong: true),
            label(
                "place/quarter", "place", size: [(11, 10), (16, 16)], color: colors.faintText, level: 11,
                filter: StyleLayer.isClass(["suburb", "borough", "quarter", "neighbourhood", "hamlet", "locality"]),
                width: 7, sortsByRank: true),
            label(
                "place/town", "place", size: [(8, 11), (14, 18)], color: colors.text, level: 7,
                filter: StyleLayer.isClass(["town", "village", "island"]), width: 8, sortsByRank: true),
            label(
                "place/city", "place", font: Self.bold, size: [(3, 10), (6, 13), (12, 22)], color: colors.text,
                filter: StyleLayer.isClass(["city"]), width: 8, sortsByRank: true, deepest: 14),
            label(
                "place/state", "place", size: [(4, 10), (8, 15)], color: colors.faintText,
                filter: StyleLayer.isClass(["state", "province", "region"]), width: 8, sortsByRank: true, deepest: 9),
            label(
                "place/country", "place", font: Self.bold, size: [(1, 10), (6, 17)], color: colors.text,
                filter: StyleLayer.isClass(["country", "continent"]), width: 7, sortsByRank: true, deepest: 8),
        ]
    }

    private func label(
        _ id: String, _ layer: String, text other: JSONValue? = nil, font: String = regular, size: [(Double, Double)],
        color: String, level: Double? = nil, filter: JSONValue? = nil, width: Double? = nil, isAlong: Bool = false,
        sortsByRank: Bool = false, deepest: Double? = nil
    ) -> JSONValue {
        var (layout, paint) = (JSONObject(), JSONObject())
        layout["text-field"] = other ?? text
        // The vendor's clients take one font only.
        layout["text-font"] = [.string(font)]
        layout["text-size"] = .array(
            ["interpolate", ["linear"], ["zoom"]] + size.flatMap { [JSONValue.number($0.0), .number($0.1)] })
        if let width { layout["text-max-width"] = .number(width) }
        if isAlong {
            layout["symbol-placement"] = "line"
            layout["symbol-spacing"] = 350
        }
        if sortsByRank { layout["symbol-sort-key"] = ["get", "rank"] }
        paint["text-color"] = .string(color)
        paint["text-halo-color"] = .string(colors.halo)
        paint["text-halo-width"] = 1.4
        let object = StyleLayer.object(
            "label/\(id)", "symbol", layer, level: level, filter: filter, layout: layout, paint: paint)
        guard let deepest, var members = object.objectValue else { return object }
        members["maxzoom"] = .number(deepest)
        return .object(members)
    }
}
