import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// Forms as the map's author made them, without a script: groups, rules, related records, drafts.
@Suite struct FormTests {
    private static let edit = "\(TreesField.address(0))/edit"

    @Test func theFormHasTheAuthorsGroupsInputsAndRights() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get(Self.edit).text
            #expect(page.contains("<summary><b>Measures</b>"))
            #expect(page.contains("Taken at 1.3 metres"))
            #expect(page.contains(#"type="radio" name="field.Condition" value="Good" checked"#))
            #expect(page.contains("Inches. From 0 to 120"))
            #expect(page.contains(#"<textarea class="in" id="field-Notes""#))
            #expect(!page.contains(#"name="field.Neighborhood""#), "the form doesn't let it be edited")
            #expect(!page.contains(#"name="field.SpeciesCode""#), "the species is chosen as a record")
            #expect(page.contains("Species: Norway maple. Choose another"))
        }
    }

    @Test(arguments: [
        ("field.DBH", "171", "171 is more than 120, the largest value this layer takes."),
        ("field.DBH", "thick", "Type a number."),
        ("field.Address", "ab", "Type at least 3 characters."),
        ("field.Condition", "", "Enter a value."),
        ("field.Condition", "Splendid", "Splendid isn"),
    ])
    func aWrongValueIsSaidAtItsFieldAndNothingIsSaved(name: String, value: String, message: String) async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try await field.tree(0)
            let answer = try await visitor.post(Self.edit, ["field.Notes": "Cavity", name: value, "session": "w"])
            #expect(answer.status == 422)
            #expect(answer.text.contains("One value needs your attention."))
            #expect(answer.text.contains(message))
            #expect(answer.text.contains("Cavity"))
            #expect(try await field.tree(0) == before)
            #expect(try await visitor.get(Self.edit).text.contains("Cavity"), "what was typed is kept")
        }
    }

    @Test func savingSendsTheValuesAndTheDraftIsGone() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let answer = try await visitor.post(
                Self.edit, ["field.DBH": "17,5", "field.Condition": "Poor", "field.Notes": "Cavity", "session": "s"])
            #expect(answer.status == 303)
            let tree = try await field.tree(0)
            #expect(tree?.attributes["DBH"] == .real(17.5))
            #expect(tree?.attributes["Condition"] == .text("Poor"))
            let changes = try await visitor.get("/changes").text
            #expect(changes.contains("Condition from Good to Poor"))
            #expect(!changes.contains("Unfinished"))
        }
    }

    @Test("A value that is none of the choices stays until another one is chosen")
    func aValueOutsideTheChoicesStays() async throws {
        try await TreesField.with { field in
            // As it was written before the choices were what they are.
            let old = FeatureEdit(globalID: TreesField.treeIDs[0], attributes: [("Condition", .text("Felled"))])
            _ = try await field.store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [old])], usesGlobalIDs: true, moment: Date(),
                    origin: .cache),
                to: TreesField.service)
            let visitor = try await PlainClient.visitor(of: field.app)
            let kept = try await visitor.post(
                Self.edit, ["field.Condition": "Felled", "field.Notes": "Stump", "session": "o"])
            #expect(kept.status == 303)
            let tree = try await field.tree(0)
            #expect(tree?.attributes["Notes"] == .text("Stump"))
            #expect(tree?.attributes["Condition"] == .text("Felled"))
            _ = try await visitor.post(Self.edit, ["field.Condition": "Dead", "session": "p"])
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Dead"))
        }
    }

    @Test(
        "A day that there is not is said at its field, and one that there is is saved",
        arguments: ["2023-02-29T10:00", "2024-04-31T10:00"])
    func noDay(typed: String) async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try await field.rows(of: 3)
            let record = try #require(before.first?.globalID).uuidString.lowercased()
            let refused = try await visitor.post("/f/3/\(record)/edit", ["field.Inspected": typed, "session": "w"])
            #expect(refused.status == 422 && refused.text.contains("Type a date"))
            #expect(try await field.rows(of: 3) == before)
            let saved = try await visitor.post(
                "/f/3/\(record)/edit",
                [
                    "field.Inspected": typed.replacing("2-29", with: "2-28").replacing("4-31", with: "4-30"),
                    "session": "x",
                ])
            #expect(saved.status == 303)
            #expect(try await field.rows(of: 3) != before)
        }
    }

    @Test func whatIsTypedIsOnDiskAndThereAgainAfterARestart() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let checked = try await visitor.post(
                Self.edit, ["field.DBH": "171", "field.Notes": "Half a sentence", "session": "d"],
                fields: ["Fieldwork-Fragment": "check"])
            #expect(checked.text.contains("171 is more than 120"))
            #expect(checked.text.contains(#""saved":""#))
            try await field.restartedApp { app in
                let next = try await PlainClient.visitor(of: app)
                #expect(try await next.get("/changes").text.contains("Unfinished"))
                let page = try await next.get(Self.edit).text
                #expect(page.contains("Half a sentence"))
                #expect(page.contains(#"value="171""#))
                #expect(page.contains("Draft kept on this device"))
            }
        }
    }

    @Test func aCancelledFormCanBeBroughtBack() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post(
                Self.edit, ["field.Notes": "Not yet"], fields: ["Fieldwork-Fragment": "check"])
            let cancelled = try await visitor.post(Self.edit, ["cancel": "yes"])
            let back = try await visitor.get(try #require(cancelled["Location"])).text
            #expect(back.contains("Changes discarded."))
            #expect(try await !visitor.get(Self.edit).text.contains("Not yet"))
            let action = try #require(back.firstMatch(of: /action="(\/drafts\/[0-9a-f]+\/restore)"/)?.output.1)
            let restored = try await visitor.post(String(action), [:])
            #expect(restored["Location"] == Self.edit)
            #expect(try await visitor.get(Self.edit).text.contains("Not yet"))
            #expect(try await field.tree(0)?.attributes["Notes"] != .text("Not yet"))
        }
    }

    @Test func anotherSpeciesIsChosenFromTheListAndSavedWithTheForm() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let chooser = try await visitor.post(Self.edit, ["field.Notes": "Kept", "choose": "0"])
            let list = try #require(chooser["Location"])
            let found = try await visitor.get("\(list)&q=acer").text
            #expect(found.contains("2 match acer"))
            #expect(!found.contains("Cherry"))
            #expect(try await visitor.get("\(list)&q=%25%27%20OR%201%3D1").text.contains("No species match"))
            let cherry = try #require(
                try await field.rows(of: 2).first { $0.attributes["Code"] == .text("PRSE") }?.globalID)
            let record = "2/\(cherry.uuidString.lowercased())"
            let chosen = try await visitor.post("/choose/0/0", ["for": Self.edit, "record": record])
            #expect(chosen["Location"] == Self.edit)
            let form = try await visitor.get(Self.edit).text
            #expect(form.contains("Species: Cherry. Choose another"))
            #expect(form.contains("Kept"))
            #expect(try await field.tree(0)?.attributes["SpeciesCode"] == .text("ACPL"))
            let saved = try await visitor.post(
                Self.edit, ["field.Notes": "Kept", "relation.0": record, "session": "c"])
            #expect(saved.status == 303)
            #expect(try await field.tree(0)?.attributes["SpeciesCode"] == .text("PRSE"))
        }
    }

    @Test func theChooserLeadsBackToFormsOfThisAppAlone() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            for address in [
                "https://example.org/f/", "//example.org/f/", "/f//example.org", "/settings", "/f/\\example.org",
            ] {
                let answer = try await visitor.get("/choose/0/0?for=\(PlainClient.escape(address))")
                #expect(answer.status >= 400, "\(address)")
            }
        }
    }

    @Test func anInspectionIsAddedToItsTreeWithTheLastValuesFilledIn() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = "\(TreesField.address(0))/related/1/new"
            let form = try await visitor.get(address).text
            #expect(form.contains("Inspection of 3250 NE Ainsworth St"))
            #expect(form.contains("Filled for you: from 11/15/2023"))
            let answer = try await visitor.post(
                address, ["field.Condition": "Dead", "field.DBH": "10.4", "field.Notes": "Gone", "session": "i"])
            #expect(answer.status == 303)
            let again = try await visitor.post(
                address, ["field.Condition": "Dead", "field.DBH": "10.4", "field.Notes": "Gone", "session": "i"])
            #expect(again["Location"] == answer["Location"])
            let page = try await visitor.get(try #require(answer["Location"])).text
            #expect(page.contains(#"<span class="muted num">3</span>"#))
            let records = try await field.rows(of: 3)
            #expect(records.count == 3)
            let new = try #require(records.max { $0.objectID < $1.objectID })
            #expect(new.attributes["TreeID"] == .text("{\(TreesField.treeIDs[0].uuidString)}"))
            #expect(new.attributes["Condition"] == .text("Dead"))
            #expect(new.attributes["Inspected"] != .null)
        }
    }

    @Test func aNewTreeGetsItsFormAfterThePlaceAndIsMadeOnSave() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let placed = try await visitor.post(
                "/add/0", ["lon": "-122.625", "lat": "45.565", "template": "p0", "session": "n"])
            let address = try #require(placed["Location"])
            #expect(address.hasPrefix("/add/0/form?"))
            let form = try await visitor.get(address).text
            #expect(form.contains(#"value="Good" checked"#))
            #expect(try await field.rows(of: 0).count == 6)
            let saved = try await visitor.post(
                "/add/0/form",
                [
                    "lon": "-122.625", "lat": "45.565", "template": "p0", "session": "n", "field.Condition": "Fair",
                    "field.Address": "New place", "field.DBH": "3",
                ])
            #expect(saved.status == 303)
            let trees = try await field.rows(of: 0)
            #expect(trees.count == 7)
            #expect(trees.contains { $0.attributes["Address"] == .text("New place") })
        }
    }
}
