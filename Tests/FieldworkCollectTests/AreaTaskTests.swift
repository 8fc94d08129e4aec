import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// The tasks of the app's design (8.1) that have to do with areas, syncs and conflicts, each with at most its steps: by names
/// of the accessibility tree alone, on a telephone and on a wide screen, and by keyboard alone.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct AreaTaskTests {
    private static let notice = "1 conflict waits for you. Nothing is lost. Choose which values to keep."

    private static func with(_ test: (DamageField) async throws -> Void) async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = .holdForReview
        try await DamageField.with(points: 2, definition: definition, test)
    }

    private static func state(_ text: String, _ browser: Browser) async throws {
        try await browser.wait(
            "document.getElementById('state').innerText.includes(\(Hand.quoted(text)))", seconds: 60)
    }

    /// The page is another one after it: what is tapped before that is there is lost with the old one.
    private static func switchMode(_ button: String, _ hand: Hand) async throws {
        try await hand.browser.wait("(document.body.dataset.before = 'this') === 'this'")
        try await hand.tap("button", button)
        try await hand.browser.wait("!document.body.dataset.before && \(Hand.ready)", seconds: 60)
    }

    /// Changes two values of the first point here, through the page's own form, and the same two on the server.
    private static func collide(_ field: DamageField, _ browser: Browser) async throws -> UUID {
        let id = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID }?.globalID)
        let status = try await browser.evaluate(
            """
            fetch('/f/0/\(id.uuidString.lowercased())/edit', { method: 'POST', body: new URLSearchParams({
            session: 'mine', 'field.typdamage': 'Destroyed', 'field.occupants': '7' }) }).then(a => a.status)
            """, as: Int.self)
        #expect(status == 200)
        let theirs = FeatureEdit(globalID: id, attributes: [("typdamage", .text("Minor")), ("occupants", .integer(3))])
        _ = try await field.store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, updates: [theirs])], usesGlobalIDs: true, editor: "Dana",
                moment: Date()), to: DamageField.service)
        return id
    }

    /// Yours of the damage and theirs of the occupants stand, when what was decided is sent.
    private static func isSettled(_ id: UUID, _ field: DamageField) async throws {
        try await OfflineField.sync(try await PlainClient.visitor(of: field.app))
        let settled = try await field.serverFeatures().first { $0.globalID == id }
        #expect(settled?.attributes["typdamage"] == .text("Destroyed"))
        #expect(settled?.attributes["occupants"] == .integer(3))
    }

    @Test(arguments: [true, false])
    func areasSyncsAndConflictsAreDoneByNamesAloneWithinTheirSteps(isPhone: Bool) async throws {
        try await Self.with { field in
            let hand = try await Hand.open(field.app, isPhone: isPhone)
            defer { hand.browser.stop() }

            // Take the shown area offline: 4.
            hand.begin()
            if isPhone {
                try await hand.tap("link", "Settings")
                try await hand.tap(
                    "link", "Offline Areas on this device, work mode", or: "OfflineAreas on this device, work mode")
            } else {
                try await hand.tap("link", "Offline")
            }
            try await hand.tap("link", "Take an area offline")
            // The frame keeps clear of the edges of what is shown; on the telephone what was shown is brought into it.
            if !isPhone { try await hand.tap("button", "Whole map") }
            try await hand.says("2 features")
            try await hand.tap("button", "Download")
            try await hand.says("is on this device")
            #expect(hand.steps <= 4)
            try await hand.browser.screenshot("area-here-\(isPhone ? "phone" : "wide")")

            // Switch to offline, to online and to offline again: 2 each.
            for (button, state) in [
                ("Work offline in Area", "Offline, Area"), ("Work online", "Online"),
                ("Work offline in Area", "Offline, Area"),
            ] {
                hand.begin()
                try await hand.tap("link", "Changes")
                // The page before it has a button of the same name.
                try await hand.says("Where each of your edits is")
                try await Self.switchMode(button, hand)
                try await Self.state(state, hand.browser)
                #expect(hand.steps <= 2)
            }

            // Sync now: 2. Meanwhile somebody else changed the same two values.
            let id = try await Self.collide(field, hand.browser)
            hand.begin()
            try await hand.tap("link", "Changes", or: "1 Changes")
            try await hand.tap("button", "Sync now")
            try await hand.says("Everything is sent")
            #expect(hand.steps <= 2)

            // Settle a conflict of two values: 4 from the notice.
            hand.begin()
            try await hand.tap("link", Self.notice)
            try await hand.tap("radio", "Yours Destroyed", or: "YoursDestroyed")
            try await hand.tap("radio", "Dana’s 3", or: "Dana’s3")
            try await hand.browser.screenshot("conflict-\(isPhone ? "phone" : "wide")")
            try await hand.tap("button", "Keep these values")
            try await hand.says("These values are kept.")
            #expect(hand.steps <= 4)
            try await Self.isSettled(id, field)
        }
    }

    @Test func areasSyncsAndConflictsAreDoneByKeyboardAlone() async throws {
        try await Self.with { field in
            let hand = try await Hand.open(field.app, isPhone: false)
            let browser = hand.browser
            defer { browser.stop() }

            // Take the shown area offline. Its frame is made larger on the way.
            try await hand.key(on: "Offline")
            try await hand.key(on: "Take an area offline")
            try await hand.key(on: "Whole map")
            try await hand.says("2 features")
            try await hand.key("ArrowUp", on: "North edge")
            try await hand.says("2 features")
            try await hand.key(on: "Download")
            try await hand.says("is on this device")

            // Switch to offline, to online and to offline again.
            for (button, state) in [
                ("Work offline in Area", "Offline, Area"), ("Work online", "Online"),
                ("Work offline in Area", "Offline, Area"),
            ] {
                try await browser.press("c")
                try await hand.says("Where each of your edits is")
                try await hand.key(on: button)
                try await Self.state(state, browser)
                try await browser.wait(Hand.ready, seconds: 60)
            }

            // Sync by its key.
            let id = try await Self.collide(field, browser)
            try await browser.press("y")
            try await hand.says("Everything is sent")

            // The conflict, by the digits and by the arrow keys of a group of choices.
            try await hand.key(on: Self.notice)
            try await hand.says("Conflict 1 of 1")
            try await browser.press("1")
            try await hand.key(" ", on: "Yours 7")
            try await browser.press("ArrowDown")
            try await browser.wait("document.activeElement.closest('label')?.innerText.includes('3')")
            try await hand.key(on: "Keep these values")
            try await hand.says("These values are kept.")
            try await Self.isSettled(id, field)
        }
    }
}
