import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The seeds' story from its first tap to its last, in one session with one service: each step stands on those before it.
@Suite("The whole story of a tree", .fewAtATime)
struct WholeStoryTests {
    private let view: PortlandView
    private let tree: PortlandView.Tree

    private init(_ view: PortlandView, _ tree: PortlandView.Tree) {
        self.view = view
        self.tree = tree
    }

    @Test("Found, read, edited, inspected, undone and deleted")
    static func story() async throws {
        try await PortlandView.open { view, trees in
            let tree = try #require(trees.first { $0.inspections.count == 2 && $0.text("Condition") != "Poor" })
            let story = WholeStoryTests(view, tree)
            let manager = try await story.finds()
            let species = try await story.edits(manager)
            try await story.inspects(manager)
            try await story.undoes(try #require(trees.first { $0.globalID != tree.globalID }))
            try await story.arrives(species)
            try await story.deletes()
        }
    }

    /// Found by identify, its pop-up is opened, its species and its inspections are read.
    private func finds() async throws -> PopupManager {
        let manager = try await view.tap(tree)
        #expect(manager.title == tree.text("Address"))
        let species = try #require(manager.relationships?.manyToOne.first?.relatedPopup)
        #expect(species.geoElement.attributeValue(forKey: "Code") as? String == tree.text("SpeciesCode"))
        let inspections = try #require(manager.relationships?.oneToMany.first)
        #expect(inspections.relatedPopups.count == tree.inspections.count)
        return manager
    }

    /// An edit is started; a value is invalid, says why and is mended; the species is changed; a photo is staged and kept.
    /// - Returns: the code of the new species.
    private func edits(_ manager: PopupManager) async throws -> String {
        #expect(manager.startEditing())
        let diameter = try view.field("DBH", of: manager)
        let error = #expect(throws: FeatureFormError.self) { try manager.updateValue(-1.0, field: diameter) }
        #expect(error?.details.contains("at least") == true, "\(String(describing: error))")
        await #expect(throws: FeatureFormError.self) { try await manager.finishEditing() }
        try manager.updateValue(21.5, field: diameter)

        let species = try #require(manager.relationships?.manyToOne.first)
        let all = try await species.candidates(orderedBy: OrderBy(fieldName: "CommonName", sortOrder: .ascending))
        let other = try #require(
            all.first { $0.geoElement.attributeValue(forKey: "Code") as? String != tree.text("SpeciesCode") })
        try manager.update(manyToOne: other, in: species)
        let photo = StagedAttachment(name: "Crown.jpg", contentType: "image/jpeg", data: Data("a crown".utf8))
        try #require(manager.attachments).add(photo)
        #expect(!view.geodatabase.hasLocalEdits, "nothing is kept before the end of the session")
        try await manager.finishEditing()
        #expect(view.geodatabase.hasLocalEdits)
        return try #require(other.geoElement.attributeValue(forKey: "Code") as? String)
    }

    /// An inspection is added, and the tree's condition and symbol follow it.
    private func inspects(_ manager: PopupManager) async throws {
        let inspections = try #require(manager.relationships?.oneToMany.first)
        let before = (manager.popup.symbol as? SimpleMarkerSymbol)?.style
        let record = try manager.makeRecord(in: inspections)
        try record.updateValue(
            Date(timeIntervalSince1970: 1_790_000_000), field: try view.field("Inspected", of: record))
        try record.updateValue("Poor", field: try view.field("Condition", of: record))
        try await record.finishEditing()
        #expect(manager.formattedValue(of: try view.field("Condition", of: manager)) == "Poor")
        let after = (manager.popup.symbol as? SimpleMarkerSymbol)?.style
        #expect(after == .triangle && after != before)
        #expect(inspections.relatedPopups.count == tree.inspections.count + 1)
    }

    /// Another tree's edit is undone; all others stay.
    private func undoes(_ other: PortlandView.Tree) async throws {
        let count = view.geodatabase.localEditsCount
        let manager = try await view.tap(other)
        manager.startEditing()
        try manager.updateValue("Somewhere else", field: try view.field("Address", of: manager))
        try await manager.finishEditing()
        #expect(view.geodatabase.localEditsCount == count + 1)
        let feature = try #require(manager.popup.geoElement as? ArcGISFeature)
        try await (feature.table as? ServiceFeatureTable)?.undoLocalEdits(of: [feature])
        #expect(view.geodatabase.localEditsCount == count)
        #expect(feature.attributeValue(forKey: "Address") as? String == other.text("Address"))
    }

    /// All of it is sent at once, and is in the service.
    private func arrives(_ species: String) async throws {
        let results = try await view.geodatabase.applyEdits().flatMap(\.editResults)
        #expect(results.count == 2 && results.allSatisfy { !$0.didCompleteWithErrors })
        #expect(results.flatMap(\.attachmentResults).allSatisfy { !$0.didCompleteWithErrors })
        #expect(!view.geodatabase.hasLocalEdits)
        let row = try #require(try await view.row(of: tree))
        #expect(row.attributes["SpeciesCode"]?.textValue == species)
        #expect(row.attributes["Condition"]?.textValue == "Poor")
        #expect(try await view.inspections(of: tree).count == tree.inspections.count + 1)
        let again = try await view.tap(tree)
        let attachments = try #require(again.attachments)
        try await attachments.fetch()
        #expect(attachments.attachments.map(\.name) == ["Crown.jpg"])
        let bytes = try await attachments.attachments.first?.data
        #expect(bytes == Data("a crown".utf8))
    }

    /// The tree goes, and its inspections with it.
    private func deletes() async throws {
        let manager = try await view.tap(tree)
        #expect(manager.shouldAllowDelete)
        try await manager.delete()
        let results = try await view.geodatabase.applyEdits().flatMap(\.editResults)
        #expect(!results.isEmpty && results.allSatisfy { !$0.didCompleteWithErrors })
        #expect(try await view.row(of: tree) == nil)
        #expect(try await view.inspections(of: tree).isEmpty)
    }
}
