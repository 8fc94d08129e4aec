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

    /// What the label says: the old form `[FIELD] CONCAT " "`, or the plainest of Arcade: fields and texts joined by `+`.
    private var made: JSONValue? {
        guard info["where"]?.stringValue?.isEmpty != false else { return nil }
        if let expression = info["labelExpressionInfo"]?["expression"]?.stringValue {
            return Self.joined(Self.pieces(expression, separator: "+").map(arcade))
        }
        if let expression = info["labelExpression"]?.stringValue {
            return Self.joined(Self.pieces(expression, separator: " CONCAT ").map(bracketed))
        }
        return nil
    }

    /// Splits outside of quotes.
    private static func pieces(_ text: String, separator: String) -> [String] {
        var pieces = [""]
        var quote: Character?
        var rest = text[...]
        while let character = rest.first {
            if quote == nil, rest.hasPrefix(separator) {
                pieces.append("")
                rest = rest.dropFirst(separator.count)
                continue
            }
            if quote == character {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
            }
            pieces[pieces.count - 1].append(character)
            rest = rest.dropFirst()
        }
        return pieces
    }

    private static func joined(_ parts: [JSONValue?]) -> JSONValue? {
        let known = parts.compactMap { $0 }
        guard known.count == parts.count, !known.isEmpty else { return nil }
        return known.count == 1 ? known[0] : .array(["concat"] + known)
    }

    private func bracketed(_ piece: String) -> JSONValue? {
        let piece = piece.trimmed
        if let text = Self.quoted(piece) { return .string(text) }
        guard piece.hasPrefix("["), piece.hasSuffix("]") else { return nil }
        return value(String(piece.dropFirst().dropLast()))
    }

    private func arcade(_ piece: String) -> JSONValue? {
        var piece = piece.trimmed
        if piece.hasPrefix("return ") { piece = String(piece.dropFirst(7)).trimmed }
        if piece.hasSuffix(";") { piece = String(piece.dropLast()).trimmed }
        if piece == "TextFormatting.NewLine" { return "\n" }
        if let text = Self.quoted(piece) { return .string(text) }
        if piece.hasPrefix("DomainName($feature,"), piece.hasSuffix(")"),
            let name = Self.quoted(String(piece.dropFirst(20).dropLast()).trimmed)
        {
            return value(name)
        }
        guard piece.hasPrefix("$feature") else { return nil }
        let rest = String(piece.dropFirst(8))
        if rest.hasPrefix(".") { return value(String(rest.dropFirst())) }
        guard rest.hasPrefix("["), rest.hasSuffix("]"), let name = Self.quoted(String(rest.dropFirst().dropLast()))
        else { return nil }
        return value(name)
    }

    private static func quoted(_ piece: String) -> String? {
        guard piece.count >= 2, let first = piece.first, first == "\"" || first == "'", piece.last == first else {
            return nil
        }
        let inner = piece.dropFirst().dropLast()
        return inner.contains(first) || inner.contains("\\") ? nil : String(inner)
    }

    /// A field's value, or what its coded value means.
    private func value(_ name: String) -> JSONValue? {
        guard let field = layer.field(named: name) else { return nil }
        let text: JSONValue = ["to-string", ["get", .string(field.name)]]
        let coded = field.domain?.codedTexts ?? []
        guard !coded.isEmpty, info["useCodedValues"]?.boolValue != false else { return text }
        var seen: Set<String> = []
        var match: [JSONValue] = ["match", text]
        for value in coded where seen.insert(value.code).inserted {
            match += [.string(value.code), .string(value.name)]
        }
        return .array(match + [text])
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

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension DomainDefinition {
    /// Coded values as labels compare them.
    fileprivate var codedTexts: [(code: String, name: String)] {
        guard case .codedValues(let values) = kind else { return [] }
        return values.compactMap { value in
            switch value.code {
            case .integer(let code): (String(code), value.name)
            case .text(let code): (code, value.name)
            default: nil
            }
        }
    }
}
