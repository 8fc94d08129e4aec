import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// The tasks of the app's design (8.1), each with at most its steps: by names of the accessibility tree alone, on a telephone
/// and on a wide screen, and by keyboard alone.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct TaskTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"
    private static let tree = "\(TreesField.address(0))"

    /// Counts what a hand does: taps, and keys where typing counts as one.
    private final class Hand {
        let browser: Browser
        let isPhone: Bool
        private(set) var steps = 0

        init(_ browser: Browser, isPhone: Bool) {
            self.browser = browser
            self.isPhone = isPhone
        }

        func begin() { steps = 0 }

        /// - Parameter other: the name as a browser that puts no space between two words of it has it.
        func tap(_ role: String, _ name: String, or other: String? = nil) async throws {
            steps += 1
            try await browser.press(role, [name] + [other].compactMap(\.self), isTouch: isPhone)
        }

        /// A tap on the map, at the tree: what it opens has an address, which is all that the test asks for.
        func tapTree(_ index: Int, _ field: TreesField) async throws {
            steps += 1
            try await browser.open(field.app.address + "map" + TreesField.address(index))
            try await browser.wait(TaskTests.ready, seconds: 60)
        }

        func says(_ text: String) async throws {
            try await browser.wait("document.body.innerText.includes(\(TaskTests.quoted(text)))")
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "\\'") + "'"
    }

    private static func photo() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-photo-\(UUID().uuidString).jpg")
        try SamplePhoto.jpeg.write(to: file)
        return file
    }

    private static func attachments(_ field: TreesField) async throws -> [AttachmentInfo] {
        try await field.store.attachments(
            AttachmentQuery(features: FeatureQuery()), in: LayerAddress(service: TreesField.service, layerID: 0)
        ).attachments
    }

    @Test(arguments: [true, false])
    func everyTaskIsDoneByNamesAloneWithinItsSteps(isPhone: Bool) async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: isPhone ? 390 : 1_280, height: isPhone ? 844 : 800)
            defer { browser.stop() }
            if isPhone { try await browser.resize(width: 390, height: 844, isPhone: true) }
            try await browser.command("Accessibility.enable")
            try await browser.open(field.app.address)
            try await browser.wait(Self.ready, seconds: 60)
            let hand = Hand(browser, isPhone: isPhone)

            // See a tree's species and number of inspections: 1.
            try await hand.tapTree(0, field)
            try await hand.says("Norway maple")
            try await hand.says("Inspections")
            #expect(hand.steps <= 1)
            // Open its pop-up: 2; its last inspection: 3.
            try await hand.tap("link", "Open tree: Norway maple")
            try await hand.says("3250 NE Ainsworth St")
            #expect(hand.steps <= 2)

            // Change the condition and save: 5.
            hand.begin()
            try await hand.tapTree(0, field)
            try await hand.tap("DisclosureTriangle", "More actions for this tree")
            try await hand.tap("link", "Edit all values")
            try await hand.tap("radio", "Poor")
            try await hand.tap("button", "Save")
            try await hand.says("Update attribute succeeded.")
            #expect(hand.steps <= 5)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Poor"))

            // Restore the old value: 4.
            hand.begin()
            try await hand.tapTree(0, field)
            try await hand.tap("DisclosureTriangle", "More actions for this tree")
            try await hand.tap("link", "History")
            try await hand.tap("button", "Restore the values before: Condition from Good to Poor")
            try await hand.says("Update attribute succeeded.")
            #expect(hand.steps <= 4)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"))

            // Add a tree with species and photo: the first one has its species chosen from the list, the next ones from the
            // species chosen last: 5, the system's camera aside.
            let photo = try Self.photo()
            for round in 0..<2 {
                try await browser.open(field.app.address + "map")
                try await browser.wait(Self.ready, seconds: 60)
                hand.begin()
                try await hand.tap("link", "Add tree")
                try await hand.tap("button", "Place here")
                if round == 0 {
                    try await hand.tap("button", "Species: None chosen. Choose another")
                    try await hand.tap("button", "Red maple Acer rubrum", or: "Red mapleAcer rubrum")
                } else {
                    try await hand.tap("button", "Species: Red maple")
                }
                try await browser.wait("document.body.innerText.includes('Acer rubrum')")
                try await browser.choose(
                    [photo.path], in: "button",
                    ["Take photo", "Take photo: No file chosen", "Take photo No file chosen"])
                try await hand.says("New photo 1")
                try await hand.tap("button", "Save")
                try await hand.says("Create feature succeeded.")
                if round == 1 { #expect(hand.steps + 1 <= 5) }
            }
            #expect(try await field.rows(of: 0).count == 8)
            #expect(try await Self.attachments(field).count == 2)

            // Add an inspection with unchanged values: 3.
            hand.begin()
            try await hand.tapTree(1, field)
            try await hand.tap("link", "Add inspection")
            try await hand.tap("button", "Save")
            try await hand.says("Create feature succeeded.")
            #expect(hand.steps <= 3)
            #expect(try await field.rows(of: 3).count == 3)

            // Move a tree: 4 and one move of the map.
            hand.begin()
            try await hand.tapTree(2, field)
            try await hand.tap("DisclosureTriangle", "More actions for this tree")
            try await hand.tap("link", "Update geometry")
            try await browser.wait("document.getElementById('pin-at')?.textContent.length > 0")
            try await browser.press("ArrowRight")
            try await browser.wait("!document.getElementById('pin-moved-row').hidden")
            try await hand.tap("button", "Place here")
            try await hand.says("Update geometry succeeded.")
            #expect(hand.steps <= 4)

            // Delete a tree: 3; undo it: 1.
            hand.begin()
            try await hand.tapTree(3, field)
            try await hand.tap("DisclosureTriangle", "More actions for this tree")
            try await hand.tap("button", "Delete")
            try await hand.says("Delete feature succeeded.")
            #expect(hand.steps <= 3)
            #expect(try await field.rows(of: 0).count == 7)
            hand.begin()
            try await hand.tap("button", "Undo")
            try await hand.says("Undo succeeded.")
            #expect(hand.steps <= 1)
            #expect(try await field.rows(of: 0).count == 8)

            // The sunlight theme: 2.
            hand.begin()
            try await hand.tap("link", "Settings")
            try await hand.tap("radio", "Sunlight")
            try await browser.wait("document.documentElement.dataset.theme === 'sunlight'")
            #expect(hand.steps <= 2)
            try? FileManager.default.removeItem(at: photo)
        }
    }

    @Test func areasSyncsAndConflictsAreDoneByNamesAloneWithinTheirSteps() async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = .holdForReview
        try await DamageField.with(points: 2, definition: definition) { field in
            let browser = try await Browser.start(width: 390, height: 844)
            defer { browser.stop() }
            try await browser.resize(width: 390, height: 844, isPhone: true)
            try await browser.command("Accessibility.enable")
            try await browser.open(field.app.address)
            try await browser.wait(Self.ready, seconds: 60)
            let hand = Hand(browser, isPhone: true)

            // Take the shown area offline: 4.
            hand.begin()
            try await hand.tap("link", "Settings")
            try await hand.tap(
                "link", "Offline Areas on this device, work mode", or: "OfflineAreas on this device, work mode")
            try await hand.tap("link", "Take an area offline")
            try await hand.says("2 features")
            try await hand.tap("button", "Download")
            try await hand.says("is on this device")
            #expect(hand.steps <= 4)

            // Switch to offline, to online and to offline again: 2 each.
            for (button, state) in [
                ("Work offline in Area", "Offline, Area"), ("Work online", "Online"),
                ("Work offline in Area", "Offline, Area"),
            ] {
                hand.begin()
                try await hand.tap("link", "Changes")
                try await hand.tap("button", button)
                try await browser.wait(
                    "document.getElementById('state').innerText.includes(\(Self.quoted(state)))", seconds: 60)
                #expect(hand.steps <= 2)
            }

            // Sync now: 2. Meanwhile somebody else changed the same two values.
            let id = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID }?.globalID)
            let status = try await browser.evaluate(
                """
                fetch('/f/0/\(id.uuidString.lowercased())/edit', { method: 'POST', body: new URLSearchParams({
                session: 'mine', 'field.typdamage': 'Destroyed', 'field.occupants': '7' }) }).then(a => a.status)
                """, as: Int.self)
            #expect(status == 200)
            let theirs = FeatureEdit(
                globalID: id, attributes: [("typdamage", .text("Minor")), ("occupants", .integer(3))])
            _ = try await field.store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [theirs])], usesGlobalIDs: true, editor: "Dana",
                    moment: Date()), to: DamageField.service)
            hand.begin()
            try await hand.tap("link", "Changes", or: "1 Changes")
            try await hand.tap("button", "Sync now")
            try await hand.says("All is sent.")
            #expect(hand.steps <= 2)

            // Settle a conflict of two values: 4 from the notice.
            hand.begin()
            try await hand.tap(
                "link", "1 conflict waits for you. Nothing is lost. Decide which values stand.")
            try await hand.tap("radio", "Yours Destroyed", or: "YoursDestroyed")
            try await hand.tap("radio", "Dana’s 3", or: "Dana’s3")
            try await hand.tap("button", "Keep these values")
            try await hand.says("These values are kept.")
            #expect(hand.steps <= 4)
            try await OfflineField.sync(try await PlainClient.visitor(port: field.app.port))
            let settled = try await field.serverFeatures().first { $0.globalID == id }
            #expect(settled?.attributes["typdamage"] == .text("Destroyed"))
            #expect(settled?.attributes["occupants"] == .integer(3))
        }
    }

    @Test func everyTaskIsDoneByKeyboardAlone() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.open(field.app.address)
            try await browser.wait(Self.ready, seconds: 60)
            func says(_ text: String) async throws {
                try await browser.wait("document.body.innerText.includes(\(Self.quoted(text)))")
            }
            // To the tree by the list beside the map, then its form by its key.
            try await browser.press("l")
            try await browser.wait("document.querySelector('#list-rows')")
            try await browser.tab(to: "Show 3252 NE Ainsworth St on the map")
            try await browser.press("Enter")
            try await browser.wait("document.querySelector('.callout')")
            try await browser.press("e")
            try await says("Edit tree")
            try await browser.tab(to: "Notes")
            try await browser.type("Cavity")
            try await browser.command(
                "Input.dispatchKeyEvent",
                ["type": "keyDown", "key": "s", "code": "KeyS", "windowsVirtualKeyCode": 83, "modifiers": 2])
            try await says("Update attribute succeeded.")
            #expect(try await field.tree(1)?.attributes["Notes"] == .text("Cavity"))
            // Undo by its key.
            try await browser.press("z")
            try await says("Undo succeeded.")
            #expect(try await field.tree(1)?.attributes["Notes"] == .null)

            // Add: place with Enter, save the form.
            try await browser.press("a")
            try await browser.wait("document.getElementById('pin-at')?.textContent.length > 0")
            try await browser.press("Enter")
            try await browser.wait("document.querySelector('form[data-form]')")
            try await browser.tab(to: "Save")
            try await browser.press("Enter")
            try await says("Create feature succeeded.")
            #expect(try await field.rows(of: 0).count == 7)

            // Move with the arrows, from the list.
            try await browser.open(field.app.address + "map" + TreesField.address(4))
            try await browser.wait(Self.ready, seconds: 60)
            try await browser.tab(to: "More actions for this tree")
            try await browser.press("Enter")
            try await browser.tab(to: "Update geometry")
            try await browser.press("Enter")
            try await browser.wait("document.getElementById('pin-at')?.textContent.length > 0")
            try await browser.press("ArrowUp")
            try await browser.wait("!document.getElementById('pin-moved-row').hidden")
            try await browser.press("Enter")
            try await says("Update geometry succeeded.")

            // Delete and take back.
            try await browser.tab(to: "More actions for this tree")
            try await browser.press("Enter")
            try await browser.tab(to: "Delete")
            try await browser.press("Enter")
            try await says("Delete feature succeeded.")
            #expect(try await field.rows(of: 0).count == 6)
            try await browser.press("z")
            try await says("Undo succeeded.")
            #expect(try await field.rows(of: 0).count == 7)

            // Changes by its key, and back with Escape.
            try await browser.press("c")
            try await says("Where each of your edits is")
            try await browser.press("Escape")
            try await browser.wait("location.pathname === '/map'")
        }
    }
}
