import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The seeds' collection app, told from its beginning to its end with the demo's own map, as its author would write it.
@Suite("The story of a tree", .fewAtATime)
struct StoryTests {
    private static func value(_ name: String, of popup: Popup) throws -> String? {
        let element = try #require(popup.evaluatedElements.lazy.compactMap { $0 as? FieldsPopupElement }.first)
        return element.labels.firstIndex(of: name).map { element.formattedValues[$0] }
    }

    private static func style(_ manager: PopupManager) -> SimpleMarkerSymbol.Style? {
        (manager.popup.symbol as? SimpleMarkerSymbol)?.style
    }

    @Test("A tap finds a tree; its pop-up shows what it is, of which species, and what inspections found")
    func reading() async throws {
        try await PortlandView.open { view, trees in
            let tree = try #require(trees.first { $0.inspections.count > 1 })
            let manager = try await view.tap(tree)
            #expect(manager.title == tree.text("Address"))
            try await manager.popup.evaluateExpressions()
            #expect(try Self.value("Condition", of: manager.popup) == tree.text("Condition"))
            #expect(try Self.value("Neighborhood", of: manager.popup) == tree.text("Neighborhood"))
            let diameter = try #require(tree.attributes["DBH"]?.doubleValue)
            #expect(try Self.value("Diameter (in)", of: manager.popup) == String(format: "%.1f", diameter))
            #expect(manager.displayFields.allSatisfy { $0.fieldName != "SpeciesCode" }, "a code is not for people")

            let species = try #require(manager.relationships?.manyToOne.first?.relatedPopup)
            let code = species.geoElement.attributeValue(forKey: "Code") as? String
            #expect(code == tree.text("SpeciesCode") && !species.title.isEmpty)
            let inspections = try #require(manager.relationships?.oneToMany.first)
            let dates = inspections.relatedPopups.compactMap {
                $0.geoElement.attributeValue(forKey: "Inspected") as? Date
            }
            #expect(dates.count == tree.inspections.count && dates == dates.sorted(by: >), "the newest comes first")
            #expect(view.map.bookmarks.count == 3 && view.map.rules.count == 3)
        }
    }

    @Test(
        "An edit says why a value is not valid, is mended, changes the species, brings a photo, and arrives in the service"
    )
    func editing() async throws {
        try await PortlandView.open { view, trees in
            let tree = try #require(trees.first)
            let manager = try await view.tap(tree)
            #expect(manager.startEditing())
            let diameter = try view.field("DBH", of: manager)
            let error = #expect(throws: FeatureFormError.self) { try manager.updateValue(171.0, field: diameter) }
            guard case .exceedsNumericMaximum(let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason == "Diameter (in) is at most 150.")
            await #expect(throws: FeatureFormError.self) { try await manager.finishEditing() }
            #expect(manager.isEditing && !view.geodatabase.hasLocalEdits)
            try manager.updateValue(17.1, field: diameter)
            #expect(manager.validationError(of: diameter) == nil)

            let species = try #require(manager.relationships?.manyToOne.first)
            let all = try await species.candidates(orderedBy: OrderBy(fieldName: "CommonName", sortOrder: .ascending))
            let other = try #require(
                all.first { $0.geoElement.attributeValue(forKey: "Code") as? String != tree.text("SpeciesCode") })
            try manager.update(manyToOne: other, in: species)
            let attachments = try #require(manager.attachments)
            let photo = StagedAttachment(name: "IMG_1.jpg", contentType: "image/jpeg", data: Data("all of it".utf8))
            try attachments.add(photo)
            photo.name = "Bark.jpg"
            photo.preferredSize = .medium
            attachments.scaler = { _, _, edge in Data("\(edge) pixels of it".utf8) }
            try await manager.finishEditing()
            #expect(view.geodatabase.hasLocalEdits && attachments.staged.isEmpty)
            let results = try await view.geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.count == 1 && results.allSatisfy { !$0.didCompleteWithErrors })
            let row = try #require(try await view.row(of: tree))
            #expect(row.attributes["DBH"]?.doubleValue == 17.1)
            let code = other.geoElement.attributeValue(forKey: "Code") as? String
            #expect(row.attributes["SpeciesCode"]?.textValue == code)

