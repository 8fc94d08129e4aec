import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// What a service refuses, or has not been told of, is this device's alone. The simulator found what was lost of that.
@Suite("Edits that the service has not taken", .fewAtATime)
struct RefusedEditTests {
    /// The service takes so many occupants at most from now on.
    private static func limitOccupants(to most: Int64, _ service: TestService) async throws {
        var definition = try await service.store.service(service.name)
        let field = try #require(definition.layers[0].fields.firstIndex { $0.name == "numoccup" })
        definition.layers[0].fields[field].domain = DomainDefinition(
            name: "occupants", kind: .range(minimum: .integer(0), maximum: .integer(most)))
        try await service.store.updateService(definition)
    }

    /// Brings what others did, and hands nothing in.
    private static func download(_ geodatabase: Geodatabase, _ service: TestService) async throws {
        let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: .download)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        _ = try await job.output
    }

    /// The service forgets what it could tell as changes: devices get all rows.
    private static func forgetChanges(_ service: TestService) async throws {
        let later = Date.now.addingTimeInterval(86_400)
        let count = try await service.store.compactLog(of: service.name, silentSince: later, olderThan: later)
        try #require(count > 0)
    }

    @Test(
        "What the service refused stays on the device, whatever a sync brings that hands nothing in",
        arguments: [false, true])
    func refused(bringsAllRows: Bool) async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            try await Self.limitOccupants(to: 50, service)
            let values: [String: any Sendable] = ["primcause": "New", "numoccup": Int16(99)]
            try await one.damages.add(one.damages.makeFeature(attributes: values, geometry: OfflineService.place(3)))
            try await one.changeDamage("Cause 1", ["numoccup": Int16(77)])
            let refusals = try await service.sync(one).flatMap(\.editResults)
            #expect(refusals.count == 2)
            #expect(try await one.localEditsCount() == 2, "what was refused still waits")
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            let change = FeatureEdit(objectID: row.objectID, attributes: [("typdamage", .text("Major"))])
            _ = try await service.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [change])], moment: Date.now), to: service.name)
            if bringsAllRows { try await Self.forgetChanges(service) }
            try await Self.download(one, service)
            #expect(try await one.damage("New")?.attributes["numoccup"] as? Int16 == 99)
            #expect(try await one.damage("Cause 1")?.attributes["numoccup"] as? Int16 == 77)
            try await Self.limitOccupants(to: 100, service)
            try await service.sync(one)
            let served = try await service.served("numoccup")
            #expect(served["New"] == .integer(99) && served["Cause 1"] == .integer(77))
            #expect(try await service.served("typdamage")["Cause 1"] == .text("Major"))
            #expect(!one.hasLocalEdits)
            #expect(try await one.localEditsCount() == 0)
        }
    }

    @Test("What was refused goes again with what is changed of the same feature after it")
    func refusedAndEditedAgain() async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            try await Self.limitOccupants(to: 50, service)
            try await one.changeDamage("Cause 1", ["numoccup": Int16(77)])
            #expect(try await service.sync(one).flatMap(\.editResults).count == 1)
            try await one.changeDamage("Cause 1", ["typdamage": "Major"])
            #expect(try await service.sync(one).flatMap(\.editResults).count == 1)
            #expect(one.hasLocalEdits)
            #expect(try await one.localEditsCount() == 1, "one feature, refused twice")
            #expect(try await one.damage("Cause 1")?.attributes["numoccup"] as? Int16 == 77)
            try await Self.limitOccupants(to: 100, service)
            #expect(try await service.sync(one).isEmpty)
            #expect(try await service.served("numoccup")["Cause 1"] == .integer(77))
            #expect(try await service.served("typdamage")["Cause 1"] == .text("Major"))
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("A new feature that the service refused and that was deleted here since is not sent, not even as a delete")
    func refusedAndDeleted() async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            try await Self.limitOccupants(to: 50, service)
            let values: [String: any Sendable] = ["primcause": "New", "numoccup": Int16(99)]
            try await one.damages.add(one.damages.makeFeature(attributes: values, geometry: OfflineService.place(3)))
            #expect(try await service.sync(one).flatMap(\.editResults).count == 1)
            try await one.damages.delete(#require(try await one.damage("New")))
            let waiting = try await one.differences()
            #expect(waiting.isEmpty, "\(waiting)")
            #expect(try await service.sync(one).isEmpty)
            #expect(!one.hasLocalEdits)
            #expect(try await !service.rows().contains { $0.attributes["primcause"] == .text("New") })
        }
    }

    @Test(
        "Of refused new features those that were deleted here are not sent, and the others are when the service takes them"
    )
    func refusedAndDeletedInPart() async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            try await Self.limitOccupants(to: 50, service)
            for cause in ["Stays", "Goes"] {
                let values: [String: any Sendable] = ["primcause": cause, "numoccup": Int16(99)]
                try await one.damages.add(
                    one.damages.makeFeature(attributes: values, geometry: OfflineService.place(3)))
            }
            #expect(try await service.sync(one).flatMap(\.editResults).count == 2)
            try await one.damages.delete(#require(try await one.damage("Goes")))
            try await one.changeDamage("Stays", ["numoccup": Int16(5)])
            #expect(try await service.sync(one).isEmpty)
            #expect(!one.hasLocalEdits)
            let causes = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(causes.contains("Stays") && !causes.contains("Goes"))
        }
    }

    @Test("What was deleted here does not come back with a sync that hands nothing in, though others changed it")
    func deletedHere() async throws {
        try await OfflineService.with { service in
            let one = try await service.takeOffline("one")
            try await one.damages.delete(#require(try await one.damage("Cause 1")))
            let rows = try await service.rows().filter {
                ["Cause 1", "Cause 2"].contains($0.attributes["primcause"]?.textValue)
            }
            let changes = rows.map { FeatureEdit(objectID: $0.objectID, attributes: [("typdamage", .text("Major"))]) }
            _ = try await service.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: changes)], moment: Date.now), to: service.name)
            try await Self.download(one, service)
            // Until the service has decided about the delete, nothing of its layer is taken over.
            #expect(try await one.damage("Cause 2")?.attributes["typdamage"] as? String == "Minor")
            #expect(try await one.damage("Cause 1") == nil)
            #expect(try await one.differences().count == 1)
            try await service.sync(one)
            #expect(try await one.damage("Cause 1") == nil)
            #expect(try await one.damage("Cause 2")?.attributes["typdamage"] as? String == "Major")
            #expect(try await service.served("typdamage")["Cause 1"] == nil)
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("A feature that is new here, with a photo, is not taken for one that the service deleted")
    func newWithPhoto() async throws {
        try await OfflineService.with(attachments: true) { service in
            let one = try await service.takeOffline("one")
            let damages = try one.damages
            try await damages.add(
                damages.makeFeature(attributes: ["primcause": "New"], geometry: OfflineService.place(3)))
            let added = try #require(try await one.damage("New"))
            try await added.addAttachment(named: "new.jpg", contentType: "image/jpeg", data: Data("new".utf8))
            try await Self.forgetChanges(service)
            try await Self.download(one, service)
            let feature = try #require(try await one.damage("New"))
            try await feature.deleteAttachments(try await feature.attachments)
            try await service.sync(one)
            #expect(try await one.damage("New") != nil)
            #expect(try await service.rows().contains { $0.attributes["primcause"] == .text("New") })
            #expect(!one.hasLocalEdits)
        }
    }
}
