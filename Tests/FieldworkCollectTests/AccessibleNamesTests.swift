import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// What screen readers hear of the pages: axe looks at whether there are names and descriptions, not at what they say.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed")
)
struct AccessibleNamesTests {
    private static let tree = String(TreesField.address(0).dropFirst())

    private static let pages = [
        "map", "map/\(tree)", tree, "\(tree)/edit", "\(tree)/move", "\(tree)/photos", "\(tree)/history", "add/0",
        "list",
        "list/0?group=Condition&choices=open", "changes", "conflicts", "layers", "settings", "help/keys", "offline",
        "offline/new",
        "start", "start/server", "start/file",
    ]

    /// Roles that nothing can be done with unless they have a name.
    private static let named: Set<String> = [
        "button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "switch", "spinbutton",
    ]

    /// Words that a template prints where a value is missing.
    private static func isLeftOver(_ text: String) -> Bool {
        let words = text.split { !$0.isLetter && $0 != "[" && $0 != "{" }.map(String.init)
        return words.contains { ["false", "true", "undefined", "NaN", "nil", "Optional", "{{"].contains($0) }
            || text.contains("[object")
    }

    @Test(
        "Nothing that screen readers say of a page is a value that should not have been printed, and every control has a name"
    )
    func names() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            for page in Self.pages {
                try await browser.open(field.app.address + page)
                try await browser.wait(
                    "document.readyState === 'complete' && document.querySelector('h1, h2') !== null")
                let nodes = try await browser.spokenNodes()
                #expect(nodes.count > 5, "\(page)")
                for node in nodes {
                    #expect(!Self.isLeftOver(node.name), "\(page): \(node)")
                    #expect(!Self.isLeftOver(node.description), "\(page): \(node)")
                    #expect(!Self.named.contains(node.role) || !node.name.isEmpty, "\(page): \(node)")
                }
                // What is hidden is read too where a description refers to it.
                let hidden = try await browser.evaluate("document.body.textContent", as: String.self)
                #expect(!Self.isLeftOver(hidden), "\(page)")
            }
        }
    }

    @Test("A field is described by its hint alone, and by its message first when its value is refused")
    func descriptions() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            try await browser.open("\(field.app.address)\(Self.tree)/edit")
            try await browser.wait("document.readyState === 'complete' && document.getElementById('field-DBH')")
            func described() async throws -> String {
                let label = try await browser.evaluate(
                    "document.getElementById('field-DBH').labels[0].innerText", as: String.self)
                let first = String(label.split(separator: "\n").first ?? "")
                return try #require(
                    try await browser.spokenNodes().first { $0.role == "textbox" && $0.name.hasPrefix(first) }
                ).description
            }
            let hint = try await browser.evaluate(
                "[...document.querySelectorAll('#about-DBH, #hint-DBH')].map(e => e.textContent).join(' ').trim()",
                as: String.self)
            #expect(try await described() == hint)
            #expect(!hint.isEmpty)
            _ = try await browser.evaluate(
                """
                (() => { const e = document.getElementById('field-DBH'); e.focus(); e.select(); return true; })()
                """, as: Bool.self)
            try await browser.type("thick")
            try await browser.press("Tab")
            try await browser.wait("document.getElementById('field-DBH').getAttribute('aria-invalid') === 'true'")
            // The page's own message, or that of the process, which takes its place.
            let refused = try await described()
            #expect(refused.hasSuffix(" \(hint)") && !refused.contains("false"), "\(refused)")
        }
    }
}
