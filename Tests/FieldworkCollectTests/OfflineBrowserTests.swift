import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Areas, transactions and shapes in a real browser.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(
        if: RunningApp.mapLibrary != nil,
        "The map library isn't installed; run scripts/setup or set FIELDWORK_MAP_LIBRARY")
)
struct OfflineBrowserTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"

    private static func text(_ selector: String, has text: String, _ browser: Browser) async throws {
        try await browser.wait("document.querySelector('\(selector)')?.innerText.includes('\(text)')", seconds: 60)
    }

    /// Edges are moved by keys, corners by a hand; what was typed of the edges follows.
    private static func frameIsPulled(_ browser: Browser) async throws {
        func value(_ name: String) async throws -> Double {
            try await browser.evaluate("Number(document.getElementById('area-\(name)').value)")
        }
        let (north, south, west) = (try await value("north"), try await value("south"), try await value("west"))
        try await browser.tab(to: "North edge")
        try await browser.press("ArrowDown")
        try await browser.wait("Number(document.getElementById('area-north').value) < \(north)")
        #expect(try await value("south") == south)
        let said = try await browser.evaluate(
            "document.activeElement.getAttribute('aria-valuetext')", as: String.self)
        #expect(said.contains("degrees north"))
        let corner = try await browser.evaluate(
            """
            (() => { const r = document.querySelector('.corner.to-bottom.to-left').getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; })()
            """, as: [Double].self)
        for (type, x, y) in [
            ("mousePressed", corner[0], corner[1]), ("mouseMoved", corner[0] + 60, corner[1] - 40),
            ("mouseReleased", corner[0] + 60, corner[1] - 40),
        ] {
            try await browser.command(
                "Input.dispatchMouseEvent",
                ["type": type, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1])
        }
        try await browser.wait("Number(document.getElementById('area-west').value) > \(west)")
        #expect(try await value("south") > south)
    }

    @Test func anAreaIsChosenOnTheMapTakenAlongAndEditedInATransaction() async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.open("\(field.app.address)offline/new")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.wait("document.querySelector('.frame span')?.textContent.includes('km')")
            try await browser.screenshot("offline-area")
            try await Self.frameIsPulled(browser)
            try await browser.screenshot("offline-area-pulled")
            try await browser.click("[data-area-size=\"1.25\"]")
            try await browser.click("#area-form button[type=submit]")
            try await Self.text("#panel", has: "is on this device", browser)
            try await browser.screenshot("offline-here")
            try await browser.click("#panel form[action=\"/offline/mode\"] button")
            try await Self.text("#state", has: "Offline, Area", browser)
            try await browser.wait(Self.ready, seconds: 60)

            try await browser.open("\(field.app.address)transaction")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.click("form[action=\"/transaction/start\"] button")
            try await Self.text("#panel", has: "Transaction started.", browser)
            let visitor = try await browser.evaluate(
                """
                fetch('/add/0', { method: 'POST', body: new URLSearchParams({ lon: '-97.8', lat: '38.22', template: 't3',
                session: 'browser' }) }).then(a => a.status)
                """, as: Int.self)
            #expect(visitor == 200)
            try await Self.text("#transaction", has: "Transaction: 1 edit not kept yet", browser)
            try await browser.screenshot("transaction")
            try await browser.click("#transaction form[action=\"/transaction/keep\"] button")
            try await Self.text("#panel", has: "1 edit kept.", browser)
            try await browser.wait("document.querySelector('#transaction').innerText.trim() === ''")

            // What isn't sent is marked on the map, unless its layer is switched off.
            try await browser.open("\(field.app.address)layers")
            try await browser.wait(Self.ready, seconds: 60)
            let badges = """
                import(document.querySelector('script[type=module]').src.replace('app.js', 'map.js')).then(m =>
                  m.instance().queryRenderedFeatures({ layers: ['unsent-badges'] }).length)
                """
            try await browser.wait("(\(badges)).then(count => count === 1)", seconds: 30)
            try await browser.click("input[name=visible]")
            try await browser.wait("(\(badges)).then(count => count === 0)", seconds: 30)
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test(
        "A place that was looked for is in sight and focused; the frame keeps its size, and holds the whole place once it is chosen"
    )
    func placeIsLookedFor() async throws {
        try await OfflineField.withDistrict("Westwood") { field in
            let hand = try await Hand.open(field.app, isPhone: false)
            let browser = hand.browser
            defer { browser.stop() }
            try await browser.resize(width: 1_280, height: 640)
            try await browser.open("\(field.app.address)offline/new")
            try await browser.wait(Self.ready, seconds: 60)
            func edges() async throws -> [String] {
                try await browser.evaluate(
                    "['west', 'south', 'east', 'north'].map(e => document.getElementById(`area-${e}`).value)")
            }
            let first = try await edges()
            try await hand.tap("button", "Smaller")
            try await browser.wait("document.getElementById('area-west').value !== '\(first[0])'")
            let smaller = try await edges()

            try await browser.wait("document.getElementById('area-place').focus() ?? true")
            try await browser.type("wood")
            try await browser.press("Enter")
            try await browser.wait("document.activeElement.innerText?.includes('Westwood') ?? false")
            let isInSight = try await browser.evaluate(
                """
                (() => { const r = document.activeElement.getBoundingClientRect();
                const b = document.querySelector('#panel .pb').getBoundingClientRect();
                return r.top >= b.top && r.bottom <= b.bottom; })()
                """, as: Bool.self)
            #expect(isInSight)
            #expect(try await edges() == smaller)
            try await hand.tap("button", "Smaller")
            try await browser.wait("document.getElementById('area-west').value !== '\(smaller[0])'")

            try await hand.tap("link", "Westwood District", or: "WestwoodDistrict")
            try await browser.wait("document.getElementById('area-name')?.value === 'Westwood'")
            try await browser.wait("Number(document.getElementById('area-west').value) < -97.95")
            let chosen = try await edges().compactMap(Double.init)
            try #require(chosen.count == 4)
            #expect(chosen[0] < -97.95 && chosen[1] < 38.05 && chosen[2] > -97.75 && chosen[3] > 38.25, "\(chosen)")

            try await browser.wait("document.getElementById('area-place').focus() ?? true")
            try await browser.type("nowhere")
            try await browser.press("Enter")
            try await hand.says("No place of this map is called")
            try await browser.wait("document.activeElement.id === 'area-place'")
        }
    }

    @Test func anAreaIsDrawnByTapsReshapedByKeysAndSaved() async throws {
        var definition = DamageField.definition()
        definition.layers[0].geometryType = .polygon
        definition.layers[0].drawingInfo = nil
        try await DamageField.with(points: 0, definition: definition) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.open("\(field.app.address)add/0/sketch")
            try await browser.wait(Self.ready, seconds: 60)
            for (number, place) in [(700.0, 300.0), (1_000, 260), (1_050, 560), (720, 600)].enumerated() {
                try await browser.click(x: place.0, y: place.1)
                try await Self.text("#panel h2", has: "Vertex \(number + 1) of \(number + 1)", browser)
            }
            try await browser.screenshot("sketch")
            let before = try await browser.evaluate("document.getElementById('sketch-lon').value", as: String.self)
            _ = try await browser.evaluate("document.getElementById('map').focus() ?? true", as: Bool.self)
            try await browser.press("ArrowRight")
            try await browser.wait("document.getElementById('sketch-undo')?.innerText.includes('move vertex 4')")
            let after = try await browser.evaluate("document.getElementById('sketch-lon').value", as: String.self)
            #expect(before != after)
            try await browser.press("b")
            try await Self.text("#panel h2", has: "Vertex 3 of 4", browser)
            try await browser.click("#sketch-save")
            try await browser.wait("document.querySelector('.toast')?.innerText.includes('Create feature succeeded.')")
            #expect(try await field.serverFeatures().count == 1)
            #expect(browser.takeComplaints() == [])
        }
    }
}
