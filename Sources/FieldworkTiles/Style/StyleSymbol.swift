import FieldworkGeometry
import FieldworkREST
import Foundation

/// What MapLibre needs to know of a symbol of the protocol.
struct StyleSymbol {
    /// Symbols that one layer of a style can draw together.
    enum Kind: Hashable {
        case circle
        /// A picture of the sheet of sprites.
        case icon
        case line(dashes: [Double])
        case fill
        /// An area filled with a picture of the sheet.
        case pattern
        case nothing
    }

    let json: JSONValue
    let opacity: Double
    let kind: Kind

    /// - Parameter geometry: what is drawn when the symbol says nothing that can be drawn.
    init(_ symbol: JSONValue, for geometry: LayerGeometryType, opacity: Double) {
        let json = symbol["type"]?.stringValue == nil ? SymbolDrawing.plain(geometry) : symbol
        self.json = json
        self.opacity = opacity
        kind = Self.kind(json, geometry)
    }

    private static func kind(_ json: JSONValue, _ geometry: LayerGeometryType) -> Kind {
        let style = json["style"]?.stringValue ?? ""
        switch (geometry, json["type"]?.stringValue) {
        case (.point, "esriSMS"), (.multipoint, "esriSMS"):
            return style == "esriSMSCircle" || style.isEmpty ? .circle : .icon
        case (.point, "esriPMS"), (.multipoint, "esriPMS"): return StylePicture.holds(json) ? .icon : .circle
        case (.point, _), (.multipoint, _): return .circle
        case (.polyline, _):
            return style == "esriSLSNull" || SwatchColor(json["color"]) == nil
                ? .nothing : .line(dashes: SymbolStroke.dashes(style))
        case (_, "esriSFS"):
            return style == "esriSFSSolid" || style == "esriSFSNull" || style.isEmpty ? .fill : .pattern
        case (_, "esriPFS"): return StylePicture.holds(json) ? .pattern : .fill
        default: return .fill
        }
    }

    // MARK: Values

    func pixels(_ name: String, of json: JSONValue? = nil, or fallback: Double) -> JSONValue {
        .number(SymbolDrawing.pixels((json ?? self.json)[name]?.doubleValue ?? fallback))
    }

    var radius: JSONValue {
        .number(SymbolDrawing.pixels(json["size"]?.doubleValue ?? json["width"]?.doubleValue ?? 8) / 2)
    }

    var color: JSONValue { Self.color(json["color"], opacity) }
    var outlineColor: JSONValue { hasOutline ? Self.color(json["outline"]?["color"], opacity) : Self.clear }
    var outlineWidth: JSONValue {
        hasOutline && SwatchColor(json["outline"]?["color"]) != nil
            ? pixels("width", of: json["outline"], or: 1) : 0
    }

    private var hasOutline: Bool {
        guard let outline = json["outline"], !outline.isNull else { return false }
        return outline["style"]?.stringValue != "esriSLSNull"
    }

    /// Fills of no style have no colour.
    var fillColor: JSONValue { json["style"]?.stringValue == "esriSFSNull" ? Self.clear : color }
    var outlineDashes: [Double] { SymbolStroke.dashes(json["outline"]?["style"]?.stringValue ?? "") }
    /// Degrees with the clock, for pictures; the protocol counts them against it. Drawn markers are turned on their sheet.
    var turn: JSONValue {
        guard json["type"] == "esriPMS", let angle = json["angle"]?.doubleValue, angle != 0 else { return 0 }
        return .number(-angle)
    }

    /// Pixels across, before a value changes it.
    var across: JSONValue {
        .number(max(1, SymbolDrawing.pixels(json["size"]?.doubleValue ?? json["height"]?.doubleValue ?? 8)))
    }

    var offset: JSONValue {
        let (x, y) = (json["xoffset"]?.doubleValue ?? 0, json["yoffset"]?.doubleValue ?? 0)
        return [.number(SymbolDrawing.pixels(x)), .number(-SymbolDrawing.pixels(y))]
    }

    static let clear: JSONValue = "rgba(0,0,0,0)"

    static func color(_ json: JSONValue?, _ opacity: Double) -> JSONValue {
        guard let color = SwatchColor(json) else { return clear }
        let parts = [color.red, color.green, color.blue].map { String(Int($0.rounded())) }
        let alpha = (color.opacity * opacity * 1_000).rounded() / 1_000
        return .string("rgba(\(parts.joined(separator: ",")),\(JSONValue.number(alpha).text))")
    }
}
