import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Where the focus, the map and an open pop-up are after something has changed.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct FocusTests {
    private static let edit = "/f/0/\(TreesField.treeIDs[0].uuidString.lowercased())/edit"

    @Test("After Save and Cancel the focus is on the call-out or the map, never on nothing", arguments: [true, false])
    func afterAForm(isPhone: Bool) async throws {
        try await TreesField.with { field in
            let hand = try await Hand.open(field.app, isPhone: isPhone)
            let browser = hand.browser
            defer { browser.stop() }
            let inMap = "document.getElementById('map').contains(document.activeElement)"
            for button in ["Save", "Cancel"] {
                try await browser.open(field.app.address + Self.edit.dropFirst())
                try await browser.wait(Hand.ready, seconds: 60)
                if button == "Save" {
                    _ = try await browser.evaluate(
                        "(() => { const e = document.getElementById('field-DBH'); e.focus(); e.select(); return true; })()",
                        as: Bool.self)
                    try await browser.type("23")
                }
                try await hand.tap("button", button)
                try await browser.wait("location.pathname.startsWith('/map')", seconds: 40)
                try await browser.wait(inMap)
            }
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(23))
        }
    }

    @Test(
        "Beside a form, the history and the photos of a feature the map shows a ring around it",
        arguments: ["edit", "history", "photos"])
    func aRing(page: String) async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open(field.app.address + "\(TreesField.address(0).dropFirst())/\(page)")
            try await browser.wait(Hand.ready, seconds: 60)
            let module = try await browser.evaluate(
                "document.querySelector('script[type=module]').src.replace('app.js', 'map.js')",
                as: String.self)
            let drawn = "m.instance().queryRenderedFeatures({ layers: ['selected-point'] }).length > 0"
            try await browser.wait("import('\(module)').then(m => \(drawn))", seconds: 60)
            #expect(try await browser.evaluate("document.querySelector('.callout') === null", as: Bool.self))
        }
    }

    @Test("A pop-up that is open shows what another window saves")
    func anOpenPopup() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open(field.app.address + TreesField.address(0).dropFirst())
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.wait("document.querySelector('#panel h1')")
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.post(Self.edit, ["field.DBH": "77"]).status == 303)
            try await browser.wait("document.getElementById('panel').innerText.includes('77')", seconds: 40)
        }
    }

    @Test(
        "Without motion a feature that is opened by its address stands in the middle of the map",
        arguments: [true, false])
    func withoutMotion(isPhone: Bool) async throws {
        struct Feature: Encodable, Sendable {
            let name: String
            let value: String
        }
        try await TreesField.with { field in
            let hand = try await Hand.open(field.app, isPhone: isPhone)
            let browser = hand.browser
            defer { browser.stop() }
            try await browser.command(
                "Emulation.setEmulatedMedia",
                ["features": [Feature(name: "prefers-reduced-motion", value: "reduce")]])
            let visitor = try await PlainClient.visitor(of: field.app)
            let away: KeyValuePairs = [
                "lon": "-122.9", "lat": "45.3", "zoom": "13", "west": "-122.95", "south": "45.27", "east": "-122.85",
                "north": "45.33",
            ]
            #expect(try await visitor.post("/data/view", away).status == 200)
            try await browser.open(field.app.address + "map" + TreesField.address(0))
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.wait("document.querySelector('.maplibregl-marker .callout')")
            let module = try await browser.evaluate(
                "document.querySelector('script[type=module]').src.replace('app.js', 'map.js')", as: String.self)
            let place = TreesField.place(0)
            try await browser.wait(
                """
                import('\(module)').then(m => { const map = m.instance();
                const p = map.project([\(place.longitude), \(place.latitude)]); const r = map.getContainer().getBoundingClientRect();
                return !map.isMoving() && Math.hypot(p.x - r.width / 2, p.y - r.height / 2) < 120; })
                """)
        }
    }
}
