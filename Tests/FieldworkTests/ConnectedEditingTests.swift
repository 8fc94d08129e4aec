import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Connected editing", .fewAtATime)
struct ConnectedEditingTests {
    private static func table(_ geodatabase: ServiceGeodatabase) throws -> ServiceFeatureTable {
        try #require(geodatabase.table(withLayerID: 0))
    }

    @Test("A service is loaded from its root and from a layer's address, and its tables are the same objects each time")
    func loading() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            #expect(geodatabase.table(withLayerID: 0) === table)
            #expect(geodatabase.table(withLayerID: 7) == nil)
            #expect(table.serviceGeodatabase === geodatabase)
            #expect(geodatabase.serviceInfo?.layerInfos.map(\.id) == [0])
            #expect(geodatabase.serviceInfo?.tableInfos.map(\.name) == ["Notes"])
            #expect(table.geometryType == Point.self)
            #expect(table.objectIDField == "OBJECTID")
            #expect(table.field(named: "TYPDAMAGE")?.domain is CodedValueDomain)
            let root = ServiceGeodatabase(
                url: service.url.deletingLastPathComponent(), environment: service.environment())
            try await root.load()
            #expect(root.table(withLayerID: 0)?.tableName == table.tableName)
        }
    }

    @Test("A stand-alone table gets a geodatabase of its own when it loads")
    func standAlone() async throws {
        try await TestService.with(damages: 3) { service in
            let table = ServiceFeatureTable(url: service.url, environment: service.environment())
            #expect(table.fields.isEmpty)
            #expect(table.geometryType == nil)
            #expect(table.serviceGeodatabase == nil)
            try await table.load()
            #expect(table.serviceGeodatabase?.table(withLayerID: 0) === table)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 3)
        }
    }

    @Test(
        "An added feature gets a temporary id, and the service's ids and editor fields on the same object when applied")
    func adding() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let feature = table.makeFeature(
                attributes: ["typdamage": "Minor", "primcause": "Earthquake"], geometry: DamageService.place)
            try await table.add(feature)
            let temporary = try #require(feature.attributeValue(forKey: "OBJECTID") as? Int64)
            #expect(temporary < 0)
            #expect(geodatabase.hasLocalEdits)
            #expect(try await service.rows().isEmpty)
            let results = try await geodatabase.applyEdits()
            let result = try #require(results.first?.editResults.first)
            #expect(!result.didCompleteWithErrors)
            #expect(result.editOperation == .add)
            #expect(results.first?.featureTable === table)
            let objectID = try #require(feature.attributeValue(forKey: "objectid") as? Int64)
            #expect(objectID > 0)
            #expect(objectID == result.objectID)
            #expect(feature.attributeValue(forKey: "globalid") as? UUID == result.globalID)
            #expect(feature.attributeValue(forKey: "CreationDate") is Date)
            #expect(!geodatabase.hasLocalEdits)
            let row = try #require(try await service.rows().first)
            #expect(row.objectID == objectID)
            #expect(row.attributes["primcause"] == .text("Earthquake"))
            #expect(row.geometry == DamageService.place)
        }
    }

    @Test("Attributes and geometry of a queried feature are changed, and the feature is deleted")
    func updatingAndDeleting() async throws {
        try await TestService.with(damages: 2) { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let feature = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            feature.setAttributeValue("Destroyed", forKey: "typdamage")
            feature.setAttributeValue(nil, forKey: "primcause")
            feature.geometry = Point(x: 1, y: 2, spatialReference: .webMercator)
            try await table.update(feature)
            _ = try await geodatabase.applyEdits()
            let id = try #require(feature.attributeValue(forKey: "OBJECTID") as? Int64)
            let row = try #require(try await service.rows(FeatureQuery(objectIDs: [id])).first)
            #expect(row.attributes["typdamage"] == .text("Destroyed"))
            #expect(row.attributes["primcause"] ?? .null == .null)
            #expect(row.attributes["numoccup"] == .integer(0))
            #expect(row.geometry == Point(x: 1, y: 2, spatialReference: .webMercator))
            #expect(feature.attributeValue(forKey: "EditDate") is Date)
            try await table.delete(feature)
            #expect(try await service.rows().count == 2)
            _ = try await geodatabase.applyEdits()
            #expect(try await service.rows().count == 1)
        }
    }

    @Test(
        "A new feature whose answer was lost is seen once, and what is changed of it then arrives",
        arguments: [Interceptor.Fault.losesAnswer, .unconfirmed])
    func uncertainFeature(_ fault: Interceptor.Fault) async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            try await table.add(
                table.makeFeature(attributes: ["primcause": "Earthquake"], geometry: DamageService.place))
            service.interceptor.fail("applyEdits", fault)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            let found = Array(try await table.queryFeatures(using: QueryParameters()).features())
            #expect(found.count == 1)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
            let feature = try #require(found.first)
            feature.setAttributeValue("Destroyed", forKey: "typdamage")
            try await table.update(feature)
            let names = QueryParameters()
            names.whereClause = "primcause = 'Earthquake'"
            let ids = try await table.queryFeatures(using: names, queryFeatureFields: .idsOnly)
            #expect(Array(ids.features()).count == 1)
            _ = try await geodatabase.applyEdits()
            let rows = try await service.rows()
            #expect(rows.count == 1)
            #expect(rows.first?.attributes["typdamage"] == .text("Destroyed"))
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Only changed fields are sent: what somebody else changed meanwhile stays")
    func mergingByField() async throws {
        try await TestService.with(damages: 1) { service in
            let one = try await service.geodatabase(device: "one")
            let other = try await service.geodatabase(device: "other")
            let mine = try #require(
                try await Self.table(one).queryFeatures(using: QueryParameters()).features().first { _ in true })
            let theirs = try #require(
                try await Self.table(other).queryFeatures(using: QueryParameters()).features().first { _ in true })
            theirs.setAttributeValue("Flood", forKey: "primcause")
            try await Self.table(other).update(theirs)
            _ = try await other.applyEdits()
            mine.setAttributeValue("Destroyed", forKey: "typdamage")
            try await Self.table(one).update(mine)
            _ = try await one.applyEdits()
            // The object has learnt of the other's change; a further update must not set it back.
            #expect(mine.attributeValue(forKey: "primcause") as? String == "Flood")
            mine.setAttributeValue(Int16(4), forKey: "numoccup")
            try await Self.table(one).update(mine)
            _ = try await one.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["typdamage"] == .text("Destroyed"))
            #expect(row.attributes["primcause"] == .text("Flood"))
            #expect(row.attributes["numoccup"] == .integer(4))
        }
    }

    @Test("Two objects of one row, changed in different fields, both count")
    func twoObjectsOfOneRow() async throws {
        try await TestService.with(damages: 1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let one = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            let other = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            one.setAttributeValue("Fire", forKey: "primcause")
            try await table.update(one)
            other.setAttributeValue("Affected", forKey: "typdamage")
            try await table.update(other)
            _ = try await geodatabase.applyEdits()
            other.setAttributeValue(Int16(9), forKey: "numoccup")
            try await table.update(other)
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["primcause"] == .text("Fire"))
            #expect(row.attributes["typdamage"] == .text("Affected"))
            #expect(row.attributes["numoccup"] == .integer(9))
        }
    }

    @Test("A row that the service refuses stays among the local edits with its reason, and the others are applied")
    func refusedRow() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let good = table.makeFeature(attributes: ["typdamage": "Minor"], geometry: DamageService.place)
            let bad = table.makeFeature(attributes: ["typdamage": "Somewhat"], geometry: DamageService.place)
            try await table.add([good, bad])
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [false, true])
            #expect(results.last?.error is Fieldwork.ServiceError)
            #expect(geodatabase.hasLocalEdits)
            #expect(try await service.rows().count == 1)
            bad.setAttributeValue("Major", forKey: "typdamage")
            try await table.update(bad)
            let again = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(again.map(\.didCompleteWithErrors) == [false])
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().count == 2)
            #expect(bad.attributeValue(forKey: "OBJECTID") as? Int64 ?? 0 > 0)
        }
    }

    @Test("Edits of a table without global ids are applied by object id")
    func withoutGlobalIDs() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let notes = try #require(geodatabase.table(withLayerID: 1))
            let note = notes.makeFeature(attributes: ["note": "first"])
            try await notes.add(note)
            _ = try await geodatabase.applyEdits()
            #expect(note.attributeValue(forKey: "OBJECTID") as? Int64 ?? 0 > 0)
            note.setAttributeValue("second", forKey: "note")
            try await notes.update(note)
            _ = try await notes.applyEdits()
            #expect(try await service.rows(layerID: 1).map { $0.attributes["note"] } == [.text("second")])
            try await notes.delete(note)
            _ = try await notes.applyEdits()
            #expect(try await service.rows(layerID: 1).isEmpty)
        }
    }

    @Test("Undo drops what was not applied")
    func undo() async throws {
        try await TestService.with(damages: 2) { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            features[0].setAttributeValue("Destroyed", forKey: "typdamage")
            try await table.update(features[0])
            try await table.delete(features[1])
            try await table.add(table.makeFeature(attributes: [:], geometry: DamageService.place))
            #expect(try await table.addedFeaturesCount() == 1)
            #expect(try await table.updatedFeaturesCount() == 1)
            #expect(try await table.deletedFeaturesCount() == 1)
            try await geodatabase.undoLocalEdits()
            #expect(!geodatabase.hasLocalEdits)
            let after = Array(try await table.queryFeatures(using: QueryParameters()).features())
            #expect(after.map { $0.attributeValue(forKey: "typdamage") as? String } == ["Minor", "Major"])
        }
    }

    @Test(
        "What does not fit the table is refused before anything is kept",
        arguments: ["field", "type", "length", "shape"])
    func wrongInput(_ what: String) async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try Self.table(geodatabase)
            let feature = table.makeFeature(geometry: DamageService.place)
            switch what {
            case "field": feature.setAttributeValue(1, forKey: "nothing")
            case "type": feature.setAttributeValue("many", forKey: "numoccup")
            case "length": feature.setAttributeValue(String(repeating: "x", count: 300), forKey: "primcause")
            default: feature.geometry = Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .webMercator)
            }
            await #expect(throws: GeodatabaseError.self) { try await table.add(feature) }
            #expect(!geodatabase.hasLocalEdits)
        }
    }
}
