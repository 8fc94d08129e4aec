import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// One feature's form, open in two windows or while others edit: nothing typed is lost, and nothing is put back unasked.
@Suite struct TwoWindowsTests {
    private static let edit = "\(TreesField.address(0))/edit"

    /// A form as one window has opened it: what it posts unseen.
    private struct Window {
        let visitor: PlainClient
        var hidden: [String: String] = [:]

        static func open(_ field: TreesField) async throws -> Window {
            var window = Window(visitor: try await PlainClient.visitor(of: field.app))
            window.read(try await window.visitor.get(TwoWindowsTests.edit).text)
            return window
        }

        mutating func read(_ page: String) {
            for match in page.matches(of: /<input type="hidden" name="(session|base|seen)" value="([^"]*)">/) {
                hidden[String(match.1)] = String(match.2)
            }
        }

        /// Posts what the browser would: the hidden values and those of the controls.
        func post(_ values: [String: String], isCheck: Bool = false) async throws -> PlainClient.Answer {
            let pairs = hidden.merging(values) { $1 }
            let body = pairs.map { "\(PlainClient.escape($0.key))=\(PlainClient.escape($0.value))" }
            var fields = [
                "Origin": "http://127.0.0.1:\(visitor.port)", "Content-Type": "application/x-www-form-urlencoded",
            ]
            if isCheck { fields["Fieldwork-Fragment"] = "check" }
            return try await visitor.send(
                "POST", TwoWindowsTests.edit, fields: fields, body: body.joined(separator: "&"))
        }
    }

    /// What the form shows of the first tree.
    private static let shown = [
        "field.Address": "3250 NE Ainsworth St", "field.Condition": "Good", "field.DBH": "10", "field.Notes": "",
    ]

    private static func others(_ field: TreesField, _ attributes: KeyValuePairs<String, AttributeValue>) async throws {
        let edit = FeatureEdit(globalID: TreesField.treeIDs[0], attributes: attributes.map { ($0.key, $0.value) })
        _ = try await field.store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, updates: [edit])], usesGlobalIDs: true, editor: "Dana", moment: Date()),
            to: TreesField.service)
    }

    @Test func aFormThatWasOpenPutsNothingBackThatOthersChanged() async throws {
        try await TreesField.with { field in
            let window = try await Window.open(field)
            try await Self.others(field, ["Condition": .text("Dead"), "Address": .text("3250 NE Ainsworth Street")])
            let saved = try await window.post(Self.shown.merging(["field.Notes": "Cavity"]) { $1 })
            #expect(saved.status == 303)
            let tree = try #require(try await field.tree(0))
            #expect(tree.attributes["Notes"] == .text("Cavity"))
            #expect(tree.attributes["Condition"] == .text("Dead"))
            #expect(tree.attributes["Address"] == .text("3250 NE Ainsworth Street"))
        }
    }

    @Test func aValueThatOthersChangedWhileItWasTypedIsAskedForOnce() async throws {
        try await TreesField.with { field in
            var window = try await Window.open(field)
            let typed = Self.shown.merging(["field.Condition": "Poor"]) { $1 }
            try await Self.others(field, ["Condition": .text("Dead")])
            let asked = try await window.post(typed)
            #expect(asked.status == 422)
            #expect(asked.text.contains("Someone changed this to Dead. Save again to keep yours."))
            #expect(asked.text.contains(#"value="Poor" checked"#), "what was typed stays")
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Dead"))

            window.read(asked.text)
            try await Self.others(field, ["Condition": .text("Fair")])
            let again = try await window.post(typed)
            #expect(again.status == 422, "it was changed once more")
            window.read(again.text)
            #expect(try await window.post(typed).status == 303)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Poor"))
        }
    }

    @Test("That others changed a value is said at the first check, before anybody saves")
    func saidAtTheCheck() async throws {
        try await TreesField.with { field in
            let window = try await Window.open(field)
            try await Self.others(field, ["Condition": .text("Dead")])
            let check = try await window.post(Self.shown.merging(["field.Condition": "Poor"]) { $1 }, isCheck: true)
            #expect(check.text.contains("Someone changed this to Dead."))
            let untouched = try await window.post(Self.shown.merging(["field.Notes": "Cavity"]) { $1 }, isCheck: true)
            #expect(!untouched.text.contains("Someone changed this"))
        }
    }

    @Test func aRecordThatOthersChoseMeanwhileStays() async throws {
        try await TreesField.with { field in
            let window = try await Window.open(field)
            let page = try await window.visitor.get(Self.edit).text
            let species = try #require(page.firstMatch(of: /name="relation\.0" value="([^"]+)"/)).1
            try await Self.others(field, ["SpeciesCode": .text("PRSE")])
            let values = Self.shown.merging(["relation.0": String(species), "field.Notes": "Cavity"]) { $1 }
            #expect(try await window.post(values).status == 303)
            let tree = try #require(try await field.tree(0))
            #expect(tree.attributes["SpeciesCode"] == .text("PRSE"))
            #expect(tree.attributes["Notes"] == .text("Cavity"))
        }
    }

    @Test func whatTwoWindowsTypeIsKeptAndSavedByEach() async throws {
        try await TreesField.with { field in
            let first = try await Window.open(field)
            let second = try await Window.open(field)
            let notes = Self.shown.merging(["field.Notes": "Cavity"]) { $1 }
            let trunk = Self.shown.merging(["field.DBH": "17"]) { $1 }
            #expect(try await first.post(notes, isCheck: true).status == 200)
            #expect(try await second.post(trunk, isCheck: true).status == 200)
            #expect(try await first.post(notes, isCheck: true).status == 200)
            let both = try await second.visitor.get(Self.edit).text
            #expect(both.contains("Cavity"))
            #expect(both.contains(#"name="field.DBH" type="text" inputmode="decimal" value="17""#))

            // One is saved; what the other one typed is still kept, also when the process is started again.
            #expect(try await first.post(notes).status == 303)
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(10))
            try await field.restartedApp { app in
                let next = try await PlainClient.visitor(of: app)
                #expect(try await next.get("/changes").text.contains("Unfinished"))
                let page = try await next.get(Self.edit).text
                #expect(page.contains(#"value="17""#))
                #expect(page.contains("Cavity"), "the saved value")
                var later = Window(visitor: next)
                later.read(page)
                #expect(
                    try await later.post(notes.merging(trunk.filter { $0.key == "field.DBH" }) { $1 }).status == 303)
                #expect(!(try await next.get("/changes").text.contains("Unfinished")))
            }
            let tree = try #require(try await field.tree(0))
            #expect(tree.attributes["Notes"] == .text("Cavity"))
            #expect(tree.attributes["DBH"] == .real(17))
        }
    }

    /// What a window takes back is taken back: nobody else typed it.
    @Test func aWindowTakesItsOwnTypingBack() async throws {
        try await TreesField.with { field in
            let window = try await Window.open(field)
            _ = try await window.post(Self.shown.merging(["field.Notes": "Cavity"]) { $1 }, isCheck: true)
            _ = try await window.post(Self.shown, isCheck: true)
            let page = try await window.visitor.get(Self.edit).text
            #expect(!page.contains("Cavity"))
        }
    }
}

