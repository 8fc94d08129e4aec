import BrowserSupport
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
    private static func photo() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-photo-\(UUID().uuidString).jpg")
        try SamplePhoto.jpeg.write(to: file)
        return file
    }

    private static func attachments(_ field: TreesField, layer: Int = 0) async throws -> [AttachmentInfo] {
        try await field.store.attachments(
            AttachmentQuery(features: FeatureQuery()), in: LayerAddress(service: TreesField.service, layerID: layer)
        ).attachments
    }

    @Test(arguments: [true, false])
    func everyTaskIsDoneByNamesAloneWithinItsSteps(isPhone: Bool) async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let hand = try await Hand.open(field.app, isPhone: isPhone)
            let browser = hand.browser
            defer { browser.stop() }

            // See a tree's species and number of inspections: 1.
            try await hand.tapTree(0, field)
            try await hand.says("Norway maple")
            try await hand.says("Inspections")
            #expect(hand.steps <= 1)
            // Open its pop-up: 2; its last inspection: 3.
            try await hand.tap("link", "Open tree: Norway maple")
            try await hand.says("3250 NE Ainsworth St")
            #expect(hand.steps <= 2)
            try await browser.wait("document.querySelector('.rel a.item .m') !== null")
            let inspection = try await browser.evaluate(
                "[...document.querySelector('.rel a.item .m').children].map(e => e.innerText)", as: [String].self)
            try await hand.tap("link", inspection.joined(separator: " "), or: inspection.joined())
            try await browser.wait("location.pathname.startsWith('/f/3/')")
            try await hand.says("Inspection 11/15/2023")
            #expect(hand.steps <= 3)

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
                try await browser.wait(Hand.ready, seconds: 60)
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
                try await hand.takePhoto(photo)
                try await hand.says("New photo 1")
                try await hand.tap("button", "Save")
                try await hand.says("Create feature succeeded.")
                if round == 1 { #expect(hand.steps <= 5) }
            }
            #expect(try await field.rows(of: 0).count == 8)
            #expect(try await Self.attachments(field).count == 2)

            // Add another of the same kind: 3. It is of the species of the one before.
            hand.begin()
            try await hand.tap("link", "Add another")
            try await hand.tap("button", "Place here")
            try await browser.wait("document.body.innerText.includes('Acer rubrum')")
            try await hand.tap("button", "Save")
            try await hand.says("Create feature succeeded.")
            #expect(hand.steps <= 3)
            let newest = try #require(try await field.rows(of: 0).max { $0.objectID < $1.objectID })
            #expect(newest.attributes["SpeciesCode"] == .text("ACRU"))
            #expect(try await field.rows(of: 0).count == 9)

            // Add an inspection with unchanged values: 3.
            hand.begin()
            try await hand.tapTree(1, field)
            try await hand.tap("link", "Add inspection")
            try await hand.tap("button", "Save")
            try await hand.says("Create feature succeeded.")
            #expect(hand.steps <= 3)
            #expect(try await field.rows(of: 3).count == 3)

            // Add an inspection with a photo: 4.
            hand.begin()
            try await hand.tapTree(2, field)
            try await hand.tap("link", "Add inspection")
            try await hand.takePhoto(photo)
            try await hand.says("New photo 1")
            try await hand.tap("button", "Save")
            try await hand.says("Create feature succeeded.")
            #expect(hand.steps <= 4)
            #expect(try await field.rows(of: 3).count == 4)
            #expect(try await Self.attachments(field, layer: 3).count == 1)

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
            #expect(try await field.rows(of: 0).count == 8)
            hand.begin()
            try await hand.tap("button", "Undo")
            try await hand.says("Undo succeeded.")
            #expect(hand.steps <= 1)
            #expect(try await field.rows(of: 0).count == 9)

            // The sunlight theme: 2.
            hand.begin()
            try await hand.tap("link", "Settings")
            try await hand.tap("radio", "Sunlight")
            try await browser.wait("document.documentElement.dataset.theme === 'sunlight'")
            #expect(hand.steps <= 2)
            try? FileManager.default.removeItem(at: photo)
        }
    }

    @Test func everyTaskIsDoneByKeyboardAlone() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            func says(_ text: String) async throws {
                try await browser.wait("document.body.innerText.includes(\(Hand.quoted(text)))")
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
            try await browser.wait(Hand.ready, seconds: 60)
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
