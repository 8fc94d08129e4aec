import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// A panel that is drawn anew, because the process said that it is stale, takes nothing away from the hand that uses it.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct StalePanelTests {
    /// The app offline in its area, and the page of an address without its map.
    private static func with(
        _ path: String, _ test: (DamageField, PlainClient, Browser) async throws -> Void
    ) async throws {
        try await DamageField.with(definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            try await browser.open(field.app.address + path)
            try await browser.wait("document.documentElement.classList.contains('script')")
            try await test(field, visitor, browser)
        }
    }

    /// How often the page has fetched an address.
    private static func fetches(_ path: String) -> String {
        "performance.getEntriesByType('resource').filter(e => new URL(e.name).pathname === '\(path)').length"
    }

    /// Marks what the selector finds, to notice when another one stands in its place.
    private static func mark(_ selector: String, _ browser: Browser) async throws {
        try await browser.wait("(document.querySelector(`\(selector)`).mark = 'this') === 'this'")
    }

    private static func isMarked(_ selector: String) -> String {
        "document.querySelector(`\(selector)`).mark === 'this'"
    }

    private static let online = #"form[action="/offline/mode"]:not(:has([name="area"])) button"#

    @Test func aButtonThatIsPressedStaysUntilItIsLetGo() async throws {
        try await Self.with("changes") { _, visitor, browser in
            try await Self.mark(Self.online, browser)
            let place = try await browser.evaluate(
                "(() => { const r = document.querySelector(`\(Self.online)`).getBoundingClientRect(); "
                    + "return [r.x + r.width / 2, r.y + r.height / 2]; })()", as: [Double].self)
            func mouse(_ type: String) async throws {
                try await browser.command(
                    "Input.dispatchMouseEvent",
                    ["type": type, "x": place[0], "y": place[1], "button": "left", "clickCount": 1])
            }
            try await mouse("mouseMoved")
            try await mouse("mousePressed")
            // Meanwhile another window adds a feature: the page of changes is another one.
            let added = try await OfflineField.add(visitor, UUID().uuidString)
            #expect(added.status == 303)
            try await browser.wait("\(Self.fetches("/changes")) > 0")
            try await browser.wait("document.getElementById('state').innerText.includes('1 not sent')")
            #expect(try await browser.evaluate(Self.isMarked(Self.online), as: Bool.self))
            try await mouse("mouseReleased")
            try await browser.wait("document.getElementById('state').innerText.includes('Online')")
        }
    }

    @Test func aPanelIsDrawnAnewOnlyWhenItIsAnotherOneAndKeepsItsFocus() async throws {
        try await Self.with("offline") { _, visitor, browser in
            try await Self.mark("#panel", browser)
            let name = "/offline/\(OfflineField.id)/name"
            _ = try await visitor.post(name, ["name": "Reno"])
            try await browser.wait("\(Self.fetches("/offline")) === 1")
            _ = try await visitor.post(name, ["name": "Reno"])
            try await browser.wait("\(Self.fetches("/offline")) === 2")
            #expect(try await browser.evaluate(Self.isMarked("#panel"), as: Bool.self), "it is the same")

            let remove = "a[href=\"/offline/\(OfflineField.id)/delete\"]"
            try await browser.wait("(document.querySelector(`\(remove)`).focus(), true)")
            _ = try await visitor.post(name, ["name": "Reno and its east"])
            try await browser.wait("document.getElementById('panel').innerText.includes('Reno and its east')")
            #expect(try await browser.evaluate("document.activeElement.matches(`\(remove)`)", as: Bool.self))

            // What is typed stays.
            try await browser.wait(
                "(document.querySelector('summary').click(), document.getElementById('name-\(OfflineField.id)').select(), true)"
            )
            try await browser.type("Typed")
            _ = try await visitor.post(name, ["name": "Reno"])
            try await browser.wait("document.getElementById('state').innerText.includes('Offline, Reno')")
            #expect(
                try await browser.evaluate("document.getElementById('name-\(OfflineField.id)').value", as: String.self)
                    == "Typed")
        }
    }

    @Test func aPageThatWasAskedForIsNotBrokenOffByAStaleOne() async throws {
        try await Self.with("changes") { _, visitor, browser in
            try await browser.command(
                "Network.emulateNetworkConditions",
                ["offline": false, "latency": 1_500, "downloadThroughput": -1, "uploadThroughput": -1])
            try await browser.click("a[href=\"/offline\"]")
            _ = try await OfflineField.add(visitor, UUID().uuidString)
            try await browser.wait("location.pathname === '/offline'", seconds: 10)
            try await browser.wait("document.querySelector('#panel h1').innerText === 'Offline'")
        }
    }
}