/// Two windows of one app, in two browsers.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct TwoBrowsersTests {
    @Test func bothCountTheSameAndNeitherLosesWhatItTypes() async throws {
        try await TreesField.with { field in
            let first = try await Hand.open(field.app, isPhone: false)
            defer { first.browser.stop() }
            let second = try await Hand.open(field.app, isPhone: true)
            defer { second.browser.stop() }
            for (hand, name, text) in [(first, "Notes", "Cavity"), (second, "DBH", "17")] {
                try await hand.browser.open(field.app.address + TreesField.address(0).dropFirst() + "/edit")
                try await hand.browser.wait(Hand.ready, seconds: 60)
                _ = try await hand.browser.evaluate(
                    "(() => { const e = document.getElementById('field-\(name)'); e.closest('details')?.setAttribute('open', '');"
                        + " e.focus(); e.select(); return true; })()", as: Bool.self)
                try await hand.browser.type(text)
            }
            for hand in [first, second] {
                try await hand.browser.wait("document.getElementById('draft-line').textContent.includes('kept')")
            }
            // Without the server both windows tell the same of what isn't sent, without being asked.
            await field.services.stop()
            try await first.tap("button", "Save")
            for hand in [first, second] {
                try await hand.browser.wait(
                    "document.getElementById('state').innerText.includes('1 not sent')", seconds: 40)
            }
            #expect(
                try await second.browser.evaluate("document.getElementById('field-DBH').value", as: String.self) == "17"
            )
            try await second.tap("button", "Save")
            try await second.browser.wait("location.pathname.startsWith('/map')", seconds: 40)
            try await field.services.comeBack()
            for hand in [first, second] {
                try await hand.browser.wait(
                    "document.getElementById('state').innerText.includes('all sent')", seconds: 60)
            }
            let tree = try #require(try await field.tree(0))
            #expect(tree.attributes["Notes"] == .text("Cavity"))
            #expect(tree.attributes["DBH"] == .real(17))
        }
    }
}
