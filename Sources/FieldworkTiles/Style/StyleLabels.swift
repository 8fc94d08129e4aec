import FieldworkGeometry
import FieldworkREST

/// One class of labels as members of a `symbol` layer.
struct StyleLabels {
    private let info: JSONValue
    private let layer: LayerDefinition
    private let geometry: LayerGeometryType
    /// The attribute in which features carry the text; nil where the style makes it.
    private let attribute: String?

    init(_ info: JSONValue, layer: LayerDefinition, geometry: LayerGeometryType, attribute: String? = nil) {
        self.info = info
        self.layer = layer
        self.geometry = geometry
        self.attribute = attribute
    }

    /// nil for an expression that a style can't say, and for a condition on features.
    var members: JSONObject? {
        guard let text = attribute.map({ ["get", .string($0)] }) ?? made else { return nil }
        let symbol = info["symbol"]
        let size = symbol?["font"]?["size"]?.doubleValue ?? 9
        var layout = JSONObject()
        layout["text-field"] = text
        layout["text-font"] = [.string(Self.font(symbol?["font"]))]
        layout["text-size"] = .number(SymbolDrawing.pixels(size))
        place(&layout)
        if info["deconflictionStrategy"]?.stringValue == "none" { layout["text-allow-overlap"] = true }
        var paint = JSONObject()
        paint["text-color"] = symbol.map { StyleSymbol.color($0["color"], 1) } ?? "rgba(0,0,0,1)"
        if let halo = symbol?["haloSize"]?.doubleValue, halo > 0 {
            paint["text-halo-color"] = StyleSymbol.color(symbol?["haloColor"], 1)
            paint["text-halo-width"] = .number(SymbolDrawing.pixels(halo))
        }
        var object = JSONObject()
        object["id"] = ""
        object["type"] = "symbol"
        if let attribute { object["filter"] = ["has", .string(attribute)] }
        object["layout"] = .object(layout)
        object["paint"] = .object(paint)
        return object
    }

    /// The fonts that the server has: one family in four cuts.
    private static func font(_ font: JSONValue?) -> String {
        let isBold = ["bold", "bolder"].contains(font?["weight"]?.stringValue ?? "")
        let isItalic = ["italic", "oblique"].contains(font?["style"]?.stringValue ?? "")
        switch (isBold, isItalic) {
        case (true, true): return "Noto Sans Bold Italic"
        case (true, false): return "Noto Sans Bold"
        case (false, true): return "Noto Sans Italic"
        case (false, false): return "Noto Sans Regular"
        }
    }

    private func place(_ layout: inout JSONObject) {
        let placement = info["labelPlacement"]?.stringValue ?? ""
        if geometry == .polyline {
            layout["symbol-placement"] = "line"
            let offset = placement.contains("Above") ? -0.8 : placement.contains("Below") ? 0.8 : 0
            if offset != 0 { layout["text-offset"] = [0, .number(offset)] }
            return
        }
        guard geometry == .point || geometry == .multipoint else { return }
        let anchors: [(String, String, Double, Double)] = [
            ("AboveLeft", "bottom-right", -1, -1), ("AboveCenter", "bottom", 0, -1),
            ("AboveRight", "bottom-left", 1, -1),
            ("CenterLeft", "right", -1, 0), ("CenterCenter", "center", 0, 0), ("CenterRight", "left", 1, 0),
            ("BelowLeft", "top-right", -1, 1), ("BelowCenter", "top", 0, 1), ("BelowRight", "top-left", 1, 1),
        ]
        let found = anchors.first { placement.hasSuffix($0.0) } ?? anchors[2]
        layout["text-anchor"] = .string(found.1)
        if found.2 != 0 || found.3 != 0 { layout["text-offset"] = [.number(found.2 * 0.6), .number(found.3 * 0.6)] }
    }

    // MARK: Text

    /// What the label says, where a style can say it.
    private var made: JSONValue? {
        guard info["where"]?.stringValue?.isEmpty != false,
            let parts = LabelText(info, layer: layer)?.pieces.map(Self.expression)
        else { return nil }
        return parts.count == 1 ? parts[0] : .array(["concat"] + parts)
    }

    private static func expression(_ piece: LabelText.Piece) -> JSONValue {
        switch piece {
        case .text(let text): return .string(text)
        case .value(let field, let codes):
            let text: JSONValue = ["to-string", ["get", .string(field)]]
            guard !codes.isEmpty else { return text }
            var match: [JSONValue] = ["match", text]
            for value in codes { match += [.string(value.code), .string(value.name)] }
            return .array(match + [text])
        }
    }

    /// The fields that a label needs.
    static func fields(_ info: JSONValue, _ layer: LayerDefinition) -> [String] {
        let text =
            (info["labelExpressionInfo"]?["expression"]?.stringValue ?? "")
            + (info["labelExpression"]?.stringValue ?? "")
        guard !text.isEmpty else { return [] }
        let lowered = text.lowercased()
        return layer.fields.map(\.name).filter { lowered.contains($0.lowercased()) }
    }
}
