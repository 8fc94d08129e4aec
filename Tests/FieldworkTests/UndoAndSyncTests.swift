import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Undo in a file that is a replica: before a sync, after it, and beside the work of others.
@Suite("Undo and sync", .fewAtATime)
struct UndoAndSyncTests {
    @Test("What was undone before a sync never reaches the service; what is undone after it does")
    func beforeAndAfter() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            try await geodatabase.addDamage("Mistake")
            #expect(try await geodatabase.undo())
            #expect(!geodatabase.hasLocalEdits)
            try await geodatabase.changeDamage("Cause 1", ["typdamage": "Destroyed"])
            try await geodatabase.damages.delete(try #require(try await geodatabase.damage("Cause 2")))
            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(try await service.served("typdamage")["Cause 1"] == .text("Destroyed"))
            #expect(try await service.rows().count == 19)

            #expect(try await geodatabase.undo())
            #expect(try await geodatabase.undo())
            #expect(geodatabase.hasLocalEdits && geodatabase.canRedo)
            #expect(try await service.sync(geodatabase).isEmpty)
            let damage = try await service.served("typdamage")
            #expect(damage["Cause 1"] == .text("Minor") && damage["Cause 2"] == .text("Minor"))
            #expect(damage["Mistake"] == nil && damage.count == 20)
            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
        }
    }

    @Test("A feature that others moved or deleted meanwhile stays as the sync brought it", arguments: [false, true])
    func movedByOthers(isDeleted: Bool) async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            try await geodatabase.changeDamage("Cause 1", ["typdamage": "Destroyed"])
            try await service.sync(geodatabase)
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            let edits =
                isDeleted
                ? LayerEdits(layerID: 0, deletes: .features([.objectID(row.objectID)]))
                : LayerEdits(
                    layerID: 0,
                    updates: [FeatureEdit(objectID: row.objectID, geometry: .geometry(OfflineService.place(2)))])
            _ = try await service.store.apply(EditBatch(layers: [edits], moment: Date.now), to: service.name)
            try await service.sync(geodatabase)
            #expect(try await !geodatabase.undo())
            let feature = try await geodatabase.damage("Cause 1")
            #expect((feature == nil) == isDeleted)
            if let feature { #expect(feature.attributes["typdamage"] as? String == "Destroyed") }
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A feature that a sync gave another state is not undone")
    func others() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            try await geodatabase.changeDamage("Cause 1", ["typdamage": "Destroyed"])
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            _ = try await service.store.apply(
                EditBatch(
                    layers: [
                        LayerEdits(
                            layerID: 0,
                            updates: [FeatureEdit(objectID: row.objectID, attributes: [("numoccup", .integer(99))])])
                    ], moment: Date.now), to: service.name)
            try await service.sync(geodatabase)
            #expect(try await geodatabase.damage("Cause 1")?.attributes["numoccup"] as? Int16 == 99)
            #expect(try await !geodatabase.undo())
            let feature = try #require(try await geodatabase.damage("Cause 1"))
            #expect(feature.attributes["numoccup"] as? Int16 == 99)
            #expect(feature.attributes["typdamage"] as? String == "Destroyed")
            #expect(!geodatabase.hasLocalEdits)
        }
    }
}
