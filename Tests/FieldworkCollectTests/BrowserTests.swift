import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// The page in a real browser: what a crew sees, taps and types.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(
        if: RunningApp.mapLibrary != nil,
        "The map library isn't installed; run scripts/setup or set FIELDWORK_MAP_LIBRARY")
)
struct BrowserTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"

    /// Runs a test with the page open, on the map around the points.
    private static func page(
        points: Int = 25, width: Int = 1_280, height: Int = 800, isPhone: Bool = false,
        _ test: (Browser, DamageField) async throws -> Void
    ) async throws {
        try await DamageField.with(points: points) { field in
            let browser = try await Browser.start(width: width, height: height)
            defer { browser.stop() }
            if isPhone { try await browser.resize(width: width, height: height, isPhone: true) }
            try await browser.open(field.app.door)
            try await browser.wait(ready, seconds: 60)
            try await browser.wait("document.querySelectorAll('#nearby .lrow').length >= \(min(points, 20))")
            try await test(browser, field)
            #expect(browser.takeComplaints() == [])
        }
    }

    /// Picks the row of a feature of the list beside the map.
    private static func pick(_ title: String, in browser: Browser) async throws {
        try await browser.wait(
            "[...document.querySelectorAll('#nearby .lrow')].some(r => r.innerText.includes('\(title)'))")
        _ = try await browser.evaluate(
            "[...document.querySelectorAll('#nearby .lrow')].find(r => r.innerText.includes('\(title)')).click() ?? true",
            as: Bool.self)
        try await browser.wait(
            "document.querySelector('.maplibregl-marker .callout .txt')?.innerText.includes('\(title)')")
    }

    private static func toast(_ text: String, in browser: Browser) async throws {
        try await browser.wait("document.querySelector('.toast')?.innerText.includes('\(text)')")
    }

    /// Where a place of degrees is on the screen.
    private static func screen(_ longitude: Double, _ latitude: Double, _ browser: Browser) async throws -> [Double] {
        try await browser.evaluate(
            """
            import('\(try await modulePath(browser))').then(m => { const p = m.instance().project([\(longitude), \(latitude)]);
            const r = document.getElementById('map').getBoundingClientRect(); return [r.x + p.x, r.y + p.y]; })
            """)
    }

    private static func modulePath(_ browser: Browser) async throws -> String {
        try await browser.evaluate("document.querySelector('script[type=module]').src.replace('app.js', 'map.js')")
    }

    @Test func theMapDrawsTheFeaturesWithTheirSymbols() async throws {
        try await Self.page { browser, _ in
            try await browser.wait(
                """
                import('\(try await Self.modulePath(browser))').then(m => {
                  const map = m.instance();
                  return map.areTilesLoaded() && map.queryRenderedFeatures({ layers: map.getLayersOrder().filter(id => id.startsWith('layer-0-')) }).length >= 25; })
                """)
            // Tiles arrive one after the other: the map is right when all five kinds are on it.
            try await browser.wait(
                """
                import('\(try await Self.modulePath(browser))').then(m =>
                  [...new Set(m.instance().queryRenderedFeatures({ layers: ['layer-0-0', 'layer-0-1', 'layer-0-2'].filter(id => m.instance().getLayer(id)) })
                    .map(f => f.properties.typdamage))].length === 5)
                """)
            try await browser.screenshot("map-wide")
        }
    }

    @Test func tapCreateUpdateMoveDeleteUndoAndEverythingIsThereAfterReload() async throws {
        try await Self.page { browser, field in
            let ground = try await Self.screen(-97.75, 38.25, browser)
            try await browser.click(x: ground[0], y: ground[1])
            try await browser.wait("document.querySelector('.callout.ground')")
            try await browser.screenshot("create-callout")
            try await browser.click(".callout.ground button")
            try await Self.toast("Create feature succeeded.", in: browser)
            #expect(try await field.serverFeatures().count == 26)

            try await browser.click(".callout details.menu > summary")
            try await browser.click(".callout details.inner > summary")
            try await browser.screenshot("update-attribute")
            try await browser.click(".callout button[value=\"Major\"]")
            try await Self.toast("Update attribute succeeded.", in: browser)
            try await browser.wait("document.querySelector('.callout .txt').innerText.includes('Major')")

            try await browser.click(".callout details.menu > summary")
            try await browser.click(".callout a[href$=\"/move\"]")
            try await browser.wait("document.getElementById('panel').dataset.pin === 'move'")
            try await browser.wait("document.activeElement.id === 'map'")
            try await browser.press("ArrowRight")
            try await browser.wait("document.getElementById('pin-moved').textContent.includes('east')")
            try await browser.screenshot("move-pin")
            try await browser.click("#place-form button[type=submit]")
            try await Self.toast("Update geometry succeeded.", in: browser)
            let moved = try #require(try await field.serverFeatures().max { $0.objectID < $1.objectID })
            #expect(try #require(moved.geometry?.place).longitude > -97.74)
            #expect(moved.attributes["typdamage"] == .text("Major"))

            try await browser.click(".callout details.menu > summary")
            try await browser.click(".callout form[action$=\"/delete\"] button")
            try await Self.toast("Delete feature succeeded.", in: browser)
            #expect(try await field.serverFeatures().count == 25)
            try await browser.click(".toast form button")
            try await Self.toast("Undo succeeded.", in: browser)
            #expect(try await field.serverFeatures().count == 26)

            try await browser.command("Page.reload")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.wait("document.querySelector('.callout .txt')?.innerText.includes('Major')")
            // The moves before the deletion can still be taken back, after a reload too.
            try await browser.open("\(field.app.address)changes")
            try await browser.wait("document.querySelectorAll('form[action^=\"/undo/\"]').length > 0")
            try await browser.screenshot("changes")
        }
    }

    @Test func everythingWorksByKeyboard() async throws {
        try await Self.page { browser, field in
            try await browser.press("m")
            try await browser.wait("document.activeElement.id === 'map'")
            try await browser.wait("!document.getElementById('crosshair').hasAttribute('hidden')")
            try await browser.screenshot("keyboard-crosshair")
            // The middle of the grid of points holds one: pick it.
            try await browser.press("Enter")
            try await browser.wait("document.querySelector('.callout')")
            try await browser.press("Escape")
            try await browser.wait("!document.querySelector('.callout')")

            try await browser.press("a")
            try await browser.wait("document.getElementById('panel').dataset.pin === 'add'")
            try await browser.wait("document.activeElement.id === 'map'")
            try await browser.press("ArrowDown")
            try await browser.press("Enter")
            try await Self.toast("Create feature succeeded.", in: browser)
            #expect(try await field.serverFeatures().count == 26)

            try await browser.press("e")
            try await browser.wait("document.querySelector('#panel form[data-form]')")
            _ = try await browser.evaluate("document.getElementById('field-occupants').focus() ?? true", as: Bool.self)
            try await browser.type("121")
            try await browser.press("Enter")
            try await browser.wait(
                "document.getElementById('field-occupants')?.getAttribute('aria-invalid') === 'true'")
            try await browser.wait("document.activeElement.id === 'field-occupants'")
            try await browser.screenshot("form-error")
            // The browser reports the refused form as a failed load.
            _ = browser.takeComplaints()
            _ = try await browser.evaluate("document.getElementById('field-occupants').select() ?? true", as: Bool.self)
            try await browser.type("12")
            try await browser.press("Enter")
            try await Self.toast("Update attribute succeeded.", in: browser)

            try await browser.wait("document.querySelector('.callout')")
            try await browser.press("z")
            try await Self.toast("Undo succeeded.", in: browser)
            try await browser.press("l")
            try await browser.wait("document.getElementById('panel').dataset.kind === 'full'")
            try await browser.screenshot("list-wide")
            try await browser.press("?")
            try await browser.wait("document.querySelector('.keys')")
        }
    }

    @Test func aPhoneShowsNothingWiderThanItsWindow() async throws {
        try await Self.page(width: 390, height: 844, isPhone: true) { browser, field in
            let reference = try await field.firstReference()
            for (path, name) in [
                ("map", "phone-map"), ("map/f/\(reference)", "phone-callout"), ("f/\(reference)", "phone-feature"),
                ("f/\(reference)/edit", "phone-form"), ("add/0", "phone-add"), ("list", "phone-list"),
                ("changes", "phone-changes"), ("layers", "phone-layers"), ("settings", "phone-settings"),
            ] {
                try await browser.open(field.app.address + path)
                try await browser.wait(Self.ready, seconds: 60)
                let width = try await browser.evaluate("document.documentElement.scrollWidth", as: Int.self)
                #expect(width <= 390, "\(path)")
                let small = try await browser.evaluate(
                    """
                    [...document.querySelectorAll('a, button, summary, select, input:not([type=hidden]):not([type=radio]):not([type=checkbox])')]
                      .filter(e => e.getClientRects().length && !e.closest('.vh, .skip, .note, p, .state') && !e.matches('.skip, .state'))
                      .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
                      .filter(([, r]) => r.height < 47.5 || r.width < 47.5).map(([html]) => html)
                    """, as: [String].self)
                #expect(small == [], "\(path)")
                try await browser.screenshot(name)
            }
        }
    }

    @Test func aFingerPicksAFeatureAndCreatesOne() async throws {
        try await Self.page(width: 390, height: 844, isPhone: true) { browser, field in
            let place = DamageField.place(12)
            let spot = try await Self.screen(place.longitude, place.latitude, browser)
            try await browser.tap(x: spot[0] + 12, y: spot[1])
            try await browser.wait("document.querySelector('.callout .txt')?.innerText.includes('Cause 13')")
            try await browser.press("Escape")
            try await browser.wait("!document.querySelector('.callout')")
            let ground = try await Self.screen(-97.75, 38.25, browser)
            try await browser.tap(x: ground[0], y: ground[1])
            try await browser.wait("document.querySelector('.callout.ground')")
            try await browser.click(".callout.ground button")
            try await Self.toast("Create feature succeeded.", in: browser)
            #expect(try await field.serverFeatures().count == 26)
        }
    }

    @Test func anEditWithoutTheServerIsMarkedAndSentLater() async throws {
        try await Self.page { browser, field in
            await field.services.stop()
            let ground = try await Self.screen(-97.75, 38.25, browser)
            try await browser.press("a")
            try await browser.wait("document.getElementById('panel').dataset.pin === 'add'")
            try await browser.click("#place-form button[type=submit]")
            try await Self.toast("On this device, not sent", in: browser)
            try await browser.wait("document.getElementById('state').innerText.includes('1 not sent')")
            try await browser.wait("!document.querySelector('.rail .badge').hidden")
            try await browser.screenshot("not-sent")
            #expect(ground.count == 2)
            try await field.services.comeBack()
            try await browser.wait("document.getElementById('state').innerText.includes('all sent')", seconds: 40)
            #expect(try await field.serverFeatures().count == 26)
            // The browser reports the loads that the absent server could not answer.
            _ = browser.takeComplaints()
        }
    }

    @Test(arguments: ["dark", "sunlight"])
    func theThemesAreDrawn(theme: String) async throws {
        try await Self.page { browser, field in
            try await browser.open("\(field.app.address)settings")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.click("input[name=theme][value=\(theme)]")
            try await browser.wait("document.documentElement.dataset.theme === '\(theme)'")
            try await browser.open("\(field.app.address)map")
            try await browser.wait(Self.ready, seconds: 60)
            try await Self.pick("Cause 13", in: browser)
            try await browser.screenshot("map-\(theme)")
        }
    }

    /// At dusk the device goes over to its dark look: the map goes along, with what is selected on it.
    @Test func theMapFollowsTheLookOfTheDevice() async throws {
        struct Feature: Encodable, Sendable {
            let name: String
            let value: String
        }
        try await Self.page { browser, _ in
            try await Self.pick("Cause 13", in: browser)
            let module = try await Self.modulePath(browser)
            func ground() async throws -> String {
                try await browser.evaluate(
                    "import('\(module)').then(m => m.instance().getPaintProperty('paper', 'background-color'))")
            }
            let light = try await ground()
            try await browser.command(
                "Emulation.setEmulatedMedia", ["features": [Feature(name: "prefers-color-scheme", value: "dark")]])
            try await browser.wait(
                """
                import('\(module)').then(m => m.instance().getLayer('selected-point') &&
                  m.instance().getLayer('layer-0-0') &&
                  m.instance().getPaintProperty('paper', 'background-color') !== '\(light)')
                """, seconds: 30)
            #expect(try await ground() != light)
            try await browser.wait(
                "import('\(module)').then(m => m.instance().queryRenderedFeatures({ layers: ['selected-point'] }).length > 0)",
                seconds: 30)
            try await browser.screenshot("map-dusk")
            // What holds nothing is not drawn: each of its layers would take its part of every frame.
            let drawn = """
                import('\(module)').then(m => { const map = m.instance(); return map.getLayersOrder()
                  .filter(id => map.getLayer(id).source && map.getLayoutProperty(id, 'visibility') !== 'none')
                  .map(id => map.getLayer(id).source).filter((one, at, all) => all.indexOf(one) === at).sort().join(); })
                """
            #expect(try await browser.evaluate(drawn, as: String.self) == "graticule,layer-0,selected")
        }
    }

    @Test func markupInValuesStaysTextInTheBrowser() async throws {
        try await Self.page(points: 1) { browser, field in
            let evil = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
            let reference = try await field.firstReference()
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post("/f/\(reference)/edit", ["field.primcause": evil, "session": "m"])
            try await browser.open("\(field.app.address)map/f/\(reference)")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.wait("document.querySelector('.callout .txt')?.innerText.includes('<img src=x')")
            #expect(try await browser.evaluate("document.title", as: String.self) != "broken")
            #expect(
                try await browser.evaluate("document.querySelectorAll('img, .callout script').length", as: Int.self)
                    == 0)
        }
    }
}
