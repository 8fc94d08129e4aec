package import FieldworkGeometry

/// What a label says: texts and values in turn. It is read from the old form of expressions, `[FIELD] CONCAT " "`, or from the
/// plainest of Arcade: fields and texts joined by `+`.
package struct LabelText: Sendable, Hashable {
    package struct Code: Sendable, Hashable {
        package var code: String
        package var name: String
    }

    package enum Piece: Sendable, Hashable {
        case text(String)
        /// A field's value, or what its coded value means.
        case value(field: String, codes: [Code])
    }

    package private(set) var pieces: [Piece]

    /// nil for an expression that is more than that.
    /// - Parameter info: a label class of the protocol.
    package init?(_ info: JSONValue, layer: LayerDefinition) {
        pieces = []
        let usesCodes = info["useCodedValues"]?.boolValue != false
        let reader = LabelReader(layer: layer, usesCodes: usesCodes)
        let parts: [Piece?]
        if let expression = info["labelExpressionInfo"]?["expression"]?.stringValue {
            parts = LabelReader.pieces(expression, separator: "+").map(reader.arcade)
        } else if let expression = info["labelExpression"]?.stringValue {
            parts = LabelReader.pieces(expression, separator: " CONCAT ").map(reader.bracketed)
        } else {
            return nil
        }
        let known = parts.compactMap { $0 }
        guard known.count == parts.count, !known.isEmpty else { return nil }
        pieces = known
    }
}

private struct LabelReader {
    let layer: LayerDefinition
    let usesCodes: Bool

    /// Splits outside of quotes.
    static func pieces(_ text: String, separator: String) -> [String] {
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

    func bracketed(_ piece: String) -> LabelText.Piece? {
        let piece = piece.trimmed
        if let text = Self.quoted(piece) { return .text(text) }
        guard piece.hasPrefix("["), piece.hasSuffix("]") else { return nil }
        return value(String(piece.dropFirst().dropLast()))
    }

    func arcade(_ piece: String) -> LabelText.Piece? {
        var piece = piece.trimmed
        if piece.hasPrefix("return ") { piece = String(piece.dropFirst(7)).trimmed }
        if piece.hasSuffix(";") { piece = String(piece.dropLast()).trimmed }
        if piece == "TextFormatting.NewLine" { return .text("\n") }
        if let text = Self.quoted(piece) { return .text(text) }
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

    private func value(_ name: String) -> LabelText.Piece? {
        guard let field = layer.field(named: name) else { return nil }
        var codes: [LabelText.Code] = []
        if usesCodes, case .codedValues(let values)? = field.domain?.kind {
            var seen: Set<String> = []
            for value in values {
                let code: String
                switch value.code {
                case .integer(let number): code = String(number)
                case .text(let text): code = text
                default: continue
                }
                if seen.insert(code).inserted { codes.append(LabelText.Code(code: code, name: value.name)) }
            }
        }
        return .value(field: field.name, codes: codes)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
