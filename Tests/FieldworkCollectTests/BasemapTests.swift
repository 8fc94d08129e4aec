import BrowserSupport
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

@Suite(
    "Basemap and location", .serialized, .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup"))
struct BasemapTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"

    private static func page(_ test: (Browser, DamageField) async throws -> Void) async throws {
        try await DamageField.with(hasBasemap: true) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(ready, seconds: 60)
            try await test(browser, field)
            #expect(browser.takeComplaints() == [])
        }
    }

    /// A script about the map: `map` is the library's.
    private static func map(_ script: String, _ browser: Browser) async throws -> String {
        let module: String = try await browser.evaluate(
            "document.querySelector('script[type=module]').src.replace('app.js', 'map.js')")
        return "import('\(module)').then(m => { const map = m.instance(); return \(script); })"
    }

    @Test("The server's basemap lies under the features, and its makers are named; without it nothing does, as chosen")
    func basemap() async throws {
        try await Self.page { browser, field in
            let order = "map.getLayersOrder()"
            let isDrawn = try await Self.map("\(order).includes('base-0-0')", browser)
            try await browser.wait(isDrawn, seconds: 60)
            let below = try await Self.map("\(order).indexOf('base-0-0') < \(order).indexOf('layer-0-0')", browser)
            #expect(try await browser.evaluate(below, as: Bool.self))
            try await browser.wait(
                try await Self.map("map.queryRenderedFeatures().some(f => f.layer.id.startsWith('base-0'))", browser),
                seconds: 60)
            #expect(
                try await browser.evaluate("document.getElementById('attribution').textContent", as: String.self)
                    == "© City")
            try await browser.screenshot("basemap")
            try await browser.open("\(field.app.address)layers")
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.click("input[name=basemap][value=none] + span")
            try await browser.wait(
                try await Self.map("!\(order).some(id => id.startsWith('base-'))", browser), seconds: 60)
            try await browser.open("\(field.app.address)map")
            try await browser.wait(Self.ready, seconds: 60)
            #expect(
                try await browser.evaluate(
                    try await Self.map("!\(order).some(id => id.startsWith('base-'))", browser), as: Bool.self))
            #expect(try await browser.evaluate("document.getElementById('attribution').hidden", as: Bool.self))
        }
    }

    @Test("The basemap of another key is none, and the page may ask only its own browser where it is")
    func routes() async throws {
        try await DamageField.with(points: 1, hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let document = try await visitor.get("/data/basemap?look=dark")
            #expect(document.text.contains("s-City"))
            #expect(try await visitor.get("/data/basemap/s%2DCity/0/tile/0/0/0").status == 200)
            #expect(try await visitor.get("/data/basemap/s%2DCity/0/tile/1/0/0").status == 204)
            #expect(try await visitor.get("/data/basemap/s%2DOther/0/tile/0/0/0").status == 404)
            #expect(try await visitor.get("/data/basemap/s%2DCity/7/tile/0/0/0").status == 404)
            #expect(try await visitor.get("/data/basemap/s%2DCity/0/pictures/..%2Fsecret").status == 404)
            #expect(document["Permissions-Policy"]?.contains("geolocation=(self)") == true)
        }
    }

    @Test("The list is sorted by the distance from where one stands")
    func nearestToMe() async throws {
        try await DamageField.with(points: 5) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let last = DamageField.place(4)
            let page = try await visitor.get("/list/0?near=\(last.longitude),\(last.latitude)").text
            #expect(page.contains("nearest to you first"))
            let places = (1...5).compactMap { number in page.range(of: "Cause \(number)")?.lowerBound }
            #expect(places.count == 5)
            #expect(places.sorted(by: >) == places)
        }
    }

    @Test("Where one stands is asked for when the button is pressed, and shown with how well it is known")
    func location() async throws {
        try await Self.page { browser, _ in
            try await browser.command("Browser.grantPermissions", ["permissions": ["geolocation"]])
            let there = DamageField.place(7)
            try await browser.command(
                "Emulation.setGeolocationOverride",
                ["latitude": there.latitude, "longitude": there.longitude, "accuracy": 12.0])
            #expect(try await browser.evaluate("document.getElementById('locate-fact').hidden", as: Bool.self))
            try await browser.click("#locate")
            try await browser.wait("document.getElementById('locate-fact').textContent === '\u{B1} 12 m'")
            try await browser.wait(
                try await Self.map(
                    "map.queryRenderedFeatures({ layers: ['me-ring'] }).length > 0 && "
                        + "Math.abs(map.getCenter().lng - \(there.longitude)) < 0.001", browser), seconds: 30)
            try await browser.screenshot("location")
            try await browser.click("#locate")
            try await browser.wait("document.getElementById('locate').getAttribute('aria-pressed') === 'false'")
            #expect(try await browser.evaluate("document.getElementById('locate-fact').hidden", as: Bool.self))
        }
    }
}
