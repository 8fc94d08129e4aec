import Foundation

/// A text that a map's author wrote in HTML, made safe: a few kinds of emphasis, lists and links stay, everything else that
/// isn't text goes. What is written is made anew from what was read, so no byte of the author's markup gets to the page.
struct AuthoredText {
    private static let plain: Set<String> = ["p", "b", "strong", "i", "em", "u", "ul", "ol", "li"]
    private static let silent: Set<String> = [
        "script", "style", "iframe", "object", "svg", "math", "template", "noscript",
    ]
    private static let schemes: Set<String> = ["http", "https", "mailto", "tel"]

    let html: String

    init(_ text: String) {
        var output = ""
        var open: [String] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            output += Self.escaped(rest[..<start])
            guard let end = rest[start...].firstIndex(of: ">") else {
                rest = rest[rest.index(after: start)...]
                output += "&lt;"
                continue
            }
            let tag = Tag(rest[rest.index(after: start)..<end])
            rest = rest[rest.index(after: end)...]
            if Self.silent.contains(tag.name), !tag.isEnd {
                let close = rest.range(of: "</\(tag.name)", options: .caseInsensitive)
                rest = close.map { rest[$0.lowerBound...] } ?? ""
                continue
            }
            Self.write(tag, to: &output, open: &open)
        }
        output += Self.escaped(rest)
        for name in open.reversed() { output += "</\(name)>" }
        html = output
    }

    private static func write(_ tag: Tag, to output: inout String, open: inout [String]) {
        switch tag.name {
        case "br": output += "<br>"
        case "div", "h1", "h2", "h3", "h4", "tr": if tag.isEnd { output += "<br>" }
        case "td", "th": if tag.isEnd { output += " " }
        case "a" where !tag.isEnd:
            guard let address = tag.attribute("href"), let scheme = URL(string: address)?.scheme?.lowercased(),
                schemes.contains(scheme)
            else { return }
            output += "<a href=\"\(escaped(address[...]))\" rel=\"noopener noreferrer\" target=\"_blank\">"
            open.append("a")
        case let name where tag.isEnd:
            guard let index = open.lastIndex(of: name) else { return }
            for closed in open[index...].reversed() { output += "</\(closed)>" }
            open.removeSubrange(index...)
        case let name where plain.contains(name):
            output += "<\(name)>"
            open.append(name)
        default: break
        }
    }

    private struct Tag {
        let name: String
        let isEnd: Bool
        private let text: Substring

        init(_ text: Substring) {
            isEnd = text.hasPrefix("/")
            self.text = isEnd ? text.dropFirst() : text
            name = self.text.prefix { $0.isLetter || $0.isNumber }.lowercased()
        }

        func attribute(_ name: String) -> String? {
            guard let range = text.range(of: "\(name)=", options: .caseInsensitive) else { return nil }
            let value = text[range.upperBound...]
            guard let quote = value.first, quote == "\"" || quote == "'" else {
                return AuthoredText.decoded(value.prefix { !$0.isWhitespace })
            }
            return AuthoredText.decoded(value.dropFirst().prefix { $0 != quote })
        }
    }

    private static let entities = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&nbsp;", "\u{A0}"),
        ("&amp;", "&"),
    ]

    private static func decoded(_ text: Substring) -> String {
        entities.reduce(String(text)) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    private static func escaped(_ text: Substring) -> String {
        decoded(text).replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
            .replacingOccurrences(of: "'", with: "&#39;")
    }
}
