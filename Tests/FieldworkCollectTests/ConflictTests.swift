import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// Conflicts between an offline area and its service, settled through the app's pages without a script.
@Suite struct ConflictTests {
    private static func with(
        _ rule: ConflictRule = .holdForReview, _ test: (DamageField, PlainClient) async throws -> Void
    ) async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = rule
        try await DamageField.with(points: 2, definition: definition) { field in
            try await test(field, try await PlainClient.visitor(of: field.app))
        }
    }

    private static func feature(_ field: DamageField) async throws -> FeatureRecord? {
        try await field.serverFeatures().min { $0.objectID < $1.objectID }
    }

    /// What somebody else does on the server.
    private static func others(_ field: DamageField, _ edits: LayerEdits) async throws {
        _ = try await field.store.apply(
            EditBatch(layers: [edits], usesGlobalIDs: true, editor: "Dana", moment: Date()), to: DamageField.service)
    }

    /// Both sides change the damage and the occupants of the first point; then the area is synced.
    private static func collide(_ field: DamageField, _ visitor: PlainClient) async throws {
        try await OfflineField.goOffline(visitor)
        let id = try #require(try await feature(field)?.globalID)
        let saved = try await visitor.post(
            "/f/0/\(id.uuidString.lowercased())/edit",
            ["session": "mine", "field.typdamage": "Destroyed", "field.occupants": "7"])
        #expect(saved.status == 303)
        try await others(
            field,
            LayerEdits(
                layerID: 0,
                updates: [
                    FeatureEdit(
                        globalID: id, attributes: [("typdamage", .text("Minor")), ("occupants", .integer(3))])
                ]))
        try await OfflineField.sync(visitor)
    }

    private static func values(_ field: DamageField) async throws -> [AttributeValue?] {
        let feature = try await feature(field)
        return [feature?.attributes["typdamage"], feature?.attributes["occupants"]]
    }

    @Test func aConflictShowsBothValuesAndAsksForEachBeforeItIsKept() async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            #expect(try await Self.values(field) == [.text("Minor"), .integer(3)])
            #expect(try await visitor.get("/changes").text.contains("1 conflict waits for you"))
            #expect(try await visitor.get("/conflicts").text.contains("Damage type, Occupants · Open"))
            let page = try await visitor.get("/conflicts/0/1").text
            #expect(page.contains("Conflict 1 of 1"))
            #expect(page.contains("You and Dana changed the same values"))
            #expect(page.contains("Destroyed") && page.contains("Minor") && page.contains("Dana’s"))
            #expect(page.contains("before: Inaccessible") && page.contains("before: 0"))
            #expect(page.contains(" among its neighbours"), "where it is")
            #expect(!page.contains("Merged without a question"))
            #expect(!page.contains(" checked"), "nothing is chosen for the user")
            let early = try await visitor.post("/conflicts/0/1", ["choice.typdamage": "lost"])
            #expect(early.status == 422)
            #expect(early.text.contains("Choose one."))
            #expect(early.text.contains(#"name="choice.typdamage" value="lost" checked"#), "what was chosen stays")
            #expect(try await Self.values(field) == [.text("Minor"), .integer(3)])
        }
    }

    @Test func bothPlacesAreShownWithWhatWasMergedBeside() async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            let id = try #require(try await Self.feature(field)?.globalID)
            let address = "/f/0/\(id.uuidString.lowercased())"
            let (x, y) = DamageField.place(0)
            _ = try await visitor.post("\(address)/edit", ["session": "mine", "field.occupants": "7"])
            _ = try await visitor.post("\(address)/move", ["lon": "\(x + 0.0001)", "lat": "\(y)"])
            let there = Point(
                x: WebMercator.x(longitude: x), y: WebMercator.y(latitude: y + 0.0001), spatialReference: .webMercator)
            let theirs = FeatureEdit(
                globalID: id, attributes: [("primcause", .text("Fire"))], geometry: .geometry(there))
            try await Self.others(field, LayerEdits(layerID: 0, updates: [theirs]))
            try await OfflineField.sync(visitor)
            let page = try await visitor.get("/conflicts/0/1").text
            #expect(page.contains(" apart\">"), "the picture says how far apart they are")
            #expect(page.contains("you moved it 8.8 m, Dana moved it 11 m"))
            #expect(page.matches(of: /<circle class="side"/).count == 2)
            #expect(page.matches(of: /<circle class="before"/).count == 1)
            #expect(page.contains("<path class=\"apart\""))
            #expect(page.contains(">Yours</text>") && page.contains(">Dana’s</text>"))
            #expect(page.contains("Primary cause (Dana’s)") && page.contains("Occupants (yours)"))
            #expect(try await visitor.post("/conflicts/0/1", ["all": "lost"]).status == 303)
            try await OfflineField.sync(visitor)
            let kept = try await Self.feature(field)
            #expect(kept?.attributes["primcause"] == .text("Fire") && kept?.attributes["occupants"] == .integer(7))
        }
    }

    @Test func valuesOfEachSideStandTogetherAndTheConflictIsClosed() async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            let kept = try await visitor.post(
                "/conflicts/0/1", ["session": "keep", "choice.typdamage": "lost", "choice.occupants": "won"])
            #expect(kept["Location"] == "/conflicts?settled=yes")
            #expect(try await visitor.get("/conflicts?settled=yes").text.contains("These values are kept."))
            try await OfflineField.sync(visitor)
            #expect(try await Self.values(field) == [.text("Destroyed"), .integer(3)])
            #expect(!(try await visitor.get("/changes").text.contains("waits for you")))
            let again = try await visitor.post(
                "/conflicts/0/1", ["choice.typdamage": "won", "choice.occupants": "won"])
            #expect(again.status == 409)
            #expect(again.text.contains("settled meanwhile"))
        }
    }

    /// What the page posts for a choice: the value of the control that stands with its words.
    private static func key(of words: String, at start: String, ending: String, _ page: String) throws -> String {
        let pieces = page.components(separatedBy: start).dropFirst().map {
            $0.components(separatedBy: ending)[0]
        }
        let piece = try #require(pieces.first { $0.contains(words) }, "\(words)")
        return String(try #require(piece.firstMatch(of: /^(lost|won)"/)).1)
    }

    @Test("Of each value that is chosen on the page, that one stands")
    func chosenValuesStand() async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            let page = try await visitor.get("/conflicts/0/1").text
            func key(_ part: String, _ words: String) throws -> String {
                try Self.key(of: words, at: "name=\"choice.\(part)\" value=\"", ending: "</label>", page)
            }
            let chosen = [try key("typdamage", ">Yours<"), try key("occupants", ">Dana’s<")]
            #expect(chosen == [try key("typdamage", "Destroyed"), try key("occupants", "3</b>")])
            _ = try await visitor.post(
                "/conflicts/0/1", ["session": "k", "choice.typdamage": chosen[0], "choice.occupants": chosen[1]])
            try await OfflineField.sync(visitor)
            #expect(try await Self.values(field) == [.text("Destroyed"), .integer(3)])
        }
    }

    @Test(
        "The button of a side keeps what that side has",
        arguments: [("Keep all mine", "Destroyed", Int64(7)), ("Keep all Dana’s", "Minor", Int64(3))])
    func theButtonOfASideKeepsIt(words: String, damage: String, occupants: Int64) async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            let page = try await visitor.get("/conflicts/0/1").text
            let all = try Self.key(of: words, at: "name=\"all\" value=\"", ending: "</button>", page)
            #expect(try await visitor.post("/conflicts/0/1", ["all": all]).status == 303)
            try await OfflineField.sync(visitor)
            #expect(try await Self.values(field) == [.text(damage), .integer(occupants)])
        }
    }

    @Test(arguments: [("lost", "Destroyed", Int64(7)), ("won", "Minor", Int64(3))])
    func oneSideStandsWhole(all: String, damage: String, occupants: Int64) async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            #expect(try await visitor.post("/conflicts/0/1", ["all": all]).status == 303)
            #expect(try await Self.values(field) == [.text(damage), .integer(occupants)])
            #expect(try await visitor.get("/conflicts").text.contains("No conflicts to decide."))
        }
    }

    @Test func whatARuleDecidedIsListedAndComesBack() async throws {
        try await Self.with(.lastInWins) { field, visitor in
            try await Self.collide(field, visitor)
            #expect(try await Self.values(field) == [.text("Destroyed"), .integer(7)])
            let page = try await visitor.get("/conflicts/0/1").text
            #expect(page.contains("The service’s rule decided: your change was kept."))
            #expect(page.contains("Use the other version instead"))
            #expect(try await visitor.post("/conflicts/0/1", ["all": "lost"]).status == 303)
            #expect(try await Self.values(field) == [.text("Minor"), .integer(3)])
            #expect(try await visitor.get("/conflicts").text.contains("Brought back"))
        }
    }

    @Test("A conflict that waits stands in the state line and the badge until it is settled, also after a restart")
    func openConflictsAreCounted() async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            let badge = "data-count>1</i>"
            for path in ["/map", "/list/0", "/settings"] {
                let page = try await visitor.get(path).text
                #expect(page.contains("Offline, Reno, 1 conflict"), "\(path)")
                #expect(page.contains(badge), "\(path)")
            }
            try await field.restartedApp { next in
                let again = try await PlainClient.visitor(of: next)
                try await Self.wait(again, for: "1 conflict")
                #expect(try await again.get("/map").text.contains(badge))
                #expect(try await again.post("/conflicts/0/1", ["all": "won"]).status == 303)
                let page = try await again.get("/map").text
                #expect(!page.contains("1 conflict") && !page.contains(badge))
            }
        }
    }

    @Test("What a rule settled is told once after the sync, and not again after the user has looked")
    func settledConflictsAreTold() async throws {
        try await Self.with(.lastInWins) { field, visitor in
            try await Self.collide(field, visitor)
            let notice = "1 of your changes met someone else’s. Yours was kept."
            try await Self.wait(visitor, at: "/changes", for: notice)
            #expect(try await visitor.get("/changes").text.contains(notice), "until the user has looked")
            #expect(try await visitor.get("/conflicts").text.contains("Settled by rule"))
            try await OfflineField.sync(visitor)
            #expect(!(try await visitor.get("/changes").text.contains("of your changes met")))
            #expect(!(try await visitor.get("/map").text.contains("1 conflict")))
        }
    }

    @Test("Where the rule lets the first one win, the user is told that the other's change was kept")
    func lostChangesAreTold() async throws {
        try await Self.with(.firstInWins) { field, visitor in
            try await Self.collide(field, visitor)
            try await Self.wait(
                visitor, at: "/changes", for: "1 of your changes met someone else’s. Theirs was kept.")
        }
    }

    private static func wait(_ visitor: PlainClient, at path: String = "/map", for text: String) async throws {
        for _ in 0..<600 {
            if try await visitor.get(path).text.contains(text) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(path) never said \(text)")
    }

    @Test func aChangeOfADeletedFeatureIsKeptOrLeft() async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            let id = try #require(try await Self.feature(field)?.globalID)
            _ = try await visitor.post(
                "/f/0/\(id.uuidString.lowercased())/edit", ["session": "mine", "field.typdamage": "Destroyed"])
            try await Self.others(field, LayerEdits(layerID: 0, deletes: .features([.globalID(id)])))
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 1)
            let page = try await visitor.get("/conflicts/0/1").text
            #expect(page.contains("deleted this damage to buildings. You changed it.") || page.contains("deleted this"))
            #expect(page.contains("Keep the"))
            #expect(try await visitor.post("/conflicts/0/1", ["all": "sideways"]).status == 400)
            #expect(try await visitor.post("/conflicts/0/1", ["all": "lost"]).status == 303)
            #expect(try await field.serverFeatures().count == 2)
            #expect(try await Self.feature(field)?.attributes["typdamage"] == .text("Destroyed"))
        }
    }

    /// A photo of the first point that this device deletes and others replace.
    private static func collideOverPhoto(_ field: DamageField, _ visitor: PlainClient) async throws {
        let id = try #require(try await feature(field)?.globalID)
        var edits = LayerEdits(layerID: 0)
        edits.attachments.adds = [
            AttachmentEdit(
                parent: .globalID(id), name: "Roof.jpg", contentType: "image/jpeg",
                content: AttachmentContent(bytes: Array(SamplePhoto.jpeg)))
        ]
        try await others(field, edits)
        let served = try #require(try await photos(field).first)
        try await OfflineField.goOffline(visitor)
        let form = try await visitor.get("/f/0/\(id.uuidString.lowercased())/edit").text
        let number = try #require(form.firstMatch(of: /name="gone\.(\d+)"/)).1
        let deleted = try await visitor.post(
            "/f/0/\(id.uuidString.lowercased())/edit", ["session": "mine", "gone.\(number)": "yes"])
        #expect(deleted.status == 303)
        edits.attachments = AttachmentEdits(updates: [
            AttachmentEdit(
                globalID: served.globalID, name: "Roof from the north.jpg", contentType: "image/jpeg",
                content: AttachmentContent(bytes: Array("sharper".utf8)))
        ])
        try await others(field, edits)
        try await OfflineField.sync(visitor)
    }

    private static func photos(_ field: DamageField) async throws -> [AttachmentInfo] {
        try await field.store.attachments(
            AttachmentQuery(), in: LayerAddress(service: DamageField.service, layerID: 0)
        ).attachments
    }

    @Test(arguments: [("lost", 0), ("won", 1)])
    func aPhotoInQuestionIsNamedAndKeptOrGone(choice: String, left: Int) async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = .holdForReview
        definition.layers[0].hasAttachments = true
        try await DamageField.with(points: 2, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.collideOverPhoto(field, visitor)
            #expect(try await Self.photos(field).map(\.name) == ["Roof from the north.jpg"])
            #expect(
                try await visitor.get("/conflicts").text.contains(
                    "Roof from the north.jpg deleted here, changed there"))
            let page = try await visitor.get("/conflicts/0/1").text
            #expect(page.contains("You deleted Roof from the north.jpg of this"))
            #expect(page.contains("Roof from the north.jpg, 7 bytes"))
            #expect(page.contains("Keep the photo or file with the change"))
            #expect(page.contains("Delete the photo or file"))
            #expect(try await visitor.post("/conflicts/0/1", ["all": choice]).status == 303)
            #expect(try await Self.photos(field).count == left)
            #expect(try await visitor.get("/conflicts").text.contains("No conflicts to decide."))
        }
    }

    @Test func conflictsAreSettledWithoutTheServerAndSentLater() async throws {
        try await Self.with { field, visitor in
            try await Self.collide(field, visitor)
            #expect(try await visitor.get("/changes").text.contains("1 conflict waits for you"))
            await field.services.stop()
            #expect(try await visitor.get("/changes").text.contains("1 conflict waits for you"))
            #expect(try await visitor.get("/conflicts/0/1").text.contains("Conflict 1 of 1"))
            let kept = try await visitor.post(
                "/conflicts/0/1", ["session": "keep", "choice.typdamage": "lost", "choice.occupants": "won"])
            #expect(kept["Location"] == "/conflicts?settled=yes")
            #expect(try await visitor.get("/conflicts").text.contains("No conflicts to decide."))
            #expect(!(try await visitor.get("/changes").text.contains("waits for you")))
            try await field.services.comeBack()
            #expect(try await Self.values(field) == [.text("Minor"), .integer(3)])
            try await OfflineField.sync(visitor)
            #expect(try await Self.values(field) == [.text("Destroyed"), .integer(3)])
            #expect(try await field.store.conflicts(in: [.open], of: DamageField.service, limit: 10).isEmpty)
        }
    }

    @Test(arguments: [("lost", 2), ("won", 1)])
    func aDeletedFeatureIsDecidedWithoutTheServer(all: String, count: Int) async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            let id = try #require(try await Self.feature(field)?.globalID)
            _ = try await visitor.post(
                "/f/0/\(id.uuidString.lowercased())/edit", ["session": "mine", "field.typdamage": "Destroyed"])
            try await Self.others(field, LayerEdits(layerID: 0, deletes: .features([.globalID(id)])))
            try await OfflineField.sync(visitor)
            await field.services.stop()
            #expect(try await visitor.post("/conflicts/0/1", ["all": all]).status == 303)
            #expect(try await visitor.get("/conflicts").text.contains("No conflicts to decide."))
            try await field.services.comeBack()
            #expect(try await field.serverFeatures().count == 1)
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == count)
            #expect(try await field.store.conflicts(in: [.open], of: DamageField.service, limit: 10).isEmpty)
        }
    }
}
