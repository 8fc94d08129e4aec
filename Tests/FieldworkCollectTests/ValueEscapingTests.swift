import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Values that are hard on a page: 4,000 characters, markup, two directions of writing, emoji, words without an end.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct ValueEscapingTests {
    private static let markup =
        "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>&amp;"
    private static let arabic = "شجرة قديمة قرب الجسر"
    private static let tree = "🌳👩🏽‍🌾"

    /// 4,000 characters of all of it.
    private static let value: String = {
        let start = "\(arabic) \(tree) \(markup) "
        let middle = String(repeating: "Wurzelschutz", count: 120) + " " + String(repeating: "\(tree) ", count: 60)
        let text = start + middle + String(repeating: "x", count: 4_000)
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(4_000)))
    }()

    private static func definition() -> ServiceDefinition {
        var definition = DamageField.definition()
        var layer = definition.layers[0]
        layer.name = "Damage \(arabic) <b>\(tree)</b> \(String(repeating: "Wurzel", count: 12))"
        layer.fields = layer.fields.map { field in
            guard field.type == .string, field.name != "typdamage" else { return field }
            return FieldDefinition(name: field.name, alias: "<i>Ursache</i> \(arabic)", type: .string, length: 4_000)
        }
        layer.fields.append(FieldDefinition(name: "notes", alias: "Notes \(tree)", type: .string, length: 4_000))
        definition.layers = [layer]
        return definition
    }

    @Test func everyPageShowsThemAsTextAndItsLayoutHolds() async throws {
        #expect(Self.value.unicodeScalars.count == 4_000)
        try await DamageField.with(points: 2, definition: Self.definition()) { field in
            let reference = try await field.firstReference()
            let visitor = try await PlainClient.visitor(of: field.app)
            let saved = try await visitor.post(
                "/f/\(reference)/edit", ["field.primcause": Self.value, "field.notes": Self.value, "session": "hard"])
            #expect(saved.status == 303, "\(saved.text.prefix(300))")
            let browser = try await Browser.start(width: 390, height: 844)
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait("location.pathname === '/map'")
            for (width, height) in [(390, 844), (1_280, 800)] {
                try await browser.resize(width: width, height: height, isPhone: width == 390)
                for page in [
                    "map", "map/f/\(reference)", "f/\(reference)", "f/\(reference)/edit", "f/\(reference)/history",
                    "f/\(reference)/move", "list?scope=all", "list/0/many", "changes", "layers", "add/0",
                ] {
                    try await browser.blockMap(!page.hasPrefix("map"))
                    try await browser.open(field.app.address + page)
                    try await browser.wait("document.readyState === 'complete'")
                    if page.hasPrefix("map") { try await browser.wait(Hand.ready, seconds: 60) }
                    let wide = try await browser.evaluate(PageLayout.tooWide, as: [String].self)
                    #expect(wide == [], "\(page) at \(width)")
                    let made = try await browser.evaluate(
                        "document.querySelectorAll('img, #panel script, #panel i, #selection script, .legend b b').length",
                        as: Int.self)
                    #expect(made == 0, "\(page) at \(width)")
                    #expect(try await browser.evaluate("document.title", as: String.self) != "broken")
                    try await browser.screenshot("hard-\(width)-\(page.filter { $0.isLetter })")
                }
                // The whole value is in the form, and the pop-up shows all of it when it is unfolded.
                try await browser.open(field.app.address + "f/\(reference)/edit")
                try await browser.wait("document.getElementById('field-primcause')")
                let typed = try await browser.evaluate(
                    "document.getElementById('field-primcause').value", as: String.self)
                #expect(typed == Self.value)
                try await browser.open(field.app.address + "f/\(reference)")
                try await browser.wait("document.querySelector('.facts details')")
                let shown = try await browser.evaluate(
                    """
                    (() => { for (const d of document.querySelectorAll('.facts details')) d.open = true;
                    return [...document.querySelectorAll('.facts details span')].map(s => [s.textContent, s.dir]); })()
                    """, as: [[String]].self)
                #expect(shown.contains([Self.value, "auto"]))
                let wide = try await browser.evaluate(PageLayout.tooWide, as: [String].self)
                #expect(wide == [], "unfolded at \(width)")
            }
        }
    }
}
