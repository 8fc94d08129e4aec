import Foundation
import Testing

@testable import FieldworkCollect

/// What several windows type into the form of one feature.
@Suite struct DraftTests {
    private typealias Values = KeyValuePairs<String, String>

    /// What a window posts whose controls showed "old" when it was opened.
    private static func posted(_ window: String, seen: Int = 0, _ values: Values) -> FormValues {
        var base = FormBase()
        for (name, _) in values { base.set(name, shows: "old") }
        let hidden = [("session", window), (DraftStore.Draft.seenName, "\(seen)"), (FormBase.name, base.text)]
        return FormValues(pairs: hidden + values.map { ($0.key, $0.value) })
    }

    private static func draft() -> DraftStore.Draft {
        DraftStore.Draft(id: "1", address: "/f/0/1/edit", title: "Tree", pairs: [], date: Date())
    }

    @Test("What one window typed stays when another one posts the control as it was")
    func untouchedControls() {
        var draft = Self.draft()
        draft.take(Self.posted("one", ["notes": "Cavity", "trunk": "old", "height": "old"]))
        draft.take(Self.posted("two", ["notes": "old", "trunk": "17", "height": "old"]))
        draft.take(Self.posted("three", ["notes": "old", "trunk": "old", "height": "9"]))
        #expect(draft.form["notes"] == "Cavity" && draft.form["trunk"] == "17" && draft.form["height"] == "9")
    }

    @Test("A window that takes its own typing back takes back no other's")
    func takenBack() {
        var draft = Self.draft()
        draft.take(Self.posted("one", ["notes": "Cavity", "trunk": "old"]))
        draft.take(Self.posted("two", ["notes": "old", "trunk": "17"]))
        draft.take(Self.posted("two", ["notes": "old", "trunk": "old"]))
        #expect(draft.form["notes"] == "Cavity" && draft.form["trunk"] == "old")
    }

    @Test("When one window has saved, what the others typed is left, and nothing else")
    func rest() throws {
        var draft = Self.draft()
        draft.take(Self.posted("one", ["notes": "Cavity", "trunk": "old"]))
        let second = Self.posted("two", ["notes": "old", "trunk": "17"])
        draft.take(second)
        let rest = try #require(draft.rest(after: second))
        #expect(rest.form["notes"] == "Cavity" && rest.form["trunk"] == nil)
        // A window that was opened since has shown what the first one typed, and saved it.
        let third = Self.posted("three", seen: try #require(draft.revision), ["notes": "Cavity", "trunk": "17"])
        #expect(draft.rest(after: third) == nil)
    }
}
