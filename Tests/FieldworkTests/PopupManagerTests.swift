import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Editing pop-ups", .fewAtATime)
struct PopupManagerTests {
    private static let definition = #"""
        {"title":"{Address}","fieldInfos":[{"fieldName":"Address"},{"fieldName":"Condition"},{"fieldName":"DBH"},
         {"fieldName":"Kind"},{"fieldName":"Notes","stringFieldOption":"textarea"},
         {"fieldName":"Planted","isEditable":false},{"fieldName":"GlobalID"},{"fieldName":"SpeciesID","visible":false}],
         "relatedRecordsInfo":{"orderByFields":[{"field":"relationships/0/Inspected","order":"desc"}]}}
        """#

    private static func tree(
        _ number: Int, in geodatabase: ServiceGeodatabase, definition: String = definition
    ) async throws -> PopupManager {
        let table = try #require(geodatabase.table(withLayerID: 0))
        table.popupDefinition = try PopupDefinition.fromJSON(Data(definition.utf8))
        let parameters = QueryParameters()
        parameters.whereClause = "Address = '\(number) Main St'"
        let found = Array(try await table.queryFeatures(using: parameters).features())
        let manager = PopupManager(popup: Popup(geoElement: try #require(found.first)))
        try await manager.relationships?.load()
        return manager
    }

    private static func field(_ name: String, _ manager: PopupManager) throws -> PopupField {
        try #require(manager.popup.definition.field(named: name))
    }

    @Test("A session takes values, says why one is not valid, and saves when all are")
    func session() async throws {
        try await TestService.withTrees(2) { service in
            let geodatabase = try await service.geodatabase()
            let manager = try await Self.tree(1, in: geodatabase)
            #expect(manager.displayFields.count == 7)
            #expect(manager.editableDisplayFields.map(\.fieldName) == ["Address", "Condition", "DBH", "Kind", "Notes"])
            #expect(throws: CommonError.self) {
                try manager.updateValue(1, field: try Self.field("DBH", manager))
            }
            #expect(manager.startEditing() && manager.isEditing && !manager.startEditing())
            #expect(manager.formElement(of: try Self.field("Notes", manager))?.input is TextAreaFormInput)
            #expect(throws: FeatureFormError.self) {
                try manager.updateValue(9_999.0, field: try Self.field("DBH", manager))
            }
            #expect(manager.validationError(of: try Self.field("DBH", manager)) != nil)
            await #expect(throws: FeatureFormError.self) { try await manager.finishEditing() }
            #expect(manager.isEditing && !geodatabase.hasLocalEdits)
            try manager.updateValue(12.0, field: try Self.field("DBH", manager))
            try manager.updateValue(Int16(3), field: try Self.field("Condition", manager))
            #expect(manager.formattedValue(of: try Self.field("Condition", manager)) == "Poor")
            #expect(throws: CommonError.self) {
                try manager.updateValue(Date.now, field: try Self.field("Planted", manager))
            }
            try await manager.finishEditing()
            #expect(!manager.isEditing && geodatabase.hasLocalEdits)
        }
    }

    @Test("Cancelling a session gives back values and chosen records")
    func cancelling() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let manager = try await Self.tree(0, in: geodatabase)
            let species = try #require(manager.relationships?.manyToOne.first)
            #expect(species.name == "Species" && species.relatedPopup?.title == "Bigleaf maple")
            let candidates = try await species.candidates(orderedBy: OrderBy(fieldName: "Name", sortOrder: .descending))
            #expect(candidates.map(\.title) == ["White oak", "Bigleaf maple"])
            #expect(throws: CommonError.self) { try manager.update(manyToOne: candidates[0], in: species) }
            manager.startEditing()
            try manager.updateValue("Elm St", field: try Self.field("Address", manager))
            try manager.update(manyToOne: candidates[0], in: species)
            #expect(species.relatedPopup?.title == "White oak" && manager.hasEdits)
            manager.cancelEditing()
            #expect(species.relatedPopup?.title == "Bigleaf maple" && manager.title == "0 Main St")
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A chosen record is related when the session is finished, in the service as well")
    func relating() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let manager = try await Self.tree(0, in: geodatabase)
            let species = try #require(manager.relationships?.manyToOne.first)
            let oak = try #require(try await species.candidates().first { $0.title == "White oak" })
            manager.startEditing()
            try manager.update(manyToOne: oak, in: species)
            try await manager.finishEditing()
            #expect(species.relatedPopup?.title == "White oak" && !species.hasStagedChange)
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["SpeciesID"] == .text(GUID.normalForm(TreeService.oak)))
        }
    }

    @Test("New records join the list in its order, changed ones move, deleted ones go; not while the parent is edited")
    func oneToMany() async throws {
        try await TestService.withTrees(3) { service in
            let geodatabase = try await service.geodatabase()
            let manager = try await Self.tree(2, in: geodatabase)
            let inspections = try #require(manager.relationships?.oneToMany.first)
            func sizes() -> [Double?] {
                inspections.relatedPopups.map { $0.geoElement.attributeValue(forKey: "DBH") as? Double }
            }
            #expect(sizes() == [20, 10])
            manager.startEditing()
            #expect(throws: CommonError.self) { try manager.makeRecord(in: inspections) }
            manager.cancelEditing()
            let new = try manager.makeRecord(in: inspections)
            #expect(new.isEditing && sizes() == [20, 10])
            try new.updateValue(5.0, field: try Self.field("DBH", new))
            try new.updateValue(Date.now, field: try Self.field("Inspected", new))
            try await new.finishEditing()
            #expect(sizes() == [5, 20, 10])
            let last = try manager.manager(of: inspections.relatedPopups[2], in: inspections)
            last.startEditing()
            try last.updateValue(Date.now.addingTimeInterval(60), field: try Self.field("Inspected", last))
            try await last.finishEditing()
            #expect(sizes() == [10, 5, 20])
            try await manager.delete(oneToMany: inspections.relatedPopups[2], in: inspections)
            #expect(sizes() == [10, 5])
            _ = try await geodatabase.applyEdits()
            let id = try #require(manager.feature?.attributeValue(forKey: "GlobalID") as? UUID)
            let rows = try await service.rows(layerID: 1).filter {
                $0.attributes["TreeID"] == .text(GUID.normalForm(id))
            }
            #expect(rows.compactMap { $0.attributes["DBH"]?.doubleValue }.sorted() == [5, 10])
        }
    }

    @Test("Of several relationships each has the order of its own element")
    func ordersOfRelationships() async throws {
        try await TestService.withTrees(3) { service in
            let geodatabase = try await service.geodatabase()
            for (order, sizes) in [("asc", [10.0, 20.0]), ("desc", [20, 10])] {
                let other = order == "asc" ? "desc" : "asc"
                let definition = #"""
                    {"title":"{Address}","popupElements":[
                     {"type":"relationship","relationshipId":1,"orderByFields":[{"field":"DBH","order":"\#(other)"}]},
                     {"type":"relationship","relationshipId":0,"orderByFields":[{"field":"DBH","order":"\#(order)"}]}]}
                    """#
                let manager = try await Self.tree(2, in: geodatabase, definition: definition)
                let inspections = try #require(manager.relationships?.oneToMany.first)
                let found = inspections.relatedPopups.map { $0.geoElement.attributeValue(forKey: "DBH") as? Double }
                #expect(found == sizes)
            }
        }
    }

    @Test("An order that another relationship's element asks for changes nothing")
    func orderOfAnotherRelationship() async throws {
        try await TestService.withTrees(3) { service in
            let geodatabase = try await service.geodatabase()
            var found: [[Double?]] = []
            for order in ["asc", "desc"] {
                let definition = #"""
                    {"title":"{Address}","popupElements":[
                     {"type":"relationship","relationshipId":1,"orderByFields":[{"field":"DBH","order":"\#(order)"}]},
                     {"type":"relationship","relationshipId":0}]}
                    """#
                let manager = try await Self.tree(2, in: geodatabase, definition: definition)
                let inspections = try #require(manager.relationships?.oneToMany.first)
                found.append(
                    inspections.relatedPopups.map { $0.geoElement.attributeValue(forKey: "DBH") as? Double })
            }
            #expect(found[0].count == 2 && found[0] == found[1])
        }
    }

    @Test("A record that must belong to a whole is not saved without one")
    func composite() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let tree = try await Self.tree(0, in: geodatabase)
            let table = try #require(geodatabase.table(withLayerID: 1))
            let orphan = PopupManager(popup: Popup(geoElement: table.makeFeature(attributes: ["DBH": 3.0])))
            try await orphan.relationships?.load()
            orphan.startEditing()
            await #expect(throws: FeatureFormError.self) { try await orphan.finishEditing() }
            #expect(!geodatabase.hasLocalEdits)
            let whole = try #require(orphan.relationships?.manyToOne.first)
            try orphan.update(manyToOne: tree.popup, in: whole)
            try await orphan.finishEditing()
            #expect(geodatabase.localEditsCount == 1)
        }
    }

    @Test("A tree goes with its inspections")
    func deleting() async throws {
        try await TestService.withTrees(3) { service in
            let geodatabase = try await service.geodatabase()
            let manager = try await Self.tree(2, in: geodatabase)
            #expect(manager.shouldAllowDelete)
            try await manager.delete()
            #expect(geodatabase.localEditsCount == 3)
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [false, false, false])
            #expect(try await service.rows(layerID: 1).count == 1)
            #expect(try await service.rows().count == 2 && !geodatabase.hasLocalEdits)
        }
    }

    @Test("Relating sets the key on the side that refers, and unrelating clears it")
    func relate() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let trees = try #require(geodatabase.table(withLayerID: 0))
            let species = try #require(geodatabase.table(withLayerID: 2))
            let tree = try #require(trees.makeFeature(geometry: TreeService.place) as? ArcGISFeature)
            let new = try #require(species.makeFeature(attributes: ["Name": "Rowan"]) as? ArcGISFeature)
            try tree.relate(to: new)
            let key = try #require(new.attributeValue(forKey: "GlobalID") as? UUID)
            #expect(tree.attributeValue(forKey: "SpeciesID") as? UUID == key)
            tree.unrelate(to: new)
            #expect(tree.attributeValue(forKey: "SpeciesID") == nil)
            try new.relate(to: tree)
            #expect(tree.attributeValue(forKey: "SpeciesID") as? UUID == key)
            #expect(throws: GeodatabaseError.self) { try tree.relate(to: tree) }
            tree.setAttributeValue("park", forKey: "Kind")
            try await species.add(new)
            try await trees.add(tree)
            let found = try await species.queryRelatedFeatures(to: new).first
            #expect(found?.relatedTable === trees && found?.features().contains { $0 === tree } == false)
            #expect(found?.features().map { $0.attributeValue(forKey: "Kind") as? String } == ["park"])
            #expect(try await species.queryRelatedFeatureCount(for: new) == 1)
            #expect(trees.relatedTables().map(\.tableName) == ["Inspections", "Species"])
            _ = try await geodatabase.applyEdits()
            #expect(try await species.queryRelatedFeatureCount(for: new) == 1)
        }
    }
}
