import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A feature that was deleted on this device and is added again under its global id, as an app does that takes a delete back.
@Suite("Features that are added again after they were deleted", .fewAtATime)
struct RestoredFeatureTests {
    private static let photo = Data("a photo".utf8)

    /// A device over a service of one feature, which is deleted there and not yet in the service.
    private static func withDeleted(
        _ test: (TestService, ServiceGeodatabase, ServiceFeatureTable, FeatureRecord) async throws -> Void
    ) async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(
                table.makeFeature(
                    attributes: ["typdamage": "Minor", "numoccup": Int32(3)], geometry: DamageService.place))
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            try await table.delete(try await only(table))
            try await test(service, geodatabase, table, row)
        }
    }

    private static func only(_ table: ServiceFeatureTable) async throws -> ArcGISFeature {
        let features = try await table.queryFeatures(using: QueryParameters(), queryFeatureFields: .loadAll).features()
        return try #require(features.map { $0 as? ArcGISFeature }.first ?? nil)
    }

    private static func again(
        _ row: FeatureRecord, in table: ServiceFeatureTable, damage: String = "Minor"
    ) throws -> ArcGISFeature {
        let name = try #require(DamageService.damage.globalIDField)
        let feature = table.makeFeature(
            attributes: [name: try #require(row.globalID), "typdamage": damage, "numoccup": Int32(3)],
            geometry: row.geometry)
        return try #require(feature as? ArcGISFeature)
    }

    @Test("Before the service was told of the delete it is the same row, and nothing is sent when nothing was changed")
    func unsentDelete() async throws {
        try await Self.withDeleted { service, geodatabase, table, row in
            let feature = try Self.again(row, in: table)
            try await table.add(feature)
            #expect(feature.objectID == row.objectID)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
            let sent = service.interceptor.sent.count { $0 == "applyEdits" }
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(service.interceptor.sent.count { $0 == "applyEdits" } == sent)
            #expect(try await service.rows() == [row])
        }
    }

    @Test("What differs from the row that was deleted is sent as an update")
    func changedMeanwhile() async throws {
        try await Self.withDeleted { service, geodatabase, table, row in
            let feature = try Self.again(row, in: table, damage: "Major")
            try await table.add(feature)
            let results = try await geodatabase.applyEdits()
            #expect(results.flatMap(\.editResults).map(\.editOperation) == [.update])
            let rows = try await service.rows()
            #expect(rows.map(\.objectID) == [row.objectID] && rows.map(\.globalID) == [row.globalID])
            #expect(rows.map { $0.attributes["typdamage"] } == [.text("Major")])
            // The same object goes on with it.
            feature.setAttributeValue("Destroyed", forKey: "typdamage")
            try await table.update(feature)
            _ = try await geodatabase.applyEdits()
            #expect(try await service.rows().map { $0.attributes["typdamage"] } == [.text("Destroyed")])
        }
    }

    @Test("It survives a restart, and may be deleted once more")
    func restarted() async throws {
        try await Self.withDeleted { service, _, table, row in
            try await table.add(try Self.again(row, in: table, damage: "Major"))
            let next = try await service.geodatabase()
            let again = try #require(next.table(withLayerID: 0))
            let feature = try await Self.only(again)
            #expect(feature.attributes["typdamage"] as? String == "Major" && feature.objectID == row.objectID)
            try await again.delete(feature)
            _ = try await next.applyEdits()
            #expect(try await service.rows().isEmpty && !next.hasLocalEdits)
        }
    }

    @Test("When the answer to the delete was lost the service has the feature all the same", arguments: [true, false])
    func answerWasLost(arrived: Bool) async throws {
        try await Self.withDeleted { service, geodatabase, table, row in
            service.interceptor.fail("applyEdits", arrived ? .losesAnswer : .unreachable)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            let feature = try Self.again(row, in: table, damage: "Major")
            try await table.add(feature)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            let rows = try await service.rows()
            #expect(rows.map(\.globalID) == [row.globalID])
            #expect(rows.map { $0.attributes["typdamage"] } == [.text("Major")])
            // The object leads to the row under the id that this has now.
            feature.setAttributeValue("Destroyed", forKey: "typdamage")
            try await table.update(feature)
            _ = try await geodatabase.applyEdits()
            #expect(try await service.rows().map { $0.attributes["typdamage"] } == [.text("Destroyed")])
        }
    }

    @Test("Its unsent photo comes back with it, also after a restart; a delete that is sent takes it along")
    func unsentPhoto() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "restored-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let row = FeatureRecord(
            objectID: 8, globalID: UUID(), attributes: ["objectid": .integer(8), "typdamage": .text("Minor")],
            geometry: DamageService.place)
        var content = UUID()
        do {
            let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
            let kept = try store.attachmentFiles.keep(.data(Self.photo))
            content = kept.id
            var photo = Fieldwork.AttachmentEdit(id: 0, globalID: UUID(), operation: .add)
            (photo.name, photo.content, photo.size) = ("photo.jpg", kept.id, kept.size)
            try await store.stage(photo, of: row, in: DamageService.damage)
            try await store.delete([row], in: DamageService.damage)
            #expect(store.edits().map(\.operation) == [.delete] && store.edits().allSatisfy(\.attachments.isEmpty))
        }
        let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        _ = try await store.add([row], to: DamageService.damage, isCached: false)
        #expect(store.edits().map(\.operation) == [.update])
        #expect(store.edits().flatMap(\.attachments).map(\.content) == [content])
        #expect(try Data(contentsOf: store.attachmentFiles.url(of: content)) == Self.photo)
        try await store.delete([row], in: DamageService.damage)
        let sent = try await store.beginAttempt(store.edits()).edits
        try await store.settle(sent.map { ($0, .applied(nil)) })
        #expect(store.edits().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: store.attachmentFiles.url(of: content).path))
    }
}
