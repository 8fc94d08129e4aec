import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Edits survive", .fewAtATime)
struct UnsentEditsTests {
    /// Adds, changes and deletes, then lets go of everything without closing it.
    private static func edit(_ service: TestService) async throws {
        let geodatabase = try await service.geodatabase()
        let table = try #require(geodatabase.table(withLayerID: 0))
        let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
        features[0].setAttributeValue("Destroyed", forKey: "typdamage")
        try await table.update(features[0])
        try await table.delete(features[1])
        try await table.add(
            table.makeFeature(
                attributes: [
                    "primcause": "Küche \u{1F525} '\"", "estimate": 12.5,
                    "inspected": Date(timeIntervalSince1970: 1.25),
                ],
                geometry: DamageService.place))
    }

    @Test("Unsent edits are there after the app was ended without closing anything, and are sent then")
    func restart() async throws {
        try await TestService.with(damages: 3) { service in
            try await Self.edit(service)
            let geodatabase = try await service.geodatabase()
            #expect(geodatabase.hasLocalEdits)
            #expect(geodatabase.localEditsCount == 3)
            let table = try #require(geodatabase.table(withLayerID: 0))
            let pending = try await table.localEdits()
            #expect(pending.count == 2)
            _ = try await geodatabase.applyEdits()
            let rows = try await service.rows()
            #expect(rows.count == 3)
            #expect(rows[0].attributes["typdamage"] == .text("Destroyed"))
            let added = try #require(rows.last)
            #expect(added.attributes["primcause"] == .text("Küche \u{1F525} '\""))
            #expect(added.attributes["estimate"] == .real(12.5))
            #expect(added.attributes["inspected"] == .integer(1_250))
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Unsent edits are at hand while the service can't be reached, and more can be made")
    func offlineStart() async throws {
        try await TestService.with(damages: 3) { service in
            try await Self.edit(service)
            service.interceptor.isOffline = true
            let geodatabase = try await service.geodatabase()
            #expect(geodatabase.localEditsCount == 3)
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(table.makeFeature(attributes: ["primcause": "Offline"], geometry: DamageService.place))
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            #expect(geodatabase.localEditsCount == 4)
            service.interceptor.isOffline = false
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().count == 4)
        }
    }

    @Test("An answer that is lost after the service committed makes nothing twice", arguments: [false, true])
    func lostAnswer(_ restarts: Bool) async throws {
        try await TestService.with(damages: 3) { service in
            try await Self.edit(service)
            var geodatabase = try await service.geodatabase()
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            #expect(try await service.rows().count == 3)
            #expect(geodatabase.hasLocalEdits)
            if restarts { geodatabase = try await service.geodatabase() }
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.count == 3)
            #expect(results.allSatisfy { !$0.didCompleteWithErrors })
            #expect(!geodatabase.hasLocalEdits)
            let rows = try await service.rows()
            #expect(rows.count == 3)
            #expect(service.interceptor.sent.count { $0 == "applyEdits" } == 2)
        }
    }

    @Test("What was changed after an edit was sent and before its answer was known is sent as well")
    func changedAfterLostAnswer() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = table.makeFeature(attributes: ["primcause": "Fire"], geometry: DamageService.place)
            try await table.add(feature)
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            feature.setAttributeValue("Major", forKey: "typdamage")
            try await table.update(feature)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            let rows = try await service.rows()
            #expect(rows.count == 1)
            #expect(rows.first?.attributes["typdamage"] == .text("Major"))
            #expect(rows.first?.attributes["primcause"] == .text("Fire"))
            #expect(feature.attributeValue(forKey: "OBJECTID") as? Int64 == rows.first?.objectID)
        }
    }

    @Test("What is changed while an edit is on its way is kept, and sent the next time", arguments: [false, true])
    func changedWhileSending(_ deletes: Bool) async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = table.makeFeature(attributes: ["primcause": "Fire"], geometry: DamageService.place)
            try await table.add(feature)
            service.interceptor.fail(
                "applyEdits",
                .answersAfter {
                    if deletes { return try await table.delete(feature) }
                    feature.setAttributeValue("Major", forKey: "typdamage")
                    try await table.update(feature)
                })
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [false])
            #expect(geodatabase.hasLocalEdits)
            #expect(try await service.rows().map { $0.attributes["typdamage"] ?? .null } == [.null])
            if !deletes {
                feature.setAttributeValue(Int16(3), forKey: "numoccup")
                try await table.update(feature)
            }
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            let rows = try await service.rows()
            #expect(rows.map { $0.attributes["typdamage"] } == (deletes ? [] : [.text("Major")]))
            #expect(rows.map { $0.attributes["numoccup"] } == (deletes ? [] : [.integer(3)]))
            #expect(rows.map { $0.attributes["primcause"] } == (deletes ? [] : [.text("Fire")]))
        }
    }

    @Test("A cancelled applyEdits leaves the edits, and the next one makes nothing twice")
    func cancelledApply() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(table.makeFeature(geometry: DamageService.place))
            service.interceptor.fail("applyEdits", .answersAfter { throw CancellationError() })
            await #expect(throws: CancellationError.self) { try await geodatabase.applyEdits() }
            #expect(geodatabase.hasLocalEdits)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().count == 1)
        }
    }

    @Test("Somebody else's edit of a feature whose update got no answer is not undone by sending it again")
    func lostUpdate() async throws {
        try await TestService.with(damages: 1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            feature.setAttributeValue("Major", forKey: "typdamage")
            try await table.update(feature)
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            let other = try await service.geodatabase(device: "other")
            let theirTable = try #require(other.table(withLayerID: 0))
            let theirs = try #require(
                try await theirTable.queryFeatures(using: QueryParameters()).features().first { _ in true })
            theirs.setAttributeValue("Flood", forKey: "primcause")
            try await theirTable.update(theirs)
            _ = try await other.applyEdits()
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(feature.attributeValue(forKey: "primcause") as? String == "Flood")
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["typdamage"] == .text("Major"))
            #expect(row.attributes["primcause"] == .text("Flood"))
        }
    }

    @Test("A new feature that is deleted after its answer was lost does not stay in the service")
    func deletedAfterLostAnswer() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = table.makeFeature(geometry: DamageService.place)
            try await table.add(feature)
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            try await table.delete(feature)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().isEmpty)
        }
    }

    @Test("A new row without a global id whose answer was lost is not sent blindly again")
    func lostAnswerWithoutGlobalID() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let notes = try #require(geodatabase.table(withLayerID: 1))
            try await notes.add(notes.makeFeature(attributes: ["note": "once"]))
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [true])
            #expect(geodatabase.hasLocalEdits)
            #expect(try await service.rows(layerID: 1).count == 1)
        }
    }

    @Test("Unsent edits are carried over when the service gets a new field")
    func changedService() async throws {
        try await TestService.with(damages: 3) { service in
            try await Self.edit(service)
            var definition = DamageService.definition
            definition.layers[0].fields.append(FieldDefinition(name: "reviewer", type: .string, length: 20))
            let folder = service.environment().folder(for: ServiceGeodatabase.serviceRoot(of: service.url))
            let store = try await LocalStore.open(in: folder, definition: definition)
            #expect(store.edits().count == 3)
            let rows = try await store.records(FeatureQuery(), in: 0)
            #expect(Set(rows.map(\.objectID)) == Set(store.edits().compactMap { $0.current?.objectID }))
            #expect(rows.contains { $0.attributes["primcause"] == .text("Küche \u{1F525} '\"") })
        }
    }
}
