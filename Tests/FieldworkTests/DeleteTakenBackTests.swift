import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A feature of a file on this device that was deleted and is added again under its global id, as an undo of an app does.
@Suite("Deletes taken back offline", .fewAtATime)
struct DeleteTakenBackTests {
    private static let photo = Data("a photo".utf8)

    private static func with(_ test: (TestService, Geodatabase) async throws -> Void) async throws {
        try await OfflineService.with(attachments: true) { service in
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            try await service.applyAttachments(
                AttachmentEdits(adds: [
                    FieldworkREST.AttachmentEdit(
                        parent: .objectID(row.objectID), name: "crack.jpg", contentType: "image/jpeg",
                        content: AttachmentContent(bytes: Array(photo)))
                ]))
            try await test(service, try await service.takeOffline("one"))
        }
    }

    /// Deletes the feature.
    /// - Returns: what an app keeps of it.
    private func delete(_ cause: String, _ geodatabase: Geodatabase) async throws -> (id: UUID, objectID: Int64) {
        let feature = try #require(try await geodatabase.damage(cause))
        let id = try #require(feature.attributes["globalid"] as? UUID)
        let objectID = try #require(feature.objectID)
        try await geodatabase.damages.delete(feature)
        return (id, objectID)
    }

    private func addAgain(_ id: UUID, _ cause: String, _ geodatabase: Geodatabase) async throws -> ArcGISFeature {
        let table = try geodatabase.damages
        let feature = try #require(
            table.makeFeature(
                attributes: ["globalid": id, "primcause": cause, "typdamage": "Destroyed"],
                geometry: OfflineService.place(3)) as? ArcGISFeature)
        try await table.add(feature)
        return feature
    }

    private func changes(_ service: TestService) async throws -> [FeatureChange] {
        try await service.store.changes(
            after: 0, in: LayerAddress(service: service.name, layerID: 0), limit: 100)
    }

    @Test("It is that feature again, as it was added, and the service has its photo once")
    func sameFeature() async throws {
        try await Self.with { service, geodatabase in
            let before = try #require(try await geodatabase.damage("Cause 1")?.attachments.first)
            let (id, objectID) = try await delete("Cause 1", geodatabase)
            let feature = try await addAgain(id, "Cause 1", geodatabase)
            #expect(feature.objectID == objectID)
            #expect(feature.attributes["typdamage"] as? String == "Destroyed")
            // What the app said nothing of is null, as it is after any add.
            #expect(feature.attributes["numoccup"] == nil)
            let after = try #require(try await feature.attachments.first)
            #expect(after.id == before.id && after.name == "crack.jpg")
            #expect(try await after.data == Self.photo)

            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(try await service.servedAttachments() == ["Cause 1": ["crack.jpg": Self.photo]])
            #expect(try await service.served("typdamage")["Cause 1"] == .text("Destroyed"))
            #expect(try await service.rows().count == 20)
            #expect(try await !changes(service).contains { $0.operation == .delete })
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("With another one in the same call each is what it was")
    func amongOthers() async throws {
        try await Self.with { service, geodatabase in
            let (id, objectID) = try await delete("Cause 1", geodatabase)
            let table = try geodatabase.damages
            let features = try [("new", nil), ("Cause 1", id), ("newer", nil)].map { cause, id in
                var attributes: [String: any Sendable] = ["primcause": cause]
                if let id { attributes["globalid"] = id }
                return try #require(
                    table.makeFeature(attributes: attributes, geometry: OfflineService.place(2)) as? ArcGISFeature)
            }
            try await table.add(features)
            #expect(features.map { $0.attributes["primcause"] as? String } == ["new", "Cause 1", "newer"])
            #expect(features[1].objectID == objectID)
            #expect(Set(features.compactMap(\.objectID)).count == 3)
            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(try await service.rows().count == 22)
        }
    }

    @Test("The addition can be undone, and done again, with the photo")
    func undone() async throws {
        try await Self.with { service, geodatabase in
            let (id, _) = try await delete("Cause 1", geodatabase)
            _ = try await addAgain(id, "Cause 1", geodatabase)
            #expect(try await geodatabase.undo())
            #expect(try await geodatabase.damage("Cause 1") == nil)
            #expect(try await geodatabase.redo())
            #expect(try await geodatabase.attachments(of: "Cause 1") == ["crack.jpg": Self.photo])
            #expect(try await geodatabase.undo())
            #expect(try await geodatabase.undo())
            #expect(try await geodatabase.damage("Cause 1")?.attributes["typdamage"] as? String == "Minor")
            #expect(try await geodatabase.attachments(of: "Cause 1") == ["crack.jpg": Self.photo])
            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(try await service.servedAttachments() == ["Cause 1": ["crack.jpg": Self.photo]])
        }
    }

    @Test(
        "Once the service has the delete, or may have it, the feature is added anew, with its photo once",
        arguments: [true, false])
    func told(hasAnswered: Bool) async throws {
        try await Self.with { service, geodatabase in
            let (id, _) = try await delete("Cause 1", geodatabase)
            if hasAnswered {
                #expect(try await service.sync(geodatabase).isEmpty)
            } else {
                service.interceptor.fail("synchronizeReplica", .losesAnswer)
                await #expect(throws: (any Error).self) { try await service.sync(geodatabase) }
            }
            _ = try await addAgain(id, "Cause 1", geodatabase)
            for _ in 0..<2 { #expect(try await service.sync(geodatabase).isEmpty) }
            #expect(try await service.served("typdamage")["Cause 1"] == .text("Destroyed"))
            #expect(try await service.servedAttachments() == ["Cause 1": ["crack.jpg": Self.photo]])
            #expect(try await geodatabase.attachments(of: "Cause 1") == ["crack.jpg": Self.photo])
            #expect(try await service.rows().count == 20)
        }
    }

    @Test("What went with it comes back as well")
    func parts() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let heron = try await file.add("heron")
            let id = try #require(heron.attributes["GlobalID"] as? UUID)
            let attributes = heron.attributes.filter { $0.key != "OBJECTID" }
            for eggs in 1...3 {
                try await file.nests.add(file.nests.makeFeature(attributes: ["Bird": id, "eggs": Int16(eggs)]))
            }
            try await file.birds.delete(heron)
            #expect(try await file.nests.queryFeatureCount(using: QueryParameters()) == 0)
            try await file.birds.add(file.birds.makeFeature(attributes: attributes, geometry: heron.geometry))
            #expect(try await file.nests.queryFeatureCount(using: QueryParameters()) == 3)
            #expect(try await file.bird("heron")?.attributes["GlobalID"] as? UUID == id)
        }
    }

    @Test("One that is there is refused as a double")
    func double() async throws {
        try await Self.with { _, geodatabase in
            let id = try #require(try await geodatabase.damage("Cause 1")?.attributes["globalid"] as? UUID)
            await #expect(throws: GeodatabaseError.self) {
                _ = try await addAgain(id, "Cause 1", geodatabase)
            }
            let (deleted, _) = try await delete("Cause 1", geodatabase)
            _ = try await addAgain(deleted, "Cause 1", geodatabase)
            await #expect(throws: GeodatabaseError.self) {
                _ = try await addAgain(deleted, "Cause 1", geodatabase)
            }
        }
    }
}
