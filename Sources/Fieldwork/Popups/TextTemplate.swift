import Foundation

/// A text with names in braces that values take the place of: `{species} at {address}`.
struct TextTemplate: Sendable, Hashable {
    /// What stands in braces.
    enum Name: Sendable, Hashable {
        /// `{height}`
        case field(String)
        /// `{expression/expr0}`
        case expression(String)
        /// `{relationships/0/height}`, by the relationship's id.
        case related(relationshipID: Int, field: String)

        /// Reads the name of a field as web maps write it: in templates, field lists and charts. nil for what can't be a
        /// name (style sheets have braces too).
        init?(_ text: some StringProtocol) {
            let text = text.trimmingCharacters(in: .whitespaces)
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count == 2, parts[0].lowercased() == "expression", Self.isName(parts[1]) {
                self = .expression(String(parts[1]))
            } else if parts.count == 3, parts[0].lowercased() == "relationships", let id = Int(parts[1]),
                Self.isName(parts[2])
            {
                self = .related(relationshipID: id, field: String(parts[2]))
            } else if parts.count == 1, Self.isName(parts[0]) {
                self = .field(text)
            } else {
                return nil
            }
        }

        private static func isName(_ text: Substring) -> Bool {
            !text.isEmpty && text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || Self.others.contains($0) }
        }

        private static let others = Set("0123456789_.$#-".unicodeScalars)
    }

    enum Part: Sendable, Hashable {
        case text(String)
        case name(Name)
    }

    let parts: [Part]

    /// Reads a template. Braces around something that is no name stay as they are; there is no way to escape a brace.
    init(_ text: String) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            plain += rest[..<open]
            let inner = rest[rest.index(after: open)...]
            if let close = inner.firstIndex(where: { $0 == "}" || $0 == "{" }), inner[close] == "}",
                let name = Name(inner[..<close])
            {
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(.name(name))
                rest = inner[inner.index(after: close)...]
            } else {
                plain.append("{")
                rest = inner
            }
        }
        plain += rest
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// The names that the template asks for.
    var names: [Name] {
        parts.compactMap { part in
            if case .name(let name) = part { name } else { nil }
        }
    }

    /// Whether the template is nothing but one name.
    var isSingleName: Bool { parts.count == 1 && names.count == 1 }

    /// The text with values in place of names. What is put in is not looked at again.
    func filled(_ value: (Name) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .name(let name): value(name)
            }
        }.joined()
    }
}

extension TextTemplate {
    /// The template as HTML: values are escaped, and one that is an address becomes a link where it stands alone in its
    /// element (elsewhere it may be within a tag).
    func filledHTML(_ value: (Name) -> String) -> String {
        parts.indices.map { index in
            guard case .name(let name) = parts[index] else {
                if case .text(let text) = parts[index] { return text }
                return ""
            }
            let text = value(name)
            return isAlone(index) ? TextEscaping.htmlLink(text) : TextEscaping.html(text)
        }.joined()
    }

    private func isAlone(_ index: Int) -> Bool {
        let before = index == 0 ? "" : plain(index - 1)
        let after = index == parts.count - 1 ? "" : plain(index + 1)
        guard let before, let after else { return false }
        let (left, right) = (before.trimmingCharacters(in: .whitespaces), after.trimmingCharacters(in: .whitespaces))
        return (left.isEmpty || left.hasSuffix(">")) && (right.isEmpty || right.hasPrefix("<"))
    }

    private func plain(_ index: Int) -> String? {
        if case .text(let text) = parts[index] { text } else { nil }
    }

    /// The template as an address: values are percent-encoded, unless one is the whole of it.
    func filledURL(_ value: (Name) -> String) -> URL? {
        let text = filled { isSingleName ? value($0) : TextEscaping.url(value($0)) }
        return text.isEmpty ? nil : URL(string: text)
    }
}

/// Values as they stand in other texts.
enum TextEscaping {
    /// A value within HTML.
    static func html(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }

    /// A value within HTML, as a link when it is an address and nothing else.
    static func htmlLink(_ text: String) -> String {
        let isAddress =
            (text.hasPrefix("http://") || text.hasPrefix("https://")) && !text.contains(where: \.isWhitespace)
        return isAddress ? "<a href=\"\(html(text))\">\(html(text))</a>" : html(text)
    }

    /// What RFC 3986 leaves as it is everywhere in an address.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// A value within an address.
    static func url(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