            // Found again, the tree has its photo.
            let again = try #require(try await view.tap(tree).attachments)
            try await again.fetch()
            #expect(again.attachments.map(\.name) == ["Bark.jpg"])
            let bytes = try await again.attachments.first?.data
            #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == "1280 pixels of it")
            #expect(!view.geodatabase.hasLocalEdits)
        }
    }

    @Test("A tree's condition and symbol follow the newest inspection: added, changed and deleted")
    func following() async throws {
        try await PortlandView.open { view, trees in
            let tree = try #require(trees.first { $0.inspections.count == 2 && $0.text("Condition") != "Poor" })
            let manager = try await view.tap(tree)
            let before = Self.style(manager)
            let inspections = try #require(manager.relationships?.oneToMany.first)

            func add(_ condition: String, _ diameter: Double, on date: Date) async throws {
                let new = try manager.makeRecord(in: inspections)
                try new.updateValue(date, field: try view.field("Inspected", of: new))
                try new.updateValue(condition, field: try view.field("Condition", of: new))
                try new.updateValue(diameter, field: try view.field("DBH", of: new))
                try await new.finishEditing()
            }
            let now = Date(timeIntervalSince1970: 1_790_000_000)
            try await add("Poor", 18.5, on: now)
            #expect(manager.formattedValue(of: try view.field("Condition", of: manager)) == "Poor")
            #expect(Self.style(manager) == .triangle && Self.style(manager) != before)
            // An older one changes the list, and not the tree.
            try await add("Dead", 1, on: Date(timeIntervalSince1970: 0))
            #expect(Self.style(manager) == .triangle && inspections.relatedPopups.count == 4)
            _ = try await view.geodatabase.applyEdits()
            var row = try #require(try await view.row(of: tree))
            #expect(row.attributes["Condition"]?.textValue == "Poor" && row.attributes["DBH"]?.doubleValue == 18.5)

            // Found again, the tree looks the same: the service has it so.
            let again = try await view.tap(tree)
            #expect(Self.style(again) == .triangle)
            let list = try #require(again.relationships?.oneToMany.first)
            let newest = try again.manager(of: try #require(list.relatedPopups.first), in: list)
            newest.startEditing()
            try newest.updateValue("Dead", field: try view.field("Condition", of: newest))
            try await newest.finishEditing()
            #expect(Self.style(again) == .square)
            try await again.delete(oneToMany: try #require(list.relatedPopups.first), in: list)
            let last = try #require(tree.inspections.last)
            _ = try await view.geodatabase.applyEdits()
            row = try #require(try await view.row(of: tree))
            #expect(row.attributes["Condition"] == last["Condition"] && row.attributes["DBH"] == last["DBH"])
        }
    }

    @Test("With its last inspection gone a tree has no condition; one of its edits is undone and the others stay")
    func undoing() async throws {
        try await PortlandView.open { view, trees in
            let tree = try #require(trees.first { $0.inspections.count == 1 })
            let manager = try await view.tap(tree)
            let inspections = try #require(manager.relationships?.oneToMany.first)
            try await manager.delete(oneToMany: try #require(inspections.relatedPopups.first), in: inspections)
            #expect(manager.popup.geoElement.attributeValue(forKey: "Condition") == nil)
            #expect(Self.style(manager) == .circle, "the symbol of other values")

            let other = try #require(trees.first { $0.globalID != tree.globalID })
            let second = try await view.tap(other)
            second.startEditing()
            try second.updateValue("Somewhere else", field: try view.field("Address", of: second))
            try await second.finishEditing()
            #expect(second.title == "Somewhere else" && view.geodatabase.localEditsCount == 3)
            let feature = try #require(second.popup.geoElement as? ArcGISFeature)
            try await (feature.table as? ServiceFeatureTable)?.undoLocalEdits(of: [feature])
            #expect(view.geodatabase.localEditsCount == 2)
            #expect(try await view.tap(other).title == other.text("Address"))
            _ = try await view.geodatabase.applyEdits()
            #expect(try await view.row(of: other)?.attributes["Address"]?.textValue == other.text("Address"))
            #expect(try await view.row(of: tree)?.attributes["Condition"] == .null)
        }
    }

    @Test("A new tree knows its neighbourhood; a tree goes with its inspections")
    func addingAndDeleting() async throws {
        try await PortlandView.open { view, trees in
            let table = try #require(view.trees.featureTable as? ServiceFeatureTable)
            let template = try #require(table.featureTemplates.first)
            let tree = try #require(trees.first { $0.inspections.count > 1 })
            let place = Point(x: tree.place.x + 3, y: tree.place.y + 3, spatialReference: .webMercator)
            let new = table.makeFeature(template: template, geometry: place)
            #expect(try await new.applyCreationRules() == ["Neighborhood"])
            #expect(new.attributeValue(forKey: "Neighborhood") as? String == tree.text("Neighborhood"))
            #expect(new.attributeValue(forKey: "Condition") as? String == "Good")
            new.setAttributeValue("My own", forKey: "Neighborhood")
            #expect(try await new.applyCreationRules().isEmpty, "what somebody typed stays")
            try await table.add(new)

            let trees = try await view.rows(0).count
            let inspections = try await view.rows(3).count
            let manager = try await view.tap(tree)
            #expect(manager.shouldAllowDelete)
            try await manager.delete()
            let results = try await view.geodatabase.applyEdits().flatMap(\.editResults)
            #expect(!results.isEmpty && results.allSatisfy { !$0.didCompleteWithErrors })
            #expect(try await view.row(of: tree) == nil)
            #expect(try await view.inspections(of: tree).isEmpty)
            #expect(try await view.rows(0).count == trees, "one went and one came")
            #expect(try await view.rows(3).count == inspections - tree.inspections.count)
        }
    }
}
