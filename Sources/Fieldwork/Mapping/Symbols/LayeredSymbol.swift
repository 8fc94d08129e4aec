import FieldworkGeometry

/// The nearest simple symbol to one that is made of layers: its first fill, stroke and marker. The symbol itself is kept.
enum LayeredSymbol {
    static func simplified(_ json: JSONValue) -> JSONValue? {
        guard let symbol = json["symbol"] else { return nil }
        let layers = enabled(symbol)
        return switch symbol["type"]?.stringValue {
        case "CIMPointSymbol": marker(layers, angle: symbol["angle"]?.doubleValue)
        case "CIMLineSymbol": line(layers).map(JSONValue.object)
        case "CIMPolygonSymbol": area(layers)
        case "CIMTextSymbol": text(symbol)
        default: nil
        }
    }

    private static func enabled(_ symbol: JSONValue?) -> [JSONValue] {
        (symbol?["symbolLayers"]?.arrayValue ?? []).filter { $0["enable"]?.boolValue != false }
    }

    private static func first(_ type: String, of layers: [JSONValue]) -> JSONValue? {
        layers.first { $0["type"]?.stringValue == type }
    }

    private static func fill(_ layers: [JSONValue]) -> JSONValue {
        color(first("CIMSolidFill", of: layers)?["color"]) ?? .null
    }

    private static func line(_ layers: [JSONValue]) -> JSONObject? {
        guard let stroke = first("CIMSolidStroke", of: layers) else { return nil }
        return JSONObject([
            "type": "esriSLS", "style": "esriSLSSolid", "color": color(stroke["color"]) ?? .null,
            "width": stroke["width"] ?? 1,
        ])
    }

    private static func area(_ layers: [JSONValue]) -> JSONValue {
        [
            "type": "esriSFS", "style": "esriSFSSolid", "color": fill(layers),
            "outline": line(layers).map(JSONValue.object) ?? .null,
        ]
    }

    /// A marker of graphics becomes a circle of the first colours in them.
    private static func marker(_ layers: [JSONValue], angle: Double?) -> JSONValue? {
        if let picture = first("CIMPictureMarker", of: layers) { return self.picture(picture) }
        guard let marker = first("CIMVectorMarker", of: layers) else { return nil }
        let graphics = (marker["markerGraphics"]?.arrayValue ?? []).flatMap { enabled($0["symbol"]) }
        return [
            "type": "esriSMS", "style": "esriSMSCircle", "color": fill(graphics), "size": marker["size"] ?? 8,
            "angle": .number(angle ?? 0), "outline": line(graphics).map(JSONValue.object) ?? .null,
        ]
    }

    private static func picture(_ marker: JSONValue) -> JSONValue {
        var symbol = JSONObject(["type": "esriPMS", "width": marker["size"] ?? 8, "height": marker["size"] ?? 8])
        let url = marker["url"]?.stringValue ?? ""
        let parts = url.split(separator: ",", maxSplits: 1)
        if url.hasPrefix("data:"), parts.count == 2, parts[0].hasSuffix(";base64") {
            symbol["contentType"] = .string(String(parts[0].dropFirst(5).dropLast(7)))
            symbol["imageData"] = .string(String(parts[1]))
        } else {
            symbol["url"] = .string(url)
        }
        return .object(symbol)
    }

    private static func text(_ symbol: JSONValue) -> JSONValue {
        [
            "type": "esriTS", "color": fill(enabled(symbol["symbol"])),
            "font": ["family": symbol["fontFamilyName"] ?? "Arial", "size": symbol["height"] ?? 10],
        ]
    }

    /// Colours count to 255 and opacity to 100 in these symbols.
    private static func color(_ json: JSONValue?) -> JSONValue? {
        guard let values = json?["values"]?.arrayValue?.compactMap(\.doubleValue), values.count >= 3,
            json?["type"]?.stringValue ?? "CIMRGBColor" == "CIMRGBColor"
        else { return direct(json) }
        let alpha = values.count > 3 ? values[3] * 255 / 100 : 255
        return .array((values.prefix(3) + [alpha]).map { .integer(Int64(min(max($0, 0), 255))) })
    }

    /// Web maps write the parts without their names.
    private static func direct(_ json: JSONValue?) -> JSONValue? {
        guard let values = json?.arrayValue, values.count >= 3 else { return nil }
        return color(["values": .array(values)])
    }
}
