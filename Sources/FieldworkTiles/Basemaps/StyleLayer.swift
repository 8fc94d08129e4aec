import FieldworkGeometry

/// The layers of a style, as JSON.
enum StyleLayer {
    static func isClass(_ kinds: [String]) -> JSONValue {
        ["match", ["get", "class"], .array(kinds.map(JSONValue.string)), true, false]
    }

    static func fill(
        _ id: String, _ layer: String, color: JSONValue, outline: JSONValue? = nil, filter: JSONValue? = nil
    ) -> JSONValue {
        var paint = JSONObject()
        paint["fill-color"] = color
        if let outline { paint["fill-outline-color"] = outline }
        return object(id, "fill", layer, filter: filter, paint: paint)
    }

    static func line(
        _ id: String, _ layer: String, color: JSONValue, width: JSONValue, level: Double? = nil,
        filter: JSONValue? = nil, dashes: JSONValue? = nil, opacity: JSONValue? = nil, isRound: Bool = false
    ) -> JSONValue {
        var (paint, layout) = (JSONObject(), JSONObject())
        paint["line-color"] = color
        paint["line-width"] = width
        if let dashes { paint["line-dasharray"] = dashes }
        if let opacity { paint["line-opacity"] = opacity }
        layout["line-join"] = "round"
        if isRound { layout["line-cap"] = "round" }
        return object(id, "line", layer, level: level, filter: filter, layout: layout, paint: paint)
    }

    static func object(
        _ id: String, _ type: String, _ layer: String, level: Double? = nil, filter: JSONValue? = nil,
        layout: JSONObject? = nil, paint: JSONObject
    ) -> JSONValue {
        var object = JSONObject()
        object["id"] = .string(id)
        object["type"] = .string(type)
        object["source"] = .string(StyleDocument.source)
        object["source-layer"] = .string(layer)
        if let level { object["minzoom"] = .number(level) }
        if let filter { object["filter"] = filter }
        if let layout { object["layout"] = .object(layout) }
        object["paint"] = .object(paint)
        return .object(object)
    }
}
