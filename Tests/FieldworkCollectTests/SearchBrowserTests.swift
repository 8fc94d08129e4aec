import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// The search and the filling of addresses in a real browser.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(
        if: RunningApp.mapLibrary != nil,
        "The map library isn't installed; run scripts/setup or set FIELDWORK_MAP_LIBRARY")
)
struct SearchBrowserTests {
    private static func has(_ selector: String, _ text: String, _ browser: Browser) async throws {
        try await browser.wait("document.querySelector('\(selector)')?.innerText.includes('\(text)')", seconds: 60)
    }

    private static let filled =
        "document.querySelector('[name=\"field.Address\"]')?.value === '3230 NE Holman St'"

    @Test func whatIsTypedOnTheMapIsFoundByKeysAndShownWithAPin() async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            _ = try await browser.evaluate("document.getElementById('map-search-q').focus() ?? true", as: Bool.self)
            try await browser.type("3210 hol")
            try await Self.has("#search-places", "3210 NE Holman St", browser)
            let focused = try await browser.evaluate("document.activeElement.id", as: String.self)
            #expect(focused == "search-q", "typing goes on in the panel")
            try await browser.screenshot("search-typed")
            try await browser.wait("document.getElementById('polite').textContent.includes('address')")
            try await browser.press("ArrowDown")
            try await browser.wait("document.activeElement.matches('#search-places .lrow')")
            try await browser.press("ArrowUp")
            try await browser.wait("document.activeElement.id === 'search-q'")
            try await browser.press("ArrowDown")
            try await browser.press("Enter")
            try await Self.has("#selection", "3210 NE Holman St", browser)
            try await browser.wait("document.querySelector('.found-pin') !== null")
            try await browser.wait("location.pathname === '/map/at'")
            try await browser.screenshot("search-place")
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test func theCallOutOfEmptyGroundTellsItsAddressAndTheFormFillsIt() async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            // Over houses, away from the trees.
            try await browser.open("\(field.app.address)map/at?lat=45.5661&lon=-122.6375&z=19&name=Here")
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.wait("document.querySelector('.found-pin') !== null")
            try await browser.wait("document.getElementById('scale').innerText.includes(' m')")
            try await browser.press("Escape")
            try await browser.wait("document.querySelector('#selection .mini') === null")
            _ = try await browser.evaluate("document.getElementById('map').focus() ?? true", as: Bool.self)
            try await browser.press("Enter")
            try await Self.has("address-line.known", "NE Holman St", browser)
            try await browser.screenshot("search-ground")
            try await browser.open("\(field.app.address)add/0/form?lon=-122.637&lat=45.56608&template=p0")
            try await browser.wait(Self.filled)
            _ = try await browser.evaluate(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; }) ?? true", as: Bool.self)
            try await Self.has("[data-fill-note]", "Filled for you: from Portland", browser)
            try await browser.screenshot("search-filled")
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test("What is typed before the page's scripts are there is searched for", arguments: ["search-q", "map-search-q"])
    func typedEarly(id: String) async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            // Modules run when the page is parsed; the field has its text while it is being parsed.
            try await browser.command(
                "Page.addScriptToEvaluateOnNewDocument",
                [
                    "source": """
                    new MutationObserver(() => {
                      const field = document.getElementById('\(id)');
                      if (field && !window.isTyped) { window.isTyped = true; field.value = '3210 hol'; }
                    }).observe(document, { childList: true, subtree: true });
                    """
                ])
            try await browser.open("\(field.app.address)\(id == "search-q" ? "search" : "map")")
            try await Self.has("#search-places", "3210 NE Holman St", browser)
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test func inAnAreaWithoutANetworkTheSearchAndTheFormKnowAddresses() async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await AreaLocatorTests.goOffline(visitor, field)
            await field.services.stop()
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open("\(field.app.address)search")
            try await browser.wait("document.querySelector('#search-q') !== null")
            _ = try await browser.evaluate("document.getElementById('search-q').focus() ?? true", as: Bool.self)
            try await browser.type("3220 hol")
            try await Self.has("#search-places", "3220 NE Holman St", browser)
            try await Self.has("#search-places", "on this device", browser)
            try await browser.open("\(field.app.address)add/0/form?lon=-122.637&lat=45.56608&template=p0")
            try await browser.wait(Self.filled)
            #expect(browser.takeComplaints() == [])
        }
    }
}
