import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// What people typed is text on every page, whatever it holds.
@Suite struct EscapingTests {
    private static let mine = "<img src=x onerror=\"document.title='broken'\">mine &amp;"
    private static let theirs = "<img src=x onerror=\"document.title='broken'\">theirs &amp;"

    /// What a template may write as it is: parts of a page that other templates made, the description of a map's author, which
    /// is cleaned before, and symbols, which the SDK draws of numbers, escaped text and pictures that run nothing.
    private static let markup: Set<String> = [
        "conflict: svg", "feature: html", "fragment: over", "fragment: panel", "fragment: selection", "page: over",
        "page: panel", "page: selection", "sym: svg",
    ]

    @Test func noTemplateWritesAValueAsMarkup() throws {
        let folder = AssetLibrary.resources.appending(path: "templates")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 40)
        var found: Set<String> = []
        for file in files where file.pathExtension == "mustache" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /\{\{(?:\{|\s*&)\s*([^}\s]*)/) {
                found.insert("\(file.deletingPathExtension().lastPathComponent): \(match.1)")
            }
        }
        #expect(found == Self.markup)
    }

    /// An area is offline and both sides have typed markup over the same feature.
    private static func collide(_ field: DamageField, _ visitor: PlainClient) async throws -> String {
        try await OfflineField.goOffline(visitor)
        _ = try await visitor.post("/offline/\(OfflineField.id)/name", ["name": mine])
        let first = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID })
        let id = try #require(first.globalID)
        let address = "/f/0/\(id.uuidString.lowercased())"
        let saved = try await visitor.post("\(address)/edit", ["session": "mine", "field.primcause": mine])
        #expect(saved.status == 303)
        let edit = FeatureEdit(globalID: id, attributes: [("primcause", .text(theirs))])
        _ = try await field.store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, updates: [edit])], usesGlobalIDs: true, editor: "<b>Dana</b>",
                moment: Date()), to: DamageField.service)
        try await OfflineField.sync(visitor)
        return address
    }

    @Test func everyPageShowsValuesAndNamesAsText() async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = .holdForReview
        definition.layers[0].name = "Damage <b>bold</b>"
        definition.layers[0].hasAttachments = true
        definition.layers[0].fields = definition.layers[0].fields.map { field in
            var field = field
            if field.name == "primcause" { field.alias = "<i>Cause</i>" }
            return field
        }
        try await DamageField.with(points: 2, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let online = try await visitor.get("/offline/new").text
            #expect(online.contains("Damage &lt;b&gt;bold") && !online.contains("<b>bold"))
            let address = try await Self.collide(field, visitor)
            let conflict = try await visitor.get("/conflicts/0/1").text
            for value in ["mine", "theirs"] { #expect(conflict.contains("&gt;\(value) &amp;amp;")) }
            var shown = 0
            for page in [
                "/conflicts/0/1", "/conflicts", "/map", "/map\(address)", address, "\(address)/edit",
                "\(address)/history", "\(address)/move", "/list?scope=all", "/list/0?scope=all", "/list/0/many",
                "/changes", "/layers", "/add/0", "/offline", "/offline/\(OfflineField.id)/delete",
                "/jobs/\(OfflineField.id)", "/settings",
            ] {
                let answer = try await visitor.get(page)
                #expect(answer.status == 200, "\(page)")
                for forbidden in ["<img src=x", "<i>Cause", "<b>bold", "<b>Dana"] {
                    #expect(!answer.text.contains(forbidden), "\(page)")
                }
                if answer.text.contains("&lt;img src=x") { shown += 1 }
            }
            #expect(shown >= 8, "pages that show a value")
        }
    }
}
