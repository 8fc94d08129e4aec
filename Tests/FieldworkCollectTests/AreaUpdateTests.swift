import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Areas that are synced all at once, and by themselves, through the app's pages without a script.
@Suite struct AreaUpdateTests {
    private static let other = "7b2f7a52-3a0c-4a64-9d0e-0f1f5a7c2b12"

    private static func with(_ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            try await test(field, try await PlainClient.visitor(of: field.app))
        }
    }

    /// Looks at a page until it says something.
    private static func waitFor(_ text: String, at path: String, _ visitor: PlainClient) async throws -> String {
        var page = ""
        for _ in 0..<600 {
            page = try await visitor.get(path).text
            if page.contains(text) { return page }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(path) does not say \(text): \(page)")
        return page
    }

    /// Takes two areas along, with an edit in each, and works in the second.
    private static func editInTwoAreas(_ visitor: PlainClient) async throws {
        try await OfflineField.goOffline(visitor)
        #expect(try await OfflineField.add(visitor, "a").status == 303)
        _ = try await visitor.post("/offline/mode", ["area": ""])
        let edges: KeyValuePairs = [
            "west": "-98.05", "south": "37.95", "east": "-97.75", "north": "38.25", "name": "Hutchinson",
            "session": other,
        ]
        _ = try await visitor.post("/offline/new", edges)
        _ = try await waitFor("is on this device", at: "/jobs/\(other)", visitor)
        #expect(try await visitor.post("/offline/mode", ["area": other]).status == 303)
        #expect(try await OfflineField.add(visitor, "b").status == 303)
    }

    /// The cards of the list of areas, each as its text.
    private static func cards(_ page: String) -> [String] {
        let parts: [String] = page.components(separatedBy: "<div class=\"card\"><div class=\"item\">")
        return Array(parts.dropFirst())
    }

    @Test func allAreasAreUpdatedThoughOneIsOpenAndItStaysInUse() async throws {
        try await Self.with { field, visitor in
            try await Self.editInTwoAreas(visitor)
            // The first area is open no more after a new start.
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                let before = try await again.get("/offline").text
                for card in Self.cards(before) {
                    #expect(card.contains("1 not sent") && card.contains("Last sync"), "\(card)")
                }
                #expect(Self.cards(before).count == 2)
                _ = try await again.post("/offline/update", [:])
                let after = try await Self.waitFor("Update all areas", at: "/offline", again)
                #expect(!after.contains("not sent") && !after.contains("Not updated"), "\(after)")
                #expect(try await field.serverFeatures().count == 27)
                #expect(after.contains("Offline, Hutchinson"), "the open area stays the open one")
                #expect(try await again.get("/changes").text.contains("Everything is sent"))
                _ = try await again.post("/offline/mode", ["area": OfflineField.id])
                let list = try await again.get("/changes").text
                #expect(list.contains("On the server") && !list.contains("On this device"), "\(list)")
            }
        }
    }

    /// A later sync takes back what is said of the area that is open, and of no other.
    private static func syncTakesBackWhatWasSaid(_ visitor: PlainClient) async throws {
        try await OfflineField.sync(visitor)
        let told = cards(try await visitor.get("/offline").text).filter { $0.contains("Not updated") }
        #expect(told.count == 1 && told.first?.contains("Reno") == true, "\(told)")
    }

    @Test func anUpdateThatFailsSaysSoForEachAreaAndLosesNothing() async throws {
        try await Self.with { field, visitor in
            try await Self.editInTwoAreas(visitor)
            await field.services.stop()
            _ = try await visitor.post("/offline/update", [:])
            let failed = try await Self.waitFor("Update all areas", at: "/offline", visitor)
            #expect(
                Self.cards(failed).map { $0.contains("Not updated. ") && $0.contains("1 not sent") } == [true, true])
            try await field.services.comeBack()
            try await Self.syncTakesBackWhatWasSaid(visitor)
            _ = try await visitor.post("/offline/update", [:])
            let done = try await Self.waitFor("Update all areas", at: "/offline", visitor)
            #expect(!done.contains("Not updated") && !done.contains("not sent"), "\(done)")
            #expect(try await field.serverFeatures().count == 27)
        }
    }

    @Test func anAreaSyncsByItselfOnlyWhereTheUserWantsItAndSaysNothingWhileItCannot() async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            #expect(try await OfflineField.add(visitor, "a").status == 303)
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await field.serverFeatures().count == 25, "nobody has asked for it")
            await field.services.stop()
            let page = try await visitor.post("/offline/automatic", ["on": "yes"])
            #expect(page.status == 303)
            #expect(try await OfflineField.add(visitor, "b").status == 303)
            try await Task.sleep(for: .milliseconds(1_500))
            let waiting = try await visitor.get("/changes").text
            #expect(waiting.contains(">2 edits<") && !waiting.contains("not synced"), "\(waiting)")
            #expect(try await visitor.get("/offline").text.contains("Edits are sent when the service can be reached."))
            try await field.services.comeBack()
            _ = try await Self.waitFor("Everything is sent", at: "/changes", visitor)
            #expect(try await field.serverFeatures().count == 27)
            #expect(try await OfflineField.add(visitor, "c").status == 303)
            _ = try await Self.waitFor("Everything is sent", at: "/changes", visitor)
            #expect(try await field.serverFeatures().count == 28)
            _ = try await visitor.post("/offline/automatic", [:])
            #expect(try await OfflineField.add(visitor, "d").status == 303)
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await field.serverFeatures().count == 28)
        }
    }

    @Test(
        .enabled(
            if: Browser.program != nil && RunningApp.mapLibrary != nil, "Chromium or the map library isn't installed"))
    func theStateLineStaysThatOfTheOpenAreaWhileOthersAreUpdated() async throws {
        try await Self.with { field, visitor in
            try await Self.editInTwoAreas(visitor)
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.open("\(field.app.address)offline")
            try await browser.wait("document.documentElement.dataset.map === 'ready'", seconds: 60)
            try await browser.screenshot("offline-areas")
            _ = try await browser.evaluate(
                """
                (() => {
                  window.__states = [];
                  new MutationObserver(() => window.__states.push(document.getElementById('state')?.innerText ?? ''))
                    .observe(document.body, { childList: true, subtree: true, characterData: true });
                  return 1;
                })()
                """, as: Int.self)
            try await browser.click("form[action=\"/offline/update\"] button")
            try await browser.wait("!document.getElementById('panel').innerText.includes('not sent')", seconds: 60)
            try await browser.wait("document.getElementById('state').innerText.includes('all sent')", seconds: 60)
            try await browser.screenshot("offline-areas-updated")
            let states = try await browser.evaluate("window.__states", as: [String].self)
            #expect(
                states.contains { $0.contains("Hutchinson") } && !states.contains { $0.contains("Reno") }, "\(states)")
            #expect(try await field.serverFeatures().count == 27)
        }
    }
}
