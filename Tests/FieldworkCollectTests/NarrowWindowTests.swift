import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// The pages for people who need large words, few colours or no motion (8.3).
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct NarrowWindowTests {
    private static let tree = String(TreesField.address(0).dropFirst())

    /// Every kind of page, by its address.
    private static let pages = [
        "map", "map/\(tree)", tree, "\(tree)/edit", "\(tree)/history", "\(tree)/photos", "\(tree)/related/1",
        "\(tree)/related/1/new", "choose/0/0?for=%2F\(tree)%2Fedit", "add", "add/0",
        "add/0/form?lon=-122.625&lat=45.565&template=p0", "\(tree)/move", "list", "list/0?choices=open", "list/3",
        "list/0/many", "changes",
        "conflicts", "layers", "offline", "settings", "help/keys", "start", "f/0/12345",
    ]

    @Test func nothingIsWiderThan320PixelsWithTextOfTwiceTheSize() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: 320, height: 640)
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            for page in Self.pages {
                try await browser.blockMap(!page.hasPrefix("map"))
                try await browser.open(field.app.address + page)
                try await browser.wait("document.readyState === 'complete'")
                for size in ["100%", "200%"] {
                    _ = try await browser.evaluate(
                        "document.documentElement.style.fontSize = '\(size)'", as: String.self)
                    let wide = try await browser.evaluate(PageLayout.tooWide, as: [String].self)
                    #expect(wide == [], "\(page), \(size)")
                    let stretched = try await browser.evaluate(PageLayout.stretchedSymbols, as: [String].self)
                    #expect(stretched == [], "\(page), \(size)")
                }
                try await browser.screenshot("narrow-\(page.prefix(60).filter { $0.isLetter || $0.isNumber })")
            }
        }
    }

    /// Who opens the list looks for a feature: what narrows it stands behind a button.
    @Test func aPhoneShowsTheFirstRowOfTheListNearItsTop() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let hand = try await Hand.open(field.app, isPhone: true)
            let browser = hand.browser
            defer { browser.stop() }
            try await browser.open(field.app.address + "list/0")
            try await browser.wait(
                "document.querySelector('#list-rows .lrow') && document.documentElement.classList.contains('script')")
            let top = "document.querySelector('#list-rows .lrow').getBoundingClientRect().top"
            #expect(try await browser.evaluate(top, as: Double.self) <= 200)
            _ = try await browser.evaluate("document.querySelector('#list-filter').click(), ''", as: String.self)
            try await browser.wait(
                "document.querySelector('#list-sort') && document.activeElement.id === 'list-filter'")
        }
    }

    private struct Feature: Encodable, Sendable {
        let name: String
        let value: String
    }

    @Test func everyPageIsUsableInForcedColoursAndWithoutMotion() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let hand = try await Hand.open(field.app, isPhone: true)
            let browser = hand.browser
            defer { browser.stop() }
            try await browser.command(
                "Emulation.setEmulatedMedia",
                [
                    "features": [
                        Feature(name: "forced-colors", value: "active"),
                        Feature(name: "prefers-reduced-motion", value: "reduce"),
                    ]
                ])
            for page in Self.pages {
                try await browser.blockMap(!page.hasPrefix("map"))
                try await browser.open(field.app.address + page)
                try await browser.wait("document.readyState === 'complete'")
                #expect(
                    try await browser.evaluate(
                        "matchMedia('(forced-colors: active)').matches && matchMedia('(prefers-reduced-motion: reduce)').matches",
                        as: Bool.self))
                // What can be pressed has an edge or an underline that isn't a colour of the app; what shows a choice, too.
                let faint = try await browser.evaluate(
                    """
                    [...document.querySelectorAll('.btn, .pick > span, .in, .fchip, .seg a[aria-current], .tab[aria-current] .ico')]
                      .filter(e => e.getClientRects().length && !e.closest('.vh, [hidden]'))
                      .filter(e => { const s = getComputedStyle(e);
                        return parseFloat(s.borderTopWidth) + parseFloat(s.borderBottomWidth) + parseFloat(s.outlineWidth) === 0
                          || (s.borderStyle === 'none' && s.outlineStyle === 'none'); })
                      .map(e => e.outerHTML.slice(0, 90)).slice(0, 4)
                    """, as: [String].self)
                #expect(faint == [], "\(page)")
                let moving = try await browser.evaluate(
                    "document.getAnimations().filter(a => a.playState === 'running' && a.effect.getComputedTiming().duration > 20).length",
                    as: Int.self)
                #expect(moving == 0, "\(page)")
                try await browser.screenshot("forced-\(page.prefix(60).filter { $0.isLetter || $0.isNumber })")
            }
            try await browser.blockMap(false)
            // The focus is seen, and a choice that was made differs from the others.
            try await browser.open(field.app.address + "\(Self.tree)/edit")
            try await hand.tap("radio", "Poor")
            let marks = try await browser.evaluate(
                """
                [...document.querySelectorAll('#field-Condition .pick > span')].map(e => { const s = getComputedStyle(e);
                  return [s.borderTopColor, s.borderTopWidth, s.outlineStyle, s.backgroundColor, s.color].join(); })
                """, as: [String].self)
            #expect(marks.count == 4)
            #expect(Set(marks).count >= 2, "the chosen one looks like the others: \(marks)")
            try await hand.tap("button", "Save")
            try await hand.says("Update attribute succeeded.")
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Poor"))
            // The map jumps: nothing of it moves after the page has brought a tree under the pin.
            try await browser.open(field.app.address + "\(Self.tree)/move")
            try await browser.wait(Hand.ready, seconds: 60)
            let path = try await browser.evaluate(
                "document.querySelector('script[type=module]').src.replace('app.js', 'map.js')", as: String.self)
            let isMoving = try await browser.evaluate(
                "import('\(path)').then(m => { m.lookAt(-122.62, 45.567); return m.instance().isMoving(); })",
                as: Bool.self)
            #expect(!isMoving)
        }
    }
}
