import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// The address of a new tree, which comes into its form when it is found.
@Suite struct AddressFillTests {
    /// Near the house with the number 3300.
    private static let query = "lon=-122.63&lat=45.56608&template=p0"

    private func save(_ visitor: PlainClient, _ address: String, session: String) async throws {
        _ = try await visitor.post(
            "/add/0/form",
            [
                "lon": "-122.63", "lat": "45.56608", "template": "p0", "field.Address": address,
                "field.Condition": "Good", "session": session,
            ])
    }

    @Test func anOpenFormIsToldTheAddressAndWhereItComesFrom() async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let form = try await visitor.get("/add/0/form?\(Self.query)").text
            #expect(form.contains(#"data-fill="field.Address""#) && form.contains("The address is looked for"))
            let from = try #require(form.firstMatch(of: /data-fill-from="([^"]*)"/)?.output.1)
                .replacingOccurrences(of: "&amp;", with: "&")
            let told = try await visitor.get(from).text
            #expect(told.contains(#""address":"3300 NE Holman St""#), "\(told)")
            #expect(told.contains("Filled for you: from Portland"))
            // The page had it: an address that was taken out again stays out.
            try await save(visitor, "", session: "cleared")
            let trees = try await field.rows(of: 0)
            #expect(trees.count == TreesField.treeIDs.count + 1)
            #expect(!trees.contains { $0.attributes["Address"] == .text("3300 NE Holman St") })
        }
    }

    @Test func aTypedAddressStaysAndAnEmptyOneIsFilledWhenNoPageAskedForIt() async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.get("/add/0/form?\(Self.query)")
            // The search needs its time; the form doesn't wait for it.
            try await Task.sleep(for: .seconds(1))
            try await save(visitor, "Corner of the park", session: "typed")
            let typed = try await field.rows(of: 0)
            #expect(typed.contains { $0.attributes["Address"] == .text("Corner of the park") })
            try await save(visitor, "", session: "empty")
            #expect(try await field.rows(of: 0).contains { $0.attributes["Address"] == .text("3300 NE Holman St") })
        }
    }

    @Test func withoutAnAnswerTheFormSaysWhyAndTheTreeIsSavedAsItIs() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.get("/add/0/form?\(Self.query)")
            let told = try await visitor.get("/data/fill/0?\(Self.query)").text
            #expect(told.contains("No address: This map has no locator."), "\(told)")
            try await save(visitor, "", session: "none")
            #expect(try await field.rows(of: 0).count == TreesField.treeIDs.count + 1)
        }
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let far = "lon=-120&lat=44&template=p0"
            _ = try await visitor.get("/add/0/form?\(far)")
            let told = try await visitor.get("/data/fill/0?\(far)").text
            #expect(told.contains("No address: No address is near this place."), "\(told)")
        }
    }
}
