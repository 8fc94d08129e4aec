import Foundation
import Testing

@testable import FieldworkCollect

/// How templates are written: so that a change can be read, and nothing that people typed is changed by the layout.
@Suite("Layout of templates")
struct TemplateLayoutTests {
    private let texts: [String: String]

    init() throws {
        let texts = try TemplateText.all()
        try #require(texts.count > 40)
        self.texts = texts
    }

    private static func partials(in text: String) -> Set<String> {
        Set(text.matches(of: /\{\{>\s*([a-z-]+)\s*\}\}/).map { String($0.1) })
    }

    @Test("No line is longer than 160 characters")
    func lines() {
        var long: [String] = []
        for (name, text) in texts {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.count > 160 { long.append("\(name), line \(index + 1)") }
        }
        #expect(long.isEmpty, "\(long)")
    }

    @Test("Each partial that a template names is there")
    func partials() throws {
        let icons = try #require(texts["sprite"]).matches(of: /<symbol id="([a-z-]+)"/).map { String($0.1) }
        #expect(icons.count > 30)
        let known = Set(texts.keys).union(icons).union(icons.map { "\($0)-s" })
        for (name, text) in texts {
            let missing = Self.partials(in: text).subtracting(known)
            #expect(missing.isEmpty, "\(name): \(missing)")
        }
    }

    @Test("An icon is drawn as its symbol, hidden from who hears the page")
    func icons() throws {
        let page = try TemplateLibrary().render(
            AccountSignOutPage(
                heading: "Sign out?", unsent: .init(edits: "3 edits", stay: "are", person: "Ada"))
        ).html
        #expect(page.contains(##"<svg class="i" aria-hidden="true"><use href="#i-warn"/></svg>"##))
    }

    /// Mustache indents each line of a partial that stands alone on an indented line. In a text area that would change what somebody typed.
    @Test("What has a text area in it is not indented")
    func textAreas() {
        var holders = Set(texts.filter { $0.value.contains("<textarea") }.keys)
        #expect(!holders.isEmpty)
        while true {
            let more = texts.filter {
                !holders.contains($0.key) && !Self.partials(in: $0.value).isDisjoint(with: holders)
            }
            if more.isEmpty { break }
            holders.formUnion(more.keys)
        }
        for (name, text) in texts {
            for match in text.matches(of: /(?m)^[ \t]+\{\{>\s*([a-z-]+)\s*\}\}[ \t]*$/) {
                #expect(!holders.contains(String(match.1)), "\(name) indents \(match.1)")
            }
        }
    }
}
